package top

import (
	"maps"
	"slices"
	"sync"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/threads"
	"github.com/gasm-profiler/gasm/sampler"
)

// A Model counts the samples of running JVMs. Only one goroutine, that of the user interface, calls its methods.
// Recordings write to its Segments from other goroutines.
type Model struct {
	syntax disasm.Syntax
	ring   int // number of buckets that are kept

	segmentsMu sync.Mutex
	segments   []*Segment

	jvms  map[int]*jvm
	order []int // process ids, in the order in which the JVMs were added

	functions   []Function
	functionIDs map[Function]int32
	threads     []Thread
	threadIDs   map[threadKey]int32
	tree        *callstack.Tree
	epoch       int // counts how often tree was replaced

	buckets     []bucket        // oldest first; the last one ends at the last Tick
	closed      int64           // number of all buckets so far
	taken       int64           // number of buckets that TakeSettled has returned or will not return
	takenTo     int64           // the time of the last Tick whose samples TakeSettled has returned (CLOCK_MONOTONIC)
	settledLost int64           // as much of lost as TakeSettled has returned
	naming      bool            // see NameInstructions
	all         map[key]float64 // nil if the Model keeps only the last seconds
	seconds     float64         // the seconds that the field all covers
	lastTick    int64
	shownTick   int64 // the time of the last Tick that has added a bucket
	hertz       int
	lost        int64
	counter     string
	history     []Load
	events      []Event
	pauses      pausesOf // pauses since the last Tick
	allPauses   pausesOf // pauses before the last Tick
	cost        float64
	textBytes   int
	decoded     int
	chunks      []*chunk
	frames      map[place][]printassembly.Frame // the frames inlined at an address
	listed      listed
}

// A bucket has the samples between two Ticks.
type bucket struct {
	counts   map[key]int32
	total    int32
	seconds  float64
	from, to int64 // times of the Ticks before and after it
	pauses   pausesOf
	// unresolved has the samples whose code was not known when they came. They are kept for as long as a recording may
	// still list that code.
	unresolved []unresolved
}

// The type unresolved is a sample whose code was not known when it came.
type unresolved struct {
	pid       int
	pc        uint64
	monoNanos int64
	key       key // the key under which it was counted
}

// A key identifies samples that are counted together. They have the same code or function, address, thread and stack.
type key struct {
	code     *Code  // nil for a sample outside the code cache
	function int32  // index in Model.functions, if code is nil
	pc       uint64 // the address of the instruction, if code is not nil
	thread   int32
	stack    callstack.ID
}

// A Function is a function outside the code cache.
type Function struct {
	Module string // "libjvm.so", "kernel"; "" if it is unknown
	Symbol string // "" if it is unknown
}

// A Thread is a thread of a JVM.
type Thread struct {
	PID, TID int
	Name     string
	Kind     string // threads.Application …

	kernel string // what the kernel calls it
	named  int    // jvm.named when the thread got its name; later, there may be a better one
}

// A threadKey identifies a thread, or all further threads of a kind.
type threadKey struct {
	pid, tid int
	others   string // the kind of these further threads; "" for a single thread
}

// A Load is the CPU time that one or all JVMs have used between two Ticks, by kind of thread, in processors: 1.5 means
// that one and a half processors were busy.
type Load struct{ App, JIT, GC, JVM float64 }

// Total returns the sum of all kinds.
func (l Load) Total() float64 { return l.App + l.JIT + l.GC + l.JVM }

func (l *Load) add(kind string, n float64) {
	switch kind {
	case threads.Compilers:
		l.JIT += n
	case threads.Collector:
		l.GC += n
	case threads.OtherJVM:
		l.JVM += n
	default:
		l.App += n
	}
}

// NewModel returns a Model without JVMs. For at least the given number of seconds, it keeps the samples of each second
// apart from those of the others; older samples are only in the sum since the start. It shows instructions in the given
// syntax.
func NewModel(seconds int, syntax disasm.Syntax) *Model {
	return &Model{syntax: syntax, ring: max(seconds, leastRing), jvms: map[int]*jvm{}, functionIDs: map[Function]int32{},
		threadIDs: map[threadKey]int32{}, tree: &callstack.Tree{}, all: map[key]float64{},
		frames: map[place][]printassembly.Frame{},
		pauses: pausesOf{}, allPauses: pausesOf{}}
}

// NewRecent is like NewModel, but the Model does not have the picture [SinceStart].
func NewRecent(seconds int, syntax disasm.Syntax) *Model {
	m := NewModel(seconds, syntax)
	m.all = nil
	return m
}

// SetJVMs says which JVMs run now. Those that have ended, which are missing from the list, stay in the pictures as long
// as they have samples there.
func (m *Model) SetJVMs(list []JVM) {
	for _, j := range m.jvms {
		j.Ended = !slices.ContainsFunc(list, func(other JVM) bool { return other.PID == j.PID })
	}
	for _, j := range list {
		if known := m.jvms[j.PID]; known != nil && known.StartMonoNanos == j.StartMonoNanos {
			continue
		}
		if m.jvms[j.PID] == nil {
			m.order = append(m.order, j.PID)
		}
		m.jvms[j.PID] = newJVM(j)
	}
}

