package top

import (
	"cmp"
	"math"
	"slices"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/threads"
)

// A Mode says which samples a picture shows.
type Mode struct {
	Seconds  int  // the last seconds; 0 for all since the start
	Decaying bool // the older a sample, the less it counts
}

// Last returns the Mode for the samples of the given number of last seconds.
func Last(seconds int) Mode { return Mode{Seconds: seconds} }

// SinceStart is the Mode for all samples. Decaying is the Mode in which a sample counts half as much after halfLife
// seconds, a quarter after twice that time, and so on.
var (
	SinceStart = Mode{}
	Decaying   = Mode{Decaying: true}
)

const halfLife = 5

// A Picture is a state of a Model. Its tables are computed when they are asked for, and only by the goroutine that
// calls the Model's methods.
type Picture struct {
	Mode     Mode
	Head     Head
	Total    float64 // number of samples; in a decaying picture, older ones count less
	Recent   float64 // number of samples of the last second
	JVMs     []JVMState
	Events   []Event // oldest first
	MonoTime int64   // the time of its last samples, or of the end of the last JVM

	m       *Model
	tree    *callstack.Tree
	entries []entry
	pauses  pausesOf
	jvms    map[int]jvmHead
}

// A jvmHead is the part of a Head that differs between JVMs.
type jvmHead struct {
	load, mean Load
	history    []Load
}

// An entry has the samples of a key.
type entry struct {
	key
	count, now float64 // all samples, and those of the last second
}

// A Head is what the head of the view shows.
type Head struct {
	Load    Load    // of the last second, in processors
	Mean    Load    // over the time of the picture
	History []Load  // one for each second, oldest first
	Seconds float64 // the time that the picture covers
	Pauses  Pauses  // in that time; for a decaying picture, in that many of the last seconds
	Lost    int64   // samples that were lost since the start
	Cost    float64 // CPU time of gasm itself, in processors
	Hertz   int
	Counter string // the name of the sampler's counter: "cpu-clock"
}

// A JVMState is a JVM with the content of its performance data.
type JVMState struct {
	JVM
	Known    bool // its performance data are known
	Activity Activity
	Load     Load // of the last second
}

// Picture returns a Picture of the Model's present state.
func (m *Model) Picture(mode Mode) *Picture {
	p := &Picture{Mode: mode, m: m, tree: m.tree, MonoTime: m.shownTick}
	sums := map[key]entry{}
	add := func(k key, n float64) {
		e := sums[k]
		e.count += n
		sums[k] = e
		p.Total += n
	}
	last := len(m.buckets) - 1
	switch {
	case mode.Decaying:
		for i := range m.buckets[max(0, last+1-leastRing):] {
			b := &m.buckets[max(0, last+1-leastRing)+i]
			weight := math.Exp2(-float64(min(last, leastRing-1)-i) / halfLife)
			for k, n := range b.counts {
				add(k, weight*float64(n))
			}
			p.Head.Seconds += weight * b.seconds
		}
		p.pauses = m.lastPauses(p.Head.Seconds)
	case mode.Seconds == 0:
		for k, n := range m.all {
			add(k, n)
		}
		p.Head.Seconds = m.seconds
		p.pauses = pausesOf{}
		p.pauses.addAll(m.allPauses)
		p.pauses.addAll(m.pauses)
	default:
		for i := range m.buckets[max(0, last+1-mode.Seconds):] {
			b := &m.buckets[max(0, last+1-mode.Seconds)+i]
			for k, n := range b.counts {
				add(k, float64(n))
			}
			p.Head.Seconds += b.seconds
		}
		p.pauses = m.lastPauses(p.Head.Seconds)
	}
	if last >= 0 {
		p.Recent = float64(m.buckets[last].total)
		for k, n := range m.buckets[last].counts {
			e := sums[k]
			e.now = float64(n)
			sums[k] = e
		}
	}
	p.entries = make([]entry, 0, len(sums))
	for k, e := range sums {
		e.key = k
		p.entries = append(p.entries, e)
	}
	p.head(m)
	return p
}

// lastPauses returns the pauses in the given number of last seconds.
func (m *Model) lastPauses(seconds float64) pausesOf {
	sum := pausesOf{}
	sum.addAll(m.pauses)
	for i := len(m.buckets) - 1; i >= 0 && seconds > 1e-6; i-- {
		sum.addAll(m.buckets[i].pauses)
		seconds -= m.buckets[i].seconds
	}
	return sum
}

