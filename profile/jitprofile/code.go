package jitprofile

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/framechains"
)

// A Code has what HotSpot's profile says about one piece of code.
type Code struct {
	// At has the notes about instructions, by their addresses.
	At map[uint64]*Note
	// Loose is set if the code has no frames, so that a note can't be assigned to an instruction. It has the notes
	// about the calls of the method and of the methods inlined into it, the most frequent calls first.
	Loose []*Note
	// Traps has the methods in the code that had deoptimizations before the code was copied, those with the most first.
	Traps []MethodTraps
}

// A MethodTraps has the deoptimisations at the bytecodes of a method, in any code.
type MethodTraps struct {
	Method string
	Count  int
	Traps  []printassembly.Trap // most often first
}

// String returns the reasons with their counts: "class_check 2, unstable_if 1". HotSpot counts up to 255.
func (m *MethodTraps) String() string {
	var parts []string
	for _, t := range m.Traps {
		n := strconv.Itoa(t.Count)
		if t.Count >= mostTraps {
			n += " or more"
		}
		parts = append(parts, t.Reason+" "+n)
	}
	return strings.Join(parts, ", ")
}

const (
	// leastCount is how often a bytecode must have run to have a note. C2 does not trust smaller counts as
	// probabilities either.
	leastCount = 40
	// mostTraps is the number at which HotSpot stops counting.
	mostTraps = 255
	// maxLoose limits Code.Loose.
	maxLoose = 20
)

// Of returns what the profiles say about some code. insts are all instructions of the code. The function mixed reports
// whether a method has several callers.
func Of(insts []printassembly.Instruction, profiles []*printassembly.MethodProfile,
	mixed func(method string) bool) *Code {
	c := &Code{Traps: trapsOf(profiles)}
	chains := &framechains.Chains{}
	f := finder{chains: chains, sites: sitesOf(profiles, chains), mixed: mixed,
		callers: map[int]framechains.FramePlace{}, several: map[int]bool{}}
	if len(f.sites) == 0 {
		return c
	}
	framed := false
	for i := range insts {
		if in := &insts[i]; own(in) {
			framed = true
			f.collect(in)
		}
	}
	if !framed {
		c.Loose = f.loose()
		return c
	}
	c.At = f.notes(insts)
	return c
}

// own reports whether an instruction has debug info of its own, and none of its frames is a guess.
func own(in *printassembly.Instruction) bool {
	return in.OwnFrames && len(in.Frames) > 0 && in.Frames[0].Guess == printassembly.Certain
}

// trapsOf returns the deoptimisations of methods.
func trapsOf(profiles []*printassembly.MethodProfile) (all []MethodTraps) {
	named := map[string]bool{}
	for _, p := range profiles {
		if len(p.Traps) == 0 {
			continue
		}
		m := MethodTraps{Method: p.Method, Traps: slices.Clone(p.Traps)}
		slices.SortStableFunc(m.Traps, func(a, b printassembly.Trap) int { return cmp.Compare(b.Count, a.Count) })
		for _, t := range m.Traps {
			m.Count += t.Count
		}
		if named[p.Method] { // p is a later reading, or the method is overloaded
			continue
		}
		named[p.Method] = true
		all = append(all, m)
	}
	slices.SortStableFunc(all, func(a, b MethodTraps) int { return cmp.Compare(b.Count, a.Count) })
	return all
}

// sitesOf returns the sites of profiles that have enough counts, by their places.
func sitesOf(profiles []*printassembly.MethodProfile,
	chains *framechains.Chains) map[framechains.FramePlace]*printassembly.ProfileSite {
	sites := map[framechains.FramePlace]*printassembly.ProfileSite{}
	for _, p := range profiles {
		for i := range p.Sites {
			s := &p.Sites[i]
			if at := chains.Place(p.Method, s.BCI, s.Line); sites[at] == nil { // keep the first, nearest to the compilation
				sites[at] = s
			}
		}
	}
	for at, s := range sites {
		if n := (Note{ProfileSite: s}); n.Total() < leastCount {
			delete(sites, at)
		}
	}
	return sites
}

// A finder finds the notes about the instructions of one piece of code.
type finder struct {
	chains *framechains.Chains
	sites  map[framechains.FramePlace]*printassembly.ProfileSite
	known  []chain // known[n] describes the chain with the number n
	mixed  func(string) bool
	// callers has the first place at which each method was inlined. The map several has the methods that were also
	// inlined at another place. Methods are identified by the numbers of their places.
	callers map[int]framechains.FramePlace
	several map[int]bool
}

// A chain is what is known about a chain of inlined methods.
type chain struct {
	collected bool  // true if the calls in the chain are known
	call      *call // the call at the chain's innermost frame; nil if the code does not show it
	note      *Note // the note about the chain's innermost frame; nil if it was not needed yet
}

// A call says what the code shows about a call at one of its places.
type call struct {
	inlined            []string // methods that were inlined at the call; may have a method several times
	dispatched, direct bool
	callee             string // the name of the method that the bytecode calls; "" if it is unknown
}

