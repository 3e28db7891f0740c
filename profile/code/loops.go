package code

import (
	"cmp"
	"slices"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/profile/tally"
)

// A Loop is a natural loop. All paths into the loop go through one of its blocks, the head. The other blocks are those
// that can reach a jump back to the head without passing the head.
type Loop struct {
	Head   int // index of the block
	Blocks []int
	Tails  []int // the blocks that lead back to the head
	Parent int   // index of the loop around this one, or -1
	Depth  int   // 1 for a loop that is in no other loop
	Counts tally.Counts
	Lines  int
}

// Ends returns the indexes of the lines at which a loop ends: those that jump back to its head. Compilers also make
// loops that are entered in the middle. In such a loop, the code before the head is part of the loop, and runs into the
// head without a jump:
//
//	      jmp  head
//	top:  add  %r11,%r9
//	head: cmp  %r9d,%ebp
//	      jl   top
//
// Such a loop ends at the lines that jump back to its top. If no line does that, it ends at the line before the
// head.
func (l *Loop) Ends(lines []Line, blocks []Block) []int {
	in := make(map[int]bool, len(l.Blocks))
	for _, b := range l.Blocks {
		in[b] = true
	}
	var ends []int
	for _, tail := range l.Tails {
		last := &lines[blocks[tail].To-1]
		if last.Jumps() && last.Target == lines[blocks[l.Head].From].Lo || tail+1 != l.Head {
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
			if b >= top && jump.Jumps() && jump.Target == lines[blocks[top].From].Lo {
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
	// maxLoopBlocks is the maximum number of blocks of code in which FindLoops looks for loops. C2's largest methods
	// have fewer blocks.
	maxLoopBlocks = 1 << 16
	// maxLoopWork limits the number of times that FindLoops visits a block, summed over all blocks of one piece of
	// code. That limits its time to some tenths of a second. The code that compilers make needs only a few visits for
	// each block.
	maxLoopWork = 16 << 20
)

// FindLoops returns the loops of some code, in the order of their heads, and sets the Loop of each block. counters is
// the number of counts that each line has. FindLoops returns false if it would take too long, because the code is too
// large or too complex.
func FindLoops(lines []Line, blocks []Block, counters int) ([]Loop, bool) {
	if len(blocks) > maxLoopBlocks {
		return nil, false
	}
	g := newFlow(Successors(lines, blocks))
	loops := g.loops()
	if g.work > maxLoopWork {
		return nil, false
	}
	for i := range loops {
		l := &loops[i]
		l.Counts = make(tally.Counts, counters)
		for _, b := range l.Blocks {
			l.Counts.Add(blocks[b].Counts)
			l.Lines += blocks[b].To - blocks[b].From
		}
	}
	bySize := make([]int, len(loops)) // largest first, so that inner loops come after outer ones
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

// A flow is the graph of how control flows from block to block. It starts at a root, an additional block that
// leads to the entries of the code.
type flow struct {
	next, before [][]int
	order        []int  // blocks in reverse postorder, the root (-1) left out
	position     []int  // position[b] is the index of block b in order plus 1; the root has position 0
	root         []bool // the blocks that the root leads to
	entry        []int  // entry[b] is the number of the root's successor from which block b was reached first
	dominator    []int  // dominator[p] is the position of the immediate dominator of the block at position p
	work         int    // number of visits to blocks so far
}

// newFlow returns the flow between blocks, and computes their dominators. Its argument lists the successors of each
// block.
func newFlow(next [][]int) *flow {
	g := &flow{next: next, before: make([][]int, len(next)), position: make([]int, len(next)),
		root: make([]bool, len(next)), entry: make([]int, len(next))}
	for b, to := range next {
		for _, n := range to {
			g.before[n] = append(g.before[n], b)
		}
	}
	g.number()
	g.dominate()
	return g
}

// number puts the blocks in reverse postorder. The root leads to the first block, where the method is entered.
// Exception handlers can't be reached from there, nor can the targets of jump tables, which are not read. So the root
// also leads to the blocks that no other block leads to. If there are still blocks that can't be reached, the root also
// leads to the first of these, and so on.
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
		g.position[b] = i + 1
	}
}

// leads reports whether an edge from one block to another counts. Each block has the number of that successor of the
// root from which it was reached first (entry). An edge that leads to a block with a lower number does not count.
// Without this rule, an exception handler that continues in the middle of a loop would be a second entry of the loop.
func (g *flow) leads(from, to int) bool { return g.entry[from] <= g.entry[to] }

// dominate finds immediate dominators with the algorithm of Cooper, Harvey and Kennedy, "A Simple, Fast Dominance
// Algorithm".
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
				switch from := g.position[p]; {
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

// meet returns the closest common dominator of two positions.
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

// dominates reports whether block a is on all paths to block b.
func (g *flow) dominates(a, b int) bool {
	at := g.position[b]
	for at > g.position[a] {
		g.work++
		at = g.dominator[at]
	}
	return at == g.position[a]
}

// loops returns all loops. A block is the head of a loop if an edge leads back to it from a block that it dominates.
// The result is nil if there is too much work (maxLoopWork).
func (g *flow) loops() []Loop {
	var all []Loop
	in := make([]int, len(g.next)) // in[b] is the number of the last loop that contains block b, from 1 on; 0 for none
	for head := range g.next {
		if g.work > maxLoopWork {
			return nil
		}
		var tails []int
		for _, p := range g.before[head] {
			if g.leads(p, head) && g.position[p] >= g.position[head] && g.dominates(head, p) {
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
