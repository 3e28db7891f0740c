package safepoints

import (
	"strings"

	"github.com/gasm-profiler/gasm/printassembly"
)

// profiles has the methods whose profiles are updated near each instruction. C1's code of level 3 counts how often
// branches are taken and which classes objects have. It counts this in the MethodData of the method that has the
// bytecode, even if the method is inlined. So an instruction between two updates for the same method is probably in
// this method, even if no record mentions it.
type profiles struct {
	counters   []string   // the method whose profile each instruction updates; see Counters
	last, next []profiled // of each instruction
}

// A profiled is a method whose profile (MethodData) is updated near an instruction.
type profiled struct {
	method   string // "" if there is none
	distance int    // in instructions
}

// maxProfiled is the largest distance, in instructions, at which the update of a profile still says anything about an
// instruction.
const maxProfiled = 60

// newProfiles finds the methods whose profiles the code updates. It returns nil if there are none.
func newProfiles(insts []printassembly.Instruction) *profiles {
	updates := Counters(insts)
	if updates == nil {
		return nil
	}
	p := &profiles{updates, make([]profiled, len(insts)), make([]profiled, len(insts))}
	var now profiled
	step := func(i int) profiled {
		now.distance++
		if updates[i] != "" {
			now = profiled{updates[i], 0}
		}
		if now.distance > maxProfiled {
			return profiled{}
		}
		return now
	}
	for i := range insts {
		p.last[i] = step(i)
	}
	now = profiled{}
	for i := len(insts) - 1; i >= 0; i-- {
		p.next[i] = step(i)
	}
	return p
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
	if method := p.counters[i]; method != "" {
		return s.inMethod(i, at, method)
	}
	if p.last[i].method != p.next[i].method || p.next[i].method == "" {
		return at
	}
	method, behind := p.next[i].method, s.behind[i]
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
