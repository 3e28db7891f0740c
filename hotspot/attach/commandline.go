package attach

import (
	"path/filepath"
	"slices"
	"strings"
)

// valued are the options of the java command that take the next word of the command line as their value (see java
// -help).
var valued = []string{"-cp", "-classpath", "--class-path", "-p", "--module-path", "--upgrade-module-path",
	"--add-modules", "--enable-native-access", "--limit-modules", "--add-reads", "--add-exports", "--add-opens",
	"--patch-module", "--source"}

// mainOfArguments returns the main class or the jar on a JVM's command line. It returns "" if the command line does not
// name one. For example, the arguments may be in a file (@argfile), or the JVM may have been started by a launcher
// other than java, which always runs the same class.
func mainOfArguments(args []string) string {
	for i := 1; i < len(args); i++ {
		switch word := args[i]; {
		case word == "-jar" || word == "-m" || word == "--module":
			if i+1 < len(args) {
				return mainOf(args[i+1])
			}
			return ""
		case strings.HasPrefix(word, "--module="):
			return mainOf(strings.TrimPrefix(word, "--module="))
		case slices.Contains(valued, word):
			i++
		case strings.HasPrefix(word, "@"):
			return ""
		case !strings.HasPrefix(word, "-"):
			return mainOf(word)
		}
	}
	return ""
}

// classPathOfArguments returns the class path on a JVM's command line, or "" if there is none. With -jar, the jar is
// the whole class path.
func classPathOfArguments(args []string) (classPath string) {
	for i := 1; i < len(args); i++ {
		next := ""
		if i+1 < len(args) {
			next = args[i+1]
		}
		switch word := args[i]; {
		case word == "-jar":
			return next
		case word == "-m" || word == "--module":
			return classPath
		case word == "-cp" || word == "-classpath" || word == "--class-path":
			classPath = next // if several of these three options are given, the last one counts
			i++
		case strings.HasPrefix(word, "--class-path="):
			classPath = strings.TrimPrefix(word, "--class-path=")
		case slices.Contains(valued, word):
			i++
		case !strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "@"):
			return classPath
		}
	}
	return classPath
}

// mainOf returns the first word of the property sun.rt.javaCommand: the main class, module/class, or the jar. The
// folder of the jar is left out.
func mainOf(command string) string {
	main, _, _ := strings.Cut(command, " ")
	if strings.HasSuffix(main, ".jar") {
		return filepath.Base(main)
	}
	return main
}
