package doctor

import (
	"bytes"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/internal/layout"
)

// laptop is the report of a machine with many kinds of trouble, none of which prevents a
// profile.
func laptop() *Report {
	const jdk11, openJ9 = "jdk /usr/lib/jvm/java-11-openjdk-amd64", "jdk /opt/ibm-semeru-21"
	return &Report{CanProfile: true, Sampler: "native", Event: "cycles:P", Checks: []Finding{
		{"system", "os", OK, "Ubuntu 24.04.3 LTS, Linux 6.8.0-87-generic, x86_64", ""},
		{"native", "sampling", OK, "samples cycles:P; a busy process gave 148 samples", ""},
		{"native", "events", OK, "cycles:P, cycles, instructions, cpu-clock open", ""},
		{"native", "paranoid", Note, "kernel.perf_event_paranoid is 2: users may sample their processes, outside of the kernel; " +
			"kernel samples are not visible", "sudo sysctl kernel.perf_event_paranoid=1"},
		{"native", "capabilities", OK, "none of CAP_PERFMON, CAP_SYS_ADMIN, CAP_BPF", ""},
		{"perf", "found", OK, "/usr/bin/perf, version 6.8.12", ""},
		{"dtrace", "found", Note, "not on PATH; not needed, gasm samples without it", "sudo apt install dtrace"},
		{jdk11, "version", OK, "11.0.28+6-post-Ubuntu, Ubuntu (PATH, JAVA_HOME)", ""},
		{jdk11, "code", Note, "names only, no instructions: JDK 8 to 13 need hsdis for these",
			"sudo curl -fLo /usr/lib/jvm/java-11-openjdk-amd64/lib/server/hsdis-amd64.so https://builds.shipilev.net/hsdis/hsdis-amd64.so"},
		{jdk11, "hsdis", Note, "/usr/lib/x86_64-linux-gnu/hsdis-amd64.so lacks decode_instructions_virtual: HotSpot does not use it", ""},
		{openJ9, "version", OK, "21.0.5+11-LTS, IBM Corporation", ""},
		{openJ9, "code", Note, "Openj9 is not HotSpot: its methods have neither names nor code in a profile",
			"sudo apt install default-jdk-headless"},
		{"environment", "java options", Problem, "_JAVA_OPTIONS has -XX:LogFile=/x, which takes the JVM's log away from gasm",
			"unset _JAVA_OPTIONS"},
		{"environment", "temp folder", OK, "/tmp, 12.1 GiB free, in memory (tmpfs)", ""},
	}}
}

// refused is the report of a machine without perf.
func refused() *Report {
	const hint = "sudo apt install linux-tools-common linux-tools-6.8.0-87-generic"
	return &Report{Cause: "perf: not on PATH", Fix: hint, Checks: []Finding{{"perf", "found", Problem, "not on PATH",
		hint}}}
}

func TestText(t *testing.T) {
	cases := []struct {
		name   string
		report *Report
		look   layout.Look
	}{
		{"unicode", laptop(), layout.Look{Width: 100}},
		{"ascii", laptop(), layout.Look{Width: 100, ASCII: true}},
		{"width60", laptop(), layout.Look{Width: 60}},
		{"color", refused(), layout.Look{Color: true}},
		{"refused", refused(), layout.Look{ASCII: true}},
		{"refused-width60", refused(), layout.Look{Width: 60}},
	}
	require.NotEmpty(t, cases)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var b bytes.Buffer
			require.NoError(t, WriteText(&b, c.report, c.look))
			gasmtest.Golden(t, c.name+".golden", b.Bytes())
		})
	}
}

func TestVerdict(t *testing.T) {
	assert.Equal(t, "gasm can profile here with --sudo: dtrace.",
		(&Report{CanProfile: true, Sampler: "dtrace", Sudo: true}).Verdict())
	assert.Equal(t, "gasm can't profile here: no JDK here prints its code.",
		(&Report{Cause: "no JDK here prints its code"}).Verdict())
}

func TestJSON(t *testing.T) {
	check := func(want *Report) {
		t.Helper()
		var b bytes.Buffer
		require.NoError(t, WriteJSON(&b, want))
		assert.Equal(t, want, readReport(t, b.Bytes()))
	}
	check(laptop())
	check(refused())
	check(&Report{CanProfile: true, Sampler: "dtrace", Sudo: true, Checks: []Finding{}})
	var b bytes.Buffer
	require.NoError(t, WriteJSON(&b, &Report{}))
	assert.Contains(t, b.String(), `"checks": []`)
}

// TestJudge checks which findings decide whether a profile can be made, and what to fix first.
func TestJudge(t *testing.T) {
	perf := samplerResult{works: true, event: "cycles"}
	noPerf := samplerResult{cause: "perf: not on PATH", fix: "install perf"}
	dtrace := samplerResult{works: true, sudo: true}
	good := []jdkResult{{}, {works: true}}
	native := samplerResult{works: true, event: "cycles:P"}
	noNative := samplerResult{cause: "native: blocked", fix: "docker run"}
	check := func(native, perf, dtrace samplerResult, jdks []jdkResult, temp Finding, want string) {
		t.Helper()
		var r Report
		r.judge(triedTools{native: native, perf: perf, dtrace: dtrace, jdks: jdks}, Finding{}, temp)
		assert.Contains(t, r.Verdict(), want)
		assert.Equal(t, r.CanProfile, r.Cause == "")
	}
	check(native, perf, dtrace, good, Finding{}, "gasm can profile here: native, cycles:P.")
	check(noNative, perf, dtrace, good, Finding{}, "gasm can profile here: perf, cycles.")
	check(noNative, noPerf, dtrace, good, Finding{}, "gasm can profile here with --sudo: dtrace.")
	if runtime.GOOS == "linux" {
		check(noNative, noPerf, samplerResult{}, good, Finding{},
			"gasm can't profile here: native: blocked; first: docker run")
	}
	check(native, perf, dtrace, nil, Finding{}, "gasm can't profile here: there is no JDK; first: ")
	check(native, perf, dtrace, good[:1], Finding{}, "no JDK here prints its code; first: ")
	check(native, perf, dtrace, good, Finding{Status: Problem, Text: "full", Fix: "make room"}, "full; first: make room")
}

// Paths, versions and the output of other programs can contain any text.
func FuzzHostileText(f *testing.F) {
	for _, text := range []string{"", "\x1b]0;pwned\x07", "\u009b31m", "two\nlines\r\t", "\u202egnp.exe\u2066",
		"\xff\u2028", "日本😀"} {
		f.Add(text, 100)
	}
	f.Fuzz(func(t *testing.T, text string, width int) {
		for _, r := range []*Report{laptop(), refused()} {
			gasmtest.Inject(&r.Cause, text)
			gasmtest.Inject(&r.Fix, text)
			for i := range r.Checks {
				c := &r.Checks[i]
				for _, s := range []*string{&c.Area, &c.Name, &c.Text, &c.Fix} {
					gasmtest.Inject(s, text)
				}
			}
			for _, look := range []layout.Look{{Color: true}, {ASCII: true, Width: max(width%200, 20)}} {
				var b bytes.Buffer
				require.NoError(t, WriteText(&b, r, look))
				gasmtest.TerminalText(t, b.String(), look.Color)
			}
			var b bytes.Buffer
			require.NoError(t, WriteJSON(&b, r))
			gasmtest.TerminalText(t, b.String(), false)
		}
	})
}