// EndJVM notes that a JVM has ended.
func (m *Model) EndJVM(pid int) {
	if j := m.jvms[pid]; j != nil {
		j.Ended = true
	}
}

// SetCost says how much CPU time gasm itself takes, in processors.
func (m *Model) SetCost(processors float64) { m.cost = processors }

// Tick resolves the samples that have come in, and ends the present second. now is on CLOCK_MONOTONIC, in ns.
func (m *Model) Tick(now int64) {
	b := bucket{counts: map[key]int32{}, from: m.lastTick, to: now}
	if m.lastTick == 0 {
		b.from = now
	}
	b.seconds = float64(now-b.from) / 1e9
	m.lastTick = now
	loads := map[int]*Load{0: {}} // by process id; 0 for all JVMs
	if m.tree.Len() > maxStacks {
		m.compactStacks()
	}
	all := m.take(now - settleNanos)
	for _, taken := range all { // while one recording takes the place of another, either may have the code of a sample
		for pid, text := range taken.code {
			if j := m.jvms[pid]; j != nil {
				m.addCode(j, text)
			}
		}
	}
	m.resolveAgain()
	for _, taken := range all {
		for i := range taken.samples {
			s := &taken.samples[i]
			k, ok := m.resolve(s, taken.stacks[i])
			if !ok {
				continue
			}
			b.counts[k]++
			b.total++
			if loads[s.PID] == nil {
				loads[s.PID] = &Load{}
			}
			loads[0].add(m.threads[k.thread].Kind, 1)
			loads[s.PID].add(m.threads[k.thread].Kind, 1)
			if k.code == nil && s.Module == "" && !s.Kernel() && len(b.unresolved) < maxUnresolved {
				b.unresolved = append(b.unresolved, unresolved{pid: s.PID, pc: s.PC, monoNanos: s.MonoNanos, key: k})
			}
		}
	}
	if b.total > 0 || !m.allEnded() { // otherwise the pictures stay as they were at the end
		m.shownTick = now
		m.close(b, loads)
	}
	m.dropEnded()
	m.evict()
}

// allEnded reports whether there were JVMs, and all have ended.
func (m *Model) allEnded() bool {
	for _, j := range m.jvms {
		if !j.Ended {
			return false
		}
	}
	return len(m.jvms) > 0
}

// close adds the bucket of a second. loads has the number of samples of each kind of thread, by process id.
func (m *Model) close(b bucket, loads map[int]*Load) {
	b.pauses = m.pauses
	m.allPauses.addAll(m.pauses)
	m.pauses = pausesOf{}
	scale := 0.0
	if m.hertz > 0 && b.seconds > 0 {
		scale = 1 / (float64(m.hertz) * b.seconds)
	}
	m.history = appendLoad(m.history, loads[0], scale)
	for pid, j := range m.jvms {
		j.history = appendLoad(j.history, loads[pid], scale)
	}
	m.buckets = append(m.buckets, b)
	m.closed++
	if n := len(m.buckets) - m.ring; n > 0 {
		clear(m.buckets[:n]) // frees the maps
		m.buckets = append(m.buckets[:0], m.buckets[n:]...)
	}
	if m.all != nil {
		for k, n := range b.counts {
			m.all[k] += float64(n)
		}
	}
	m.seconds += b.seconds
	if len(m.all) > maxKeys {
		m.shrink()
	}
}

// appendLoad appends the load of a second to a history. samples has the second's number of samples of each kind of
// thread; nil means none. The load is this number times scale.
func appendLoad(history []Load, samples *Load, scale float64) []Load {
	l := Load{}
	if samples != nil {
		l = Load{samples.App * scale, samples.JIT * scale, samples.GC * scale, samples.JVM * scale}
	}
	history = append(history, l)
	if n := len(history) - maxHistory; n > 0 {
		history = append(history[:0], history[n:]...)
	}
	return history
}

// shrink drops the stacks from the counts since the start. If there are still too many keys, the coldest ones are
// counted together by code and thread. If that is not enough, the coldest ones are counted together by JVM and kind of
// thread.
func (m *Model) shrink() {
	all := map[key]float64{}
	for k, n := range m.all {
		k.stack = 0
		all[k] += n
	}
	all = mergeColdest(all, func(k key) key {
		k.pc = 0
		return k
	})
	m.all = mergeColdest(all, func(k key) key {
		t := m.threads[k.thread]
		return key{function: m.function(otherFunctions), thread: m.otherThreads(t.PID, t.Kind)}
	})
}

// otherFunctions stands for the functions that have too few samples to be kept, and for those beyond the limit.
var otherFunctions = Function{Symbol: "(other functions)"}

// If there are too many keys, mergeColdest replaces each key k with change(k), except for the maxKeys/4 hottest keys.
// It adds up the samples of keys that become equal.
func mergeColdest(all map[key]float64, change func(key) key) map[key]float64 {
	if len(all) <= maxKeys/2 {
		return all
	}
	counts := slices.Sorted(maps.Values(all))
	limit := counts[len(counts)-maxKeys/4]
	merged := map[key]float64{}
	for k, n := range all {
		if n <= limit {
			k = change(k)
		}
		merged[k] += n
	}
	return merged
}

