package names

// tools explains the programs whose main class or jar does not say what they are. The keys are the names of the classes
// and jars.
var tools = map[string]string{
	"org.codehaus.plexus.classworlds.launcher.Launcher": "Maven",
	"surefirebooter.jar":                                         "tests of Maven Surefire",
	"org.apache.maven.surefire.booter.ForkedBooter":              "tests of Maven Surefire",
	"org.gradle.launcher.daemon.bootstrap.GradleDaemon":          "Gradle's daemon",
	"worker.org.gradle.process.internal.worker.GradleWorkerMain": "Gradle's worker",
}

// Program returns a program's name. If the name does not say what the program is, an explanation follows it:
// "surefirebooter.jar (tests of Maven Surefire)".
func Program(name string) string {
	if tool := tools[name]; tool != "" {
		return name + " (" + tool + ")"
	}
	return name
}
