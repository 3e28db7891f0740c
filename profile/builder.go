package profile

import (
	"slices"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/sampler"
)

// A Builder takes samples one by one, finds the code that each was in, and counts them
// for each trial. It is pure: it starts no process and opens no file.
type Builder struct {
	jvms   []*jvmCode
	byPID  map[int]int // index in jvms
	trials []*trialCounts
	lines  map[int]*timeline // of each JVM, in a trial or not
	events []string
	seen   seenThreads
	// functions are all native functions of samples, each once. functionAt has their places.
	functions  []function
	functionAt map[function]int32
	// folded are samples that are counted without their exact place, because there are more
	// places than in any program; places are the addresses so far.
	folded, places int
	samples        int // so far
	// left are samples that were left out, because they are of more events than
	// [capture.MaxEvents].
	left int64
	// history is nil where none is wanted, see [Options.History].
	history *historyCounts
	// overlapping are windows that another trial's windows overlap, see newTimelines.
	overlapping int
	happening   *happening // nil without events
	// printers is nil where HotSpot printed no code.
	printers *printers
	// threadWindows narrow the windows to times of threads; nil does not.
	threadWindows *threadWindows
	within        insideMethod // nil where no method is a window
	totals        Counts       // of all samples, whatever process they are of
	lost          Counts       // samples that the sampler dropped
}

// A jvmCode is a JVM with the map of its code.
type jvmCode struct {
	capture.JVM
	code   *CodeMap
	byName map[string][]int32 // see compiled
}

// trialCounts has the counts of one trial. A Counts in it may be shorter than the list
// of events, because a new event may have come up later.
type trialCounts struct {
	measurement
	inside, kernel Counts
	code           map[codeKey]Counts
	native         map[nativeKey]Counts
	unresolved     map[processPC]Counts
	otherThreads   Counts // in the windows, of threads that are not chosen
	outsideMethod  Counts // in the windows, of chosen threads that were not in the method
	printing       Counts // in the windows, see printers
	threads        map[threadKey]Counts
	happened       []EventTotal // by bit of their eventSet, without the counts
	during         []Counts     // the samples in the windows while events lasted, by bit of their eventSet
	// Of application threads while threads waited for a safepoint: in code, and by native
	// function.
	delays       map[codeKey]Counts
	nativeDelays map[int32]Counts
	sightings    *sightings // nil where no parts are wanted
	locks        map[lockKey]*LockSite
	allocations  map[allocKey]*AllocSite
}

type codeKey struct {
	jvm, blob     int
	pc            uint64
	slice, thread int32 // slice is 0 in a trial that is not cut; thread see seenThreads
}

type nativeKey struct {
	pid                     int
	function, slice, thread int32 // the function's place in Builder.functions
}

// A function is native code: a function of a file or of the kernel.
type function struct{ module, symbol string }

type processPC struct {
	pid           int
	pc            uint64
	slice, thread int32
}

// NewBuilder starts with the JVMs that have a Log, and the trials. Without trials
// there is one, of all these JVMs and the whole run.
//
// The events are those that the capture says it has, in the order in which the
// profiles are to show them. Others follow in the order in which samples of them
// come.
func NewBuilder(jvms []capture.JVM, trials []capture.Trial, events ...string) *Builder {
	return newBuilder(jvms, measurements(jvms, trials), events)
}

func newBuilder(jvms []capture.JVM, measured []measurement, events []string) *Builder {
	b := &Builder{byPID: map[int]int{}, functionAt: map[function]int32{}, events: slices.Clone(events[:min(len(events), capture.MaxEvents)])}
	for _, j := range jvms {
		if j.Log == nil {
			continue
		}
		b.byPID[j.PID] = len(b.jvms)
		code := NewCodeMap(j.Log.Blobs)
		if j.Log.Damaged > 0 {
			code.gaps = nil // a blob that could not be read may have been there
		}
		b.jvms = append(b.jvms, &jvmCode{JVM: j, code: code})
	}
	b.lines, b.overlapping = newTimelines(measured)
	for _, m := range measured {
		b.trials = append(b.trials, &trialCounts{measurement: m, code: map[codeKey]Counts{},
			native: map[nativeKey]Counts{}, unresolved: map[processPC]Counts{}, threads: map[threadKey]Counts{}})
	}
	b.leaveOut(jvms)
	return b
}

