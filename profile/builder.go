package profile

import (
	"slices"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/profile/calltree"
	"github.com/gasm-profiler/gasm/profile/chains"
	"github.com/gasm-profiler/gasm/profile/choice"
	"github.com/gasm-profiler/gasm/profile/events"
	"github.com/gasm-profiler/gasm/profile/history"
	"github.com/gasm-profiler/gasm/profile/jvmcode"
	"github.com/gasm-profiler/gasm/profile/nativesamples"
	"github.com/gasm-profiler/gasm/profile/numbers"
	"github.com/gasm-profiler/gasm/profile/printing"
	"github.com/gasm-profiler/gasm/profile/tally"
	"github.com/gasm-profiler/gasm/profile/threads"
	"github.com/gasm-profiler/gasm/profile/vmwork"
	"github.com/gasm-profiler/gasm/profile/windows"
	"github.com/gasm-profiler/gasm/sampler"
)

// This file has the steps in which a Builder handles a sample. Builder.Add takes each sample through these steps:
//
//  1. findCounter: which of the sampler's counters took the sample, "cycles" for example.
//  2. findJVM: which of the command's JVMs the sample belongs to. A sample of any other process ends here.
//  3. admit: which trial and slice the sample's time is in, which thread it was in, and whether the sample is in
//     the profile. A sample that is in no profile goes to a row of the account, and ends here.
//  4. findEvents: which of the JVM's events were going on at the time.
//  5. locate: where the PC was, which is a [spot]: in a blob of code, in a native function, or in neither. If the
//     sample has a chain of return addresses, stackOf makes its call stack from that. If only samples under a
//     certain method are wanted, choose rejects all others, and these end here.
//  6. count: the sample goes into the tables of its trial.
//
// What the steps find is kept in a [joinedSample]. Each step only reads what the steps before it have found.

// A Builder takes samples one by one, finds the code that each was in, and counts them for each trial. It starts no
// process and opens no file.
type Builder struct {
	jvms      *jvmcode.JVMs
	trials    []*trialCounts
	processes map[int]*process // by process id: the JVMs of the command, in a trial or not
	hosts     map[int]string   // names of the hosts by process id: see [capture.JVM.Host]

	events        *events.Index // nil without events
	eventWindows  *windows.OfThreads
	chosenEvents  *windows.Chosen
	methodWindows windows.InsideMethod
	sites         event.SiteRule
	copied        bool             // gasm has copied the code from the JVMs' memory
	printing      *printing.Finder // nil if HotSpot printed no code
	history       *history.Builder // nil if no history is wanted

	counters  []string
	threads   *threads.Table
	functions *numbers.Functions
	contexts  *numbers.Contexts // nil if samples are not counted by context
	stacks    *calltree.Stacks  // nil if samples are not counted by stack
	chains    *chains.Stacks    // turns chains into stacks; nil if there are none
	vm        *vmwork.Classifier
	// under and inside admit only the samples with a certain method among their frames. Each is nil if it admits all
	// samples.
	under, inside *calltree.Filter[spot]
	underCode     *jvmcode.Reader // reads the frames that under and inside look at, while samples are added
	doubtful      int64           // samples that under or inside left out although some of their frames are missing

	totals tally.Counts // counts all samples, including those of other processes
	lost   tally.Counts // samples that the sampler dropped
	// excess counts the samples that were left out because there are more than [capture.MaxEvents] counters.
	excess int64
	// folded counts the samples that were counted without their name or exact address, because a limit was reached.
	folded             int
	samples, addresses int // number of samples that were added, and of addresses that are counted separately
	// overlapping is the number of windows that overlap those of another trial, see [windows.Timelines].
	overlapping int
}

// A process is a JVM of the command, with the times at which it was measured and the counts of all its samples, inside
// or outside its windows.
type process struct {
	*windows.Timeline
	samples tally.Counts
}

