package record

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/hotspot/nmethod"
	"github.com/gasm-profiler/gasm/internal/jdk"
	"github.com/gasm-profiler/gasm/printassembly"
)

// CodeSource says how the machine code of the JVMs is had.
type CodeSource string

const (
	// CodePrint has HotSpot print all code, with all of its comments. It slows down
	// a program's warm-up the most.
	CodePrint CodeSource = "print"
	// CodeCopy copies the code out of the JVMs' memory, which costs the program
	// hardly anything. The comments on relocations are missing.
	CodeCopy CodeSource = "copy"
	// CodeAuto copies what C1 compiles, which is the most, and has HotSpot print
	// what C2 compiles. Where code can't be copied, HotSpot prints all of it.
	CodeAuto CodeSource = "auto"
)

// checkCode checks the options on code.
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
	if len(o.Methods) > 0 {
		return errors.New("--method names what HotSpot is to print, and --code copy has it print nothing: use one of the two")
	}
	if err := copyable(o.Command); err != nil {
		return fmt.Errorf("--code copy: %w", err)
	}
	if fault := CompilerLogsFault(); fault != "" {
		return errors.New("--code copy needs HotSpot's LogCompilation, which writes files in /tmp, and " + fault)
	}
	return nil
}

// copyable tells why code can't be copied out of the memory of a command's JVMs; nil
// when it can be.
func copyable(command []string) error {
	switch {
	case !hasCaptureFlags(command):
		return errors.New("the command must be java itself (gasm profile -- java …), so that its JVM is known before it starts")
	case ownDirectives(command) != "":
		return errors.New("it needs compiler directives of its own, and the command has -XX:CompilerDirectivesFile: HotSpot takes one alone")
	case slices.Contains(javaOptions(command), "-XX:-LogCompilation"):
		return errors.New("the command has -XX:-LogCompilation, which is what tells where code is")
	}
	return nmethod.Copyable(jdk.Release(command))
}

// printAll has HotSpot print all code if the options need LogCompilation and it is not to
// be used. The note says so.
func (o *Options) printAll(fault string) (note string) {
	limited := o.selectionText()
	if fault == "" || o.copied() == 0 && limited == "" {
		return ""
	}
	o.Code, o.Methods, o.SkipC1 = CodePrint, nil, false
	note = "HotSpot printed all code, which slows the warm-up more than copying it"
	if limited != "" {
		note += ", and " + limited + " did not limit it"
	}
	return note + ": HotSpot's LogCompilation, which that needs, writes files in /tmp, and " + fault
}

// hasCaptureFlags tells whether a command is a JDK that surely knows all capture
// flags, so that it need not be told to ignore flags that it does not know. Under
// IgnoreUnrecognizedVMOptions it would also ignore a flag that the user mistyped, and
// run what the user did not mean. A command that names another JVM may start one that
// does not know the flags.
func hasCaptureFlags(command []string) bool {
	if !startsJava(command) || namesOtherJVM(command) {
		return false
	}
	release := jdk.Release(command)
	return printassembly.OldestKnown <= release && release <= printassembly.NewestKnown
}

// namesOtherJVM tells whether the command has JMH's option for the JVM of the forks.
// They get their options from JMH on the command line, those of gasm included.
func namesOtherJVM(command []string) bool {
	return slices.Contains(command, "-jvm") || slices.Contains(command, "--jvm")
}

// startsJava tells whether a command is a JVM itself. Only then are all JVMs that
// read gasm's files of options gone when the command is; a build tool may leave a
// daemon behind, whose JVMs would not start without the file.
func startsJava(command []string) bool { return filepath.Base(command[0]) == "java" }

// ownDirectives finds the command's own file of compiler directives, of which
// HotSpot takes one alone; "" without one.
func ownDirectives(command []string) string {
	for _, w := range javaOptions(command) {
		if _, file, ok := strings.Cut(w, "-XX:CompilerDirectivesFile="); ok {
			return file
		}
	}
	return ""
}

// copied says whose code is copied out of the JVMs' memory, and not printed. What
// HotSpot can't print is copied too: the JDKs before OldestWithBytes print no code
// without hsdis.
func (o *Options) copied() (compilers nmethod.CompilerSet) {
	if o.Code == CodePrint || len(o.Methods) > 0 || copyable(o.Command) != nil {
		return 0
	}
	if !o.SkipC1 {
		compilers |= nmethod.C1
	}
	if o.Code == CodeCopy || jdk.Release(o.Command) < printassembly.OldestWithBytes {
		compilers |= nmethod.C2
	}
	return compilers
}

// codeText says how code was had, for the capture's description.
func (o *Options) codeText() string {
	switch copied := o.copied(); {
	case copied == 0:
		return capture.CodePrinted
	case copied == nmethod.C1|nmethod.C2, o.SkipC1 && copied == nmethod.C2:
		return capture.CodeCopied
	}
	return capture.CodeMixed
}

// directivesName is the end of the name of the file of compiler directives; see logFolder.
const directivesName = "directives.json"

// selection says whose code is printed beside what is copied, and writes the file
// that HotSpot needs for it. That file's path begins with the prefix.
func (o *Options) selection(copied nmethod.CompilerSet, prefix string) (sel printassembly.Selection, err error) {
	sel = printassembly.Selection{Methods: o.Methods, SkipC1: o.SkipC1 || copied&nmethod.C1 != 0, SkipC2: copied&nmethod.C2 != 0}
	if sel.All() || jdk.Release(o.Command) < printassembly.OldestKnown || ownDirectives(o.Command) != "" {
		return sel, nil
	}
	sel.DirectivesFile = prefix + directivesName
	if err := writeForAll(sel.DirectivesFile, sel.Directives()); err != nil {
		return sel, fmt.Errorf("a file for HotSpot can't be written: %w", err)
	}
	return sel, nil
}

// selectionText is what the user limited the printed code to, as flags; "" without
// any.
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

// selectionNote says what these flags left out.
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
	return "HotSpot printed " + printed + " only (" + o.selectionText() + "): all other methods have their samples, but no lines, and " +
		"what was inlined into them counts as theirs"
}
