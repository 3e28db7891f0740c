package probe

import (
	_ "embed"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/event/rings"
	"github.com/gasm-profiler/gasm/hotspot/sdt"
)

// agentJar is the agent, which `make agent` builds from the sources in agent/.
//
//go:embed agent.jar
var agentJar []byte

// Sizes of the file into which a JVM writes. Each thread has two rings in this file: one for its events, and one for
// its windows, which say when single calls began and ended. The file has room for the rings of up to 256 threads.
const (
	ringEvents   = 1 << 15 // 0.8 MB per thread
	windowEvents = 1 << 15
	fileLimit    = rings.MaxFile
)

// MaxRings is an upper bound for the size of the file into which a JVM writes events and counts, in bytes. The agent
// never makes a larger file.
const MaxRings = fileLimit

// MaxReport is an upper bound for the size of the agent's report, in bytes. It has room for 2048 probed methods with
// names of 1 kB, and for as many methods that can't be probed. The rest of a larger report is not read.
const MaxReport = 16 << 20

// Names of the agent's files. The package comment says what each of them is for.
const (
	jarFile     = "agent.jar"
	classesFile = "agent.classes"
	probesFile  = "probes"
	sitesFile   = "sites.so"
)

// program returns the contents of the agent's own files, by name.
func program() (map[string][]byte, error) {
	classes, err := classFiles(agentJar)
	if err != nil {
		return nil, err
	}
	return map[string][]byte{jarFile: agentJar, classesFile: classes}, nil
}

// contents returns the contents of all files that the agent needs, by name. The JVM will create its files in the folder
// named folder, and its shared object in the folder named objects. Both are paths as the JVM sees them.
func contents(folder, objects string, specs []Spec) (map[string][]byte, error) {
	files, err := program()
	if err != nil {
		return nil, err
	}
	var text strings.Builder
	fmt.Fprintf(&text, "folder\t%s\t%s\nrings\t%d\t%d\t%d\n", folder, objects, ringEvents, windowEvents, fileLimit)
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

// Write writes the agent's files. prefix is the beginning of their paths, in a folder of gasm's own, where nobody else
// can write. folder is the folder in which the JVM will create its own files, as the JVM sees it. All users can read
// the agent's files, because the profiled command may switch to any other user.
func Write(prefix, folder string, specs []Spec) error {
	files, err := contents(folder, folder, specs)
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

// create creates a file that everyone can read.
func create(path string, content []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Chmod(0o644); err != nil { // the umask may have removed some of these permissions
		return err
	}
	if _, err := f.Write(content); err != nil {
		return err
	}
	return f.Close()
}

// Remove removes the files that Write has written.
func Remove(prefix string) {
	for _, name := range []string{sitesFile, jarFile, classesFile, probesFile} {
		os.Remove(prefix + name)
	}
}

// StartOption returns the option for the java command line that starts the agent together with the
// JVM. prefix is the prefix that was given to Write, as the JVM sees it.
func StartOption(prefix string) string {
	return "-javaagent:" + prefix + jarFile + "=start:" + prefix
}

// RingFile and ReportFile return the names of the files that the agent writes in the JVM with the process id pid.
func RingFile(pid int) string   { return fmt.Sprintf("probes-%d.ring", pid) }
func ReportFile(pid int) string { return fmt.Sprintf("probes-%d.txt", pid) }
