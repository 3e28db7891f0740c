package safepoints

import (
	"sort"
	"strings"

	"github.com/gasm-profiler/gasm/printassembly"
)

// profiles has the methods whose profiles are updated near each instruction. C1's code of level 3 counts how often
// branches are taken and which classes objects have. It counts this in the MethodData of the method that has the
// bytecode, even if the method is inlined. So an instruction between two updates for the same method is probably in
// this method, even if no record mentions it.
type profiles struct {
	*graph
	updates []update // sorted by start
}

// An update is the code that updates a profile once.
type update struct {
	start  int // index of the instruction that loads the address of the profile
	end    int // index of the last instruction; 0 if not known yet
	method string
}

// maxProfiled is the largest distance, in instructions, at which the update of a profile still says anything about an
// instruction.
const maxProfiled = 60

// newProfiles finds the methods whose profiles the code updates. It returns nil if there are none.
func newProfiles(g *graph) *profiles {
	var updates []update
	for i := range g.insts {
		if m := profiledMethod(&g.insts[i]); m != "" {
			updates = append(updates, update{start: i, method: m})
		}
	}
	if updates == nil {
		return nil
	}
	return &profiles{g, updates}
}

// maxOverlap is the maximum number of updates that may begin before an earlier one has ended. Updates overlap only
// because overflowEnd examines three more instructions, among which other updates may begin.
const maxOverlap = 4

// counter returns the method whose profile instruction i updates, or "" if it updates none.
func (p *profiles) counter(i int) string {
	next := sort.Search(len(p.updates), func(k int) bool { return p.updates[k].start > i })
	for k := next - 1; k >= 0 && k >= next-1-maxOverlap; k-- {
		u := &p.updates[k]
		if u.end == 0 {
			p.need(u.start, u.start+maxCounter+maxAfter)
			u.end = counterEnd(p.insts, u.start)
		}
		if i <= u.end {
			return u.method
		}
	}
	return ""
}

// near returns the method whose profile is updated at instruction i or, if none is updated there, at the nearest
// instruction after it (step is 1) or before it (step is -1). It returns "" if that is too far away.
func (p *profiles) near(i, step int) string {
	for k := i; k >= 0 && k < len(p.insts) && k != i+step*(maxProfiled+1); k += step {
		if m := p.counter(k); m != "" {
			return m
		}
	}
	return ""
}

// profiledMethod returns the method whose profile an instruction refers to, in the form that frames have:
// "org.jruby.RubyString::getEncoding". The name comes from a comment of the instruction. If there is no such comment,
// profiledMethod returns "". A comment is, for example:
//
//	{metadata(method data for {method} {0x00007f011b57d540} 'getEncoding' '()Lorg/jcodings/Encoding;' in 'org/jruby/RubyString')}
func profiledMethod(in *printassembly.Instruction) string {
	text, ok := comment(in, "{metadata(method data for {method} ")
	if !ok {
		return ""
	}
	words := strings.Split(text, "'")
	const name, class = 1, 5
	if len(words) != 7 || words[4] != " in " {
		return ""
	}
	return externalName.Replace(words[class]) + "::" + words[name]
}

// externalName converts the name of a class from HotSpot's form to that in frames. The class of a lambda expression has
// a number: "a/B$$Lambda+0x00007f5c08001800" is "a.B$$Lambda/0x00007f5c08001800".
var externalName = strings.NewReplacer("/", ".", "+", "/")

// profiled corrects the guess for an instruction that updates a profile: the instruction is in the method of that
// profile. It also corrects the guess for an instruction between two updates, if the last profile (MethodData) that the
// code updates before it and the next one after it belong to the same method: the instruction is then probably in that
// method. It does not correct the guess after an implicit null check, which C1 makes where it inlines a call. The code
// there may belong to the inlined method, which may have no profile.
func (s *spreader) profiled(i int, at guess) guess {
	p := s.profiles
	if p == nil || at.record < 0 {
		return at
	}
	if method := p.counter(i); method != "" {
		return s.inMethod(i, at, method)
	}
	method, behind := p.near(i, 1), s.behind[i]
	if method == "" || p.near(i, -1) != method {
		return at
	}
	if behind.record >= 0 {
		_, check := comment(&s.insts[behind.anchor], "implicit exception")
		if check && s.insts[behind.record].Frames[0].Method == method {
			return at
		}
	}
	return s.inMethod(i, at, method)
}

// inMethod changes the guess for an instruction so that it is in the given method. If one of the nearest records has a
// frame of the method, that frame is the guess. Otherwise the method is assumed to be inlined where the old guess was.
func (s *spreader) inMethod(i int, at guess, method string) guess {
	if s.insts[at.record].Frames[at.cut].Method == method {
		return at
	}
	for _, r := range []int32{s.ahead[i].record, s.behind[i].record} {
		if r < 0 {
			continue
		}
		for cut, f := range s.insts[r].Frames {
			if f.Method == method {
				return guess{record: r, cut: cut}
			}
		}
	}
	at.method = method
	return at
}
