package printassembly

// CaptureFlags are the options under which HotSpot (JDK 8 and newer) writes
// what this package reads to logFile, which may hold %p for the process id.
//
// LogVMOutput without DisplayVMOutput keeps the program's own output clean.
// LogCompilation would tell more, but costs twice as much (JDK 25, javac: 38 s
// instead of 14–22 s). PrintAssembly implies DebugNonSafepoints, which is set all the
// same, because without it most instructions have no source line. PrintNMethods is for
// JDK 8, which tells a method's tier and time only with it; in newer JDKs PrintAssembly
// implies it.
//
// A [Selection] limits the compiled methods of which the code is printed.
//
// With lenient, the JVM ignores flags that it does not have instead of refusing to
// start. It then ignores flags that the user mistyped too, so this is for JDKs that are
// older or newer than the known ones; see [OldestKnown].
func CaptureFlags(logFile string, lenient bool, sel Selection) []string {
	flags := []string{
		"-XX:+UnlockDiagnosticVMOptions",
		"-XX:+DebugNonSafepoints",
		"-XX:+PrintInterpreter",
		"-XX:+PrintStubCode",
		"-XX:+PrintAdapterHandlers",
		"-XX:+LogVMOutput",
		"-XX:-DisplayVMOutput",
		"-XX:LogFile=" + logFile,
		"-Xlog:os=error", // JDK 25 warns on stdout that there is no hsdis
	}
	if lenient {
		flags = append([]string{"-XX:+IgnoreUnrecognizedVMOptions"}, flags...)
	}
	return append(flags, sel.flags()...)
}

// The JDKs from OldestKnown to NewestKnown have all of these flags. JDK 8 lacks
// -Xlog.
const OldestKnown, NewestKnown = 9, 25

// OldestWithBytes is the first JDK that prints code without hsdis.
const OldestWithBytes = 14

// QuietFlags behind [CaptureFlags] undo them: the JVM prints no code, and its
// own messages go to stdout again.
func QuietFlags() []string {
	return []string{
		"-XX:-PrintAssembly",
		"-XX:-PrintNMethods",
		"-XX:-LogCompilation",
		"-XX:-PrintCompilation",
		"-XX:-PrintInterpreter",
		"-XX:-PrintStubCode",
		"-XX:-PrintAdapterHandlers",
		"-XX:-LogVMOutput",
		"-XX:+DisplayVMOutput",
	}
}
