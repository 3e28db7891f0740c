package collect

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/internal/fix"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/sampler/collect/collecttest"
	"github.com/gasm-profiler/gasm/sampler/collect/failure"
)

// cyclesCounted makes gasm believe that this machine has a counter of cycles. Then gasm leaves the choice of a clock
// to perf, and the test sees what perf chooses.
func cyclesCounted(t *testing.T) {
	old := noCyclesCounter
	noCyclesCounter = func() bool { return false }
	t.Cleanup(func() { noCyclesCounter = old })
}

// TestPerfTellsWhatItSamples checks that the user learns what is sampled, whatever this perf samples on this machine.
// It does so without an event from the user, with cycles, and with cycles if gasm does not know that they can't be
// counted.
func TestPerfTellsWhatItSamples(t *testing.T) {
	gasmtest.NeedPerf(t)
	check := func(asked string) {
		t.Helper()
		x := collecttest.Hold(t, collecttest.Busy)
		p := start(t, Options{PID: x.PID(), Events: eventsIn(asked)})
		x.Release(t)
		x.Works(t)
		if err := p.Stop(); err != nil {
			t.Fatal(err)
		}
		samples := recorded(t, p)
		if len(samples) == 0 {
			t.Fatalf("%q: no samples", asked)
		}
		sampled := samples[0].Event
		t.Logf("asked for %q, sampled %s, notes %q", asked, sampled, p.Notes())
		if told := p.Events()[0].Name; told != sampled {
			t.Errorf("asked for %q: told of %s, sampled %s", asked, told, sampled)
		}
		_, noted := failure.LineWith(strings.Join(fix.Texts(p.Notes()), "\n"),
			"no cycles counter (qemu: pmu=on), so "+sampled)
		if noted != strings.HasSuffix(sampled, "-clock") {
			t.Errorf("asked for %q: sampled %s, notes %q", asked, sampled, p.Notes())
		}
	}
	check("")
	check("cycles:u")
	cyclesCounted(t)
	check("")
	check("cycles:u")
}

// TestPerfWithoutCounter checks that perf, in each version, samples cpu-clock on a machine without a counter of
// cycles.
func TestPerfWithoutCounter(t *testing.T) {
	gasmtest.NeedPerf(t)
	old := noCyclesCounter
	noCyclesCounter = func() bool { return true }
	defer func() { noCyclesCounter = old }()
	check := func(asked, want string) {
		t.Helper()
		p := start(t, Options{PID: collecttest.Hold(t, collecttest.Busy).PID(), Events: eventsIn(asked)})
		assert.Equal(t, want, specsOf(p), asked)
		if notes := p.Notes(); len(notes) != 1 || !strings.HasPrefix(notes[0].Text,
			"no cycles counter (qemu: pmu=on), so cpu-clock") {
			t.Errorf("%s: notes %q", asked, notes)
		}
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
	}
	check("", "cpu-clock")
	check("cycles:Pu,page-faults", "cpu-clock:u,page-faults")
	check("cycles,cpu-clock:u", "cpu-clock:u")
}

func TestPerfEvents(t *testing.T) {
	gasmtest.NeedPerf(t)
	check := func(asked ...string) {
		t.Helper()
		p := start(t, Options{PID: collecttest.Hold(t, collecttest.Busy).PID(), Events: eventsOf(asked...)})
		assert.Equal(t, eventsOf(asked...), p.Events())
		assert.Empty(t, p.Notes(), asked)
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
	}
	check("cpu-clock:u")
	check("task-clock:u")
	check("cpu-clock:u", "page-faults:u")
}