func (p *Picture) head(m *Model) {
	h := &p.Head
	h.History = slices.Clone(m.history)
	h.Lost, h.Cost, h.Hertz, h.Counter = m.lost, m.cost, m.hertz, m.counter
	if n := len(m.history); n > 0 {
		h.Load = m.history[n-1]
	}
	h.Pauses = p.pauses[0]
	perJVM := map[int]*Load{}
	means := map[int]*Load{}
	for i := range p.entries {
		e := &p.entries[i]
		t := &m.threads[e.thread]
		h.Mean.add(t.Kind, p.Processors(e.count))
		if perJVM[t.PID] == nil {
			perJVM[t.PID], means[t.PID] = &Load{}, &Load{}
		}
		means[t.PID].add(t.Kind, p.Processors(e.count))
		if n := len(m.buckets); n > 0 && m.buckets[n-1].seconds > 0 && m.hertz > 0 {
			perJVM[t.PID].add(t.Kind, e.now/(float64(m.hertz)*m.buckets[n-1].seconds))
		}
	}
	p.jvms = map[int]jvmHead{}
	for _, pid := range m.order {
		j := m.jvms[pid]
		if j.Ended && perJVM[pid] == nil && len(m.order) > 1 {
			continue
		}
		s := JVMState{JVM: j.JVM, Known: j.what.known, Activity: j.what.last}
		own := jvmHead{history: slices.Clone(j.history)}
		if perJVM[pid] != nil {
			s.Load, own.mean = *perJVM[pid], *means[pid]
		}
		own.load = s.Load
		p.jvms[pid] = own
		p.JVMs = append(p.JVMs, s)
	}
	p.Events = slices.Clone(m.events)
}

// HeadOf returns the head for one JVM, or for all if pid is 0. Lost and Cost are always those of all JVMs together.
func (p *Picture) HeadOf(pid int) Head {
	h := p.Head
	if pid != 0 {
		own := p.jvms[pid]
		h.Load, h.Mean, h.History, h.Pauses = own.load, own.mean, own.history, p.pauses[pid]
	}
	return h
}

// JVM returns a JVM of the picture.
func (p *Picture) JVM(pid int) (JVMState, bool) {
	i := slices.IndexFunc(p.JVMs, func(j JVMState) bool { return j.PID == pid })
	if i < 0 {
		return JVMState{}, false
	}
	return p.JVMs[i], true
}

// Processors converts a number of samples to CPU time, in processors.
func (p *Picture) Processors(samples float64) float64 {
	if p.Head.Hertz == 0 || p.Head.Seconds == 0 {
		return 0
	}
	return samples / (float64(p.Head.Hertz) * p.Head.Seconds)
}

// A Scope limits the rows of a table to a JVM, a thread or both. The zero Scope includes all rows.
type Scope struct {
	PID    int    // 0 for all JVMs
	TID    int    // 0 for all threads
	Thread string // the thread's name, for people
}

// in reports whether an entry is in the scope.
func (p *Picture) in(e *entry, s Scope) bool {
	t := &p.m.threads[e.thread]
	return (s.PID == 0 || t.PID == s.PID) && (s.TID == 0 || t.TID == s.TID)
}

// Amount is the number of samples of a row.
type Amount struct {
	Count, Now float64 // in the whole picture, and in the last second
}

func (a *Amount) add(e *entry) {
	a.Count += e.count
	a.Now += e.now
}

// Share returns which part of the picture's samples the amount is, from 0 to 1, and which part of the last second's
// samples.
func (p *Picture) Share(a Amount) (all, now float64) {
	if p.Total > 0 {
		all = a.Count / p.Total
	}
	if p.Recent > 0 {
		now = a.Now / p.Recent
	}
	return all, now
}

// ScopeTotal returns the samples in a scope.
func (p *Picture) ScopeTotal(s Scope) (sum Amount) {
	for i := range p.entries {
		if e := &p.entries[i]; p.in(e, s) {
			sum.add(e)
		}
	}
	return sum
}

// where returns the method or function of an entry, and the kind of its code: "c2, level 4", "interpreter",
// "libjvm.so".
func (p *Picture) where(e *entry) (name, source string) {
	if e.code == nil {
		f := p.m.functions[e.function]
		return cmp.Or(f.Symbol, "(no name)"), cmp.Or(f.Module, "unknown")
	}
	if e.code.Kind == printassembly.Interpreter {
		if f, _ := p.tree.Frame(e.stack); f != nil && f.Kind == callstack.Interpreted {
			return f.Name, e.code.Source
		}
	}
	return e.code.Name, e.code.Source
}

// frames calls yield with the methods and functions of an entry, the innermost first. line is 0 if it is unknown.
func (p *Picture) frames(e *entry, yield func(name string, line int) bool) {
	interpreted := false
	switch {
	case e.code == nil || !e.code.Kind.Java():
		name, _ := p.where(e)
		f, _ := p.tree.Frame(e.stack)
		interpreted = f != nil && f.Kind == callstack.Interpreted && e.code != nil && e.code.Kind == printassembly.Interpreter
		line := 0
		if interpreted {
			line = max(0, f.Line)
		}
		if !yield(name, line) {
			return
		}
	default:
		for _, f := range p.m.chain(e.code, e.pc) {
			if !yield(f.Method, f.Line) {
				return
			}
		}
	}
	for f := range p.tree.Frames(e.stack) {
		if interpreted {
			interpreted = false
			continue
		}
		if f.Kind.Mark() {
			continue
		}
		if !yield(cmp.Or(f.Name, f.Module, f.Kind.String()), max(0, f.Line)) {
			return
		}
	}
}

// kindName returns the short name of a kind of threads.
func kindName(kind string) string {
	switch kind {
	case threads.Compilers:
		return "JIT"
	case threads.Collector:
		return "GC"
	case threads.OtherJVM:
		return "JVM"
	}
	return "app"
}
