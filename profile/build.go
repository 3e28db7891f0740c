package profile

import (
	"cmp"
	"regexp"
	"slices"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/printassembly"
)

// Options are the choices of a profile. Those that perfasm has too have its meanings
// and defaults.
type Options struct {
	// HotThreshold is the share of the profile, 0 to 1, from which on a region
	// is annotated.
	HotThreshold float64
	// Regions is how many regions are annotated at least, where so many have samples
	// worth the while: see the method chooseHot.
	Regions int
	// MinSamples is how many samples a region must have to be annotated although it is not
	// hot: in which of a few instructions fewer of them fall is chance.
	MinSamples int
	// PrintMargin is the number of instructions shown around a region.
	PrintMargin int
	// MergeMargin is the largest distance in bytes between two sampled
	// instructions of one region.
	MergeMargin int
	// MergeMethods makes one region of all sampled instructions of a blob,
	// whatever lies between them.
	MergeMethods bool
	// TooBigThreshold is the number of instructions above which only the code around
	// a region's hottest instructions is annotated.
	TooBigThreshold int
	// SkipLines leaves out the annotated code. Nothing else changes.
	SkipLines bool
	// SkipInterpreter and SkipStubs leave regions and methods of these kinds
	// out of the lists; the account still has their samples.
	SkipInterpreter, SkipStubs bool
	// Locations asks for [Profile.Locations].
	Locations bool
	// Listings asks for [Profile.Listings], of about so many instructions in all profiles
	// together; 0 for none.
	Listings int
	// Hottest asks for [Profile.Hottest] and [Profile.HotLoops].
	Hottest bool
	// Parts asks for [Profile.Parts].
	Parts bool
	// History asks for [Profiles.History].
	History bool
	Syntax  disasm.Syntax

	// PID and JVM narrow the profiles to some JVMs of the capture, see [Options.Chooses].
	// The zero values do not.
	PID int
	JVM *regexp.Regexp
	// Threads narrows the profiles to the samples of some threads.
	Threads Threads
	// WindowEvent narrows the windows to the times of events, or to those between them.
	WindowEvent WindowEvent
	// WindowMethod narrows the profiles to samples that were taken while their thread was in a method, which was named so when the
	// capture was made; "" does not.
	WindowMethod string
	// MergeJVMs makes one profile of all programs of a run without trials.
	MergeJVMs bool
	// Operations is how many operations each profile is of; 0 takes what the
	// capture says.
	Operations float64
}

// Limits are the highest values of options, by their flags' names: nobody reads more lines
// of one region, and all of them are laid out together.
var Limits = map[string]int{"print-margin": 10_000, "too-big-threshold": 20_000, "instructions": 1_000_000}

// DefaultOptions are perfasm's defaults, but for Regions: perfasm shows hot regions alone.
func DefaultOptions() Options {
	return Options{HotThreshold: 0.10, Regions: 5, MinSamples: 10, PrintMargin: 10, MergeMargin: 32, TooBigThreshold: 1000}
}

// Build makes the profiles of all trials, in the order of the trials. It reads the code
// of sampled blobs from the logs. Code that can't be read is a warning of its profile.
// The builder can take more samples afterwards.
func (b *Builder) Build(opts Options) []Profile {
	profiles := make([]Profile, 0, len(b.trials))
	ofJVMs, ofTrials := b.jvmTotals()
	for _, t := range b.trials {
		w := work{b: b, trial: t, opts: opts, n: len(b.events), ofJVMs: ofJVMs, ofTrials: ofTrials, listings: map[blobRef][]printassembly.Instruction{}, debugInfo: map[blobRef]*printassembly.DebugInfo{}, unread: map[blobRef]bool{}}
		profiles = append(profiles, w.profile())
	}
	return profiles
}

// A blobRef names a blob: the JVM's place in Builder.jvms, and the blob's place in the
// JVM's CodeMap.
type blobRef struct{ jvm, blob int }

