package safepoints

import (
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/printassembly"
)

// A graph is the flow of control between the instructions of a method. It refers to instructions by their indices. A
// record is what HotSpot says about the frames at one instruction.
type graph struct {
	insts   []printassembly.Instruction
	text    *printassembly.CodeText // has the texts that insts lack; nil if they have them all
	records int                     // how many instructions have a record of their own
	out     []bool                  // the instruction is in a stub: straight code that ends in a call that does not return
	from    edges                   // lead from each instruction to those that may be executed next
	into    edges                   // lead from each instruction to those that may be executed before it
	anchor  []int32
	// witnessed has the inlining chains of instructions that have no record, but whose method is known by the field
	// that they access.
	witnessed [][]printassembly.Frame
	chain     []int32 // each instruction's own record as a node in the tree, or none
	loop      []int32 // the innermost loop of each instruction; none outside loops
	parent    []int32 // the loop around each loop
}

const none = -1

// edges has a list of edges for each instruction. The list of instruction i is all[start[i]:start[i+1]].
type edges struct {
	start []int32
	all   []edge
}

// An edge leads to an instruction. Its length is a distance in instructions, see graph.length and findLoops.
type edge struct{ to, length int32 }

func (e *edges) of(i int32) []edge { return e.all[e.start[i]:e.start[i+1]] }

func newGraph(insts []printassembly.Instruction, text *printassembly.CodeText) *graph {
	g := &graph{insts: insts, text: text}
	for i := range insts {
		if insts[i].OwnFrames {
			g.records++
		}
	}
	if g.records == 0 {
		return g
	}
	g.findStubs()
	target := make([]bool, len(insts))
	for i := range insts {
		if j := g.jump(i); j >= 0 {
			target[j] = true
		}
		if j := g.implicit(&insts[i]); j >= 0 {
			target[j] = true
		}
	}
	g.from.start = make([]int32, 1, len(insts)+1)
	reached := true
	for i := range insts {
		if reached = reached || target[i] || !pads(&insts[i]); reached {
			g.addEdges(i)
		}
		g.from.start = append(g.from.start, int32(len(g.from.all)))
		reached = reached && g.falls(i)
	}
	g.reverse()
	return g
}

// need sets the texts of the instructions that have the indexes from first to last. If the code is an outline, this
// must come before the text of an instruction is read, except to find out whether it pads or halts.
func (g *graph) need(first, last int) {
	if g.text == nil {
		return
	}
	for i := max(first, 0); i <= min(last, len(g.insts)-1); i++ {
		g.text.SetText(&g.insts[i])
	}
}

// pads reports whether an instruction may be padding between blocks. Padding that no jump leads to is not executed, so
// it gets no edges: otherwise it would look like a second way into the loop after it.
func pads(in *printassembly.Instruction) bool {
	return strings.Contains(in.Text, "nop") || strings.HasPrefix(in.Text, "xchg") || strings.HasPrefix(in.Text, "data16")
}

// jump returns the instruction to which instruction i jumps. It returns none if i is not a jump, or if its target is
// unknown or outside the method.
func (g *graph) jump(i int) int {
	in := &g.insts[i]
	if in.Kind != disasm.Jump && in.Kind != disasm.CondJump || in.Target == 0 {
		return none
	}
	return g.at(in.Target)
}

// addEdges appends the edges from one instruction.
func (g *graph) addEdges(i int) {
	in := &g.insts[i]
	if g.falls(i) {
		g.from.all = append(g.from.all, edge{int32(i + 1), g.length(i + 1)})
	}
	if j := g.jump(i); j >= 0 {
		g.from.all = append(g.from.all, edge{int32(j), g.length(j)})
	}
	if j := g.implicit(in); j >= 0 {
		g.from.all = append(g.from.all, edge{int32(j), 0})
	}
}

// length returns the length of an edge to an instruction, in instructions. It is 0 for an instruction in a stub,
// because a stub, such as the call of an uncommon trap, counts as a part of the jump that leads to it.
func (g *graph) length(to int) int32 {
	if g.out[to] {
		return 0
	}
	return 1
}

