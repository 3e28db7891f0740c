package record

import (
	"fmt"
	"os"
	"strings"

	"github.com/gasm-profiler/gasm/internal/jdk"
	"github.com/gasm-profiler/gasm/printassembly"
)

// javaFlags are the options that the command's JVMs get, in addition to those of the user.
type javaFlags struct {
	// tool is for JAVA_TOOL_OPTIONS, which every JVM reads. It has no option that JDK 8 does not know,
	// because JDK 8 would not start with that, unless the command is a tool of a newer JDK.
	tool []string
	// launcher is for JDK_JAVA_OPTIONS, which the java program of JDK 9 and newer reads. It has all options once more,
	// because sudo -E removes JAVA_TOOL_OPTIONS, but not this variable.
	launcher []string
}

// addTo adds the options to an environment.
func (f javaFlags) addTo(env []string) []string {
	return jdk.AddLauncherOptions(jdk.AddToolOptions(env, f.tool), f.launcher)
}

// longestOptions is the length up to which JDK 8 reads JAVA_TOOL_OPTIONS, in bytes. It ignores a longer value
// altogether (OPTION_BUFFER_SIZE in arguments.cpp).
const longestOptions = 1023

// longNote says that the options of the user and of gasm together are too long for JDK 8; "" if they are not.
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

// OverridingVariable returns one of Java's environment variables whose options take the JVM's log away from gasm.
// gasm's options are at the end of JAVA_TOOL_OPTIONS, and those of the other variables come after them. name is "" when
// no variable does so. cause is a text for the user. Unsetting the variable helps.
func OverridingVariable() (name, cause string) {
	for _, later := range jdk.OptionVariables[1:] {
		if option := printassembly.Overrides(os.Getenv(later)); option != "" {
			return later, fmt.Sprintf("%s has %s, which takes the JVM's log away from gasm", later, option)
		}
	}
	return "", ""
}

// javaOptions returns all words that may be options of the command's JVM.
func javaOptions(command []string) []string {
	words := append([]string(nil), command...)
	for _, name := range jdk.OptionVariables {
		words = append(words, strings.Fields(os.Getenv(name))...)
	}
	return words
}
