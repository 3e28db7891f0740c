package printassembly

// CaptureFlags are the options under which HotSpot (JDK 8 and newer) writes
// what this package reads to logFile, which may hold %p for the process id.
//
// They travel in JAVA_TOOL_OPTIONS, which JVMs of any release read. One that does not
// know an option of that variable does not start, so all of these are known to JDK 8.
// Newer JDKs ignore what they no longer know (IgnoreUnrecognizedVMOptions); JDK 8 heeds
// that flag on the command line only.
//
// LogVMOutput without DisplayVMOutput keeps the program's own output clean.
// LogCompilation would tell more, but costs twice as much (JDK 25, javac: 38 s
// instead of 14–22 s). PrintAssembly implies DebugNonSafepoints, which is set all the
// same, because without it most instructions have no source line. PrintNMethods is for
// JDK 8, which tells a method's tier and time only with it; in newer JDKs PrintAssembly
// implies it.
//
// A [Selection] limits the compiled methods of which the code is printed. It must have
// no DirectivesFile: JDK 8 does not know that flag.
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

// DebugInfoFlags have HotSpot note the bytecode of every instruction, and not only of those
// at which it can stop a thread. Every JDK from 8 on knows both.
func DebugInfoFlags() []string {
	return []string{"-XX:+UnlockDiagnosticVMOptions", "-XX:+DebugNonSafepoints"}
}

// RefuseUnknownFlags behind [CaptureFlags] makes a JVM refuse a flag that it does not
// know, as it would without gasm: the user may have mistyped it. Of several such flags
// the last one counts (Arguments::match_special_option_and_act).
const RefuseUnknownFlags = "-XX:-IgnoreUnrecognizedVMOptions"

// QuietLog keeps a warning of JDK 21 and newer off stdout, that there is no hsdis. JDK 8
// does not start with it.
const QuietLog = "-Xlog:os=error"

// SelectingFlags are the CaptureFlags for a [Selection] with a DirectivesFile, which is
// for JDK 9 and newer. They may come behind the CaptureFlags of all code, and undo these.
func SelectingFlags(logFile string, sel Selection) []string {
	return append(CaptureFlags(logFile, sel), "-XX:-PrintAssembly", "-XX:-PrintNMethods")
}

// The JDKs from OldestKnown to NewestKnown have all of these flags. JDK 8 lacks those
// that come behind CaptureFlags.
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
