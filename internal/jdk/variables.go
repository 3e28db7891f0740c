package jdk

import (
	"slices"
	"strings"
)

// toolOptions is the variable whose options every JVM takes, however it is started.
// launcherOptions is that of the java program of JDK 9 and newer.
const toolOptions, launcherOptions = "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"

// OptionVariables are the environment variables from which a JVM takes options, in the
// order in which they count; of two options of one name the later one wins. The java
// program puts those of JDK_JAVA_OPTIONS in front of the command line's.
var OptionVariables = []string{toolOptions, launcherOptions, "_JAVA_OPTIONS"}

// AddToolOptions appends options to JAVA_TOOL_OPTIONS in an environment, behind what is
// there.
func AddToolOptions(env, options []string) []string {
	return addOptions(env, toolOptions, options, func(had, added string) string { return had + " " + added })
}

// AddLauncherOptions puts options into JDK_JAVA_OPTIONS in an environment, in front of
// what is there, so that the user's own ones count.
func AddLauncherOptions(env, options []string) []string {
	return addOptions(env, launcherOptions, options, func(had, added string) string { return added + " " + had })
}

func addOptions(env []string, variable string, options []string, join func(had, added string) string) []string {
	if len(options) == 0 {
		return env // each JVM would mention a variable that is empty
	}
	value := quoteOptions(options)
	env = slices.Clone(env)
	for i, e := range env {
		if had, ok := strings.CutPrefix(e, variable+"="); ok {
			env[i] = variable + "=" + strings.TrimSpace(join(had, value))
			return env
		}
	}
	return append(env, variable+"="+value)
}

// quoteOptions writes options as both variables have them. HotSpot takes its one apart
// at blanks (Arguments::parse_options_buffer), the java program its own
// (JLI_AddArgsFromEnvVar). Quotes hold an option with blanks together, as in a shell,
// but nothing escapes a quote.
func quoteOptions(options []string) string {
	quoted := make([]string, len(options))
	for i, o := range options {
		quoted[i] = o
		if strings.ContainsAny(o, " \t\n\v\f\r'\"") {
			quoted[i] = "'" + strings.ReplaceAll(o, "'", `'"'"'`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}
