package jvm

import (
	"os"
	"path/filepath"
	"strings"
)

// An OptionsFile holds options that a JVM reads at its start, behind those in
// JAVA_TOOL_OPTIONS. It is empty but while JMH asks its JVM for compiler
// blackholes.
//
// JMH (its CompilerHints.compilerBlackholesAvailable) starts a JVM with
// -XX:CompileCommand=blackhole,… -version and looks for the word CompileCommand
// in what it prints. Capture flags keep the JVM's own messages off its stdout,
// so JMH would fall back to slower blackholes, and measure something else than
// without gasm. JMH announces itself with a line before it asks and says the
// answer in another: between the two, the file switches capture off.
//
// JDK 8 does not know VMOptionsFile, nor compiler blackholes.
type OptionsFile struct {
	path  string
	quiet string
}

// NewOptionsFile makes the file, empty, in a folder.
func NewOptionsFile(dir string, quietFlags []string) (*OptionsFile, error) {
	o := &OptionsFile{path: filepath.Join(dir, "vm.options"), quiet: strings.Join(quietFlags, "\n") + "\n"}
	return o, os.WriteFile(o.path, nil, 0o600)
}

// Flag is the option that makes a JVM read the file.
func (o *OptionsFile) Flag() string { return "-XX:VMOptionsFile=" + o.path }

// Quiet switches capture off or on again for JVMs that start from now on. The
// change is atomic, a JVM reads the one or the other.
func (o *OptionsFile) Quiet(on bool) {
	text := ""
	if on {
		text = o.quiet
	}
	next := o.path + ".next"
	if os.WriteFile(next, []byte(text), 0o600) == nil {
		_ = os.Rename(next, o.path) // without it JMH falls back, and the report says so
	}
}

// Remove takes the file away, after the command has ended.
func (o *OptionsFile) Remove() {
	os.Remove(o.path)
	os.Remove(o.path + ".next")
}

// StartsJava tells whether a command is a JVM itself. Only then are all JVMs
// that read the options file gone when the command is; a build tool may leave
// a daemon behind, whose JVMs would not start without the file.
func StartsJava(command []string) bool {
	return filepath.Base(command[0]) == "java"
}
