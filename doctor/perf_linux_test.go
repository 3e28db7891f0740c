package doctor

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/sampler/collect/failure"
)

// TestEvents checks which event perf opens on a machine with counters, on virtual machines, and on machines that refuse
// events.
func TestEvents(t *testing.T) {
	opens := func(event string) trial { return trial{event: event} }
	refused := func(reason failure.Reason, cause, hint string) trial {
		return trial{err: &failure.RefusedError{Tool: "perf", Reason: reason, Cause: cause, Hint: hint}}
	}
	unsupported := refused(failure.ReasonUnsupportedEvent, "this machine can't sample it",
		"`perf list` names what there is")
	paranoid := refused(failure.ReasonParanoid, "it is refused", "sudo sysctl kernel.perf_event_paranoid=1")
	limit := refused(failure.ReasonLimit, "a limit is too low", "sudo sysctl kernel.perf_event_mlock_kb=8192")
	clock := opens("cpu-clock") // perf uses it in place of cycles without saying so
	check := func(virtual bool, status Status, text, todo string, trials ...trial) {
		t.Helper()
		assert.Equal(t, Finding{"perf", "events", status, text, todo}, checkEvents("perf", trials, virtual))
	}
	check(false, OK, "cycles:P, cycles, instructions, cpu-clock open", "",
		opens("cycles:P"), opens("cycles"), opens("instructions"), clock)
	check(false, Note, "cycles, instructions, cpu-clock open; not cycles:P", "",
		unsupported, opens("cycles"), opens("instructions"), clock)
	check(true, Note, "cpu-clock opens; not cycles:P, cycles, instructions: a virtual machine without a PMU. "+
		"cpu-clock works, but PCs are late where interrupts were off",
		"qemu -cpu host,pmu=on (in a cloud: a bare-metal instance)",
		clock, clock, unsupported, clock)
	check(false, Note, "cpu-clock opens; not cycles:P, cycles, instructions: no hardware counters. "+
		"cpu-clock works, but PCs are late where interrupts were off", "",
		clock, clock, unsupported, clock)
	check(false, Note, "cycles:P, cpu-clock open; not cycles, instructions: a limit is too low",
		"sudo sysctl kernel.perf_event_mlock_kb=8192",
		opens("cycles:P"), limit, limit, clock)
	check(false, Problem, "none of cycles:P, cycles, instructions, cpu-clock opens", "", paranoid, paranoid, paranoid,
		paranoid)
}

func TestOpenFiles(t *testing.T) {
	check := func(limit uint64, cpus int, status Status, text, todo string) {
		t.Helper()
		assert.Equal(t, Finding{"native", "open files", status, text, todo}, checkOpenFiles(limit, cpus))
	}
	const more = " (as root, or in /etc/security/limits.conf)"
	check(1<<20, 2, OK, "1048576 allowed: enough for a command, which takes 2 for each event, and for a running process with 524238 threads", "")
	check(4096, 128, Note, "4096 allowed: enough for a command, which takes 128 for each event, and for a running process with 31 threads", "ulimit -Hn 1048576"+more)
	check(200, 128, Problem, "200 allowed: too few for 128 CPUs, because each CPU takes one for each event",
		"ulimit -Hn 65536"+more)
	check(^uint64(0), 1, OK, "18446744073709551615 allowed: enough for a command, which takes 1 for each event, and for a running process with 1099511627676 threads", "")
}

func TestBuffers(t *testing.T) {
	check := func(buffers, cpus int, limit int64, status Status, text, todo string) {
		t.Helper()
		assert.Equal(t, Finding{"native", "buffers", status, text, todo}, checkBuffers(buffers, cpus, limit))
	}
	check(1032<<10, 2, 0, OK, "1032 KiB for 2 CPUs", "")
	check(1032<<10, 2, 1<<30, OK, "1032 KiB for 2 CPUs, in a cgroup of 1024 MiB", "")
	check(72<<10, 2, 0, Note, "72 KiB for 2 CPUs: smaller than usual, because this user may lock no more memory; samples may be lost on a busy machine",
		"sudo sysctl kernel.perf_event_mlock_kb=516")
	check(66<<20, 128, 128<<20, Note,
		"67584 KiB for 128 CPUs, in a cgroup of 128 MiB, of which they take more than a quarter",
		"raise the memory limit of the container")
}
