package exec

import (
	"cmp"
	"slices"
	"sync"
)

// A Table has the frame of each instruction in a piece of code.
type Table struct {
	lo uint64
	// at has an element for each byte of the code. If an instruction begins at the byte, the element is the index of
	// its frame plus firstFrame, or noFrame. Otherwise it is notReached.
	at      []uint16
	frames  []Frame
	returns []returnFrame // frames after calls, sorted by end
}

// A returnFrame is the frame after a call that has returned.
type returnFrame struct {
	end   uint32 // end of the call instruction, from the start of the code
	frame uint16 // as in Table.at
}

// Elements of Table.at for bytes that have no frame.
const (
	notReached = iota // execution does not reach an instruction there
	noFrame           // execution reaches it, but does not know where the frame is
	firstFrame
)

// Return returns the frame that the code has when a call returns to pc. It is meant for all frames of a stack except
// the innermost. Its result can differ from At(pc): if the call never returns, the instruction at pc may belong to a
// stub that is only reached by jumps, and has another frame. Return returns false if no call that execution reaches
// ends at pc.
func (t *Table) Return(pc uint64) (Frame, bool) {
	i, ok := slices.BinarySearchFunc(t.returns, pc-t.lo, func(r returnFrame, end uint64) int {
		return cmp.Compare(uint64(r.end), end)
	})
	if !ok || t.returns[i].frame < firstFrame {
		return Frame{}, false
	}
	return t.frames[t.returns[i].frame-firstFrame], true
}

// recentFrames is how many of a Table's last frames are compared with a new frame, so that most frames are stored
// only once. A method has about a dozen different frames.
const recentFrames = 32

// maxFrames is the number of frames that a Table can have. HotSpot's code has fewer than a hundred.
const maxFrames = 1<<16 - firstFrame

// At returns the frame of a thread that is about to execute the instruction at pc. It returns false if symbolic
// execution does not reach an instruction at pc, or reaches it with different frames.
func (t *Table) At(pc uint64) (Frame, bool) {
	offset := pc - t.lo
	if pc < t.lo || offset >= uint64(len(t.at)) || t.at[offset] < firstFrame {
		return Frame{}, false
	}
	return t.frames[t.at[offset]-firstFrame], true
}

// maxCode is the size of the largest piece of code that is executed, in bytes. HotSpot's largest stub has several
// hundred kB.
const maxCode = 4 << 20

// runs keeps the memory of earlier runs for later ones. Otherwise most of the time would be spent on allocating
// memory.
var runs = sync.Pool{New: func() any { return new(run) }}

// maxKept limits the memory that is kept for later runs. It is the size in bytes of the largest piece of code after
// whose run the memory is kept.
const maxKept = 64 << 10

// Analyze executes a piece of code symbolically, and returns the frames of its instructions. If the code is too large,
// or has far more jumps than HotSpot's code has, the Table may be empty.
func Analyze(c Code) *Table {
	t := &Table{lo: c.Lo}
	if len(c.Bytes) > maxCode {
		return t
	}
	t.at = make([]uint16, len(c.Bytes))
	r := runs.Get().(*run)
	r.begin(&c, t)
	r.execute(c.Seeds...)
	r.sweeping = true
	r.sweep()
	slices.SortFunc(t.returns, func(a, b returnFrame) int { return cmp.Compare(a.end, b.end) })
	r.code, r.table = nil, nil
	if len(c.Bytes) <= maxKept {
		runs.Put(r)
	}
	return t
}

// begin prepares r for a piece of code.
func (r *run) begin(c *Code, t *Table) {
	r.code, r.table = c, t
	r.at = slices.Grow(r.at[:0], len(c.Bytes))[:len(c.Bytes)]
	clear(r.at)
	r.insts, r.states = r.insts[:0], r.states[:0]
	r.pending, r.calls = r.pending[:0], r.calls[:0]
	r.steps = stepsPerByte * (len(c.Bytes) + 16)
	r.sweeping = false
}

// sweep executes the code that execution from the seeds has not reached, beginning at the lowest address. At the start
// of each such part, it assumes the state code.rest.
func (r *run) sweep() {
	for offset := r.code.restFrom; offset < len(r.at) && r.steps > 0; {
		if r.frozen(offset) {
			offset += int(r.insts[r.at[offset]-1].len)
			continue
		}
		if !r.code.arch.padding(r.code.Bytes[offset:]) {
			r.execute(Seed{r.code.Lo + uint64(offset), r.code.rest})
		}
		if !r.frozen(offset) {
			offset += r.code.arch.step
		}
	}
}

// emit writes to the table the frames of the instructions that were reached since the last call of emit.
func (r *run) emit() {
	for _, i := range r.starts {
		r.emitBlock(i - 1)
	}
}

// emitBlock writes to the table the frames of the instructions from a leader to the next leader.
func (r *run) emitBlock(i int32) {
	s := r.states[r.insts[i].state-1]
	s.dirty = true
	index := uint16(0)
	for {
		n := &r.insts[i]
		if s.dirty {
			index = r.frameIndex(&s)
			s.dirty = false
		}
		r.table.at[n.offset] = index
		if n.op == opBad {
			r.table.at[n.offset] = noFrame
		}
		next := int(n.offset) + int(n.len)
		follows := r.step(n, &s)
		if n.op == opCallOther || n.op == opCall && n.rel != 0 && follows {
			r.table.returns = append(r.table.returns, returnFrame{uint32(next), r.frameIndex(&s)})
		}
		if !follows || next >= len(r.at) || r.at[next] == 0 || r.frozen(next) {
			return
		}
		if i = r.at[next] - 1; r.insts[i].leader {
			return
		}
	}
}

// frameIndex returns the element of Table.at for an instruction that is reached in state s. It adds the frame to the
// table if it is new.
func (r *run) frameIndex(s *state) uint16 {
	f, ok := s.frame()
	if !ok {
		return noFrame
	}
	f.Assumed = r.sweeping
	frames := r.table.frames
	for i := len(frames) - 1; i >= max(0, len(frames)-recentFrames); i-- {
		if frames[i] == f {
			return uint16(i + firstFrame)
		}
	}
	if len(frames) >= maxFrames {
		return noFrame
	}
	r.table.frames = append(frames, f)
	return uint16(len(frames) + firstFrame)
}
