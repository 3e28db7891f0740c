package collect

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/internal/fix"
	"github.com/gasm-profiler/gasm/sampler/collect/collecttest"
)

// TestPerfNotes runs StartPerf with a fake perf for each of several machines. It writes a header of perf.data, and
// confirms that it samples.
func TestPerfNotes(t *testing.T) {
	// perf 6.1 with kernel.kptr_restrict=2.
	const restricted = `WARNING: Kernel address maps (/proc/{kallsyms,modules}) are restricted,
check /proc/sys/kernel/kptr_restrict and /proc/sys/kernel/perf_event_paranoid.

Samples in kernel functions may not be resolved if a suitable vmlinux
file is not found in the buildid cache or in the vmlinux path.
`
	const noCycles = "no cycles counter (qemu: pmu=on), so cpu-clock"
	const noKernel = "kernel samples are not visible: sudo sysctl kernel.perf_event_paranoid=1"
	const late = "PCs may be some instructions late: sampled cycles, because there is no event cycles:P"
	cyclesCounted(t)

	check := func(asked, stderr string, opened []attr, want string, notes ...string) {
		t.Helper()
		dir := t.TempDir()
		for name, content := range map[string]string{"header": string(perfData("", append(opened, attrDummy)...)),
			"stderr": stderr} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		// This perf does not know :P, like perf before 4.6.
		collecttest.FakeTool(t, "perf", `for a; do
			case $last in -o) out=$a;; esac
			case $a in *:P) printf "event syntax error: '%s'\n" "$a" >&2; exit 129;; esac
			last=$a
			done
			cat '`+dir+`/stderr' >&2
			cp '`+dir+`/header' "$out"
			read -r enable <&3 && [ "$enable" = enable ] && printf 'ack\n\0' >&4
			exec sleep 1000`)
		p := start(t, Options{PID: os.Getpid(), Dir: dir, Events: eventsIn(asked)})
		// When perf has ended, all of its stderr has arrived.
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
		assert.Equal(t, want, specsOf(p), asked)
		assert.Equal(t, notes, fix.Texts(p.Notes()), asked)
	}
	check("cycles", "", []attr{attrCycles}, "cycles")
	check("", "", []attr{attrCycles}, "cycles", late)
	check("", "", []attr{attrClock}, "cpu-clock", noCycles)
	check("cycles", "", []attr{attrClock}, "cpu-clock", noCycles)
	check("cpu-cycles:pp,instructions", "", []attr{attrClock, {config: 1}}, "cpu-clock,instructions", noCycles)
	check("cycles,cpu-clock", "", []attr{attrCycles, attrClock}, "cycles,cpu-clock")
	check("cycles,cpu-clock", "", []attr{attrClock, attrClock}, "cpu-clock,cpu-clock", noCycles)
	check("cpu-clock,task-clock", "", []attr{attrClock, attrTaskClock}, "cpu-clock,task-clock")
	// On a hybrid CPU, cycles is a separate event for each kind of core.
	hybrid := []attr{{kind: 0, config: 4 << 32}, {kind: 0, config: 10 << 32}}
	check("cycles", "", hybrid, "cycles")
	// According to its sources, perf 7.2 prints this if no CPU of a kind was available.
	check("cycles,cache-misses", "Error:\nFailure to open event 'cpu_atom/cache-misses/' on PMU 'cpu_atom' which will be removed.\n",
		append(hybrid, attr{config: 4<<32 | 3}), "cycles,cache-misses",
		"cache-misses is not sampled on the cores of cpu_atom, which can't count it: name an event that all cores have (perf list)")
	userOnly := func(a attr) []attr { a.userOnly = true; return []attr{a} }
	check("cycles", "", userOnly(attrCycles), "cycles", noKernel)
	check("cycles:u", "", userOnly(attrCycles), "cycles:u")
	check("cycles", restricted, []attr{attrCycles}, "cycles",
		"kernel functions have no names: sudo sysctl kernel.kptr_restrict=0")
	check("cycles", restricted, userOnly(attrCycles), "cycles", noKernel)
}