// NewBuilder returns a Builder without samples.
func NewBuilder(c choice.Config) *Builder {
	measured := c.Measured
	if measured == nil {
		measured = windows.Measurements(c.JVMs, c.Trials)
	}
	b := &Builder{
		jvms:          &jvmcode.JVMs{Native: jvmcode.NewNative(c.NativeCode)},
		processes:     map[int]*process{},
		hosts:         map[int]string{},
		eventWindows:  c.EventWindows,
		chosenEvents:  c.ChosenEvents,
		methodWindows: c.MethodWindows,
		sites:         c.Sites,
		copied:        c.Code == capture.CodeCopied,
		printing:      printing.NewFinder(c.Code),
		counters:      slices.Clone(c.Counters[:min(len(c.Counters), capture.MaxEvents)]),
		threads:       threads.NewTable(c.Threads),
		functions:     numbers.NewFunctions(),
		stacks:        c.Stacks,
	}
	b.addJVMs(c.JVMs)
	timelines, overlapping := windows.Timelines(measured)
	b.overlapping = overlapping
	for pid, line := range timelines {
		b.processes[pid] = &process{Timeline: line}
	}
	b.leaveOut(c.JVMs)
	b.leaveOut(c.Others)
	for _, m := range measured {
		b.trials = append(b.trials, newTrialCounts(m, c.Parts, c.Stacks))
	}
	b.under, b.inside = calltree.NewFilter[spot](c.Under), calltree.NewFilter[spot](c.Inside)
	if c.Under != nil || c.Inside != nil {
		b.underCode = jvmcode.NewReader(b.jvms, disasm.ATT, func(string, ...any) {})
	}
	if c.Stacks != nil && c.Chains {
		b.chains = chains.New(c.Stacks.Tree, jvmcode.NewChainCode(b.jvms))
	}
	if c.Locations || c.Stacks != nil {
		b.contexts = numbers.NewContexts()
	}
	if c.History {
		b.history = history.NewBuilder()
	}
	b.vm = vmwork.New(c.Tree())
	b.events = events.New(c.Events)
	b.countEvents(c.Events)
	return b
}

// addJVMs makes the code maps of the JVMs that have a log.
func (b *Builder) addJVMs(jvms []capture.JVM) {
	for _, j := range jvms {
		if j.Host != "" {
			b.hosts[j.PID] = j.Host
		}
		if j.Log == nil {
			continue
		}
		b.threads.AddNames(j.PID, j.Log.ThreadNames)
		b.jvms.Add(j)
	}
}

// release frees the indexes that are used to find the code of a sample. It does so for the given JVMs, all of whose
// samples were added.
func (b *Builder) release(pids []int) {
	for _, pid := range pids {
		if j := b.jvms.Of(pid); j != nil {
			j.Code.Release()
		}
	}
}

// leaveOut adds the JVMs that are in no trial, so that their samples count as samples of other JVMs.
func (b *Builder) leaveOut(jvms []capture.JVM) {
	for _, j := range jvms {
		if b.processes[j.PID] == nil {
			b.processes[j.PID] = &process{Timeline: windows.NotMeasured()}
		}
	}
}

// Lost adds samples that the sampler dropped. No sampler says which counter or process they belong to, so all of them
// are added to the first counter.
func (b *Builder) Lost(n int64) { b.lost.Bump(0, n) }

// A joinedSample is a sample on its way through the Builder, with what the steps have found so far.
type joinedSample struct {
	*sampler.Sample
	counter int // index in Builder.counters
	pid     int // id of the JVM to which the sample is attributed; it may differ from Sample.PID
	process *process
	trial   *trialCounts
	slice   int32          // number of the time slice that the sample is in; 0 in a trial that is not cut into slices
	thread  threads.Thread // the thread that the sample was in
	events  events.Set     // the events that were going on
	context int32          // number in Builder.contexts; 0 if samples are not counted by context
	spot    spot
	native  nativesamples.At // the address in native code, if that code is known
	stack   callstack.ID     // the callers; 0 if they are not known
}

// A spot is where the PC of a sample was: at an address of a blob's code, in a native function, or at an unresolved
// address.
type spot struct {
	jvm  int32  // index in Builder.jvms; inNative and inUnresolved outside of code
	blob int32  // for code: index of the blob in the JVM's map of code; for native code: number in Builder.functions
	pc   uint64 // 0 in native code
}

// ref returns the blob of a spot in code.
func (at spot) ref() jvmcode.Ref { return jvmcode.Ref{JVM: int(at.jvm), Index: int(at.blob)} }

// Values of spot.jvm outside of code.
const (
	inNative     = -1
	inUnresolved = -2
)

// An exclusion is the reason why a sample of a JVM is not in a profile.
type exclusion int

