package exec

import (
	"cmp"
	"slices"
)

// A run is one symbolic execution of a piece of code.
type run struct {
	code  *Code
	table *Table
	insts []node
	at    []int32 // by offset in the code: the number of the decoded instruction, counted from 1; 0 if there is none

	states  []state
	pending []int32 // instructions whose state has changed, by descending offset
	calls   []int32 // instructions with calls whose state after the call (node.after) has changed
	starts  []int32 // leaders that got a state since the last call of emit
	todo    []int   // offsets that are still to be decoded

	steps    int // how many instructions may still be executed
	sweeping bool
}

// A node is a decoded instruction, with what symbolic execution notes about it.
type node struct {
	inst
	offset int32
	// leader is true if the instruction can be reached by a jump or from a seed, and not only from the instruction
	// before it. Then the field state is the number of its state, counted from 1.
	leader bool
	queued bool // it is in run.pending
	state  int32
	// after is the number of the state after the instruction, counted from 1. run.later sets it, and only for the last
	// instruction of a block with a call.
	after   int32
	returns bool // it is in run.calls
}

// stepsPerByte limits how many instructions are executed per byte of code. HotSpot's code needs fewer than three.
const stepsPerByte = 64

// maxStates limits the number of states, and so their memory. A compiled method has at most several thousand targets of
// jumps.
const maxStates = 1 << 15

// execute executes the code symbolically, beginning at the seeds. It writes to the table the frames of the instructions
// that it has reached.
func (r *run) execute(seeds ...Seed) {
	r.starts = r.starts[:0]
	r.todo = r.todo[:0]
	for _, s := range seeds {
		r.target(r.offset(s.At))
	}
	r.decode()
	for _, s := range seeds {
		st := s.start.state(r.code.arch)
		r.reach(r.offset(s.At), &st)
	}
	if r.settle() {
		r.emit()
	}
}

// offset returns the offset of an address in the code, or -1.
func (r *run) offset(addr uint64) int {
	if n := addr - r.code.Lo; addr >= r.code.Lo && n < uint64(len(r.at)) && n%uint64(r.code.arch.step) == 0 {
		return int(n)
	}
	return -1
}

// frozen reports whether the table already has the frame of the instruction at an offset. That frame does not change
// any more.
func (r *run) frozen(offset int) bool { return r.table.at[offset] != 0 }

// target makes the instruction at an offset a leader, because execution can reach it by a jump or from a seed, and
// queues it for decoding.
func (r *run) target(offset int) {
	if offset < 0 || offset >= len(r.at) || r.frozen(offset) {
		return
	}
	if n := r.at[offset]; n != 0 {
		r.insts[n-1].leader = true
		return
	}
	r.insert(offset).leader = true
	r.todo = append(r.todo, offset)
}

// insert decodes the instruction at an offset.
func (r *run) insert(offset int) *node {
	in := r.code.arch.decode(r.code.Bytes[offset:])
	if r.sweeping && r.overlaps(offset, int(in.len)) {
		in = inst{op: opBad, len: 1}
	}
	r.insts = append(r.insts, node{inst: in, offset: int32(offset)})
	r.at[offset] = int32(len(r.insts))
	return &r.insts[len(r.insts)-1]
}

// overlaps reports whether an instruction with a known frame begins inside the n bytes at offset. If so, decoding has
// begun in the middle of an instruction, and the n bytes are not really an instruction.
func (r *run) overlaps(offset, n int) bool {
	for i := offset + 1; i < offset+n; i++ {
		if r.frozen(i) {
			return true
		}
	}
	return false
}

// decode decodes all that is reached from r.todo.
func (r *run) decode() {
	for len(r.todo) > 0 {
		offset := r.todo[len(r.todo)-1]
		r.todo = r.todo[:len(r.todo)-1]
		n := &r.insts[r.at[offset]-1]
		for {
			in, next := n.inst, offset+int(n.len)
			if in.op == opCondJump || in.op == opJump || in.op == opCall && r.code.followsCalls {
				r.target(next + int(in.rel))
			}
			if in.ends() || next >= len(r.at) || r.frozen(next) {
				break
			}
			if in.op == opCall && r.code.followsCalls {
				r.target(next)
			}
			if m := r.at[next]; m != 0 {
				r.insts[m-1].leader = true
				break
			}
			n, offset = r.insert(next), next
		}
	}
}

// ends reports whether execution never continues at the next instruction.
func (in *inst) ends() bool { return in.op >= opJump && in.op != opCondJump }

// reach notes that execution reaches the instruction at an offset in the state s. It merges s into the instruction's
// state, and queues the instruction if that has changed its state. The instruction must be a leader.
func (r *run) reach(offset int, s *state) {
	if offset < 0 || offset >= len(r.at) || r.at[offset] == 0 || r.frozen(offset) {
		return
	}
	n := &r.insts[r.at[offset]-1]
	if n.state == 0 {
		if len(r.states) >= maxStates {
			r.steps = 0
			return
		}
		r.states = append(r.states, *s)
		n.state = int32(len(r.states))
		r.starts = append(r.starts, r.at[offset])
	} else if !r.states[n.state-1].merge(s) {
		return
	}
	if !n.queued {
		n.queued = true
		r.queue(offset)
	}
}