// leaveOut counts the samples of JVMs that no trial is of.
func (b *Builder) leaveOut(jvms []capture.JVM) {
	for _, j := range jvms {
		if b.lines[j.PID] == nil {
			b.lines[j.PID] = &timeline{out: true}
		}
	}
}

// taken gives all samples of each JVM, in or out of the windows.
func (b *Builder) taken(jvms []capture.JVM) []Counts {
	all := make([]Counts, len(jvms))
	for i, j := range jvms {
		all[i] = make(Counts, len(b.events))
		if line := b.lines[j.PID]; line != nil {
			all[i].Add(line.samples)
		}
	}
	return all
}

// bump adds n to element i of c, which grows as needed.
func bump(c *Counts, i int, n int64) {
	for len(*c) <= i {
		*c = append(*c, 0)
	}
	(*c)[i] += n
}

// bumpAt counts one sample of event e for a key.
func bumpAt[K comparable](m map[K]Counts, key K, e int) {
	c := m[key]
	bump(&c, e, 1)
	m[key] = c
}

// event gives an event's place in the list of events, to which it adds a new one; -1 when
// there are too many.
func (b *Builder) event(name string) int {
	i := slices.Index(b.events, name)
	if i < 0 && len(b.events) < capture.MaxEvents {
		i = len(b.events)
		b.events = append(b.events, name)
	}
	return i
}

// Lost adds samples that the sampler dropped. No sampler says of which event or process
// they were, so they count for the first event.
func (b *Builder) Lost(n int64) { bump(&b.lost, 0, n) }

// Add counts one sample. Samples may come in any order. A sample of a text without
// process ids is taken for the JVM's, when there is only one JVM.
func (b *Builder) Add(s *sampler.Sample) {
	e := b.event(s.Event)
	if e < 0 {
		b.left++
		return
	}
	bump(&b.totals, e, 1)
	b.samples++
	pid := s.PID
	if pid == sampler.NoPID && len(b.jvms) == 1 && len(b.lines) == 1 {
		pid = b.jvms[0].PID
	}
	line := b.lines[pid]
	if line == nil {
		return
	}
	bump(&line.samples, e, 1)
	trial, slice, in := line.find(s.MonoNanos)
	if !in || !b.threadWindows.has(pid, s.TID, s.MonoNanos) {
		b.remember(pid, e, s, NotCounted)
		return
	}
	t := b.trials[trial]
	thread, known := b.seen.thread(s.Thread)
	if !known {
		b.folded++
	}
	if !thread.chosen {
		bump(&t.otherThreads, e, 1)
		b.remember(pid, e, s, NotCounted)
		return
	}
	if !b.within.has(pid, s.TID, s.MonoNanos) {
		bump(&t.outsideMethod, e, 1)
		b.remember(pid, e, s, NotCounted)
		return
	}
	if b.printers.print(s, thread.kind) {
		bump(&t.printing, e, 1)
		b.remember(pid, e, s, NotCounted)
		return
	}
	bump(&t.inside, e, 1)
	at := place{pid, int32(slice), 0}
	now := b.happening.during(pid, s.TID, s.MonoNanos)
	if b.seen.apart {
		at.thread = b.seen.apartAt(thread.label, now&^(1<<waiting))
	}
	outside, where := b.count(t, at, e, s)
	t.see(where, pid, thread.label, e, s.MonoNanos)
	bumpAt(t.threads, threadKey{pid, thread.label, outside}, e)
	b.remember(pid, e, s, b.doing(thread.label, outside))
	if now != 0 {
		t.addDuring(now, e)
		if now.has(waiting) && thread.kind == ApplicationThreads {
			b.addDelay(t, pid, e, s)
		}
	}
}

