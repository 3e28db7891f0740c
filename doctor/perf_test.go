package doctor

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/sampler"
)

// What perf opens on a machine with counters, on virtual machines, and where it is refused.
func TestEvents(t *testing.T) {
	opens := func(event string) perfTrial { return perfTrial{event: event} }
	refused := func(reason sampler.Reason, cause, hint string) perfTrial {
		return perfTrial{err: &sampler.RefusedError{Tool: "perf", Reason: reason, Cause: cause, Hint: hint}}
	}
	unsupported := refused(sampler.ReasonUnsupportedEvent, "this machine can't sample it", "`perf list` names what there is")
	paranoid := refused(sampler.ReasonParanoid, "it is refused", "sudo sysctl kernel.perf_event_paranoid=1")
	limit := refused(sampler.ReasonLimit, "a limit is too low", "sudo sysctl kernel.perf_event_mlock_kb=8192")
	clock := opens("cpu-clock") // perf takes it in place of cycles without a word
	check := func(virtual bool, status Status, text, mend string, trials ...perfTrial) {
		t.Helper()
		assert.Equal(t, Finding{"perf", "events", status, text, mend}, checkEvents(trials, virtual))
	}
	check(false, OK, "cycles:P, cycles, instructions, cpu-clock open", "",
		opens("cycles:P"), opens("cycles"), opens("instructions"), clock)
	check(false, Note, "cycles, instructions, cpu-clock open; not cycles:P", "",
		unsupported, opens("cycles"), opens("instructions"), clock)
	check(true, Note, "cpu-clock opens; not cycles:P, cycles, instructions: a virtual machine without a PMU. "+
		"cpu-clock works, but PCs are late where interrupts were off", "qemu -cpu host,pmu=on (in a cloud: a bare-metal instance)",
		clock, clock, unsupported, clock)
	check(false, Note, "cpu-clock opens; not cycles:P, cycles, instructions: no hardware counters. "+
		"cpu-clock works, but PCs are late where interrupts were off", "",
		clock, clock, unsupported, clock)
	check(false, Note, "cycles:P, cpu-clock open; not cycles, instructions: a limit is too low", "sudo sysctl kernel.perf_event_mlock_kb=8192",
		opens("cycles:P"), limit, limit, clock)
	check(false, Problem, "none of cycles:P, cycles, instructions, cpu-clock opens", "", paranoid, paranoid, paranoid, paranoid)
}
