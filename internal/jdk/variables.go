package jdk

import (
	"slices"
	"strings"
)

// toolOptions is an environment variable whose options apply to every JVM, no matter how the JVM is
// started. The options in the variable launcherOptions apply only to the java program of JDK 9 and
// newer.
const toolOptions, launcherOptions = "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"

// OptionVariables are the environment variables from which a JVM takes options, in the order in
// which it applies them. If two options have the same name, the later one wins. The options of the
// command line come after JDK_JAVA_OPTIONS and before _JAVA_OPTIONS.
var OptionVariables = []string{toolOptions, launcherOptions, "_JAVA_OPTIONS"}

// AddToolOptions returns a copy of an environment in which options are added to JAVA_TOOL_OPTIONS, after the options
// that the variable already has.
func AddToolOptions(env, options []string) []string {
	return addOptions(env, toolOptions, options, func(had, added string) string { return had + " " + added })
}

// AddLauncherOptions returns a copy of an environment in which options are added to JDK_JAVA_OPTIONS. They come before
// the options that the variable already has, so that the user's own options win.
func AddLauncherOptions(env, options []string) []string {
	return addOptions(env, launcherOptions, options, func(had, added string) string { return added + " " + had })
}

func addOptions(env []string, variable string, options []string, join func(had, added string) string) []string {
	if len(options) == 0 {
		return env // with an empty variable, each JVM would print a line about it
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

// quoteOptions formats options for JAVA_TOOL_OPTIONS or JDK_JAVA_OPTIONS. HotSpot splits the first variable at blanks
// (Arguments::parse_options_buffer), and the java program splits the second one in the same way
// (JLI_AddArgsFromEnvVar). Quotes keep an option with blanks together, as in a shell. A quote can't be escaped, so a
// single quote is put into double quotes.
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