// A place is what a sample's key has beside the address. thread is 0 where the threads are
// not told apart.
type place struct {
	pid           int
	slice, thread int32
}

// count counts a sample for the kernel, the code, the native function or the unknown
// address that its PC was in. The results tell whether that is outside the code cache, and
// where it is.
func (b *Builder) count(t *trialCounts, at place, e int, s *sampler.Sample) (outside bool, where sightedAt) {
	inFunction := func(module string) (bool, sightedAt) {
		f := b.function(module, s.Symbol)
		bumpAt(t.native, nativeKey{at.pid, f, at.slice, at.thread}, e)
		return true, sightedAt{jvm: inNative, blob: f}
	}
	if s.Kernel() {
		bump(&t.kernel, e, 1)
		return inFunction(sampler.KernelModule)
	}
	if jvm, blob, ok := b.find(at.pid, s); ok {
		key := codeKey{jvm, blob, s.PC, at.slice, at.thread}
		if t.code[key] == nil && !b.newPlace() {
			key.pc = b.jvms[jvm].code.Blob(blob).Lo
		}
		bumpAt(t.code, key, e)
		return false, sightedAt{int32(jvm), int32(blob), key.pc}
	}
	module := s.Module
	if module == "" && b.beyondCode(at.pid, s.PC) {
		module = UnknownModule
	}
	if module == "" {
		key := processPC{at.pid, s.PC, at.slice, at.thread}
		if t.unresolved[key] == nil && !b.newPlace() {
			key.pc = 0
		}
		bumpAt(t.unresolved, key, e)
		return false, sightedAt{jvm: inUnresolved}
	}
	return inFunction(module)
}

// More than the samples of any program are in. What comes beyond is counted together.
const (
	maxPlaces    = 1 << 18 // addresses of code in all slices and trials, beside a quarter of the samples
	maxFunctions = 1 << 17 // native functions: a libjvm.so has 60 000 symbols
	maxThreads   = 1 << 16 // names of threads
	maxApart     = 1 << 12 // pairs of a thread's name, without number, and events, whose code is counted apart
)

// newPlace tells whether there may be another address with samples.
func (b *Builder) newPlace() bool {
	if b.places >= maxPlaces+b.samples/4 {
		b.folded++
		return false
	}
	b.places++
	return true
}

// function gives the place of a native function in the list of them, to which it adds a new
// one.
func (b *Builder) function(module, symbol string) int32 {
	f := function{module, symbol}
	i, ok := b.functionAt[f]
	if !ok && len(b.functions) >= maxFunctions {
		b.folded++
		if f.symbol = ""; module != sampler.KernelModule {
			f.module = UnknownModule
		}
		i, ok = b.functionAt[f]
	}
	if !ok {
		i = int32(len(b.functions))
		b.functions = append(b.functions, f)
		b.functionAt[f] = i
	}
	return i
}

// beyondCode tells whether an address is outside the range that HotSpot has reserved for
// code. A sample there, in no known file, is of native code that something else made.
func (b *Builder) beyondCode(pid int, pc uint64) bool {
	i, ok := b.byPID[pid]
	return ok && b.jvms[i].code.Beyond(pc, b.jvms[i].Log.ReservedCodeCache)
}

// find gives the JVM and the blob that a sample was in; false when it was in none, or
// the JVM has no log.
func (b *Builder) find(pid int, s *sampler.Sample) (jvm, blob int, ok bool) {
	jvm, ok = b.byPID[pid]
	if !ok {
		return 0, 0, false
	}
	j := b.jvms[jvm]
	uptime := int64(1) << 60 // without a time it is the last code at the address
	if s.MonoNanos >= 0 {
		uptime = (s.MonoNanos - j.StartMonoNanos) / 1e6
	}
	if blob, ok = j.code.Find(s.PC, uptime); !ok && s.Module == "" {
		blob, ok = j.code.FindUnprinted(s.PC)
	}
	return jvm, blob, ok
}