// The reasons, each with the row of the [Account] that has its samples.
const (
	admitted      exclusion = iota // the sample is in a profile
	outsideWindow                  // Account.OutsideWindow, or Account.OtherJVM
	otherThread                    // Account.OtherThread
	outsideMethod                  // Account.OutsideMethod
	ofPrinting                     // Account.Printing
	notUnder                       // Account.NotUnder
	exclusions
)

// Add counts one sample. Samples may come in any order. Add does not keep s.
func (b *Builder) Add(s *sampler.Sample) {
	j := joinedSample{Sample: s}
	if !b.findCounter(&j) || !b.findJVM(&j) {
		return
	}
	if why := b.admit(&j); why != admitted {
		b.exclude(&j, why)
		return
	}
	b.findEvents(&j)
	b.locate(&j)
	j.stack = b.stackOf(&j)
	if why := b.choose(&j); why != admitted {
		b.exclude(&j, why)
		return
	}
	b.count(&j)
}

// findCounter finds the counter that took the sample, and counts the sample in the counter's total. It returns false
// if there are too many counters.
func (b *Builder) findCounter(j *joinedSample) bool {
	j.counter = slices.Index(b.counters, j.Event)
	if j.counter < 0 {
		if len(b.counters) == capture.MaxEvents {
			b.excess++
			return false
		}
		j.counter = len(b.counters)
		b.counters = append(b.counters, j.Event)
	}
	b.totals.Bump(j.counter, 1)
	b.samples++
	return true
}

// findJVM finds the JVM to which the sample is attributed, and counts the sample in the JVM's total. If the sampler's
// text has no process ids, and there is only one JVM, the sample is attributed to that JVM. findJVM returns false if
// the sample is of another process.
func (b *Builder) findJVM(j *joinedSample) bool {
	j.pid = j.PID
	if j.pid == sampler.NoPID && len(b.jvms.List) == 1 && len(b.processes) == 1 {
		j.pid = b.jvms.List[0].PID
	}
	j.process = b.processes[j.pid]
	if j.process == nil {
		return false
	}
	j.process.samples.Bump(j.counter, 1)
	return true
}

// admit returns admitted if the sample is in a profile, and otherwise the reason why it is not. It finds the sample's
// trial, slice and thread, unless the sample is outside of all windows.
func (b *Builder) admit(j *joinedSample) exclusion {
	trial, slice, in := j.process.Find(j.MonoNanos)
	if !in || !b.eventWindows.Has(j.pid, j.TID, j.MonoNanos) {
		return outsideWindow
	}
	j.trial, j.slice = b.trials[trial], int32(slice)
	var named bool
	if j.thread, named = b.threads.Find(j.pid, j.TID, j.Thread); !named {
		b.folded++
	}
	switch {
	case !j.thread.Chosen:
		return otherThread
	case !b.methodWindows.Has(j.pid, j.TID, j.MonoNanos):
		return outsideMethod
	case b.printing.Has(j.Sample, j.thread.Kind):
		return ofPrinting
	}
	return admitted
}

// exclude counts a sample that is in no profile.
func (b *Builder) exclude(j *joinedSample, why exclusion) {
	if why != outsideWindow { // the account computes that count from the JVM's total
		j.trial.excluded[why].Bump(j.counter, 1)
	}
	if b.history != nil && j.counter == 0 {
		doing := history.NotCounted
		if kind := threads.KindOf(j.Thread); why != ofPrinting && !b.printing.Has(j.Sample, kind) {
			doing = history.DoingOf(kind, j.Thread != "", b.doing(j))
		}
		b.history.Add(j.pid, j.MonoNanos, doing, false)
	}
}

// findEvents finds the events that were going on when the sample was taken, and the sample's context.
func (b *Builder) findEvents(j *joinedSample) {
	j.events = b.events.During(j.pid, j.TID, j.MonoNanos)
	if b.contexts != nil {
		j.context = b.contexts.Find(numbers.Context{Label: j.thread.Label, Events: j.events.Named()})
	}
}

