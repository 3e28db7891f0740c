package record

import (
	"os"
	"strings"

	"github.com/gasm-profiler/gasm/record/folder"
)

// An optionsFile is a file of options that java of JDK 9 and newer reads when it starts a JVM. The options come after
// those in JAVA_TOOL_OPTIONS. While JMH asks a JVM whether it has compiler blackholes, the file also has options that
// switch capture off.
//
// To find that out, JMH (CompilerHints.compilerBlackholesAvailable) starts a JVM with -XX:CompileCommand=blackhole,…
// -version, and looks for the word CompileCommand in what the JVM prints. Capture flags keep the JVM's own messages off
// its stdout, so JMH would not find the word. It would fall back to slower blackholes, and measure something else than
// it does without gasm. JMH prints one line before it asks, and another one with the answer. Between these two lines,
// capture is off.
//
// The file is an argument file: the java program replaces @FILE in JDK_JAVA_OPTIONS by its content. HotSpot's own
// -XX:VMOptionsFile is no way to do this, because JDK 8 does not start with it, and newer JDKs don't start with it if
// the user has such a file, too. JDK 8 needs no file: it has neither JDK_JAVA_OPTIONS nor compiler blackholes.
type optionsFile struct {
	path         string
	usual, quiet string
}

// newOptionsFile makes the file. The usual options are always in it, the quiet ones while capture is off. The file's
// path begins with prefix.
func newOptionsFile(prefix string, usual, quiet []string) (*optionsFile, error) {
	o := &optionsFile{path: prefix + folder.OptionsName, usual: argumentLines(usual), quiet: argumentLines(quiet)}
	return o, writeForAll(o.path, []byte(o.usual))
}

// argumentLines returns options in the form of java's argument files.
func argumentLines(options []string) string {
	var text strings.Builder
	escaper := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	for _, o := range options {
		text.WriteString(`"` + escaper.Replace(o) + "\"\n")
	}
	return text.String()
}

// writeForAll writes a file that all users can read, whatever the umask is: the command may become another user.
func writeForAll(path string, text []byte) error {
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return err
	}
	return os.Chmod(path, 0o644)
}

// option returns the option that makes java read the file.
func (o *optionsFile) option() string { return "@" + o.path }

// quieten switches capture off (true) or on again (false) for JVMs that start from now on. The file is replaced by
// another one, so that no JVM reads a part of it.
func (o *optionsFile) quieten(on bool) {
	text := o.usual
	if on {
		text += o.quiet
	}
	next := o.path + ".next"
	if writeForAll(next, []byte(text)) == nil {
		_ = os.Rename(next, o.path) // if that fails, JMH falls back, and a note says so
	}
}

// blackholeNote says that JMH measured something else than it would have measured without gasm; see optionsFile. It
// returns "" if JMH did not.
func (r *Recording) blackholeNote() string {
	mode := r.output.JMHBlackholes()
	if startsJava(r.o.Command) || !strings.HasPrefix(mode, "full + dont-inline") || !strings.Contains(mode, "auto-detected") {
		return ""
	}
	return "JMH uses full blackholes: it could not ask its JVM for compiler blackholes, because gasm keeps " +
		"the JVM's own messages off its output; put gasm before the java command itself (gasm profile -- java -jar …)"
}
