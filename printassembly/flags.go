package printassembly

// CaptureFlags returns the options that make HotSpot (JDK 8 and newer) write what this package reads to the file named
// logFile. In the file's name, %p stands for the process id.
//
// The options are passed in JAVA_TOOL_OPTIONS, which JVMs of all releases read. A JVM that does not know an option in
// this variable does not start, so JDK 8 must know all of them. Newer JDKs ignore the options that they no longer
// know (IgnoreUnrecognizedVMOptions). JDK 8 accepts that flag only on the command line.
//
// LogVMOutput without DisplayVMOutput keeps the program's own output clean. LogCompilation would report more, but costs
// twice as much (JDK 25, javac: 38 s instead of 14–22 s). DebugNonSafepoints is set although PrintAssembly implies it,
// because without it most instructions would have no source line. PrintNMethods is for JDK 8, which prints a method's
// tier and time only with this flag; in newer JDKs PrintAssembly implies it.
//
// HotSpot prints the code of only those compiled methods that the Selection selects. The Selection must not have a
// DirectivesFile, because JDK 8 does not know the flag for it.
func CaptureFlags(logFile string, sel Selection) []string {
	return append([]string{
		"-XX:+IgnoreUnrecognizedVMOptions",
		"-XX:+UnlockDiagnosticVMOptions",
		"-XX:+DebugNonSafepoints",
		"-XX:+PrintInterpreter",
		"-XX:+PrintStubCode",
		"-XX:+PrintAdapterHandlers",
		"-XX:+LogVMOutput",
		"-XX:-DisplayVMOutput",
		"-XX:LogFile=" + logFile,
	}, sel.flags()...)
}

// DebugInfoFlags returns the options that make HotSpot record the bytecode of every instruction, not only of those at
// which it can stop a thread. All JDKs from 8 on know both options.
func DebugInfoFlags() []string {
	return []string{"-XX:+UnlockDiagnosticVMOptions", "-XX:+DebugNonSafepoints"}
}

// RefuseUnknownFlags makes a JVM refuse flags that it does not know. Without gasm the JVM would refuse them, too, and
// the user may have mistyped a flag. It must come after [CaptureFlags], because the last IgnoreUnrecognizedVMOptions
// wins (Arguments::match_special_option_and_act).
const RefuseUnknownFlags = "-XX:-IgnoreUnrecognizedVMOptions"

// QuietLog keeps JDK 21 and newer from printing a warning on stdout that hsdis is missing. JDK 8 does not
// start with this flag.
const QuietLog = "-Xlog:os=error"

// SelectingFlags returns the CaptureFlags for a [Selection] with a DirectivesFile, which JDK 9 and newer accept. If
// they come after the CaptureFlags for all code, they override those.
func SelectingFlags(logFile string, sel Selection) []string {
	return append(CaptureFlags(logFile, sel), "-XX:-PrintAssembly", "-XX:-PrintNMethods")
}

// The JDKs from OldestKnown to NewestKnown know all flags in this file. JDK 8 does not know QuietLog, nor the flag for
// a DirectivesFile.
const OldestKnown, NewestKnown = 9, 25

// OldestWithBytes is the first JDK that prints code without hsdis.
const OldestWithBytes = 14

// QuietFlags returns options that undo [CaptureFlags] before them: the JVM prints no code, and its own messages go to
// stdout again.
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
