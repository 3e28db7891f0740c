package profile

import (
	"cmp"
	"slices"

	"github.com/gasm-profiler/gasm/disasm"
)

// A Loop is a natural loop: a block that every way into the loop passes, its head, and all
// blocks from which a jump back to the head can be reached without it.
type Loop struct {
	Head   int // block
	Blocks []int
	Tails  []int // the blocks that lead back to the head
	Parent int   // the loop around it; -1 for none
	Depth  int   // 1 for a loop in no other one
	Counts Counts
	Lines  int
}

// Ends gives the lines that a loop closes with: those that jump back to its head. Compilers also enter a loop in its
// middle, so that what is written first runs into the head:
//
//	      jmp  head
//	top:  add  %r11,%r9
//	head: cmp  %r9d,%ebp
//	      jl   top
//
// Then it closes with what jumps back to the top. Where nothing does, it is the line in front of the head.
func (l *Loop) Ends(lines []Line, blocks []Block) []int {
	in := make(map[int]bool, len(l.Blocks))
	for _, b := range l.Blocks {
		in[b] = true
	}
	var ends []int
	for _, tail := range l.Tails {
		last := &lines[blocks[tail].To-1]
		if Jumps(last) && last.Target == lines[blocks[l.Head].From].Lo || tail+1 != l.Head {
			ends = append(ends, blocks[tail].To-1)
			continue
		}
		top := tail
		for top > 0 && in[top-1] && lines[blocks[top-1].To-1].Kind != disasm.Jump {
			top--
		}
		found := false
		for _, b := range l.Blocks {
			jump := &lines[blocks[b].To-1]
			if b >= top && Jumps(jump) && jump.Target == lines[blocks[top].From].Lo {
				ends, found = append(ends, blocks[b].To-1), true
			}
		}
		if !found {
			ends = append(ends, blocks[tail].To-1)
		}
	}
	slices.Sort(ends)
	return slices.Compact(ends)
}

const (
	// maxLoopBlocks is how many blocks code may have whose loops are looked for: more than
	// C2's largest methods have.
	maxLoopBlocks = 1 << 16
	// maxLoopWork bounds the time for all loops of one piece of code, in visits of blocks: some
	// tenths of a second. Code of compilers takes some visits for each block.
	maxLoopWork = 16 << 20
)

// FindLoops finds the loops of some code, in the order of their heads, and tells each block
// its innermost one. It gives false where the code is too large.
func FindLoops(lines []Line, blocks []Block, events int) ([]Loop, bool) {
	if len(blocks) > maxLoopBlocks {
		return nil, false
	}
	g := newFlow(successors(lines, blocks))
	loops := g.loops()
	if g.work > maxLoopWork {
		return nil, false
	}
	for i := range loops {
		l := &loops[i]
		l.Counts = make(Counts, events)
		for _, b := range l.Blocks {
			l.Counts.Add(blocks[b].Counts)
			l.Lines += blocks[b].To - blocks[b].From
		}
	}
	bySize := make([]int, len(loops)) // largest first, so that inner loops come behind outer ones
	for i := range bySize {
		bySize[i] = i
	}
	slices.SortStableFunc(bySize, func(a, b int) int { return cmp.Compare(len(loops[b].Blocks), len(loops[a].Blocks)) })
	for _, i := range bySize {
		l := &loops[i]
		if l.Parent, l.Depth = blocks[l.Head].Loop, 1; l.Parent >= 0 {
			l.Depth = loops[l.Parent].Depth + 1
		}
		for _, b := range l.Blocks {
			blocks[b].Loop = i
		}
	}
	return loops, true
}

// A flow is how control flows from block to block, from a root in front of them on.
type flow struct {
	next, before [][]int
	order        []int  // blocks in reverse postorder, the root (-1) left out
	place        []int  // of each block in order, from 1 on; 0 is the root
	root         []bool // the blocks that the root leads to
	entry        []int  // which root each block was reached from first
	dominator    []int  // by place: the place of the immediate dominator
	work         int    // visits so far
}

func newFlow(next [][]int) *flow {
	g := &flow{next: next, before: make([][]int, len(next)), place: make([]int, len(next)), root: make([]bool, len(next)), entry: make([]int, len(next))}
	for b, to := range next {
		for _, n := range to {
			g.before[n] = append(g.before[n], b)
		}
	}
	g.number()
	g.dominate()
	return g
}