// queue notes that the state of the instruction at an offset has changed. Pending instructions are executed in the
// order of their offsets, so that most paths to an instruction have been executed before the instruction itself.
// Otherwise an instruction might be executed after only one of two paths that reach it with different stack pointers.
// The code after it would get the states of that path alone. Merging the other path into these states later would
// make more of them unknown than merging the two paths first.
func (r *run) queue(offset int) {
	i, _ := slices.BinarySearchFunc(r.pending, offset, func(n int32,
		offset int) int {
		return cmp.Compare(offset, int(r.insts[n-1].offset))
	})
	r.pending = slices.Insert(r.pending, i, r.at[offset])
}

// settle executes instructions until no state changes any more. It returns false if a limit is reached before that.
func (r *run) settle() bool {
	for {
		switch {
		case r.steps <= 0:
			r.pending, r.calls = r.pending[:0], r.calls[:0]
			return false
		case len(r.pending) > 0:
			i := r.pending[len(r.pending)-1]
			r.pending = r.pending[:len(r.pending)-1]
			r.insts[i-1].queued = false
			r.block(i - 1)
		case len(r.calls) > 0:
			i := r.calls[len(r.calls)-1]
			r.calls = r.calls[:len(r.calls)-1]
			r.insts[i].returns = false
			r.returned(i)
		default:
			return true
		}
	}
}

// block executes the instructions from a leader to the next leader.
func (r *run) block(i int32) {
	s := r.states[r.insts[i].state-1]
	called := false
	for {
		n := &r.insts[i]
		r.steps--
		// called is true if the block has a call that may never return. A conditional jump after the call sets it to
		// false: the state after the call was then passed on to the jump's target already, as if the call returned.
		called = n.op != opCondJump && (called || n.op == opCallOther || n.op == opCall && n.rel != 0)
		next := int(n.offset) + int(n.len)
		follows := r.step(n, &s)
		r.jump(n, &s)
		if !follows || next >= len(r.at) || r.at[next] == 0 || r.frozen(next) {
			return
		}
		i = r.at[next] - 1
		switch {
		case !r.insts[i].leader:
			continue
		case called:
			r.later(n, &s)
		default:
			r.reach(next, &s)
		}
		return
	}
}

// step executes an instruction. It reports whether execution can continue at the instruction after it.
func (r *run) step(n *node, s *state) bool {
	if sp := s.arch.sp; s.regs[sp].base == unknown {
		s.set(sp, value{moved + base(n.offset), 0})
	}
	switch {
	case n.op == opCall && (n.rel == 0 || r.follows(n)):
		s.push(value{codeStart, n.offset + int32(n.len)})
		return n.rel == 0
	case n.op == opCall || n.op == opCallOther:
		s.called()
	default:
		s.step(&n.inst)
	}
	return !n.ends()
}

// follows reports whether the call n is executed as a jump.
func (r *run) follows(n *node) bool {
	target := int(n.offset) + int(n.len) + int(n.rel)
	return r.code.followsCalls && target >= 0 && target < len(r.at)
}

// jump notes where execution may continue, other than at the next instruction.
func (r *run) jump(n *node, s *state) {
	switch {
	case n.op == opCondJump, n.op == opJump, n.op == opCall && n.rel != 0 && r.follows(n):
		r.reach(int(n.offset)+int(n.len)+int(n.rel), s)
	case n.op == opReturn:
		if to := s.load(s.regs[s.arch.sp]); to.base == codeStart {
			s.pop()
			r.reach(int(to.off), s)
		}
	}
}

// later notes that execution may continue from n at the leader after it. n is the last instruction of a block with a
// call. The call may be one that never returns. Then the leader may be the start of an out-of-line stub, which is
// reached only by jumps. So all other paths, and these jumps with them, are executed first.
func (r *run) later(n *node, s *state) {
	if n.after == 0 {
		if len(r.states) >= maxStates {
			r.steps = 0
			return
		}
		r.states = append(r.states, *s)
		n.after = int32(len(r.states))
	} else if !r.states[n.after-1].merge(s) {
		return
	}
	if i := r.at[n.offset] - 1; !n.returns {
		n.returns = true
		r.calls = append(r.calls, i)
	}
}

// returned continues at the leader after the instruction i, which run.later has noted. If a jump has reached that
// leader with another stack pointer, the call in the block of i does not return, and execution stops there.
func (r *run) returned(i int32) {
	n := &r.insts[i]
	next := int(n.offset) + int(n.len)
	s := &r.states[n.after-1]
	if to := r.at[next]; to != 0 {
		has := r.insts[to-1].state
		if has != 0 && disagree(r.states[has-1].regs[s.arch.sp], s.regs[s.arch.sp]) {
			return
		}
	}
	copied := *s // reach may move the states in memory
	r.reach(next, &copied)
}

// disagree reports whether two values are known to differ.
func disagree(a, b value) bool { return a.base != unknown && b.base != unknown && a != b }