// locate finds the spot that the sample's PC was at.
func (b *Builder) locate(j *joinedSample) {
	module := j.Module
	j.native = nativesamples.Nowhere
	if j.Kernel() {
		module = kernelModule
	} else if code, ok := b.jvms.Find(j.pid, j.Sample); ok {
		j.spot = spot{int32(code.JVM), int32(code.Index), j.PC}
		return
	} else if module == "" && b.jvms.Beyond(j.pid, j.PC) {
		module = UnknownModule
	}
	if module == "" {
		j.spot = spot{jvm: inUnresolved, pc: j.PC}
		return
	}
	f, named := b.functions.Find(module, j.Symbol)
	if !named {
		b.folded++
	}
	j.spot = spot{jvm: inNative, blob: f}
	if n, pc, ok := b.jvms.Native.Find(j.pid, j.PC, j.Kernel()); ok &&
		(j.Kernel() || b.jvms.Native.Agrees(n, module, j.Symbol)) {
		j.native = nativesamples.At{Function: int32(n), PC: pc}
	}
}

// count counts a sample of a profile in all tables of its trial.
func (b *Builder) count(j *joinedSample) {
	t := j.trial
	t.inside.Bump(j.counter, 1)
	context := j.context
	if t.stacks != nil { // then only the stacks are counted by context
		context = 0
	}
	switch j.spot.jvm {
	case inNative:
		if j.Kernel() {
			t.kernel.Bump(j.counter, 1)
		}
		if work := b.vm.Of(j.Sample, j.thread.Kind, j.stack); work != vmwork.None {
			tally.BumpAt(t.vm, work, j.counter)
		}
		tally.BumpAt(t.native, nativeKey{j.pid, j.spot.blob, j.slice, context}, j.counter)
		t.nativeAt.Bump(j.native, j.pid, j.counter)
	case inUnresolved:
		key := addressKey{j.pid, j.PC, j.slice, context}
		if t.unresolved[key] == nil && !b.newAddress() {
			key.pc, j.spot.pc = 0, 0
		}
		tally.BumpAt(t.unresolved, key, j.counter)
	default:
		key := codeKey{int(j.spot.jvm), int(j.spot.blob), j.PC, j.slice, context}
		if t.code[key] == nil && !b.newAddress() {
			key.pc = b.jvms.List[key.jvm].Code.Blob(key.blob).Lo
			j.spot.pc = key.pc
		}
		tally.BumpAt(t.code, key, j.counter)
	}
	outside := j.spot.jvm == inNative
	tally.BumpAt(t.threads, threadKey{j.pid, j.thread.Label, outside}, j.counter)
	t.keep(j)
	if t.stacks != nil {
		t.kept.addKey(t.stacks.Add(calltree.Key[spot]{Spot: j.spot, JVM: t.jvm(j.pid), Context: j.context, Stack: j.stack},
			j.counter))
	}
	if j.events != 0 {
		t.addDuring(j)
	}
	if b.history != nil && j.counter == 0 {
		b.history.Add(j.pid, j.MonoNanos, history.DoingOf(b.threads.Kind(j.thread.Label), j.Thread != "", b.doingAt(j.spot)),
			true)
	}
}

// doing returns what a sample's thread ran, for the history. It does not need the sample's spot.
func (b *Builder) doing(j *joinedSample) history.Doing {
	if !j.Kernel() {
		if code, ok := b.jvms.Find(j.pid, j.Sample); ok {
			return b.doingAt(spot{jvm: int32(code.JVM), blob: int32(code.Index)})
		}
		if j.Module == "" && !b.jvms.Beyond(j.pid, j.PC) {
			return history.RanStub
		}
	}
	return history.RanNative
}

// doingAt returns what a thread ran at a spot.
func (b *Builder) doingAt(at spot) history.Doing {
	switch at.jvm {
	case inNative:
		return history.RanNative
	case inUnresolved:
		return history.RanStub
	}
	return history.DoingIn(b.jvms.List[at.jvm].Code.Blob(int(at.blob)))
}

// newAddress reports whether the samples at one more address may be counted separately. The limit, which depends on
// maxAddresses, keeps the memory of a Builder in proportion to its input. No known program reaches it. Samples at
// further addresses are counted together, see Builder.folded.
func (b *Builder) newAddress() bool {
	if b.addresses >= maxAddresses+b.samples/4 {
		b.folded++
		return false
	}
	b.addresses++
	return true
}

// maxAddresses limits the number of addresses, in code or unresolved, whose samples are counted separately, in all
// slices, contexts and trials together. The actual limit is higher by a quarter of the number of samples, see
// newAddress.
const maxAddresses = 1 << 18
