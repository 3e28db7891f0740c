package record

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/internal/jdk"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/record/folder"
)

// CodeSource says where the machine code of the JVMs comes from.
type CodeSource string

const (
	// CodePrint makes HotSpot print all code, with all comments that PrintAssembly adds. It slows down a program's
	// warm-up more than CodeCopy does.
	CodePrint CodeSource = "print"
	// CodeCopy copies the code from the JVMs' memory. It costs the program next to nothing.
	CodeCopy CodeSource = "copy"
	// CodeAuto means CodeCopy if the memory can be read, and otherwise CodePrint.
	CodeAuto CodeSource = "auto"
)

// checkCode returns an error if the options about code (--code, --method, --skip-c1) contradict each other or can't
// work with the command.
func (o *Options) checkCode() error {
	if o.SkipC1 && jdk.Release(o.Command) < printassembly.OldestKnown {
		return fmt.Errorf("--skip-c1 takes a command of JDK %d or newer itself (gasm profile --skip-c1 -- java …): HotSpot reads it from a file, "+
			"which JVMs that a build tool leaves behind would not find", printassembly.OldestKnown)
	}
	if file := ownDirectives(o.Command); o.SkipC1 && file != "" {
		return fmt.Errorf("--skip-c1 needs compiler directives of its own, and the command has -XX:CompilerDirectivesFile=%s: HotSpot takes one alone", file)
	}
	switch o.Code {
	case CodeAuto, CodePrint:
		return nil
	case CodeCopy:
	default:
		return fmt.Errorf("--code is %q; it can be auto, print or copy", o.Code)
	}
	if limited := o.selectionText(); limited != "" {
		return fmt.Errorf("%s limits what HotSpot prints, and --code copy has it print nothing: use one of the two", limited)
	}
	if err := readable(o.Command); err != nil {
		return fmt.Errorf("--code copy: %w", err)
	}
	return nil
}

// chooseCode decides from where the code is taken. The note tells the user why gasm does not use the source that the
// user asked for, or why a limit such as --method has no effect. It is "" if there is nothing to say.
func (r *Recording) chooseCode() (way codeSource, note string) {
	o := &r.o
	limited := o.selectionText()
	if o.Code != CodePrint && limited == "" {
		err := readable(o.Command)
		if err == nil {
			return newLiveCode(r), ""
		}
		note = "HotSpot printed its code, which slows a program's warm-up: gasm could not copy it from the JVMs' memory (" +
			err.Error() + ")"
	}
	if all := o.printAll(folder.CompilerLogsFault()); all != "" {
		note = all
	}
	return &printedCode{r: r}, note
}

// printAll removes the options that limit the printed code, such as --method, if HotSpot's LogCompilation, which they
// need, can't be used. The parameter fault says why it can't be used; if it is "", printAll removes nothing. The note
// tells the user that HotSpot printed all code, and why. It is "" if no options were removed.
func (o *Options) printAll(fault string) (note string) {
	limited := o.selectionText()
	if fault == "" || limited == "" {
		return ""
	}
	o.Methods, o.SkipC1 = nil, false
	return "HotSpot printed all code, and " + limited +
		" did not limit it: HotSpot's LogCompilation, which that needs, writes files in /tmp, and " + fault
}

// hasCaptureFlags reports whether the command's JVM certainly knows all flags that gasm adds. If that is not certain,
// gasm also adds IgnoreUnrecognizedVMOptions. gasm avoids that flag where it can, because the JVM would also ignore a
// flag that the user mistyped, and would run in a way that the user did not intend. hasCaptureFlags returns false if
// the command names another JVM, as JMH's -jvm does, because that JVM may not know the flags.
func hasCaptureFlags(command []string) bool {
	if !startsJava(command) || namesOtherJVM(command) {
		return false
	}
	release := jdk.Release(command)
	return printassembly.OldestKnown <= release && release <= printassembly.NewestKnown
}

// namesOtherJVM reports whether the command has -jvm, JMH's option that names another JVM for its forks. On their
// command line, the forks get the options of JMH's own JVM, including those that gasm has added.
func namesOtherJVM(command []string) bool {
	return slices.Contains(command, "-jvm") || slices.Contains(command, "--jvm")
}

// startsJava reports whether a command is java itself. gasm passes options in a file (optionsFile) only to java itself.
// Any other command may be a build tool whose daemon outlives the command. With such a file, JVMs that the daemon
// starts after gasm has removed the file would fail to start.
func startsJava(command []string) bool { return filepath.Base(command[0]) == "java" }

// ownDirectives returns the file of compiler directives in the user's options (-XX:CompilerDirectivesFile), or "" if
// there is none. HotSpot accepts only one such file.
func ownDirectives(command []string) string {
	for _, w := range javaOptions(command) {
		if _, file, ok := strings.Cut(w, "-XX:CompilerDirectivesFile="); ok {
			return file
		}
	}
	return ""
}

// selection returns the methods whose code is printed. To print only these methods, HotSpot needs a file of compiler
// directives. selection writes this file to a path that begins with prefix. The field DirectivesFile of the result is
// "" if no file is needed, or if the JVM can't use it.
func (o *Options) selection(prefix string) (sel printassembly.Selection, err error) {
	sel = printassembly.Selection{Methods: o.Methods, SkipC1: o.SkipC1}
	if sel.All() || jdk.Release(o.Command) < printassembly.OldestKnown || ownDirectives(o.Command) != "" {
		return sel, nil
	}
	sel.DirectivesFile = prefix + folder.DirectivesName
	if err := writeForAll(sel.DirectivesFile, sel.Directives()); err != nil {
		return sel, fmt.Errorf("a file for HotSpot can't be written: %w", err)
	}
	return sel, nil
}

// selectionText returns the user's options that limit the printed code, such as "--method a.B::c --skip-c1", or "" if
// there are none.
func (o *Options) selectionText() string {
	var words []string
	for _, m := range o.Methods {
		words = append(words, "--method "+m)
	}
	if o.SkipC1 {
		words = append(words, "--skip-c1")
	}
	return strings.Join(words, " ")
}

// selectionNote returns a note that says which code was not printed because of --method and --skip-c1. It returns ""
// without these options.
func (o *Options) selectionNote() string {
	if o.selectionText() == "" {
		return ""
	}
	printed := "the code of C2"
	if len(o.Methods) > 0 {
		printed = "the code of " + strings.Join(o.Methods, ", ")
		if o.SkipC1 {
			printed += " by C2"
		}
	}
	return "HotSpot printed " + printed + " only (" + o.selectionText() +
		"): all other methods have their samples, but no lines, and " +
		"what was inlined into them counts as theirs"
}
