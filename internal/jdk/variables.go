package jdk

import (
	"slices"
	"strings"
)

// toolOptions is the variable whose options every JVM takes, however it is started.
const toolOptions = "JAVA_TOOL_OPTIONS"

// OptionVariables are the environment variables from which a JVM takes options, in the
// order in which they count; of two options of one name the later one wins. The java
// program puts those of JDK_JAVA_OPTIONS in front of the command line's.
var OptionVariables = []string{toolOptions, "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"}

// AddToolOptions appends options to JAVA_TOOL_OPTIONS in an environment, behind what is
// there.
func AddToolOptions(env, options []string) []string {
	if len(options) == 0 {
		return env // each JVM would mention a variable that is empty
	}
	const name = toolOptions + "="
	value := quoteOptions(options)
	env = slices.Clone(env)
	for i, e := range env {
		if had, ok := strings.CutPrefix(e, name); ok {
			env[i] = name + strings.TrimSpace(had+" "+value)
			return env
		}
	}
	return append(env, name+value)
}

// quoteOptions writes options as JAVA_TOOL_OPTIONS has them. HotSpot takes the
// variable apart at blanks (Arguments::parse_options_buffer). Quotes hold an option
// with blanks together, as in a shell, but nothing escapes a quote.
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
