package oracle

import (
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/printassembly/safepoints"
)

// A Reason says why HotSpot's record for an instruction is known to describe other code. It is "" if there is no such
// reason.
type Reason string

// HotSpot's compilers write a record for each node (C2) or operation (C1) whose bytecode they know. Any other
// instruction gets the next record by address, which may describe other code.
const (
	// LateInlining is for records of a call that C2 has inlined after it had parsed the method. C2 gives each new node
	// its current bytecode. Before such inlining, C2 makes the call's bytecode the current one
	// (LateInlineCallGenerator::do_late_inline_helper), and nothing resets it. So all nodes that C2 makes from then on,
	// for whatever code, have the record of such a call. See leftovers.
	LateInlining Reason = "late inlining"
	// Counter is for instructions with which C1 updates a profile ([safepoints.Counters]), if their record names
	// another method than the one that has the profile. C1 has no bytecode for them, because ProfileCall and
	// ProfileInvoke have no state (LIR_Assembler::process_debug_info).
	Counter Reason = "counter"
)

// A judge finds those records of a method that describe other code than the instructions at their addresses.
type judge struct {
	insts     []printassembly.Instruction // the method's code with all records of HotSpot
	c2        bool
	counters  []string // see safepoints.Counters
	leftovers map[string]bool
}

// newJudge returns the judge of a method. kept holds its instructions without the records that are hidden from the
// rules.
func newJudge(b *printassembly.Blob, insts, kept []printassembly.Instruction) *judge {
	j := &judge{insts: insts, c2: b.Compiler == "c2"}
	if j.c2 {
		j.leftovers = leftovers(insts, kept)
	} else {
		j.counters = safepoints.Counters(kept)
	}
	return j
}

// record returns the frames that are expected for instruction i, or the reason why they are not known. They are the
// frames of HotSpot's record, with two exceptions. The instructions that set up and remove the frame of the compiled
// method belong to that method itself; C2 has no bytecode for their nodes (it makes them in PhaseOutput::Output). And
// if C1 updates a profile, the profile shows the method.
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

// If at least scattered separate pieces of code have the record of the same call, that record is taken to be left over
// from late inlining. A call that was inlined has a few such pieces, such as the check of the receiver's class, even if
// C2 has copied them with a loop. In methods with late inlining, the number is mostly 30 to 800.
const scattered = 8

// leftovers returns the chains of frames that are left over from late inlining: those that have a call's bytecode, but
// are the records of many separate pieces of code which are not calls.
func leftovers(insts, kept []printassembly.Instruction) map[string]bool {
	pieces, last := map[string]int{}, ""
	for i := range insts {
		if !insts[i].OwnFrames {
			continue
		}
		key := chainKey(insts[i].Frames)
		if key != last && insts[i].Kind != disasm.Call && !kept[i].OwnFrames &&
			slices.ContainsFunc(insts[i].Comments, isInvoke) {
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

// isInvoke reports whether a record's comment has the bytecode of a call: "*invokevirtual equals {reexecute=0".
func isInvoke(comment string) bool { return strings.HasPrefix(comment, "*invoke") }

func chainKey(frames []printassembly.Frame) string {
	var key []byte
	for i := range frames {
		key = append(append(key, frames[i].Method...), '@', byte(frames[i].BCI), byte(frames[i].BCI>>8), '\n')
	}
	return string(key)
}
