package record

import (
	"os"
	"strings"

	"github.com/gasm-profiler/gasm/record/folder"
)

// An optionsFile is a file of options that java reads when it starts a JVM, from JDK 9
// on. They come after those in JAVA_TOOL_OPTIONS. While JMH asks a JVM whether it has
// compiler blackholes, options that switch capture off are in it too.
//
// To find that out, JMH (CompilerHints.compilerBlackholesAvailable) starts a JVM with
// -XX:CompileCommand=blackhole,… -version, and looks for the word CompileCommand in
// what the JVM prints. Capture flags keep the JVM's own messages off its stdout, so
// JMH would not find the word. It would fall back to slower blackholes, and measure
// something else than it does without gasm. JMH prints one line before it asks, and
// another one with the answer. Between these two lines, capture is off.
//
// The java program puts the file, an argument file, in the place of @FILE in
// JDK_JAVA_OPTIONS. HotSpot's own -XX:VMOptionsFile would not do. JDK 8 does not start
// with it, and newer ones don't if the user has such a file too. JDK 8 has neither
// JDK_JAVA_OPTIONS nor compiler blackholes.
type optionsFile struct {
	path         string
	usual, quiet string
}

// newOptionsFile makes the file, with options that are always in it. Its path begins with
// the prefix.
func newOptionsFile(prefix string, usual, quiet []string) (*optionsFile, error) {
	o := &optionsFile{path: prefix + folder.OptionsName, usual: argumentLines(usual), quiet: argumentLines(quiet)}
	return o, writeForAll(o.path, []byte(o.usual))
}

// argumentLines writes options as java's argument files have them.
func argumentLines(options []string) string {
	var text strings.Builder
	escaper := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	for _, o := range options {
		text.WriteString(`"` + escaper.Replace(o) + "\"\n")
	}
	return text.String()
}

// writeForAll writes a file that all users can read, whatever the umask is: the command
// may become another one.
func writeForAll(path string, text []byte) error {
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return err
	}
	return os.Chmod(path, 0o644)
}

// Option is what makes java read the file.
func (o *optionsFile) Option() string { return "@" + o.path }

// Quiet switches capture off (true) or on again (false) for JVMs that start from now
// on. The file is replaced by another one, so that no JVM reads a part of it.
func (o *optionsFile) Quiet(on bool) {
	text := o.usual
	if on {
		text += o.quiet
	}
	next := o.path + ".next"
	if writeForAll(next, []byte(text)) == nil {
		_ = os.Rename(next, o.path) // without it JMH falls back, and the report says so
	}
}

// blackholeNote says that JMH measured something else than it would have measured without gasm; see optionsFile. It returns "" if JMH did
// not.
func (r *Recording) blackholeNote() string {
	mode := r.output.JMHBlackholes()
	if startsJava(r.o.Command) || !strings.HasPrefix(mode, "full + dont-inline") || !strings.Contains(mode, "auto-detected") {
		return ""
	}
	return "JMH uses full blackholes: it could not ask its JVM for compiler blackholes, because gasm keeps " +
		"the JVM's own messages off its output; put gasm before the java command itself (gasm profile -- java -jar …)"
}
