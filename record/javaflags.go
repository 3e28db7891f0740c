package record

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/gasm-profiler/gasm/internal/jdk"
	"github.com/gasm-profiler/gasm/internal/regular"
	"github.com/gasm-profiler/gasm/printassembly"
)

// javaFlags are the options that gasm adds to the user's options for the command's JVMs.
//
// Options for all JVMs are in environment variables. But a JVM prints a line about each variable in which it finds
// options. So if the command is java or another tool of a JDK, options that need not reach every JVM are on its command
// line instead.
type javaFlags struct {
	// command is for the command line of a java program, or of another tool whose JDK is known. JMH passes such options
	// on to its forks.
	command []string
	// tool is for JAVA_TOOL_OPTIONS, which every JVM reads. JDK 8 does not start with an option that it does not know,
	// so the field tool has only options that JDK 8 knows, unless the command is a tool of a newer JDK.
	tool []string
	// launcher is for JDK_JAVA_OPTIONS, which the java program of JDK 9 and newer reads. It repeats the options in
	// tool, because sudo -E removes JAVA_TOOL_OPTIONS from the environment, but not JDK_JAVA_OPTIONS.
	launcher []string
}

// addTo returns an environment with the options added to JAVA_TOOL_OPTIONS and JDK_JAVA_OPTIONS.
func (f javaFlags) addTo(env []string) []string {
	return jdk.AddLauncherOptions(jdk.AddToolOptions(env, f.tool), f.launcher)
}

// addToCommand returns a command with the options added before the user's arguments. If the user sets the same option,
// the user's value is used, because it comes later. Tools such as javac take options for their JVM with -J.
func (f javaFlags) addToCommand(command []string) []string {
	words := []string{command[0]}
	for _, option := range f.command {
		if !startsJava(command) {
			option = "-J" + option
		}
		words = append(words, option)
	}
	return append(words, command[1:]...)
}

// takesOptions reports whether a command takes options for its JVM on its command line. The java program and the other
// tools of a JDK do. A script, even one named java, does not, because it may choose any JDK.
func takesOptions(command []string) bool {
	return jdk.Release(command) > 0 && (startsJava(command) || !isScript(command[0]))
}

func isScript(command string) bool {
	path, err := exec.LookPath(command)
	if err != nil {
		return false
	}
	f, _, err := regular.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 2)
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == "#!"
}

// longestOptions is the length in bytes of the longest value of JAVA_TOOL_OPTIONS that JDK 8 reads. JDK 8 ignores a
// longer value completely (OPTION_BUFFER_SIZE in arguments.cpp).
const longestOptions = 1023

// longNote returns a note if the user's and gasm's options together are too long for JDK 8, and otherwise "".
func (f javaFlags) longNote(command []string) string {
	if jdk.Release(command) >= printassembly.OldestKnown {
		return ""
	}
	for _, setting := range f.addTo(os.Environ()) {
		if value, ok := strings.CutPrefix(setting, "JAVA_TOOL_OPTIONS="); ok && len(value) > longestOptions {
			return fmt.Sprintf("JAVA_TOOL_OPTIONS has %d bytes with gasm's options in it: JVMs of JDK 8 ignore all of it, because they take only %d", len(value), longestOptions)
		}
	}
	return ""
}

// OverridingVariable looks for an environment variable of Java that overrides gasm's own options. gasm's options are in
// JAVA_TOOL_OPTIONS, and a JVM reads some other variables later. If one of these overrides an option, the JVM does not
// write its log where gasm expects it. OverridingVariable returns the variable's name, and a text about it for the
// user. The name is "" if there is no such variable.
func OverridingVariable() (name, cause string) {
	for _, later := range jdk.OptionVariables[1:] {
		if option := printassembly.Overrides(os.Getenv(later)); option != "" {
			return later, fmt.Sprintf("%s has %s, which takes the JVM's log away from gasm", later, option)
		}
	}
	return "", ""
}

// javaOptions returns all words that may be options of the command's JVM: the words of the command itself, and those in
// Java's environment variables.
func javaOptions(command []string) []string {
	words := append([]string(nil), command...)
	for _, name := range jdk.OptionVariables {
		words = append(words, strings.Fields(os.Getenv(name))...)
	}
	return words
}