// falls reports whether control may go on from instruction i to the one after it.
func (g *graph) falls(i int) bool {
	in := &g.insts[i]
	if i+1 == len(g.insts) || g.insts[i+1].Lo != in.Hi {
		return false
	}
	switch in.Kind {
	case disasm.Jump, disasm.Return:
		return false
	case disasm.Call:
		return !g.noReturn(i)
	}
	return !halts(in)
}

// halts reports whether an instruction stops the program. C2 puts such an instruction after a call that does not
// return.
func halts(in *printassembly.Instruction) bool {
	if in.Text == "" || strings.IndexByte("huib.", in.Text[0]) < 0 {
		return false
	}
	for _, op := range []string{"hlt", "ud2", "int3", "brk", "udf", ".inst"} {
		if strings.HasPrefix(in.Text, op) {
			return true
		}
	}
	return false
}

// implicit returns the instruction at which the JVM goes on after an implicit exception. It returns none if the given
// instruction causes no such exception.
func (g *graph) implicit(in *printassembly.Instruction) int {
	text, ok := comment(in, "implicit exception: dispatches to 0x")
	if !ok {
		return none
	}
	text, _, _ = strings.Cut(text, " ")
	address, err := strconv.ParseUint(text, 16, 64)
	if err != nil {
		return none
	}
	return g.at(address)
}

// at returns the instruction that begins at an address, or none.
func (g *graph) at(address uint64) int {
	i := sort.Search(len(g.insts), func(i int) bool { return g.insts[i].Lo >= address })
	if i < len(g.insts) && g.insts[i].Lo == address {
		return i
	}
	return none
}

// comment returns the rest of the instruction's first comment that begins with prefix.
func comment(in *printassembly.Instruction, prefix string) (rest string, ok bool) {
	for _, c := range in.Comments {
		if rest, ok := strings.CutPrefix(c, prefix); ok {
			return rest, true
		}
	}
	return "", false
}

const runtimeCall = "{runtime_call "

// endings are parts of the names of HotSpot's stubs that do not return to their callers.
var endings = []string{"UncommonTrapBlob", "uncommon_trap", "throw_", "rethrow", "deoptimize", "DeoptimizationBlob",
	"forward_exception",
	"handle_exception", "unwind_exception", "ExceptionBlob"}

// noReturn reports whether the call at i is to a stub that does not return. On aarch64, the comment that names the stub
// may be at one of the instructions before the call, which load the stub's address.
func (g *graph) noReturn(i int) bool {
	stub, ok := comment(&g.insts[i], runtimeCall)
	for k := 1; k <= 3 && !ok && i-k >= 0 && g.insts[i].Target == 0 && g.insts[i-k].Kind == disasm.Plain; k++ {
		stub, ok = comment(&g.insts[i-k], runtimeCall)
	}
	return ok && slices.ContainsFunc(endings, func(e string) bool { return strings.Contains(stub, e) })
}

// findStubs marks the stubs: straight code that ends in a call which does not return.
func (g *graph) findStubs() {
	g.out = make([]bool, len(g.insts))
	out := false
	for i := len(g.insts) - 1; i >= 0; i-- {
		in := &g.insts[i]
		switch {
		case in.Kind == disasm.Call:
			out = g.noReturn(i)
		case in.Kind != disasm.Plain || in.OwnFrames:
			out = false
		}
		g.out[i] = out
	}
}

// reverse sets g.into.
func (g *graph) reverse() {
	n := len(g.insts)
	start := make([]int32, n+1)
	for _, e := range g.from.all {
		start[e.to+1]++
	}
	for i := range n {
		start[i+1] += start[i]
	}
	all, next := make([]edge, len(g.from.all)), append([]int32(nil), start...)
	for i := range int32(n) {
		for _, e := range g.from.of(i) {
			all[next[e.to]] = edge{i, e.length}
			next[e.to]++
		}
	}
	g.into = edges{start, all}
}

// findAnchors sets g.anchor. An anchor is an instruction whose frames are known, either from its own record or from
// that of a stub to which it leads. For an anchor, g.anchor is the index of the instruction that has the record. For
// all other instructions it is none.
func (g *graph) findAnchors() {
	g.anchor = make([]int32, len(g.insts))
	for i := range g.insts {
		in := &g.insts[i]
		switch {
		case in.OwnFrames:
			g.anchor[i] = int32(i)
		case g.polls(i):
			g.anchor[i] = int32(i - 1)
		default:
			g.anchor[i] = g.branchRecord(i)
		}
	}
}

