package profile

import (
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/profile/jvmcode"
	"github.com/gasm-profiler/gasm/profile/sites"
	"github.com/gasm-profiler/gasm/sampler"
)

// addSites adds an event of a trial to the counts of the place in the program where it happened.
func (b *Builder) addSites(t *trialCounts, e *event.Event) {
	if !sites.Counts(e) {
		return
	}
	var code jvmcode.Ref
	var pc uint64
	if e.Kind == event.Alloc {
		code, pc = b.allocator(e)
	}
	t.sites.Add(e, b.sites, code, pc)
}

// allocator returns the code that made an allocation, and the address after the allocating instruction. If that
// instruction is in a stub, the results are the stub's caller and the return address of the call. The return address is
// an argument of the event. For a stub of C1 it is the argument "caller", which comes from walking the frames. For a
// stub of C2 (OptoRuntime::_new_array_Java) it is the argument "above", which comes from the words above the stub's
// frame. See package event/usdt.
func (b *Builder) allocator(e *event.Event) (code jvmcode.Ref, pc uint64) {
	code, ok := b.jvms.Find(e.PID, &sampler.Sample{PC: e.PC - 1, MonoNanos: e.MonoNanos})
	if e.PC == 0 || !ok {
		return jvmcode.Ref{}, 0
	}
	if stub := b.jvms.List[code.JVM].Code.Blob(code.Index); stub.Kind.IsStub() {
		by := "caller"
		if strings.Contains(stub.Name, "_new_") && strings.HasSuffix(stub.Name, "_Java") {
			by = "above"
		}
		caller, err := strconv.ParseUint(e.Arg(by), 0, 64)
		if err == nil && caller > 0 {
			if calling, ok := b.jvms.Find(e.PID, &sampler.Sample{PC: caller - 1, MonoNanos: e.MonoNanos}); ok {
				return calling, caller
			}
		}
	}
	return code, e.PC
}
