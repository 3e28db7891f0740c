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

// MaxRings is an upper bound for the size of the file that a JVM counts in, in bytes. The agent makes none that is larger.
const MaxRings = fileLimit

// MaxReport is an upper bound for the size of a report, in bytes: 2048 sites with names of 1 kB, and as many refusals. The
// rest of a larger one is not read.
const MaxReport = 16 << 20

// Names of files: the agent, as JDK 8 loads it and as newer ones do; what it is to do; the shared object of which each JVM
// makes a copy.
const (
	jarFile     = "agent.jar"
	classesFile = "agent.classes"
	probesFile  = "probes"
	sitesFile   = "sites.so"
)

// program returns the contents of the files that are the agent, by their names.
func program() (map[string][]byte, error) {
	classes, err := classFiles(agentJar)
	if err != nil {
		return nil, err
	}
	return map[string][]byte{jarFile: agentJar, classesFile: classes}, nil
}

// contents returns the contents of all files that the agent needs, by their names. The folder is where the JVM is to make
// its own, as the JVM sees it.
func contents(folder string, specs []Spec) (map[string][]byte, error) {
	files, err := program()
	if err != nil {
		return nil, err
	}
	var text strings.Builder
	fmt.Fprintf(&text, "folder\t%s\nrings\t%d\t%d\t%d\n", folder, ringEvents, windowEvents, fileLimit)
	for i := range specs {
		text.WriteString(specs[i].line() + "\n")
	}
	files[probesFile] = []byte(text.String())
	if slices.ContainsFunc(specs, func(s Spec) bool { return s.Kind == SDT }) {
		m, err := sdt.ThisMachine()
		if err != nil {
			return nil, err
		}
		if files[sitesFile], err = sdt.Empty(m); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// Write writes the files into a folder of gasm's own, where nobody else can write. The prefix is that of their paths; folder
// is where the JVM is to make its own, as the JVM sees it. All users can read the files, because the command may become
// any.
func Write(prefix, folder string, specs []Spec) error {
	files, err := contents(folder, specs)
	if err != nil {
		return err
	}
	for name, content := range files {
		if err := create(prefix+name, content); err != nil {
			return fmt.Errorf("writing the agent for the probes: %w", err)
		}
	}
	return nil
}

// create makes a file that all can read.
func create(path string, content []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Chmod(0o644); err != nil { // whatever the umask is
		return err
	}
	if _, err := f.Write(content); err != nil {
		return err
	}
	return f.Close()
}

// Remove removes what Write has written.
func Remove(prefix string) {
	for _, name := range []string{sitesFile, jarFile, classesFile, probesFile} {
		os.Remove(prefix + name)
	}
}

// StartOption is the JVM's option that starts the agent with the JVM. The prefix is that of the files as the JVM sees them.
func StartOption(prefix string) string {
	return "-javaagent:" + prefix + jarFile + "=start:" + prefix
}

// RingFile and ReportFile are the names of what the agent writes, by process id.
func RingFile(pid int) string   { return fmt.Sprintf("probes-%d.ring", pid) }
func ReportFile(pid int) string { return fmt.Sprintf("probes-%d.txt", pid) }
