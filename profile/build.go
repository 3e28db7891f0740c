package profile

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/choice"
	"github.com/gasm-profiler/gasm/profile/jvmcode"
	"github.com/gasm-profiler/gasm/profile/parts"
	"github.com/gasm-profiler/gasm/profile/tally"
	"github.com/gasm-profiler/gasm/profile/vmwork"
	"github.com/gasm-profiler/gasm/profile/windows"
)

// Build returns the profiles of all trials, in the order of the trials. It reads code from HotSpot's logs, but only
// that of blobs (pieces of code) with samples. If code can't be read, the profile that needs it has a warning. The
// Builder can take more samples afterwards.
func (b *Builder) Build(opts choice.Options) []Profile {
	profiles := make([]Profile, 0, len(b.trials))
	jvms := newJVMTotals(len(b.counters))
	for _, p := range b.processes {
		jvms.add(p)
	}
	for _, t := range b.trials {
		w := work{b: b, trial: t, opts: &opts, n: len(b.counters)}
		w.code = jvmcode.NewReader(b.jvms, opts.Syntax, w.warnf)
		w.compare = tally.Comparison{PIDs: t.PIDs, Counters: w.n}
		if t.Name != "" {
			w.compare.Slices = len(t.PIDs) * windows.SlicesPerJVM
		}
		profiles = append(profiles, w.profile(jvms))
	}
	return profiles
}

// work holds what is shared by the steps that make one trial's profile. Four steps have types of their own: a
// jvmcode.Reader reads the code, a regionCutter cuts it into regions, a listingMaker lists whole methods, and a
// tally.Comparison makes the counts by which JVMs and slices are compared.
type work struct {
	b        *Builder
	trial    *trialCounts
	opts     *choice.Options
	n        int            // number of counters
	sampled  []*sampledBlob // hottest first
	code     *jvmcode.Reader
	compare  tally.Comparison
	warnings []string
}

// warnf adds a warning to the profile.
func (w *work) warnf(format string, args ...any) {
	w.warnings = append(w.warnings, fmt.Sprintf(format, args...))
}

// counts returns a copy of c with a count for each counter. Counters that were added after c was made have the count 0.
func (w *work) counts(c tally.Counts) tally.Counts {
	full := make(tally.Counts, w.n)
	copy(full, c)
	return full
}

// profile makes the trial's profile. jvms are the totals of the JVMs of all trials.
func (w *work) profile(jvms jvmTotals) Profile {
	t := w.trial
	p := Profile{Trial: t.Name, Program: t.Program, JDK: t.JDK, PIDs: slices.Clone(t.PIDs),
		Counters:      slices.Clone(w.b.counters),
		WindowSeconds: windows.Seconds(t.Windows), Operations: cmp.Or(w.opts.Operations, t.Operations), Score: t.Score,
		StartWallNanos: w.b.startWall(t), HotThreshold: w.opts.HotThreshold, MinSamples: w.opts.MinSamples}
	p.Accounts = w.accounts(jvms)

	w.sampled = w.sampledBlobs()
	w.readAhead()
	p.SafepointsOnly = w.safepointsOnly()
	merged := append(mergeForks(w.sampled, w.code, w.n), w.nativeCode()...)
	parted := w.cutParts()
	regions := regionCutter{p: &p, opts: w.opts, code: w.code, counters: w.n, warnf: w.warnf}
	p.Regions = regions.cut(merged)
	listings := listingMaker{p: &p, opts: w.opts, code: w.code, parted: parted, counters: w.n}
	w.list(&listings, merged)
	listings.findHottest(merged)
	p.Calls = w.calls(&p, merged)

	p.Methods = w.methods()
	p.Compilations = w.compilations(&p)
	p.Shares = w.shares()
	p.Slices = w.overTime()
	p.Frames = w.frames()
	p.Native = w.native()
	w.hosts(&p, regions.hottest)
	p.Sources = w.sources(p.Native)
	p.Threads = w.threads()
	p.VM = vmwork.Shares(t.vm, w.n)
	p.Events = t.sums.Totals(w.b.events, w.n)
	p.Delays = w.delays(p.Regions)
	p.Locks, p.Parks, p.Sites = t.sites.Locks(), t.sites.Parks(), cmp.Or(w.b.sites, event.SiteOwn)
	p.Allocations, p.UnrecordedNanos = t.sites.Allocs(w.code, w.b.sites), w.b.unrecorded(t)
	if parted != nil {
		p.Parts = parted.sum(w.b, w.code, w.sampled)
		p.Parts.ByThread = parted.byThread(t.kept.list, w.b.threads, w.n)
	}
	if t.stacks != nil {
		w.stacks(&p, parted)
	}
	if w.opts.Locations {
		p.Locations = w.locations()
	}
	if w.compare.TooMuch() {
		w.warnf("there are too many functions to compare %d JVMs: the report only has their sums", len(p.PIDs))
		p.dropCompared()
	}
	w.warn(&p)
	p.Warnings = w.warnings
	return p
}

