package oracle

import (
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/printassembly/safepoints"
)

// A Reason says why the record that HotSpot has for an instruction is known to be that of other code. It is "" for all
// other instructions.
type Reason string

// HotSpot's compilers write a record for the nodes (C2) or operations (C1) of which they know the bytecode. For all
// others, the next record by address counts, whatever it is of.
const (
	// LateInlining is for records of a call that C2 has inlined after it had parsed the method. Before it does that, it sets
	// the bytecode that new nodes get to that of the call (LateInlineCallGenerator::do_late_inline_helper). Nothing resets
	// it. So all nodes that C2 makes from then on, for whatever code, have the record of such a call. See leftovers.
	LateInlining Reason = "late inlining"
	// Counter is for updates of a profile by C1 ([safepoints.Counters]) whose record does not have the profile's method.
	// C1 has no bytecode for them, because ProfileCall and ProfileInvoke have no state
	// (LIR_Assembler::process_debug_info).
	Counter Reason = "counter"
)

// A judge finds out which records of a method are not those of the code that they are at.
type judge struct {
	insts     []printassembly.Instruction // with all records
	c2        bool
	counters  []string // see safepoints.Counters
	leftovers map[string]bool
}

// newJudge returns the judge of a method. kept are its instructions without the records that the rules do not get.
func newJudge(b *printassembly.Blob, insts, kept []printassembly.Instruction) *judge {
	j := &judge{insts: insts, c2: b.Compiler == "c2"}
	if j.c2 {
		j.leftovers = leftovers(insts, kept)
	} else {
		j.counters = safepoints.Counters(kept)
	}
	return j
}

// record returns the frames to compare with for instruction i, or a reason why there are none. These frames are those of
// the record, with two exceptions. C2 has no bytecode for the nodes that set up and remove the frame of the compiled
// method (it makes them in PhaseOutput::Output): they belong to that method itself. And the method of an update of a
// profile by C1 is known by the profile.
func (j *judge) record(i int, isKept bool) ([]printassembly.Frame, Reason) {
	frames := j.insts[i].Frames
	switch {
	case isKept:
	case j.c2 && !j.insts[i].OwnFrames && safepoints.SetsUpFrame(j.insts, i):
		return frames[len(frames)-1:], ""
	case j.c2 && j.leftovers[chainKey(frames)]:
		return nil, LateInlining
	case j.counters != nil && j.counters[i] != "":
		cut := slices.IndexFunc(frames, func(f printassembly.Frame) bool { return f.Method == j.counters[i] })
		if cut < 0 {
			return nil, Counter
		}
		return frames[cut:], ""
	}
	return frames, ""
}

// scattered is the least number of separate pieces of code with the record of one call at which that record is taken for
// one that was left over. A call that was inlined has a few, such as the check of the receiver's class, also if C2 has
// copied them with a loop. In methods with late inlining, the number is mostly 30 to 800.
const scattered = 8

// leftovers returns the chains of frames that are left over from late inlining: those at a call's bytecode that are the
// records of many separate pieces of code which are not calls.
func leftovers(insts, kept []printassembly.Instruction) map[string]bool {
	pieces, last := map[string]int{}, ""
	for i := range insts {
		if !insts[i].OwnFrames {
			continue
		}
		key := chainKey(insts[i].Frames)
		if key != last && insts[i].Kind != disasm.Call && !kept[i].OwnFrames && slices.ContainsFunc(insts[i].Comments, isInvoke) {
			pieces[key]++
		}
		last = key
	}
	found := map[string]bool{}
	for key, n := range pieces {
		if n >= scattered {
			found[key] = true
		}
	}
	return found
}

// isInvoke reports whether a comment says that the record is of a call's bytecode: "*invokevirtual equals {reexecute=0".
func isInvoke(comment string) bool { return strings.HasPrefix(comment, "*invoke") }

func chainKey(frames []printassembly.Frame) string {
	var key []byte
	for i := range frames {
		key = append(append(key, frames[i].Method...), '@', byte(frames[i].BCI), byte(frames[i].BCI>>8), '\n')
	}
	return string(key)
}
