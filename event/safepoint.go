package event

// UnknownSafepoint is the name of a safepoint whose reason is unknown.
const UnknownSafepoint = "safepoint"

// NameSafepoints gives a safepoint whose reason is unknown the name of the VM operation that ran in it. If several
// operations ran in it, NameSafepoints uses the longest one. It is needed for events of Flight Recorder and of USDT
// probes, where VM operations are separate events. The events must be sorted, as [Sort] does.
func NameSafepoints(events []Event) {
	type safepoint struct {
		index  int
		longer int64 // an operation must be longer than this to name the safepoint
	}
	last := map[int]safepoint{} // by JVM
	for i := range events {
		e := &events[i]
		switch e.Kind {
		case Safepoint:
			delete(last, e.PID)
			if e.Name == UnknownSafepoint {
				last[e.PID] = safepoint{i, -1}
			}
		case VMOperation:
			s, ok := last[e.PID]
			if ok && e.MonoNanos < events[s.index].EndMonoNanos() && e.Nanos > s.longer {
				events[s.index].Name = e.Name
				last[e.PID] = safepoint{s.index, e.Nanos}
			}
		}
	}
}
