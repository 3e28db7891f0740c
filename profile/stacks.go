package profile

import (
	"cmp"
	"slices"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/calltree"
	"github.com/gasm-profiler/gasm/profile/chains"
	"github.com/gasm-profiler/gasm/profile/jvmcode"
	"github.com/gasm-profiler/gasm/profile/parts"
	"github.com/gasm-profiler/gasm/profile/tally"
	"github.com/gasm-profiler/gasm/profile/warmup"
)

// leaf returns the frames of the code at a spot, innermost first, of which there is at least one. caller is the stack
// that begins with the caller of these frames. It is usually the same as the parameter stack. In the interpreter and in
// the kernel, however, the stack begins with the frame of the sampled code itself, and caller lacks this frame. The PC
// of frames in compiled code is the sampled address plus 1, so that PC-1 is in the instruction, as it is for the frames
// of a stack.
func (b *Builder) leaf(code *jvmcode.Reader, at spot, stack callstack.ID) (frames []calltree.LeafFrame,
	caller callstack.ID) {
	var inner callstack.Frame
	if b.stacks != nil {
		f, up := b.stacks.Frame(stack)
		switch {
		case f == nil:
		case f.Kind == callstack.NoCaller:
			stack, caller = calltree.NoCaller, calltree.NoCaller
		default:
			if inner, caller = *f, up; up == 0 {
				caller = calltree.NoCaller
			}
		}
	}
	one := func(f callstack.Frame) []calltree.LeafFrame { return []calltree.LeafFrame{{Frame: f}} }
	switch {
	case at.jvm == inUnresolved:
		return one(callstack.Frame{Kind: callstack.Stub, Name: "[" + UnresolvedSource + "]"}), stack
	case at.jvm == inNative:
		f := b.functions.At(at.blob)
		if f.Module != kernelModule {
			return one(callstack.Frame{Kind: callstack.Native, Module: f.Module, Name: f.Symbol}), stack
		}
		if inner.Kind != callstack.Kernel || inner.Name != f.Symbol {
			caller = stack
		}
		return one(callstack.Frame{Kind: callstack.Kernel, Name: f.Symbol}), caller
	}
	ref := at.ref()
	blob := code.Blob(ref)
	switch {
	case blob.Kind.Java():
		chain := code.Chain(ref, at.pc)
		for i, f := range chain {
			kind := callstack.Inlined
			if i == len(chain)-1 {
				kind = callstack.Compiled
			}
			frames = append(frames, calltree.LeafFrame{Frame: callstack.Frame{Kind: kind, PC: at.pc + 1, CompileID: blob.ID,
				BCI: f.BCI, Line: f.Line, Name: f.Method},
				Guessed: f.Guess == printassembly.GuessedAll})
		}
		return frames, stack
	case blob.Kind == printassembly.Interpreter && inner.Kind == callstack.Interpreted:
		return one(inner), caller
	}
	return one(callstack.Frame{Kind: callstack.Stub, Name: blob.Name}), stack
}

// stacks sets the fields of the profile that come from call stacks. parted is nil if the profile has no parts.
func (w *work) stacks(p *Profile, parted *partedSpots) {
	set := calltree.NewSet(w.b.stacks, w.n)
	type leafKey struct {
		at    spot
		inner *callstack.Frame // in the interpreter and in the kernel, the innermost frame of the stack
	}
	leaves := map[leafKey]int32{}
	byPart := w.stackParts(parted)
	number, interpreted := 0, warmup.InterpretedCounts{}
	w.trial.stacks.Each(w.n, func(k calltree.Key[spot], c tally.Counts) {
		frames, caller := w.b.leaf(w.code, k.Spot, k.Stack)
		interpreted.Add(&frames[0].Frame, c)
		key := leafKey{at: k.Spot}
		if caller != k.Stack {
			key.inner, _ = w.b.stacks.Frame(k.Stack)
		}
		n, ok := leaves[key]
		if !ok {
			n = set.Leaf(frames)
			leaves[key] = n
		}
		thread := w.b.threads.Label(w.b.contexts.At(k.Context).Label)
		if byPart == nil {
			set.Add(thread, n, caller, c)
		} else {
			for _, part := range byPart[number] {
				set.AddPart(thread, n, caller, part.Part, part.Counts)
			}
		}
		number++
	})
	p.Stacks, p.Interpreted = set, interpreted.Methods()
	w.addTotals(p)
	if len(w.opts.By) > 0 {
		split := set.Split(w.opts.By)
		for i, m := range append(slices.Clone(w.opts.By), "") {
			p.By = append(p.By, CallerTotal{string(m), split[i]})
		}
	}
}

