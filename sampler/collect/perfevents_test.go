package collect

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/fix"
)

func TestRequest(t *testing.T) {
	check := func(named string, noCounter, clockForCycles bool, candidates ...string) {
		t.Helper()
		got := requestFor(eventsIn(named), noCounter)
		want := request{clockForCycles: clockForCycles}
		for _, list := range candidates {
			want.candidates = append(want.candidates, eventsIn(list))
		}
		assert.Equal(t, want, got, "%s, no counter: %t", named, noCounter)
	}
	const has, lacks = false, true
	check("", has, false, "cycles:P", "cycles", "cpu-clock")
	check("", lacks, true, "cpu-clock")
	check("cycles:u", has, false, "cycles:u")
	check("cycles:u", lacks, true, "cpu-clock:u")
	check("cpu-cycles:kppp", lacks, true, "cpu-clock:k")
	check("cycles:PD", lacks, true, "cpu-clock")
	check("page-faults,cycles,instructions:u", lacks, true, "page-faults,cpu-clock,instructions:u")
	check("cycles,page-faults,cpu-clock:u", lacks, true, "page-faults,cpu-clock:u")
	check("cycles,cpu-cycles", lacks, true, "cpu-clock")
	check("page-faults,cpu/cycles/,ref-cycles", lacks, false, "page-faults,cpu/cycles/,ref-cycles")
}

// TestOpenedInstead checks which events perf opens in place of those that it was asked for, according to its
// recordings. Some recordings are real, from three versions of perf; the others are made by the test.
func TestOpenedInstead(t *testing.T) {
	check := func(file, asked, want, note string) {
		t.Helper()
		p := &Perf{data: filepath.Join("testdata", "perfdata", file), events: eventsIn(asked)}
		require.NoError(t, p.readOpened(), file)
		p.describe(request{}, nil)
		assert.Equal(t, want, specsOf(p), "%s: %s", file, asked)
		assert.Equal(t, []string{note}, fix.Texts(p.notes), "%s: %s", file, asked)
	}
	const cpu = "no cycles counter (qemu: pmu=on), so cpu-clock"
	const task = "no cycles counter (qemu: pmu=on), so task-clock"
	check("perf6.1-cycles", "cycles", "cpu-clock", cpu)
	check("perf6.12-cycles", "cycles", "task-clock", task)
	check("perf7.2-cycles", "cycles", "task-clock", task)
	check("perf6.1-two-events", "cycles:Pu,page-faults", "cpu-clock:u,page-faults", cpu)
	check("perf6.12-two-events", "cycles:Pu,page-faults", "task-clock:u,page-faults", task)
	check("perf7.2-two-events", "cycles:Pu,page-faults", "task-clock:u,page-faults", task)
	check("perf6.12-two-events", "cpu/cycles/u,page-faults", "task-clock:u,page-faults", task)
	// perf opens a clock although nobody has asked for cycles.
	check("perf6.12-cycles", "instructions", "instructions,task-clock",
		"perf samples task-clock, which it was not asked for, beside or in place of instructions: name other events with --event")

	p := &Perf{data: "testdata/perfdata/perf7.2-left-out", events: eventsOf("cpu-clock", "instructions")}
	assert.ErrorIs(t, p.readOpened(), errEventsMissing)
	p.events = eventsOf("cpu-clock", "dummy") // the dummy is never in the list of the events that perf has opened
	assert.NoError(t, p.readOpened())
	p.data = "testdata/perfdata/nonexistent"
	assert.NoError(t, p.readOpened())
	assert.Equal(t, []string{"can't tell whether perf samples something else than cpu-clock,dummy: open testdata/perfdata/nonexistent: no such file or directory"}, fix.Texts(p.notes))
}

func TestPartlyOpened(t *testing.T) {
	check := func(stderr string, want ...string) {
		t.Helper()
		assert.Equal(t, want, fix.Texts(partlyOpened(stderr)))
	}
	check("")
	check("Error:\nThe instructions event is not supported.\n[ perf record: Woken up 1 times to write data ]\n")
	check("Error:\nFailure to open event 'cpu_atom/cache-misses/u' on PMU 'cpu_atom' which will be removed.\nThe cpu_atom/cache-misses/u event is not supported.\n",
		"cache-misses is not sampled on the cores of cpu_atom, which can't count it: name an event that all cores have (perf list)")
	check("Failure to open event 'a' on PMU 'b' which will be")
}