// readAhead reads the debug info of all code that has samples, except code that the options leave out.
func (w *work) readAhead() {
	var sampled []*sampledBlob
	var refs []jvmcode.Ref
	for _, s := range w.sampled {
		if !w.opts.Skips(s.Kind) {
			sampled, refs = append(sampled, s), append(refs, s.Ref)
		}
	}
	w.code.ReadAhead(refs, func(i int) iter.Seq[uint64] { return maps.Keys(sampled[i].atPC) })
}

// safepointsOnly sums up the samples in methods that were compiled without DebugNonSafepoints. It returns nil if there
// are none.
func (w *work) safepointsOnly() (sum tally.Counts) {
	for _, s := range w.sampled {
		if w.code.SafepointsOnly(s.Ref) {
			if sum == nil {
				sum = make(tally.Counts, w.n)
			}
			sum.Add(s.counts)
		}
	}
	return sum
}

// cutParts cuts the profile's samples into parts, by time and by thread. It returns nil if no parts are wanted, or if
// there would be only one.
func (w *work) cutParts() *partedSpots {
	kept := w.trial.kept
	if kept == nil {
		return nil
	}
	cutter := parts.Cutter{Measurement: &w.trial.Measurement, Samples: kept.list, Spots: len(kept.spots),
		Threads: w.b.threads, Counters: w.n,
		Timeline: func(pid int) *windows.Timeline {
			if p := w.b.processes[pid]; p != nil {
				return p.Timeline
			}
			return nil
		}}
	cut := cutter.Cut()
	if cut == nil {
		return nil
	}
	return &partedSpots{cut, kept.spots, &w.trial.nativeAt}
}

// roomOfCallers is the share of the room for listings that is reserved for callers of hot code: methods that have no
// samples themselves. The room is a number of instructions.
const roomOfCallers = 0.25

// list makes the profile's listings.
func (w *work) list(l *listingMaker, merged []*mergedCode) {
	if w.opts.Listings == 0 {
		return
	}
	room, kept := w.listingRoom(), 0
	callers := w.callers(l.p)
	if len(callers) > 0 {
		kept = int(roomOfCallers * float64(room))
	}
	left := l.list(merged, room-kept)
	l.listCallers(callers, left+kept)
}

// listingRoom returns the number of instructions that the listings of this profile may have. This is the profile's
// share of [Options.Listings], in proportion to its samples. But if the profile is that of one of n trials, it gets at
// least 1/n of Options.Listings, so that a trial with few samples has listings, too. So all profiles together may have
// nearly twice Options.Listings.
func (w *work) listingRoom() int {
	first := func(c tally.Counts) int64 {
		if len(c) == 0 {
			return 0
		}
		return c[0]
	}
	var all int64
	for _, t := range w.b.trials {
		all += first(t.inside)
	}
	part := float64(first(w.trial.inside)) / float64(max(all, 1))
	if w.trial.Name != "" {
		part = max(part, 1/float64(len(w.b.trials)))
	}
	return int(part * float64(w.opts.Listings))
}