// stackParts returns the samples of each Key of the trial's stacks, split by time slice and thread group. It returns
// nil if the profile has no parts.
func (w *work) stackParts(parted *partedSpots) []parts.Counts {
	if parted == nil {
		return nil
	}
	kept := w.trial.kept
	byPart := make([]parts.Counts, w.trial.stacks.Len())
	for i := range kept.list {
		s, key := &kept.list[i], kept.keys[i]
		byPart[key] = byPart[key].Bump(parted.PartOf(s), int(s.Counter), w.n)
	}
	return byPart
}

// leastCaller limits which methods without samples of their own are in [Profile.Frames]: such a method must be on the
// call stacks of at least this share of the profile's samples.
const leastCaller = 0.01

// addTotals sets the totals of frames, and adds frames for methods that only call others.
func (w *work) addTotals(p *Profile) {
	totals := p.Stacks.Totals()
	for i := range p.Frames {
		f := &p.Frames[i]
		code := calltree.Code{Kind: callstack.Compiled, Name: f.Method}
		f.WithCallees = w.counts(totals[code])
		delete(totals, code)
	}
	if p.Parts != nil {
		p.Parts.WithCallees = map[string]parts.Counts{}
		for code, list := range p.Stacks.TotalsByPart() {
			if !code.Java() {
				continue
			}
			var counts parts.Counts
			for _, part := range list {
				counts = append(counts, parts.Count{Part: part.Part, Counts: part.Counts})
			}
			p.Parts.WithCallees[code.Name] = counts
		}
	}
	from := len(p.Frames)
	for code, c := range totals {
		if code.Java() && p.Share(c) >= leastCaller {
			p.Frames = append(p.Frames, FrameTotal{Method: code.Name, Counts: make(tally.Counts, w.n),
				Total:       make(tally.Counts, w.n),
				WithCallees: c, Slices: w.compare.PerSlice(), PerJVM: w.compare.PerJVM()})
		}
	}
	slices.SortFunc(p.Frames[from:], func(a, b FrameTotal) int {
		return cmp.Or(tally.Compare(a.WithCallees, b.WithCallees), cmp.Compare(a.Method, b.Method))
	})
}

// foldedStacks returns how many samples are counted without their stacks.
func (b *Builder) foldedStacks() (n int64) {
	for _, t := range b.trials {
		n += t.stacks.Folded()
	}
	return n
}

// choose returns admitted if a sample has the methods of Config.Inside and Config.Under among its frames, and otherwise
// the reason why it is in no profile.
func (b *Builder) choose(j *joinedSample) exclusion {
	leaf := func() []calltree.LeafFrame {
		if j.spot.jvm >= 0 {
			b.underCode.ReadDebugInfo(j.spot.ref())
		}
		frames, _ := b.leaf(b.underCode, j.spot, 0)
		return frames
	}
	why := admitted
	switch {
	case !b.inside.Has(j.spot, j.stack, leaf):
		why = outsideMethod
	case !b.under.Has(j.spot, j.stack, leaf):
		why = notUnder
	default:
		return admitted
	}
	if b.stacks != nil && b.stacks.End(j.stack) != calltree.Whole {
		b.doubtful++
	}
	return why
}

// stackOf returns the call stack of a sample. If the sample has a chain of return addresses, stackOf makes the stack
// from it.
func (b *Builder) stackOf(j *joinedSample) callstack.ID {
	if b.chains == nil {
		return j.Stack
	}
	return b.chains.Of(chains.Sample{PID: j.pid, PC: j.PC, Kernel: j.Kernel(), MonoNanos: j.MonoNanos, Stack: j.Stack})
}

// distrusted returns the number of samples whose stacks are cut at their innermost Java frame, because their JVMs keep
// no frame pointers.
func (b *Builder) distrusted() int64 {
	if b.chains == nil {
		return 0
	}
	return b.chains.Distrusted()
}
