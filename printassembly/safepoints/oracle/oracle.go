// Package oracle measures how often package safepoints is right.
//
// The oracle is code from a JVM with -XX:+DebugNonSafepoints, whose instructions nearly all have records of their own.
// [Hide] removes the records that a JVM without the flag does not keep. A rule then has to find the frames of the
// instructions again, and a [Score] compares what it has found with the records.
//
// The hidden records are not always right themselves. If HotSpot's source shows that a record is that of other code,
// there is nothing to compare with: see [Reason]. Besides, when C2 moves a node or makes a new one, the node gets the
// bytecode that C2 is processing at that time. So no rule can reach 100 %.
package oracle

import (
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/printassembly/safepoints"
)

// A Score says for how many samples a rule has found the right frames.
type Score struct {
	Samples int
	Method  int // the innermost method that the rule found is right
	Line    int // the innermost method and its line are right
	Chain   int // all methods and lines of the chain are right
	Certain int // everything that the rule calls certain is right
}

// Add counts the samples of an instruction. want are the frames that HotSpot has recorded for it, and got are the
// frames that a rule has found. If got is empty, the code counts as that of the compiled method itself, as in reports.
func (s *Score) Add(samples int, want, got []printassembly.Frame) {
	s.Samples += samples
	if len(got) == 0 {
		got = []printassembly.Frame{{Method: want[len(want)-1].Method, Guess: printassembly.GuessedLine}}
	}
	if got[0].Method == want[0].Method {
		s.Method += samples
		if got[0].Line == want[0].Line {
			s.Line += samples
		}
	}
	if slices.EqualFunc(want, got, func(a, b printassembly.Frame) bool {
		return a.Method == b.Method &&
			a.Line == b.Line
	}) {
		s.Chain += samples
	}
	if certainlyRight(want, got) {
		s.Certain += samples
	}
}

// certainlyRight reports whether got agrees with the record want in all that is not a guess: the method of each frame
// whose method is not guessed, and the line of each frame that is certain.
func certainlyRight(want, got []printassembly.Frame) bool {
	for k, f := range got {
		if f.Guess == printassembly.GuessedAll {
			continue
		}
		at := len(want) - (len(got) - k)
		if at < 0 || want[at].Method != f.Method || f.Guess == printassembly.Certain && want[at].Line != f.Line {
			return false
		}
	}
	return true
}

// Hide returns a method as a JVM without DebugNonSafepoints has it. Such a JVM keeps only the records at polls, and at
// calls during which the thread can stop. Hide recognizes these records by their relocations. Except for one in a
// thousand, at C1's throws, the records that it keeps are those with an oop map.
func Hide(insts []printassembly.Instruction) []printassembly.Instruction {
	sparse := slices.Clone(insts)
	for i := range sparse {
		in := &sparse[i]
		safepoint := false
		if in.OwnFrames && in.Kind == disasm.Call {
			safepoint = slices.ContainsFunc(in.Comments, callsAtSafepoint)
		} else if in.OwnFrames && i+1 < len(sparse) {
			safepoint = slices.ContainsFunc(sparse[i+1].Comments, isPoll)
		}
		if !safepoint {
			in.OwnFrames, in.Frames = false, nil
		}
		in.Comments = slices.DeleteFunc(slices.Clone(in.Comments), func(c string) bool { return strings.HasPrefix(c, "*") })
	}
	return sparse
}

func isPoll(relocation string) bool { return strings.HasPrefix(relocation, "{poll") }

// callsAtSafepoint reports whether a comment is the relocation of a call during which the thread can stop. All other
// calls are leaf calls: of stubs such as StubRoutines::arraycopy, and of functions of libjvm.so.
func callsAtSafepoint(relocation string) bool {
	if name, ok := strings.CutPrefix(relocation, "{runtime_call"); ok {
		return !strings.Contains(name, "::") && name != "}"
	}
	return strings.Contains(relocation, "_call")
}

// ByAddress gives each instruction without a record the frames of the record at the next higher address. HotSpot and
// older versions of gasm use this rule, too.
func ByAddress(insts []printassembly.Instruction) {
	var frames []printassembly.Frame
	for i := len(insts) - 1; i >= 0; i-- {
		if in := &insts[i]; in.OwnFrames {
			frames = in.Frames
		} else {
			in.Frames = frames
		}
	}
}

// A Sampled is an instruction that has samples and recorded frames, together with the frames that the rules have found.
type Sampled struct {
	Samples int
	// Recorded is what HotSpot has recorded: the record of the instruction itself or, if it has none, that of the next
	// instruction with a record. Record is what guesses are compared with. It is nil if there is a Reason.
	Recorded, Record  []printassembly.Frame
	Reason            Reason
	ByAddress, ByFlow []printassembly.Frame
	// Nameless is true if the innermost method is not the compiled method, and is in none of the records that Compare
	// has left to the rules. So no rule can find it by means of records.
	Nameless bool
}

// Compare hides those records of a method that lie between safepoints. Then it lets two rules guess them: ByAddress,
// and the rule of package safepoints. samples has the number of samples by address. Compare calls the function each for
// every instruction that has samples and recorded frames. It returns false if there is nothing to compare, because the
// method is an excerpt.
func Compare(b *printassembly.Blob, insts []printassembly.Instruction, bodies *printassembly.Bodies,
	samples map[uint64]int, each func(*Sampled)) bool {
	if safepoints.Excerpt(insts) {
		return false
	}
	next := Hide(insts)
	flow := slices.Clone(next)
	j := newJudge(b, insts, next)
	ByAddress(next)
	safepoints.Spread(b, flow, bodies)
	known := mentioned(b, next)
	for i := range insts {
		if n := samples[insts[i].Lo]; n > 0 && len(insts[i].Frames) > 0 {
			record, reason := j.record(i, next[i].OwnFrames)
			each(&Sampled{n, insts[i].Frames, record, reason, next[i].Frames, flow[i].Frames, !known[insts[i].Frames[0].Method]})
		}
	}
	return true
}

// mentioned returns the methods that occur in the records of a compiled method.
func mentioned(b *printassembly.Blob, insts []printassembly.Instruction) map[string]bool {
	known := map[string]bool{b.Name: true}
	for i := range insts {
		if insts[i].OwnFrames {
			for _, f := range insts[i].Frames {
				known[f.Method] = true
			}
		}
	}
	return known
}
