package jitprofile

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/printassembly"
)

// A Code has what HotSpot's profile says about one piece of code.
type Code struct {
	// At has the notes about instructions, by their addresses.
	At map[uint64]*Note
	// Loose are the notes about the calls of the method and of those that were inlined, those that ran most first, if the
	// code has no frames, so that no note can be at an instruction.
	Loose []*Note
	// Traps are the methods that the code was made of that were deoptimised before it was copied, most often first.
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
	// leastCount is how often a bytecode must have run to have a note. C2, too, takes no less as a probability.
	leastCount = 40
	// mostTraps is the number at which HotSpot stops counting.
	mostTraps = 255
	// maxLoose limits Code.Loose.
	maxLoose = 20
)

// Of returns what profiles say about some code. insts are all of its instructions. mixed reports whether a method has
// several callers.
func Of(insts []printassembly.Instruction, profiles []*printassembly.MethodProfile, mixed func(method string) bool) *Code {
	c := &Code{Traps: trapsOf(profiles)}
	f := finder{sites: sitesOf(profiles), calls: map[string]*call{}, mixed: mixed, callers: map[string]place{}, several: map[string]bool{}}
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

// own reports whether an instruction has debug info of its own, and no guesses.
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
		if named[p.Method] { // a later reading, or an overloaded method
			continue
		}
		named[p.Method] = true
		all = append(all, m)
	}
	slices.SortStableFunc(all, func(a, b MethodTraps) int { return cmp.Compare(b.Count, a.Count) })
	return all
}

// A place is a bytecode of a method. The line tells overloaded methods apart.
type place struct {
	method    string
	bci, line int
}

func placeOf(f *printassembly.Frame) place { return place{f.Method, f.BCI, f.Line} }

// sitesOf returns the sites of profiles that have enough counts, by their places.
func sitesOf(profiles []*printassembly.MethodProfile) map[place]*printassembly.ProfileSite {
	sites := map[place]*printassembly.ProfileSite{}
	for _, p := range profiles {
		for i := range p.Sites {
			s := &p.Sites[i]
			if at := (place{p.Method, s.BCI, s.Line}); sites[at] == nil { // the first reading is nearest to the compilation
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
	sites map[place]*printassembly.ProfileSite
	calls map[string]*call // by chainKey of the frames from the caller on
	mixed func(string) bool
	// callers has the first place at which each method was inlined, and several those that were inlined at another, too.
	callers map[string]place
	several map[string]bool
}

// A call is what the code shows of a call at one place in it.
type call struct {
	inlined            []string
	dispatched, direct bool
	callee             string // the name of the method that the bytecode calls; "" if it is unknown
}

// collect notes what an instruction shows of the calls in its chain of frames.
func (f *finder) collect(in *printassembly.Instruction) {
	for i := 1; i < len(in.Frames); i++ {
		at := placeOf(&in.Frames[i])
		callee := in.Frames[i-1].Method
		if first, ok := f.callers[callee]; !ok {
			f.callers[callee] = at
		} else if first != at {
			f.several[callee] = true
		}
		s := f.sites[at]
		if s == nil || !s.IsCall() {
			continue
		}
		c := f.call(in.Frames[i:])
		if !slices.Contains(c.inlined, callee) {
			c.inlined = append(c.inlined, callee)
		}
	}
	s := f.sites[placeOf(&in.Frames[0])]
	if s == nil || !s.IsCall() {
		return
	}
	c := f.call(in.Frames)
	dispatched, direct := javaCall(in)
	c.dispatched, c.direct = c.dispatched || dispatched, c.direct || direct
	for _, comment := range in.Comments {
		if name, ok := strings.CutPrefix(strings.TrimSpace(comment), "*"+s.Bytecode+" "); ok {
			c.callee, _, _ = strings.Cut(name, " {")
		}
	}
}

// javaCall reports whether an instruction calls a Java method: the one of the receiver's class, or always the same.
func javaCall(in *printassembly.Instruction) (dispatched, direct bool) {
	for _, c := range in.Comments {
		c = strings.TrimSpace(c)
		dispatched = dispatched || strings.HasPrefix(c, "{virtual_call")
		direct = direct || strings.HasPrefix(c, "{optimized virtual_call") || strings.HasPrefix(c, "{static_call")
	}
	return dispatched && in.Kind == disasm.Call, direct && in.Kind == disasm.Call
}

// call returns the call at the innermost frame of a chain.
func (f *finder) call(frames []printassembly.Frame) *call {
	key := chainKey(frames)
	c := f.calls[key]
	if c == nil {
		c = &call{}
		f.calls[key] = c
	}
	return c
}

// chainKey returns a text that only equal chains have.
func chainKey(frames []printassembly.Frame) string {
	var key []byte
	for _, f := range frames {
		key = strconv.AppendInt(append(append(key, f.Method...), '@'), int64(f.BCI), 36)
		key = append(strconv.AppendInt(append(key, ':'), int64(f.Line), 36), '\n')
	}
	return string(key)
}

// notes returns the notes about instructions. One about a call is at the call instruction. If there is none, it is at the
// first instruction of each run of instructions of the call's bytecode: they compare the receiver's class. A note about a
// type check is at such an instruction, too, and one about a branch at the conditional jumps of its bytecode.
func (f *finder) notes(insts []printassembly.Instruction) map[uint64]*Note {
	notes := map[uint64]*Note{}
	known := map[string]*Note{}
	last := ""
	for i := range insts {
		in := &insts[i]
		if len(in.Frames) == 0 || in.Frames[0].Guess != printassembly.Certain {
			continue
		}
		s := f.sites[placeOf(&in.Frames[0])]
		if s == nil {
			last = ""
			continue
		}
		key := chainKey(in.Frames)
		begins := key != last
		last = key
		if !f.belongs(in, s, key, begins) {
			continue
		}
		n := known[key]
		if n == nil {
			n = f.note(in.Frames[0].Method, s, f.calls[key])
			known[key] = n
		}
		notes[in.Lo] = n
	}
	return notes
}

// belongs reports whether an instruction is one that the note about a site belongs at.
func (f *finder) belongs(in *printassembly.Instruction, s *printassembly.ProfileSite, key string, begins bool) bool {
	switch {
	case s.IsBranch():
		return in.Kind == disasm.CondJump && in.OwnFrames
	case !s.IsCall():
		return begins
	}
	if c := f.calls[key]; c != nil && (c.dispatched || c.direct) {
		dispatched, direct := javaCall(in)
		return in.OwnFrames && (dispatched || direct)
	}
	return begins
}

func (f *finder) note(method string, s *printassembly.ProfileSite, c *call) *Note {
	n := &Note{Method: method, ProfileSite: s, AllCallers: f.several[method] || f.mixed(method)}
	if c != nil {
		n.Inlined, n.Dispatched, n.Direct, n.Callee = c.inlined, c.dispatched, c.direct, c.callee
		slices.Sort(n.Inlined)
	}
	return n
}

// loose returns the notes about calls in code that has no frames.
func (f *finder) loose() (notes []*Note) {
	for at, s := range f.sites {
		if s.IsCall() {
			notes = append(notes, f.note(at.method, s, nil))
		}
	}
	slices.SortFunc(notes, func(a, b *Note) int {
		return cmp.Or(cmp.Compare(b.Total(), a.Total()), cmp.Compare(a.Method, b.Method), cmp.Compare(a.BCI, b.BCI), cmp.Compare(a.Line, b.Line))
	})
	return notes[:min(len(notes), maxLoose)]
}