// work is what the steps that make one trial's profile share.
type work struct {
	b     *Builder
	trial *trialCounts
	opts  Options
	n     int // number of events
	// ofJVMs and ofTrials are as in jvmTotals.
	ofJVMs, ofTrials Counts
	warnings         []string
	compared         int                                     // how many numbers compare JVMs or slices, see zeros
	listings         map[blobRef][]printassembly.Instruction // of the blobs that were read last
	debugInfo        map[blobRef]*printassembly.DebugInfo    // of all blobs where it can be had without a listing
	listed           int                                     // how many instructions these have
	parted           *partWork                               // nil without parts
	unread           map[blobRef]bool                        // blobs whose code could not be read, or not all of it
}

func (w *work) blob(r blobRef) *printassembly.Blob { return w.b.jvms[r.jvm].code.Blob(r.blob) }

// counts copies c, with zeros for events that came up after it was made.
func (w *work) counts(c Counts) Counts {
	full := make(Counts, w.n)
	copy(full, c)
	return full
}

func (w *work) profile() Profile {
	t := w.trial
	p := Profile{Trial: t.Name, Program: t.program, JDK: t.jdk, PIDs: slices.Clone(t.pids), Events: slices.Clone(w.b.events)}
	p.WindowSeconds, p.Operations = windowSeconds(t.Windows), cmp.Or(w.opts.Operations, t.Operations)
	p.Score = t.Score
	p.HotThreshold = w.opts.HotThreshold
	p.StartWallNanos = w.startWall()
	p.Accounts = w.accounts()
	sampled := w.sampledBlobs()
	w.readAhead(sampled)
	w.parted = w.cutParts()
	merged := w.mergeForks(sampled)
	p.Regions = w.regions(&p, merged)
	w.wholeListings(&p, merged)
	w.hottest(&p, merged)
	p.Methods = w.methods(sampled, p.PIDs)
	p.Compilations = w.compilations(&p, sampled)
	p.Shares = w.shares(sampled, p.PIDs)
	p.Slices = w.overTime(sampled)
	p.Frames = w.frames(sampled, p.PIDs)
	p.Native = w.native(p.PIDs)
	p.Sources = w.sources(sampled, p.Native)
	p.Threads = w.threads()
	p.Happened, p.Delays = w.eventTotals(), w.delays(&p)
	p.Parts = w.parts(w.parted, sampled)
	p.Locks, p.Allocations = w.lockSites(), w.allocSites()
	if w.opts.Locations {
		p.Locations = w.locations(sampled)
	}
	w.dropCompared(&p)
	w.warn(&p, sampled)
	p.Warnings = w.warnings
	return p
}

// windowSeconds is the time that the windows cover. A time that is in the windows of
// several JVMs counts once.
func windowSeconds(windows []capture.Window) float64 {
	sorted := slices.SortedFunc(slices.Values(windows), func(a, b capture.Window) int {
		return cmp.Compare(a.FromMonoNanos, b.FromMonoNanos)
	})
	var ns, covered int64 // covered is the end of the windows so far
	for _, win := range sorted {
		if from := max(win.FromMonoNanos, covered); win.ToMonoNanos > from {
			ns += win.ToMonoNanos - from
			covered = win.ToMonoNanos
		}
	}
	return float64(ns) / 1e9
}

