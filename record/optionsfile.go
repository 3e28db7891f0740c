package record

import (
	"os"
	"path/filepath"
	"strings"
)

// An optionsFile is a file of options that a JVM reads when it starts, after those in
// JAVA_TOOL_OPTIONS. It is empty, except while JMH asks a JVM whether it has compiler
// blackholes; then its options switch capture off.
//
// To find that out, JMH (CompilerHints.compilerBlackholesAvailable) starts a JVM with
// -XX:CompileCommand=blackhole,… -version, and looks for the word CompileCommand in
// what the JVM prints. Capture flags keep the JVM's own messages off its stdout, so
// JMH would not find the word. It would fall back to slower blackholes, and measure
// something else than it does without gasm. JMH prints one line before it asks, and
// another one with the answer. Between these two lines, capture is off.
//
// JDK 8 knows neither VMOptionsFile nor compiler blackholes.
type optionsFile struct {
	path  string
	quiet string
}

// newOptionsFile makes the file in a folder. It is empty.
func newOptionsFile(dir string, quietFlags []string) (*optionsFile, error) {
	o := &optionsFile{path: filepath.Join(dir, "vm.options"), quiet: strings.Join(quietFlags, "\n") + "\n"}
	return o, os.WriteFile(o.path, nil, 0o600)
}

// Flag is the option that makes a JVM read the file.
func (o *optionsFile) Flag() string { return "-XX:VMOptionsFile=" + o.path }

// Quiet switches capture off (true) or on again (false) for JVMs that start from now
// on. The file is replaced by another one, so that no JVM reads a part of it.
func (o *optionsFile) Quiet(on bool) {
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
func (o *optionsFile) Remove() {
	os.Remove(o.path)
	os.Remove(o.path + ".next")
}
