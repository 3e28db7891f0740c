package reporttest

import (
	"strconv"

	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/history"
	"github.com/gasm-profiler/gasm/profile/vmwork"
	"github.com/gasm-profiler/gasm/profile/warmup"
)

// AddWarmUp changes the first profile: it adds what the JIT compilers did in its first JVM. It also adds a history to
// the profiles, in which that JVM was warm after 2 s.
func AddWarmUp(ps *profile.Profiles) {
	const start = 5e9
	p := &ps.Trials[0]
	pid := p.PIDs[0]
	at := func(seconds float64) int64 { return start + int64(seconds*1e9) }
	var all []event.Event
	compiled := func(seconds, millis float64, id, level int, method string, more ...event.Arg) {
		args := append([]event.Arg{{Name: "id", Value: strconv.Itoa(id)}, {Name: "level", Value: strconv.Itoa(level)}},
			more...)
		all = append(all, event.Event{PID: pid, Kind: event.Compilation, Name: method, MonoNanos: at(seconds),
			Nanos: int64(millis * 1e6), Args: args})
	}
	discarded := func(seconds float64, id int, reason string) {
		all = append(all, event.Event{PID: pid, Kind: event.Discard, Name: "any", MonoNanos: at(seconds),
			Args: []event.Arg{{Name: "id", Value: strconv.Itoa(id)}, {Name: "reason", Value: reason}}})
	}
	compiled(0.1, 0, 1, 3, "java.lang.String::hashCode")
	compiled(0.2, 1.5, 109, 4, "Workload::logs", event.Arg{Name: "size", Value: "4096"},
		event.Arg{Name: "inlined", Value: "120"})
	all = append(all, event.Event{PID: pid, Kind: event.Deopt, Name: "Workload::dot", MonoNanos: at(0.9),
		Args: []event.Arg{{Name: "compileId", Value: "109"},
			{Name: "lineNumber", Value: "20"}, {Name: "bci", Value: "13"}, {Name: "instruction", Value: "if_icmpge"},
			{Name: "reason", Value: "unstable_if"}, {Name: "action", Value: "reinterpret"}}})
	discarded(0.901, 109, "uncommon trap")
	compiled(1, 0.5, 130, 3, "Workload::logs", event.Arg{Name: "size", Value: "9000"})
	compiled(1.5, 700, 131, 4, "Workload::logs", event.Arg{Name: "size", Value: "5000"},
		event.Arg{Name: "inlined", Value: "140"})
	compiled(1.6, 250, 132, 4, "org.sample.with.a.very.LongPackage.TooBig::compileMeWhoeverWillReadThisNameInATable",
		event.Arg{Name: "failed", Value: "true"})
	discarded(1.7, 130, "not used")
	p.JIT = warmup.Collect(all, func(e *event.Event) (int, bool) { return 0, e.MonoNanos > at(1.55) }).Of(p.PIDs).Trial(0)
	p.VM = []vmwork.Share{{Work: vmwork.JIT, Counts: c(300)}, {Work: vmwork.Classes, Counts: c(60)},
		{Work: vmwork.Other, Counts: c(20)}}
	p.Interpreted = []warmup.InterpretedMethod{{Method: "Workload::main", Counts: c(60),
		Lines: []warmup.InterpretedLine{{Line: 37, Counts: c(50)}, {Counts: c(10)}}},
		{Method: "java.util.HashMap::get", Counts: c(19), Lines: []warmup.InterpretedLine{{Line: 556, Counts: c(19)}}}}
	h := history.NewBuilder()
	for ms := range int64(10_000) {
		doing := history.RanC2
		switch {
		case ms < 2000 && ms%2 == 0:
			doing = history.RanInterpreter
		case ms < 2000 || ms%50 == 0:
			doing = history.RanJIT
		}
		h.Add(pid, start+ms*1e6, doing, ms > 1000)
	}
	ps.History = h.History()
}
