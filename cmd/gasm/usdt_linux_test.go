package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/hotspot/usdt"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// needUSDT skips a test if the kernel does not allow this process to record probes.
func needUSDT(t *testing.T) {
	t.Helper()
	gasmtest.NeedNative(t)
	gasmtest.NeedTime(t)
	if _, err := usdt.Allowed(t.Context(), ""); err != nil {
		t.Skipf("USDT probes can't be recorded here: %v", err)
	}
}

// lineWith returns the number of the line in a program of testdata that contains a text.
func lineWith(t *testing.T, program, text string) int {
	t.Helper()
	source, err := os.ReadFile(gasmtest.Testdata("programs", program))
	require.NoError(t, err)
	i := slices.IndexFunc(strings.Split(string(source), "\n"), func(l string) bool { return strings.Contains(l, text) })
	require.GreaterOrEqual(t, i, 0)
	return i + 1
}

// TestUSDTAllocations checks that allocations of one line of a program are found there, and in the instruction that
// calls the JVM, whether C1 or C2 has compiled it. The user need not add any options to record the probes of a
// command.
func TestUSDTAllocations(t *testing.T) {
	t.Parallel()
	needUSDT(t)
	classPath := programs8(t, "Probed")
	line := lineWith(t, "Probed.java", "the line that allocates")
	input := filepath.Join(t.TempDir(), "input")
	require.NoError(t, os.WriteFile(input, []byte("\n\n\n"), 0o600))
	for _, j := range gasmtest.NeedJDKs(t, func(j gasmtest.JDK) bool { return j.Feature == 17 || j.Feature == 25 }) {
		t.Run(j.Name(), func(t *testing.T) {
			dir, file := filepath.Join(t.TempDir(), "capture"), filepath.Join(t.TempDir(), "report.json")
			in, err := os.Open(input)
			require.NoError(t, err)
			defer in.Close()
			cmd := exec.Command(binary, "profile", "-o", dir, "--events", "alloc,sleep,usdt:hotspot:vm-shutdown",
				"--events-from", "usdt", "--format", "json", "--report", file,
				"--", j.Java(), "-XX:Tier3BackEdgeThreshold=5000", "-cp", classPath, "Probed", "1000")
			cmd.Stdin = in
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, string(out))
			report := readReport(t, readFile(t, file))
			p := &report.Profiles[0]
			var all, there, withCode int
			for _, a := range p.Allocations {
				if a.Class != "int[]" {
					continue
				}
				all += a.Events
				if a.At == nil || a.At.Method != "Probed::allocate" || a.At.Line != line {
					continue
				}
				there += a.Events
				if a.Code != nil && strings.HasPrefix(a.Code.Text, "call") {
					withCode += a.Events
				}
				assert.Equal(t, j.Feature > 17, a.Bytes > 0, "JDK 17 does not tell of the size")
			}
			t.Logf("%d int[], %d of them in line %d, %d in a call", all, there, line, withCode)
			var lost int
			notes := strings.Join(slices.Concat(report.Capture.Notes, p.Warnings), "\n")
			if m := regexp.MustCompile(`(\d+) USDT events of JVM \d+ were lost`).FindStringSubmatch(notes); m != nil {
				lost, err = strconv.Atoi(m[1])
				require.NoError(t, err)
			}
			assert.GreaterOrEqual(t, all+lost, 1_000_000, "gasm with the race detector does not read a million a second")
			assert.Greater(t, all, 100_000)
			assert.Greater(t, float64(there), 0.9*float64(all))
			assert.Equal(t, there, withCode)
			sleeps, _ := eventsOfKind(p, "sleep")
			t.Logf("%d sleeps, %d events lost", sleeps, lost)
			assert.Positive(t, sleeps) // of 30: the recording begins later than the JVM
			text := runGasm(t, []string{"report", "--skip-asm", dir})
			assert.Regexp(t, `Probed::allocate:\d+ +int\[\], 0x[0-9a-f]+: call `, text.stdout)
			assert.Regexp(t, `usdt +hotspot:vm__shutdown`, runGasm(t, []string{"events", dir}).stdout)
		})
	}
}

