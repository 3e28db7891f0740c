package top

import "fmt"

// An Activity has the content of a JVM's performance data at one time. An unknown number is -1.
type Activity struct {
	Collectors                            []Collector
	Safepoints, SafepointNanos, SyncNanos int64
	Threads                               int64
}

// A Collector is one of a JVM's garbage collectors, with the number and the total time of its collections since the
// JVM's start.
type Collector struct {
	Name         string
	Count, Nanos int64
}

// An Event says that collections or safepoints have happened between two looks at a JVM's performance data.
type Event struct {
	MonoNanos int64 // when gasm noticed them
	PID       int
	What      string // "GC", "safepoint"
	Name      string // the name of the collector
	Count     int64
	Nanos     int64 // their total time; -1 if it is unknown
}

// String returns the event in words: "GC G1 Young Generation: 2 pauses, 12.3 ms".
func (e *Event) String() string {
	text := e.What
	if e.Name != "" {
		text += " " + e.Name
	}
	if e.Count != 1 {
		text += fmt.Sprintf(" ×%d", e.Count)
	}
	if e.Nanos >= 0 {
		text += fmt.Sprintf(" %.1f ms", float64(e.Nanos)/1e6)
	}
	return text
}

// watched is what is known about a JVM from its performance data.
type watched struct {
	known bool
	last  Activity
}

// Observe notes the present content of a JVM's performance data.
func (m *Model) Observe(pid int, monoNanos int64, a Activity) {
	j := m.jvms[pid]
	if j == nil {
		return
	}
	before, known := j.what.last, j.what.known
	j.what = watched{true, a}
	if !known {
		return
	}
	for i, c := range a.Collectors {
		if i < len(before.Collectors) && before.Collectors[i].Name == c.Name {
			m.happened(Event{MonoNanos: monoNanos, PID: pid, What: "GC", Name: c.Name,
				Count: c.Count - before.Collectors[i].Count,
				Nanos: since(c.Nanos, before.Collectors[i].Nanos)})
		}
	}
	if a.Safepoints >= 0 && before.Safepoints >= 0 {
		m.happened(Event{MonoNanos: monoNanos, PID: pid, What: "safepoint", Count: a.Safepoints - before.Safepoints,
			Nanos: since(a.SafepointNanos, before.SafepointNanos)})
	}
}

// since returns how much a counter has grown between two readings. It returns -1 if one of them is not known, or if the
// counter became smaller.
func since(now, before int64) int64 {
	if now < 0 || before < 0 || now < before {
		return -1
	}
	return now - before
}

// Pauses counts the garbage collections and the safepoints in a period of time.
type Pauses struct{ GC, Safepoints Pause }

// A Pause counts pauses of one kind. Nanos is their total time, as far as it is known.
type Pause struct{ Count, Nanos int64 }

func (p *Pauses) add(other Pauses) {
	p.GC.Count, p.GC.Nanos = p.GC.Count+other.GC.Count, p.GC.Nanos+other.GC.Nanos
	p.Safepoints.Count, p.Safepoints.Nanos =
		p.Safepoints.Count+other.Safepoints.Count, p.Safepoints.Nanos+other.Safepoints.Nanos
}

// pausesOf maps process ids to pauses. The id 0 stands for all JVMs together.
type pausesOf map[int]Pauses

func (p pausesOf) add(pid int, n Pauses) {
	for _, at := range []int{0, pid} {
		sum := p[at]
		sum.add(n)
		p[at] = sum
	}
}

func (p pausesOf) addAll(other pausesOf) {
	for pid, n := range other {
		sum := p[pid]
		sum.add(n)
		p[pid] = sum
	}
}

func (m *Model) happened(e Event) {
	if e.Count <= 0 {
		return
	}
	pause := Pause{e.Count, max(0, e.Nanos)}
	if e.What == "GC" {
		m.pauses.add(e.PID, Pauses{GC: pause})
	} else {
		m.pauses.add(e.PID, Pauses{Safepoints: pause})
	}
	m.events = append(m.events, e)
	if n := len(m.events) - maxEvents; n > 0 {
		m.events = append(m.events[:0], m.events[n:]...)
	}
}