// number returns the number of an instruction's chain of frames.
func (f *finder) number(in *printassembly.Instruction) int {
	n := f.chains.Number(in.Frames)
	f.known = append(f.known, make([]chain, f.chains.Len()+1-len(f.known))...)
	return n
}

// site returns the site of the innermost frame of a chain, or nil.
func (f *finder) site(n int) *printassembly.ProfileSite { return f.sites[f.chains.Innermost(n)] }

// collect records what an instruction shows about the calls in its chain of frames.
func (f *finder) collect(in *printassembly.Instruction) {
	n := f.number(in)
	f.collectInlined(n)
	s := f.site(n)
	if s == nil || !s.IsCall() {
		return
	}
	c := f.call(n)
	dispatched, direct := JavaCall(in)
	c.dispatched, c.direct = c.dispatched || dispatched, c.direct || direct
	for _, comment := range in.Comments {
		if name, ok := strings.CutPrefix(strings.TrimSpace(comment), "*"+s.Bytecode+" "); ok {
			c.callee, _, _ = strings.Cut(name, " {")
		}
	}
}

// collectInlined records the callers of the methods in a chain.
func (f *finder) collectInlined(n int) {
	for callers := 0; !f.known[n].collected; n = callers {
		f.known[n].collected = true
		if callers = f.chains.Callers(n); callers == 0 {
			return
		}
		callee, at := f.chains.Innermost(n), f.chains.Innermost(callers)
		if first, ok := f.callers[callee.Method]; !ok {
			f.callers[callee.Method] = at
		} else if first != at {
			f.several[callee.Method] = true
		}
		if s := f.site(callers); s != nil && s.IsCall() {
			c := f.call(callers)
			c.inlined = append(c.inlined, f.chains.Method(callee))
		}
	}
}

// JavaCall reports whether an instruction calls a Java method. dispatched is true if it looks up the method of the
// receiver's class, and direct is true if it always calls the same method.
func JavaCall(in *printassembly.Instruction) (dispatched, direct bool) {
	for _, c := range in.Comments {
		c = strings.TrimSpace(c)
		dispatched = dispatched || strings.HasPrefix(c, "{virtual_call")
		direct = direct || strings.HasPrefix(c, "{optimized virtual_call") || strings.HasPrefix(c, "{static_call")
	}
	return dispatched && in.Kind == disasm.Call, direct && in.Kind == disasm.Call
}

// call returns the call at the innermost frame of a chain.
func (f *finder) call(n int) *call {
	if f.known[n].call == nil {
		f.known[n].call = &call{}
	}
	return f.known[n].call
}

// notes returns the notes about instructions. A note about a call is at the call instruction. If there is none, the
// note is at the first instruction of each run of instructions that were made from the call's bytecode, because these
// compare the receiver's class. A note about a type check is at such a first instruction too. A note about a branch is
// at the conditional jumps of its bytecode.
func (f *finder) notes(insts []printassembly.Instruction) map[uint64]*Note {
	notes := map[uint64]*Note{}
	last := 0
	for i := range insts {
		in := &insts[i]
		if len(in.Frames) == 0 || in.Frames[0].Guess != printassembly.Certain {
			continue
		}
		n := f.number(in)
		s := f.site(n)
		if s == nil {
			last = 0
			continue
		}
		begins := n != last
		last = n
		of := &f.known[n]
		if !belongs(in, s, of.call, begins) {
			continue
		}
		if of.note == nil {
			of.note = f.note(f.chains.Innermost(n), s, of.call)
		}
		notes[in.Lo] = of.note
	}
	return notes
}

// belongs reports whether the note about a site belongs at an instruction.
func belongs(in *printassembly.Instruction, s *printassembly.ProfileSite, c *call, begins bool) bool {
	switch {
	case s.IsBranch():
		return in.Kind == disasm.CondJump && in.OwnFrames
	case !s.IsCall():
		return begins
	}
	if c != nil && (c.dispatched || c.direct) {
		dispatched, direct := JavaCall(in)
		return in.OwnFrames && (dispatched || direct)
	}
	return begins
}

// note returns the note about a site with a call, which may be nil.
func (f *finder) note(at framechains.FramePlace, s *printassembly.ProfileSite, c *call) *Note {
	method := f.chains.Method(at)
	n := &Note{Method: method, ProfileSite: s, AllCallers: f.several[at.Method] || f.mixed(method)}
	if c != nil {
		slices.Sort(c.inlined)
		n.Inlined, n.Dispatched, n.Direct, n.Callee = slices.Compact(c.inlined), c.dispatched, c.direct, c.callee
	}
	return n
}

// loose returns the notes about calls in code that has no frames.
func (f *finder) loose() (notes []*Note) {
	for at, s := range f.sites {
		if s.IsCall() {
			notes = append(notes, f.note(at, s, nil))
		}
	}
	slices.SortFunc(notes, func(a, b *Note) int {
		return cmp.Or(cmp.Compare(b.Total(), a.Total()), cmp.Compare(a.Method, b.Method), cmp.Compare(a.BCI, b.BCI),
			cmp.Compare(a.Line, b.Line))
	})
	return notes[:min(len(notes), maxLoose)]
}
