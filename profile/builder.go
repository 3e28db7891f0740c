package profile

import (
	"slices"

	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/sampler"
)

// A JVM is one process whose code is known.
type JVM struct {
	PID int
	Log *printassembly.Log
	// StartMonoNanos is the start of the log's stamps on the samples' clock.
	StartMonoNanos int64
}

// A Window is a time in which the samples of one JVM count.
type Window struct {
	PID                        int
	FromMonoNanos, ToMonoNanos int64 // [from, to)
}

// A Trial is what makes one profile: JVMs and their windows.
type Trial struct {
	Name string
	PIDs []int
	// Windows limits the trial to parts of the run. None at all is the whole run.
	Windows []Window
	// Operations is how many the program did in the windows, as a benchmark
	// counts them; 0 when unknown.
	Operations float64
}

// A Builder joins samples to code and counts them per trial.
type Builder struct {
	jvms   []*jvmCode
	byPID  map[int]int // index in jvms
	trials []*trialCounts
	ofPID  map[int][]int // the trials that a process belongs to
	events []string
	totals Counts // of all samples, by event
	lost   Counts
}

type jvmCode struct {
	JVM
	code *CodeMap
}

// trialCounts holds the counts of one trial. Each map's Counts may be shorter
// than the list of events when a new event came up later.
type trialCounts struct {
	Trial
	slicing         slicing
	outside, kernel Counts
	own             Counts // samples of the trial's JVMs, in or out of its windows
	code            map[codeKey]Counts
	native          map[nativeKey]Counts
	unresolved      map[processPC]Counts
	threads         map[string]Counts // by name; "" is unknown
}

type codeKey struct {
	jvm, blob int
	pc        uint64
	slice     int // 0 in a trial that is not cut
}

type nativeKey struct {
	pid            int
	module, symbol string
	slice          int
}

type processPC struct {
	pid   int
	pc    uint64
	slice int
}

// NewBuilder starts with the JVMs' code and the trials; without trials there
// is one of all JVMs and the whole run.
//
// The events are those that the capture says it has, in the order in which the
// profiles are to show them; others come behind them as they are seen.
func NewBuilder(jvms []JVM, trials []Trial, events ...string) *Builder {
	b := &Builder{byPID: map[int]int{}, ofPID: map[int][]int{}, events: slices.Clone(events)}
	whole := Trial{}
	for _, j := range jvms {
		b.byPID[j.PID] = len(b.jvms)
		code := NewCodeMap(j.Log.Blobs)
		if j.Log.Damaged > 0 {
			code.gaps = nil // what could not be read may have been there
		}
		b.jvms = append(b.jvms, &jvmCode{JVM: j, code: code})
		whole.PIDs = append(whole.PIDs, j.PID)
	}
	if len(trials) == 0 {
		trials = []Trial{whole}
	}
	for i, t := range trials {
		b.trials = append(b.trials, &trialCounts{Trial: t, slicing: newSlicing(&t), code: map[codeKey]Counts{}, native: map[nativeKey]Counts{},
			unresolved: map[processPC]Counts{}, threads: map[string]Counts{}})
		for _, pid := range distinct(slices.Clone(t.PIDs)) {
			b.ofPID[pid] = append(b.ofPID[pid], i)
		}
	}
	return b
}

// bump adds n to c's element i, growing it as needed.
func bump(c *Counts, i int, n int64) {
	for len(*c) <= i {
		*c = append(*c, 0)
	}
	(*c)[i] += n
}

// bumpAt counts one sample for element e of a key's Counts.
func bumpAt[K comparable](m map[K]Counts, key K, e int) {
	c := m[key]
	bump(&c, e, 1)
	m[key] = c
}

func (b *Builder) event(name string) int {
	i := slices.Index(b.events, name)
	if i < 0 {
		i = len(b.events)
		b.events = append(b.events, name)
	}
	return i
}

// Lost adds samples that the sampler dropped. It does not say of which event
// and process; they count for the first event.
func (b *Builder) Lost(n int64) { bump(&b.lost, 0, n) }

// Add counts one sample. A sample of a text without process ids belongs to
// the only JVM there is. Samples come in any order.
func (b *Builder) Add(s *sampler.Sample) {
	e := b.event(s.Event)
	bump(&b.totals, e, 1)
	pid := s.PID
	if pid == sampler.NoPID && len(b.jvms) == 1 {
		pid = b.jvms[0].PID
	}
	for _, i := range b.ofPID[pid] {
		t := b.trials[i]
		bump(&t.own, e, 1)
		slice, in := t.slicing.find(pid, s.MonoNanos)
		if !in {
			bump(&t.outside, e, 1)
			continue
		}
		bumpAt(t.threads, s.Thread, e)
		b.place(t, pid, slice, e, s)
	}
}

// place finds where the sample's PC was.
func (b *Builder) place(t *trialCounts, pid, slice, e int, s *sampler.Sample) {
	if s.Kernel() {
		bump(&t.kernel, e, 1)
		bumpAt(t.native, nativeKey{pid, sampler.KernelModule, s.Symbol, slice}, e)
		return
	}
	if jvm, blob, ok := b.find(pid, s); ok {
		bumpAt(t.code, codeKey{jvm, blob, s.PC, slice}, e)
		return
	}
	module := s.Module
	if module == "" && b.beyondCode(pid, s.PC) {
		module = UnknownModule
	}
	if module == "" {
		bumpAt(t.unresolved, processPC{pid, s.PC, slice}, e)
		return
	}
	bumpAt(t.native, nativeKey{pid, module, s.Symbol, slice}, e)
}

// beyondCode tells whether HotSpot can't have had code at an address.
func (b *Builder) beyondCode(pid int, pc uint64) bool {
	i, ok := b.byPID[pid]
	return ok && b.jvms[i].code.Beyond(pc, b.jvms[i].Log.ReservedCodeCache)
}

// find gives the JVM and the blob that a sample was in. A trial's JVM without a
// log has no code.
func (b *Builder) find(pid int, s *sampler.Sample) (jvm, blob int, ok bool) {
	jvm, ok = b.byPID[pid]
	if !ok {
		return 0, 0, false
	}
	j := b.jvms[jvm]
	uptime := int64(1) << 60 // a text without times: the last code at the address
	if s.MonoNanos >= 0 {
		uptime = (s.MonoNanos - j.StartMonoNanos) / 1e6
	}
	if blob, ok = j.code.Find(s.PC, uptime); !ok && s.Module == "" {
		blob, ok = j.code.FindUnprinted(s.PC)
	}
	return jvm, blob, ok
}
