package record

import (
	"fmt"
	"os"
	"strings"

	"github.com/gasm-profiler/gasm/internal/jdk"
	"github.com/gasm-profiler/gasm/printassembly"
)

// javaFlags are the options that the command's JVMs get, beside those of the user.
type javaFlags struct {
	// tool is for JAVA_TOOL_OPTIONS, which every JVM reads. One of JDK 8 does not start
	// if there is an option that it does not know, so there is none.
	tool []string
	// launcher is for JDK_JAVA_OPTIONS, which the java program of JDK 9 and newer reads.
	// It has all options once more: sudo -E takes JAVA_TOOL_OPTIONS away, but not this one.
	launcher []string
}

// addTo adds the options to an environment.
func (f javaFlags) addTo(env []string) []string {
	return jdk.AddLauncherOptions(jdk.AddToolOptions(env, f.tool), f.launcher)
}

// longestOptions is how many bytes of JAVA_TOOL_OPTIONS JDK 8 takes. It ignores all of a
// longer one (OPTION_BUFFER_SIZE in arguments.cpp).
const longestOptions = 1023

// longNote says that options of the user's and those of gasm are too long for JDK 8.
func (f javaFlags) longNote(command []string) string {
	if jdk.Release(command) >= printassembly.OldestKnown {
		return ""
	}
	for _, setting := range f.addTo(os.Environ()) {
		if value, ok := strings.CutPrefix(setting, "JAVA_TOOL_OPTIONS="); ok && len(value) > longestOptions {
			return fmt.Sprintf("JAVA_TOOL_OPTIONS has %d bytes with gasm's options in it: JVMs of JDK 8 ignore all of it, as they take %d", len(value), longestOptions)
		}
	}
	return ""
}

// OverridingVariable finds one of Java's variables whose options take the JVM's log
// away from gasm. gasm's options are at the end of JAVA_TOOL_OPTIONS, and those of the
// other variables come after them. name is "" when no variable does so; cause is what
// to tell the user, and to unset the variable is what helps.
func OverridingVariable() (name, cause string) {
	for _, later := range jdk.OptionVariables[1:] {
		if option := printassembly.Overrides(os.Getenv(later)); option != "" {
			return later, fmt.Sprintf("%s has %s, which takes the JVM's log away from gasm", later, option)
		}
	}
	return "", ""
}

// javaOptions are all words that may be options of the command's JVM.
func javaOptions(command []string) []string {
	words := append([]string(nil), command...)
	for _, name := range jdk.OptionVariables {
		words = append(words, strings.Fields(os.Getenv(name))...)
	}
	return words
}