// polls reports whether an instruction is a poll that has a record. HotSpot keeps the record of a poll at the poll's
// address, but the record of a call at the address after the call. The instructions passed to this package got their
// records as if all records were those of calls. So the instruction before the poll has the poll's record.
func (g *graph) polls(i int) bool {
	_, poll := comment(&g.insts[i], "{poll")
	return poll && i > 0 && g.insts[i-1].OwnFrames && g.insts[i-1].Hi == g.insts[i].Lo && g.insts[i-1].Kind != disasm.Call
}

// branchRecord finds the record that says to which frames a branch belongs. This record is in the stub or the slow path
// to which the branch leads. branchRecord returns the index of the instruction that has the record, or none.
func (g *graph) branchRecord(i int) int32 {
	if g.out[i] {
		return none
	}
	for _, e := range g.from.of(int32(i)) {
		switch to := int(e.to); {
		case g.out[to]:
			if r := g.recordIn(to); r >= 0 {
				return r
			}
		case g.insts[i].Kind == disasm.CondJump && to != i+1 && to > 0 && !g.falls(to-1):
			if r := g.recordIn(to); r >= 0 && g.callsRuntime(int(r)) {
				return r
			}
		}
	}
	return none
}

// maxStub is an upper bound for the length of a stub or a slow path up to its call, in instructions.
const maxStub = 40

// recordIn returns the index of the first instruction with a record of its own in the straight code that begins at i.
// It returns none if there is none.
func (g *graph) recordIn(i int) int32 {
	for k := i; k < min(len(g.insts), i+maxStub); k++ {
		if g.insts[k].OwnFrames {
			return int32(k)
		}
		if g.insts[k].Kind != disasm.Plain {
			break
		}
	}
	return none
}

// callsRuntime reports whether an instruction calls HotSpot itself.
func (g *graph) callsRuntime(i int) bool {
	_, ok := comment(&g.insts[i], runtimeCall)
	return ok && g.insts[i].Kind == disasm.Call
}

// leaves reports whether control leaves the method after an instruction. It is only called for instructions that have
// no edges to others.
func (g *graph) leaves(i int32) bool {
	k := g.insts[i].Kind
	return k == disasm.Return || k == disasm.Jump
}

// farthest is an upper bound for distances. Any longer distance is counted as this one.
const farthest = 1 << 30

// nearest returns, for each instruction, the nearest anchor, which is an instruction whose frames are known. With the
// argument &g.into, that is the next anchor that the program can reach from the instruction. With &g.from, it is the
// last anchor that the program has passed on its way to the instruction. nearest is Dijkstra's algorithm: it starts at
// all anchors and follows the edges.
func (g *graph) nearest(back *edges) []nearby {
	found := make([]nearby, len(g.insts))
	var q queue
	for i := range found {
		found[i].record = none
		if g.anchor[i] >= 0 {
			found[i].record, found[i].anchor = g.anchor[i], int32(i)
			q = append(q, queued{0, int32(i)})
		}
	}
	for len(q) > 0 {
		next := q.pop()
		at := &found[next.at]
		if at.distance != next.distance {
			continue // a shorter way to this instruction has been found since
		}
		for _, e := range back.of(next.at) {
			to, distance := &found[e.to], min(next.distance+e.length, farthest)
			if to.record < 0 || distance < to.distance {
				to.record, to.anchor, to.distance = at.record, at.anchor, distance
				q.push(queued{distance, e.to})
			}
		}
	}
	return found
}

// A queue is a binary heap of instructions. The nearest one comes first.
type queue []queued

type queued struct{ distance, at int32 }

func (q *queue) push(x queued) {
	h := append(*q, x)
	i := len(h) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if h[parent].distance <= x.distance {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = x
	*q = h
}

func (q *queue) pop() queued {
	h := *q
	first, last := h[0], h[len(h)-1]
	h = h[:len(h)-1]
	*q = h
	if len(h) == 0 {
		return first
	}
	i := 0
	for {
		child := 2*i + 1
		if child >= len(h) {
			break
		}
		if child+1 < len(h) && h[child+1].distance < h[child].distance {
			child++
		}
		if h[child].distance >= last.distance {
			break
		}
		h[i] = h[child]
		i = child
	}
	h[i] = last
	return first
}