// TestUSDTAttach checks that gasm attach records the probes of a running JVM, and leaves the JVM as it was before.
func TestUSDTAttach(t *testing.T) {
	t.Parallel()
	needUSDT(t)
	classPath := programs8(t, "Pauses")
	j := startJVM(t, "collections", gasmtest.NeedJava(t), "-Xmx32m", "-cp", classPath, "Pauses", "2", "forever")
	dir := filepath.Join(t.TempDir(), "capture")
	const someCollections = 300 * time.Millisecond // of CPU time
	out := attachWhileUsed(t, j.cmd.Process.Pid, someCollections, []string{"--events",
		"gc,safepoint,usdt:hotspot:vmops__*,usdt:hotspot:nosuch,usdt:hotspot:method__entry", "--events-from", "usdt",
		"-o", dir, "--skip-asm"})
	assert.Regexp(t, `Events: +\d+ GC pauses?`, out)
	assert.Regexp(t, `the\s+JVM\s+has\s+no\s+USDT\s+probes\s+hotspot:nosuch`, out)
	assert.Regexp(t, `USDT\s+reports\s+no\s+calls\s+of\s+methods\s+in\s+JVM\s+`+j.pid()+`:\s+start\s+it\s+with\s+-XX:\+DTraceMethodProbes`, out)
	checkTrace(t, dir)
	listed := runGasm(t, []string{"events", dir}).stdout
	assert.Regexp(t, `safepoint +[A-Z]\w+`, listed)
	assert.Regexp(t, `vm-operation +[A-Z]\w+`, listed)
	assert.NoFileExists(t, filepath.Join(dir, "ev-"+j.pid()+".log"))
}

// TestUSDTRefused checks what happens if the kernel refuses something. If BPF programs are forbidden, gasm gets the
// probes as perf events. If these are forbidden as well, or if the JVM has no probes, there is a report without the
// events, and a line that says why.
func TestUSDTRefused(t *testing.T) {
	needUSDT(t)
	gasmtest.NeedRoot(t)
	setpriv := gasmtest.NeedTool(t, "setpriv", "it is in util-linux")
	classPath := programs8(t, "Pauses")
	check := func(java, want string, wrap ...string) (printed string) {
		t.Helper()
		args := slices.Concat(wrap, []string{binary, "profile", "--events", "safepoint", "--events-from", "usdt",
			"--skip-asm", "--", java, "-Xmx32m", "-cp", classPath, "Pauses", "200"})
		out, err := exec.Command(args[0], args[1:]...).CombinedOutput()
		require.NoError(t, err, string(out))
		assert.Regexp(t, strings.ReplaceAll(want, " ", `\s+`), string(out))
		return string(out)
	}
	t.Setenv(blockedEnv, "bpf") // as a container's filter of system calls does
	self, err := os.Executable()
	require.NoError(t, err)
	out := check(gasmtest.NeedJava(t),
		`the kernel lets this user have no BPF program \([^)]*\): USDT probes are recorded by perf's events for uprobes instead`, self)
	require.NoError(t, os.Unsetenv(blockedEnv))
	assert.Regexp(t, `Events: +\d+ safepoints`, out)
	// If DTrace is installed, its message depends on when the JVM ends, because DTrace takes longer to begin.
	check(gasmtest.NeedJava(t), `no USDT events of JVM \d+: the kernel lets this user have no BPF program \([^)]*\)(?s:; nor by DTrace \(.+?\))?: run gasm as root, or give it the capabilities BPF and PERFMON`,
		setpriv, "--bounding-set=-sys_admin,-bpf,-perfmon", "--inh-caps=-all")
	for _, j := range gasmtest.NeedJDKs(t, func(j gasmtest.JDK) bool { return j.Feature == 8 }) {
		check(j.Java(), `no USDT events of JVM \d+: this JVM's libjvm.so was built without USDT probes`)
	}
	for _, bad := range []string{"usdt:hotspot:[", "usdt:gc__begin", "jni"} {
		from := map[bool]string{true: "log", false: "usdt"}[bad == "jni"]
		assert.Equal(t, 2, runGasm(t, []string{"profile", "--events", bad, "--events-from", from, "--", "true"}).code, bad)
	}
	sudo := runGasm(t, []string{"profile", "--sampler", "native", "--sudo", "--events", "safepoint", "--events-from",
		"usdt", "--", "true"})
	assert.Equal(t, 2, sudo.code, "--sudo is of no use here")
	assert.Contains(t, sudo.stderr, "--sudo is for dtrace; --sampler native needs no root")
}