// A sampledBlob is a blob together with the samples that were taken in it.
type sampledBlob struct {
	jvmcode.Ref
	*printassembly.Blob
	pid    int
	counts tally.Counts
	atPC   map[uint64]tally.Counts
	// overTime splits the counts at each PC by time: it has one Counts for each time slice of the blob's JVM.
	// firstSlice is the index of the first of these slices among the slices of all JVMs. overTime is nil in a trial
	// that is not cut into slices.
	overTime   map[uint64][]tally.Counts
	firstSlice int
}

// sampledBlobs groups the samples by blob, hottest first.
func (w *work) sampledBlobs() []*sampledBlob {
	byRef := map[jvmcode.Ref]*sampledBlob{}
	for key, c := range w.trial.code {
		ref := jvmcode.Ref{JVM: key.jvm, Index: key.blob}
		s := byRef[ref]
		if s == nil {
			s = w.newSampledBlob(ref)
			byRef[ref] = s
		}
		tally.AddTo(s.atPC, key.pc, c, w.n)
		s.counts.Add(c)
		if s.overTime != nil {
			if s.overTime[key.pc] == nil {
				s.overTime[key.pc] = tally.Zeros(windows.SlicesPerJVM, w.n)
			}
			s.overTime[key.pc][int(key.slice)-s.firstSlice].Add(c)
		}
	}
	return slices.SortedFunc(maps.Values(byRef), func(a, b *sampledBlob) int {
		return cmp.Or(tally.Compare(a.counts, b.counts), cmp.Compare(a.JVM, b.JVM), cmp.Compare(a.Index, b.Index))
	})
}

func (w *work) newSampledBlob(ref jvmcode.Ref) *sampledBlob {
	s := &sampledBlob{Ref: ref, Blob: w.code.Blob(ref), pid: w.b.jvms.List[ref.JVM].PID,
		counts: make(tally.Counts, w.n), atPC: map[uint64]tally.Counts{}}
	if w.trial.Name != "" {
		jvm, _ := slices.BinarySearch(w.trial.PIDs, s.pid)
		s.overTime, s.firstSlice = map[uint64][]tally.Counts{}, jvm*windows.SlicesPerJVM
	}
	return s
}

// firstWindows returns the start of each JVM's first window, by process id, in ns on CLOCK_MONOTONIC. The result is
// empty for a trial without windows.
func (t *trialCounts) firstWindows() map[int]int64 {
	first := map[int]int64{}
	for _, win := range t.Windows {
		if at, ok := first[win.PID]; !ok || win.FromMonoNanos < at {
			first[win.PID] = win.FromMonoNanos
		}
	}
	return first
}

// unrecorded returns the value of [Profile.UnrecordedNanos] for a trial.
func (b *Builder) unrecorded(t *trialCounts) (longest int64) {
	firstWindow := t.firstWindows()
	for _, pid := range t.PIDs {
		j := b.jvms.Of(pid)
		if j == nil {
			continue
		}
		late := j.RecordingLateNanos
		if at, ok := firstWindow[pid]; ok && late > 0 {
			late = min(late, j.RecordingFromMonoNanos-at) // the JVM may have started within the window
		}
		longest = max(longest, late)
	}
	return longest
}

// startWall returns the value of [Profile.StartWallNanos] for a trial.
func (b *Builder) startWall(t *trialCounts) int64 {
	firstWindow := t.firstWindows()
	var first int64
	for _, pid := range t.PIDs {
		j := b.jvms.Of(pid)
		if j == nil || j.Log.StartWallMillis == 0 {
			continue
		}
		from := j.StartMonoNanos
		if at, ok := firstWindow[pid]; ok && from > 0 {
			from = at
		}
		start := j.Log.StartWallMillis*1e6 + from - j.StartMonoNanos
		if first == 0 || start < first {
			first = start
		}
	}
	return first
}
