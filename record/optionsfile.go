package record

import (
	"os"
	"strings"

	"github.com/gasm-profiler/gasm/record/folder"
)

// An optionsFile is a file of options that the java program of JDK 9 and newer reads when it starts a JVM. The JVM
// handles these options after those in JAVA_TOOL_OPTIONS, so they can switch off the capture of the JVM's code. gasm
// adds such options while JMH checks whether a JVM has compiler blackholes.
//
// For this check, JMH (CompilerHints.compilerBlackholesAvailable) starts a JVM with -XX:CompileCommand=blackhole,…
// -version, and looks for the word CompileCommand in the JVM's output. gasm's options keep the JVM's own messages off
// its stdout, so JMH would not find the word. It would then use slower blackholes, and would measure something else
// than without gasm. JMH prints a line before the check, and another line with the result. Between these two lines,
// the capture is off.
//
// The file is an argument file: the java program replaces @FILE in JDK_JAVA_OPTIONS with its content. HotSpot's own
// -XX:VMOptionsFile can't be used instead, because JDK 8 does not start with it, and newer JDKs do not start if the
// user has such an option, too. JDK 8 does not read JDK_JAVA_OPTIONS, but it needs no file, because it has no compiler
// blackholes.
type optionsFile struct {
	path         string
	usual, quiet string
}

// newOptionsFile makes the file, whose path begins with prefix. usual are the options that are always in the file.
// quiet are the options that switch the capture of the JVM's code off; see quieten.
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

// writeForAll writes a file that all users can read, whatever the umask is, because the command may switch to another
// user.
func writeForAll(path string, text []byte) error {
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return err
	}
	return os.Chmod(path, 0o644)
}

// option returns the option that makes java read the file.
func (o *optionsFile) option() string { return "@" + o.path }

// quieten(true) switches off the capture of the code for JVMs that start later, and quieten(false) switches it on
// again. Both replace the file with a new one, so that no JVM reads a file that is only partly written.
func (o *optionsFile) quieten(on bool) {
	text := o.usual
	if on {
		text += o.quiet
	}
	next := o.path + ".next"
	if writeForAll(next, []byte(text)) == nil {
		_ = os.Rename(next, o.path) // if that fails, JMH uses slower blackholes, and blackholeNote says so
	}
}

// blackholeNote returns a note if JMH used slower blackholes because of gasm; see optionsFile. Otherwise it returns "".
func (r *Recording) blackholeNote() string {
	mode := r.output.JMHBlackholes()
	if startsJava(r.o.Command) || !strings.HasPrefix(mode, "full + dont-inline") ||
		!strings.Contains(mode, "auto-detected") {
		return ""
	}
	return "JMH uses full blackholes: it could not ask its JVM for compiler blackholes, because gasm keeps " +
		"the JVM's own messages off its output; put gasm before the java command itself (gasm profile -- java -jar …)"
}
