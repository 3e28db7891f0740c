package jdk

import (
	"slices"
	"strings"
)

// toolOptions is the variable with options for every JVM, however it is started. launcherOptions has options for the
// java program of JDK 9 and newer.
const toolOptions, launcherOptions = "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"

// OptionVariables are the environment variables from which a JVM takes options, in the order in which they are applied;
// of two options with one name, the later one wins. The java program inserts those of JDK_JAVA_OPTIONS before those of
// the command line.
var OptionVariables = []string{toolOptions, launcherOptions, "_JAVA_OPTIONS"}

// AddToolOptions appends options to JAVA_TOOL_OPTIONS in an environment, after those that are there.
func AddToolOptions(env, options []string) []string {
	return addOptions(env, toolOptions, options, func(had, added string) string { return had + " " + added })
}

// AddLauncherOptions adds options to JDK_JAVA_OPTIONS in an environment, before those that are there, so that the
// user's own options win.
func AddLauncherOptions(env, options []string) []string {
	return addOptions(env, launcherOptions, options, func(had, added string) string { return added + " " + had })
}

func addOptions(env []string, variable string, options []string, join func(had, added string) string) []string {
	if len(options) == 0 {
		return env // each JVM would print a line about an empty variable
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

// quoteOptions formats options for either variable. HotSpot splits its variable at blanks
// (Arguments::parse_options_buffer), and so does the java program with its own (JLI_AddArgsFromEnvVar). Quotes keep an
// option with blanks together, as in a shell, but nothing escapes a quote.
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