// accounts makes the account of each event. Its parts are summed up from the same maps
// as everything else in the profile; the totals are counted apart, sample by sample.
// So an account that is balanced shows that no sample is missing.
func (w *work) accounts() []Account {
	t := w.trial
	total, own, ownOfTrials, lost := w.counts(w.b.totals), make(Counts, w.n), make(Counts, w.n), w.counts(w.b.lost)
	for _, pid := range t.pids {
		line := w.b.lines[pid]
		own.Add(line.samples)
		if line.named {
			ownOfTrials.Add(line.samples)
		}
	}
	inside, otherThreads, printing := w.counts(t.inside), w.counts(t.otherThreads), w.counts(t.printing)
	kernel, unresolved := w.counts(t.kernel), w.unresolved()
	outsideMethod := w.counts(t.outsideMethod)
	accounts := make([]Account, w.n)
	for e := range accounts {
		accounts[e] = Account{Total: total[e] + lost[e], OtherProcess: total[e] - w.ofJVMs[e] - w.ofTrials[e],
			OtherJVM: w.ofJVMs[e] - (own[e] - ownOfTrials[e]), OtherTrial: w.ofTrials[e] - ownOfTrials[e],
			OutsideWindow: own[e] - inside[e] - otherThreads[e] - outsideMethod[e] - printing[e], OtherThread: otherThreads[e],
			OutsideMethod: outsideMethod[e], Printing: printing[e], Lost: lost[e], Profiled: inside[e],
			Kernel: kernel[e], Unresolved: unresolved[e]}
	}
	for key, c := range t.code {
		kind := w.blob(blobRef{key.jvm, key.blob}).Kind
		for e, n := range c {
			switch {
			case kind.Java():
				accounts[e].Compiled += n
			case kind == printassembly.Interpreter:
				accounts[e].Interpreter += n
			default:
				accounts[e].Stub += n
			}
		}
	}
	for key, c := range t.native {
		if w.b.functions[key.function].module == kernelModule {
			continue
		}
		for e, n := range c {
			accounts[e].Native += n
		}
	}
	return accounts
}

// jvmTotals sums up all samples of JVMs, in or out of windows: of those that are in a trial
// with a name, and of all others.
func (b *Builder) jvmTotals() (ofJVMs, ofTrials Counts) {
	ofJVMs, ofTrials = make(Counts, len(b.events)), make(Counts, len(b.events))
	for _, line := range b.lines {
		if line.named {
			ofTrials.Add(line.samples)
		} else {
			ofJVMs.Add(line.samples)
		}
	}
	return ofJVMs, ofTrials
}

// A sampledBlob is a blob with the samples in it.
type sampledBlob struct {
	blobRef
	*printassembly.Blob
	pid    int
	counts Counts
	atPC   map[uint64]Counts
	// overTime are the counts at each PC, slice by slice of the blob's JVM, whose first slice
	// is firstSlice. It is nil in a trial that is not cut.
	overTime   map[uint64][]Counts
	firstSlice int
}

// sampledBlobs groups the samples by blob, hottest first.
func (w *work) sampledBlobs() []*sampledBlob {
	byRef := map[blobRef]*sampledBlob{}
	for key, c := range w.trial.code {
		ref := blobRef{key.jvm, key.blob}
		s := byRef[ref]
		if s == nil {
			s = &sampledBlob{blobRef: ref, Blob: w.blob(ref), pid: w.b.jvms[key.jvm].PID,
				counts: make(Counts, w.n), atPC: map[uint64]Counts{}}
			if w.trial.Name != "" {
				place, _ := slices.BinarySearch(w.trial.pids, s.pid)
				s.overTime, s.firstSlice = map[uint64][]Counts{}, place*SlicesPerJVM
			}
			byRef[ref] = s
		}
		if s.atPC[key.pc] == nil {
			s.atPC[key.pc] = make(Counts, w.n)
		}
		s.atPC[key.pc].Add(c)
		s.counts.Add(c)
		if s.overTime != nil {
			if s.overTime[key.pc] == nil {
				s.overTime[key.pc] = zeros(SlicesPerJVM, w.n)
			}
			s.overTime[key.pc][int(key.slice)-s.firstSlice].Add(c)
		}
	}
	sampled := make([]*sampledBlob, 0, len(byRef))
	for _, s := range byRef {
		sampled = append(sampled, s)
	}
	slices.SortFunc(sampled, func(a, b *sampledBlob) int {
		return cmp.Or(compareCounts(a.counts, b.counts), cmp.Compare(a.jvm, b.jvm), cmp.Compare(a.blob, b.blob))
	})
	return sampled
}

// compareCounts orders counts for a list that has the most samples first: by the first
// event, then by the next one.
func compareCounts(a, b Counts) int { return slices.Compare(b, a) }
