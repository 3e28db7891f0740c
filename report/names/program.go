package names

// tools has explanations for main classes and jars whose names say little about the program. The keys are these names.
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
