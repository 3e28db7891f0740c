package probe

import (
	_ "embed"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/hotspot/sdt"
)

// agentJar is what `make agent` makes of the sources in agent/.
//
//go:embed agent.jar
var agentJar []byte

// How much the JVM keeps. The file of a JVM has a ring for each of at most 256 threads.
const (
	ringEvents   = 1 << 15 // 0.8 MB a thread
	windowEvents = 1 << 15
	fileLimit    = 512 << 20
)

// Write writes the files. The prefix is that of their paths as this process sees them; folder is where the JVM is to make its own,
// as the JVM sees it. All users can read the files.
func Write(prefix, folder string, specs []Spec) error {
	var text strings.Builder
	fmt.Fprintf(&text, "folder\t%s\nrings\t%d\t%d\t%d\n", folder, ringEvents, windowEvents, fileLimit)
	for i := range specs {
		text.WriteString(specs[i].line() + "\n")
	}
	if slices.ContainsFunc(specs, func(s Spec) bool { return s.Kind == SDT }) {
		if err := writeSites(prefix + sitesFile); err != nil {
			return err
		}
	}
	classes, err := classFiles(agentJar)
	if err != nil {
		return err
	}
	for name, content := range map[string][]byte{jarFile: agentJar, classesFile: classes, "probes": []byte(text.String())} {
		err := os.WriteFile(prefix+name, content, 0o600)
		if err == nil {
			err = os.Chmod(prefix+name, 0o644) // whatever the umask is
		}
		if err != nil {
			return fmt.Errorf("writing the agent for the probes: %w", err)
		}
	}
	return nil
}

// Names of files: the agent, as JDK 8 loads it and as newer ones do; the shared object of which each JVM makes a copy.
const (
	jarFile     = "agent.jar"
	classesFile = "agent.classes"
	sitesFile   = "sites.so"
)

func writeSites(path string) error {
	m, err := sdt.ThisMachine()
	if err != nil {
		return err
	}
	o, err := sdt.Create(path, m)
	if err != nil {
		return err
	}
	return o.Close()
}

// Remove removes what Write has written.
func Remove(prefix string) {
	os.Remove(prefix + sitesFile)
	os.Remove(prefix + jarFile)
	os.Remove(prefix + classesFile)
	os.Remove(prefix + "probes")
}

// StartOption is the JVM's option that starts the agent with the JVM. The prefix is that of the files as the JVM sees them.
func StartOption(prefix string) string {
	return "-javaagent:" + prefix + jarFile + "=start:" + prefix
}

// RingFile and ReportFile are the names of what the agent writes, by process id.
func RingFile(pid int) string   { return fmt.Sprintf("probes-%d.ring", pid) }
func ReportFile(pid int) string { return fmt.Sprintf("probes-%d.txt", pid) }