// compactStacks makes a new tree that has only the stacks of the last seconds, because the tree has become too large.
func (m *Model) compactStacks() {
	old := m.tree
	m.tree, m.epoch = &callstack.Tree{}, m.epoch+1
	ids := map[callstack.ID]callstack.ID{0: 0}
	for i := range m.buckets {
		counts := make(map[key]int32, len(m.buckets[i].counts))
		for k, n := range m.buckets[i].counts {
			k.stack = copyStack(old, m.tree, k.stack, func(id callstack.ID) (callstack.ID, bool) {
				to, ok := ids[id]
				return to,
					ok
			},
				func(id, to callstack.ID) { ids[id] = to })
			counts[k] += n
		}
		m.buckets[i].counts = counts
		for n := range m.buckets[i].unresolved {
			k := &m.buckets[i].unresolved[n].key
			k.stack = ids[k.stack]
		}
	}
	if m.all == nil {
		return
	}
	merged := map[key]float64{}
	for k, n := range m.all {
		k.stack = ids[k.stack] // 0 for a stack that is forgotten
		merged[k] += n
	}
	m.all = merged
}

// copyStack copies a stack to another tree. known returns the number that a stack already has there. learn is called
// with the old and the new number of each stack that is copied. The result is the new number, or 0 if the other tree
// has no room.
func copyStack(from, to *callstack.Tree, id callstack.ID, known func(callstack.ID) (callstack.ID, bool),
	learn func(id, to callstack.ID)) callstack.ID {
	var missing []callstack.ID
	at := callstack.ID(0)
	for id != 0 {
		if found, ok := known(id); ok {
			at = found
			break
		}
		missing = append(missing, id)
		_, id = from.Frame(id)
	}
	for _, id := range slices.Backward(missing) {
		f, _ := from.Frame(id)
		if f == nil {
			return 0
		}
		if at = to.Push(at, *f); at == callstack.NoRoom {
			return 0
		}
		learn(id, at)
	}
	return at
}

// resolve returns the key of a sample. ok is false if the sample's JVM is not known, or if the sample is not of the
// event that is counted.
func (m *Model) resolve(s *sampler.Sample, stack callstack.ID) (k key, ok bool) {
	j := m.jvms[s.PID]
	if j == nil || s.Event != m.counter {
		return k, false
	}
	k = key{thread: m.thread(j, s), stack: stack}
	switch {
	case s.Kernel():
		k.function = m.function(Function{sampler.KernelModule, s.Symbol})
	default:
		if c := j.find(s); c != nil {
			k.code, k.pc = c, s.PC
			return k, true
		}
		f := Function{s.Module, s.Symbol}
		if f.Module == "" {
			f = Function{}
		}
		k.function = m.function(f)
	}
	return k, true
}

// function returns the number of a function. If there are already maxFunctions functions, further ones are counted
// without a name, by module. If there are twice as many, further ones count as [otherFunctions].
func (m *Model) function(f Function) int32 {
	if id, ok := m.functionIDs[f]; ok {
		return id
	}
	if len(m.functions) >= maxFunctions && f != otherFunctions {
		f.Symbol = ""
		if id, ok := m.functionIDs[f]; ok {
			return id
		}
		if len(m.functions) >= 2*maxFunctions {
			return m.function(otherFunctions)
		}
	}
	id := int32(len(m.functions))
	m.functions, m.functionIDs[f] = append(m.functions, f), id
	return id
}

// thread returns the number of a sample's thread.
func (m *Model) thread(j *jvm, s *sampler.Sample) int32 {
	at := threadKey{pid: s.PID, tid: s.TID}
	id, known := m.threadIDs[at]
	if !known && len(m.threads) >= maxThreads {
		return m.otherThreads(s.PID, threads.KindOf(s.Thread))
	}
	if !known {
		id = int32(len(m.threads))
		m.threads, m.threadIDs[at] = append(m.threads, Thread{PID: s.PID, TID: s.TID}), id
	}
	t := &m.threads[id]
	if t.kernel != s.Thread || t.named != j.named {
		t.kernel, t.named = s.Thread, j.named
		t.Name, t.Kind = j.threads.Name(s.PID, s.TID, s.Thread), threads.KindOf(s.Thread)
	}
	return id
}

// otherThreads returns the number under which all further threads of one kind in a JVM are counted. If there are too
// many such numbers, the JVMs share one for each kind.
func (m *Model) otherThreads(pid int, kind string) int32 {
	at := threadKey{pid: pid, others: kind}
	id, known := m.threadIDs[at]
	if !known && len(m.threads) >= 2*maxThreads {
		at = threadKey{others: kind}
		id, known = m.threadIDs[at]
	}
	if !known {
		id = int32(len(m.threads))
		m.threads, m.threadIDs[at] = append(m.threads, Thread{PID: at.pid, Name: "(other threads)", Kind: kind}), id
	}
	return id
}
