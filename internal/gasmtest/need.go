package gasmtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// NeedTool returns the path of a program on the PATH. If the program is missing, it skips the test. The message says
// how to get the program, for example "scripts/setup.sh installs it".
func NeedTool(tb testing.TB, name, fix string) string {
	tb.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		tb.Skipf("no %s on PATH: %s", name, fix)
	}
	return path
}

// NeedPerf skips a test if perf can't sample on this machine.
func NeedPerf(tb testing.TB) {
	tb.Helper()
	NeedTool(tb, "perf", "scripts/setup.sh installs it")
	if err := perfWorks(); err != nil {
		tb.Skipf("perf can't sample here: %v", err)
	}
}

var perfWorks = sync.OnceValue(func() error {
	return try(30*time.Second, "perf", "record", "-e", "cpu-clock:u", "-o", "/dev/null", "true")
})

// NeedNative skips a test if the kernel does not let this process sample itself with perf_event_open.
func NeedNative(tb testing.TB) {
	tb.Helper()
	if err := nativeWorks(); err != nil {
		tb.Skipf("perf_event_open is refused: %v (gasm doctor says how to fix it)", err)
	}
}

// NeedDTrace skips a test if DTrace can't sample.
func NeedDTrace(tb testing.TB) {
	tb.Helper()
	NeedTool(tb, "dtrace", "scripts/install-dtrace.sh installs it")
	if err := dtraceWorks(); err != nil {
		tb.Skipf("dtrace can't sample here: %v", err)
	}
}

// dtraceWorks runs DTrace for a moment. It allows two minutes for that, because DTrace for Linux takes seconds to end,
// or half a minute on a busy machine. If DTrace is killed before it has ended, its uprobes stay in the kernel.
var dtraceWorks = sync.OnceValue(func() error {
	return try(2*time.Minute, "dtrace", "-n", "BEGIN { exit(0); } profile-997 /arg1/ { trace(pid); }")
})

// try runs a command, and kills it if it takes too long. If the command fails, the error has its output.
func try(limit time.Duration, name string, args ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if out, err := exec.CommandContext(ctx, name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// NeedRoot skips a test that only root can run.
func NeedRoot(tb testing.TB) {
	tb.Helper()
	if os.Geteuid() != 0 {
		tb.Skip("only root can run this test")
	}
}

// NeedBenchmarks returns the path of the jar of JMH benchmarks in testdata/benchmarks.
func NeedBenchmarks(tb testing.TB) string {
	tb.Helper()
	jar := Testdata("benchmarks", "target", "benchmarks.jar")
	if _, err := os.Stat(jar); err != nil {
		tb.Skip("no benchmarks.jar: make benchmarks builds it")
	}
	return jar
}

// NeedJMHProfiler returns the path of the jar with JMH's profiler -prof gasm.
func NeedJMHProfiler(tb testing.TB) string {
	tb.Helper()
	jar := filepath.Join(filepath.Dir(Testdata()), "integrations", "jmh", "target", "gasm-jmh.jar")
	if _, err := os.Stat(jar); err != nil {
		tb.Skip("no gasm-jmh.jar: make jmh builds it")
	}
	return jar
}

// NeedTime skips a test if the tests run with -short. It is for tests that take seconds.
func NeedTime(tb testing.TB) {
	tb.Helper()
	if testing.Short() {
		tb.Skip("it takes seconds")
	}
}

// NeedNoRaceDetector skips a test if the tests run with the race detector. It is for tests that compute much with few
// goroutines, or that measure CPU time. scripts/gotest.sh runs such tests a second time, without the detector. Other
// tests of the package must run the same goroutines with the detector.
func NeedNoRaceDetector(tb testing.TB) {
	tb.Helper()
	if RaceDetector {
		tb.Skip("the race detector takes too much of its time: scripts/gotest.sh runs it without the detector, too")
	}
}

// NeedSmallDisk mounts a small file system, and returns its folder. The size is in mount's syntax ("256k"). The file
// system is unmounted after the test.
func NeedSmallDisk(tb testing.TB, size string) (dir string) {
	tb.Helper()
	dir = tb.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size="+size, "tmpfs", dir).CombinedOutput(); err != nil {
		tb.Skipf("a small file system to fill can't be mounted: %v: %s", err, out)
	}
	tb.Cleanup(func() {
		// Unmount lazily, because a process that the test left behind may still use the file system.
		if out, err := exec.Command("umount", "-l", dir).CombinedOutput(); err != nil {
			tb.Errorf("umount: %v: %s", err, out)
		}
	})
	return dir
}

// NeedSurefire copies the Maven project testdata/surefire and returns the folder of the copy. Maven can run the tests
// of the project without a network, because `make surefire` has fetched what they need.
func NeedSurefire(tb testing.TB) (dir string) {
	tb.Helper()
	NeedTime(tb)
	if _, err := os.Stat(Testdata("surefire", "target", "tested")); err != nil {
		tb.Skip("testdata/surefire was not tested yet: make surefire does it")
	}
	dir = tb.TempDir()
	for _, part := range []string{"pom.xml", "src"} {
		if out, err := exec.Command("cp", "-r", Testdata("surefire", part), dir).CombinedOutput(); err != nil {
			tb.Fatalf("copying the project: %v: %s", err, out)
		}
	}
	return dir
}

// NeedLanguages returns the folder of the Maven project testdata/languages, which has programs in Scala and Kotlin.
// They are already compiled.
func NeedLanguages(tb testing.TB) (dir string) {
	tb.Helper()
	NeedTime(tb)
	if _, err := os.Stat(Testdata("languages", "target", "compiled")); err != nil {
		tb.Skip("testdata/languages was not built yet: make languages does it")
	}
	return Testdata("languages")
}

// NeedGraal returns the path of the java of a JDK 25, and flags with which it uses the Graal compiler instead of C2.
// The compiler is written in Java, and is compiled by C1 first: it takes a few seconds until it has compiled anything.
func NeedGraal(tb testing.TB) (java string, flags []string) {
	tb.Helper()
	dir := filepath.Join(NeedLanguages(tb), "target", "graal")
	jars, err := filepath.Glob(filepath.Join(dir, "*.jar"))
	if err != nil || len(jars) == 0 {
		tb.Skip("testdata/languages was not built yet: make languages does it")
	}
	jdks := NeedEachJDK(tb, func(j JDK) bool { return j.Feature == 25 })
	return jdks[0].Java(), []string{"-XX:+UnlockExperimentalVMOptions", "-XX:+EnableJVMCI", "-XX:+UseJVMCICompiler",
		"--upgrade-module-path=" + dir}
}

// NeedBPFTrace skips a test if bpftrace can't trace.
func NeedBPFTrace(tb testing.TB) {
	tb.Helper()
	NeedTool(tb, "bpftrace", "scripts/setup.sh installs it")
	if err := bpftraceWorks(); err != nil {
		tb.Skipf("bpftrace can't trace here: %v", err)
	}
}

var bpftraceWorks = sync.OnceValue(func() error {
	return try(time.Minute, "bpftrace", "-e", "BEGIN { exit(); }")
})