// number puts the blocks in reverse postorder. The root leads to the first block, where the
// method is entered. What can't be reached from there are exception handlers, and targets of
// tables of jumps, which are not read: the root leads to those of them that nothing else leads
// to, and then to the first one that is left.
func (g *flow) number() {
	seen := make([]bool, len(g.next))
	var post []int
	type visit struct{ block, edge int }
	var stack []visit
	roots := 0
	walk := func(root int) {
		if seen[root] {
			return
		}
		seen[root], g.root[root], g.entry[root] = true, true, roots
		stack = append(stack[:0], visit{root, 0})
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			if top.edge == len(g.next[top.block]) {
				post = append(post, top.block)
				stack = stack[:len(stack)-1]
				continue
			}
			n := g.next[top.block][top.edge]
			top.edge++
			if !seen[n] {
				seen[n], g.entry[n] = true, roots
				stack = append(stack, visit{n, 0})
			}
		}
		roots++
	}
	if len(g.next) > 0 {
		walk(0)
	}
	for b := range g.next {
		if len(g.before[b]) == 0 {
			walk(b)
		}
	}
	for b := range g.next {
		walk(b)
	}
	slices.Reverse(post)
	g.order = post
	for i, b := range post {
		g.place[b] = i + 1
	}
}

// leads tells whether a way from one block to another one counts. A handler that goes on in
// the middle of a loop does not make a second entry of it.
func (g *flow) leads(from, to int) bool { return g.entry[from] <= g.entry[to] }

// dominate finds immediate dominators, as Cooper, Harvey and Kennedy do in "A Simple, Fast
// Dominance Algorithm".
func (g *flow) dominate() {
	const unknown = -1
	g.dominator = make([]int, len(g.order)+1)
	for i := range g.dominator {
		g.dominator[i] = unknown
	}
	g.dominator[0] = 0
	for changed := true; changed && g.work <= maxLoopWork; {
		changed = false
		for i, b := range g.order {
			at, best := i+1, unknown
			if g.root[b] {
				g.dominator[at] = 0
				continue
			}
			g.work++
			for _, p := range g.before[b] {
				switch from := g.place[p]; {
				case !g.leads(p, b):
				case g.dominator[from] == unknown:
				case best == unknown:
					best = from
				default:
					best = g.meet(best, from)
				}
			}
			if g.dominator[at] != best {
				g.dominator[at] = best
				changed = true
			}
		}
	}
}

// meet is the closest place that dominates both.
func (g *flow) meet(a, b int) int {
	for a != b {
		g.work++
		for a > b {
			a = g.dominator[a]
		}
		for b > a {
			b = g.dominator[b]
		}
	}
	return a
}

// dominates tells whether block a is on all ways to block b.
func (g *flow) dominates(a, b int) bool {
	at := g.place[b]
	for at > g.place[a] {
		g.work++
		at = g.dominator[at]
	}
	return at == g.place[a]
}

// loops finds all loops, by the jumps that lead back to a block on all ways to them. It gives
// up when there was too much work.
func (g *flow) loops() []Loop {
	var all []Loop
	in := make([]int, len(g.next)) // the number of the last loop that had each block, from 1 on
	for head := range g.next {
		if g.work > maxLoopWork {
			return nil
		}
		var tails []int
		for _, p := range g.before[head] {
			if g.leads(p, head) && g.place[p] >= g.place[head] && g.dominates(head, p) {
				tails = append(tails, p)
			}
		}
		if len(tails) == 0 {
			continue
		}
		l := Loop{Head: head, Blocks: []int{head}, Tails: slices.Clone(tails), Parent: -1}
		number := len(all) + 1
		in[head] = number
		for len(tails) > 0 {
			b := tails[len(tails)-1]
			tails = tails[:len(tails)-1]
			if in[b] == number {
				continue
			}
			in[b] = number
			l.Blocks = append(l.Blocks, b)
			for _, p := range g.before[b] {
				if g.leads(p, b) {
					tails = append(tails, p)
				}
			}
			g.work++
		}
		all = append(all, l)
	}
	return all
}
