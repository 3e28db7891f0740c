package loops

import (
	"slices"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/profile/code"
)

// A subset is an innermost loop without its rare detours: its blocks in the order in which control flows through them,
// from the head on, and the edges between them.
type subset struct {
	order  []int
	before map[int][]int // the blocks from which each block is entered; for the head, those that lead back to it
	left   bool          // true if blocks of the loop were left out
}

// subset returns a loop without the blocks for which rare returns true. Such a block stays only if the loop has no
// other way to go on from the block before it. subset returns nil if what remains of the loop has an inner cycle.
func (c *Code) subset(l *code.Loop, rare func(block int) bool) *subset {
	in := c.members(l)
	s := &subset{before: map[int][]int{}}
	const open, closed = 1, 2
	state := map[int]int{}
	type visit struct {
		block int
		next  []int
	}
	enter := func(b int) visit {
		state[b] = open
		return visit{b, c.onward(l, in, b, rare)}
	}
	stack := []visit{enter(l.Head)}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if len(top.next) == 0 {
			state[top.block] = closed
			s.order = append(s.order, top.block)
			stack = stack[:len(stack)-1]
			continue
		}
		to := top.next[0]
		top.next = top.next[1:]
		s.before[to] = append(s.before[to], top.block)
		switch {
		case to == l.Head || state[to] == closed:
		case state[to] == open:
			return nil
		default:
			stack = append(stack, enter(to))
		}
	}
	slices.Reverse(s.order)
	s.left = len(s.order) < len(l.Blocks)
	return s
}

// members returns the set of a loop's blocks.
func (c *Code) members(l *code.Loop) map[int]bool {
	in := make(map[int]bool, len(l.Blocks))
	for _, b := range l.Blocks {
		in[b] = true
	}
	return in
}

// onward returns the blocks of a loop that can follow one of its blocks. It leaves out rare blocks unless all of them
// are rare.
func (c *Code) onward(l *code.Loop, in map[int]bool, block int, rare func(block int) bool) []int {
	var all, usual []int
	for _, n := range c.next[block] {
		if !in[n] || slices.Contains(all, n) {
			continue
		}
		all = append(all, n)
		if n == l.Head || !rare(n) {
			usual = append(usual, n)
		}
	}
	if len(usual) > 0 {
		return usual
	}
	return all
}

// calling returns those blocks of a loop from which every way back to the head has a call.
func (c *Code) calling(l *code.Loop) map[int]bool {
	in := c.members(l)
	calls := map[int]bool{}
	all := c.subset(l, func(int) bool { return false })
	if all == nil {
		return calls
	}
	for _, b := range slices.Backward(all.order) {
		ways := 0
		for _, n := range c.next[b] {
			if in[n] && (n == l.Head || !calls[n]) {
				ways++
			}
		}
		calls[b] = ways == 0 || c.callIn(b)
	}
	return calls
}

// callIn reports whether a block has a call.
func (c *Code) callIn(block int) bool {
	b := &c.blocks[block]
	return slices.ContainsFunc(c.lines[b.From:b.To], func(l code.Line) bool { return l.Kind == disasm.Call })
}

const (
	// coldSamples is the minimum number of samples in a loop that has rare blocks. With fewer, a block without samples
	// may be there by chance.
	coldSamples = 50
	// coldShare limits the samples of a rare block: it has less than 1/coldShare of the loop's samples.
	coldShare = 200
)

// cold reports whether a block of a loop has hardly any samples. The first instruction after the block counts, too,
// because it may have the samples of the block's last instruction (skid).
func (c *Code) cold(l *code.Loop, block int) bool {
	b := &c.blocks[block]
	for i, n := range l.Counts {
		if n >= coldSamples {
			own := b.Counts[i]
			if b.To < len(c.lines) && c.lines[b.To-1].Kind != disasm.Jump {
				own += c.lines[b.To].Counts[i]
			}
			return own*coldShare < n
		}
	}
	return false
}

const (
	// maxPaths and maxPathLines limit the number of ways through a loop that are examined one by one, and the number of
	// instructions on all of them together.
	maxPaths     = 64
	maxPathLines = 20_000
)

// paths returns each way through a subset as a subset of its own. If there are too many, it returns only the subset
// itself. A result for all ways at once is correct, but does not see the differences between the ways. An example is a
// binary search, where each round changes one bound or the other.
func (c *Code) paths(s *subset) []*subset {
	head := s.order[0]
	after := s.after()
	var all []*subset
	var way []int
	lines := 0
	var walk func(b int) bool
	walk = func(b int) bool {
		way = append(way, b)
		defer func() { way = way[:len(way)-1] }()
		for _, to := range after[b] {
			if to != head {
				if !walk(to) {
					return false
				}
				continue
			}
			path := &subset{order: slices.Clone(way), before: map[int][]int{head: {b}}}
			for i, at := range way {
				lines += c.blocks[at].To - c.blocks[at].From
				if i > 0 {
					path.before[at] = []int{way[i-1]}
				}
			}
			if all = append(all, path); len(all) > maxPaths || lines > maxPathLines {
				return false
			}
		}
		return true
	}
	if !walk(head) {
		return []*subset{s}
	}
	return all
}

// after returns the edges of a subset by the block at which they begin.
func (s *subset) after() map[int][]int {
	after := map[int][]int{}
	for _, to := range s.order {
		for _, b := range s.before[to] {
			after[b] = append(after[b], to)
		}
	}
	return after
}

// hottest returns the lines of the path through a subset that has most samples at each fork.
func (c *Code) hottest(l *code.Loop, s *subset) []int {
	after := s.after()
	var lines []int
	for b, first := l.Head, true; first || b != l.Head; first = false {
		for i := c.blocks[b].From; i < c.blocks[b].To; i++ {
			lines = append(lines, i)
		}
		next := after[b]
		if len(next) == 0 {
			break
		}
		b = slices.MaxFunc(next, func(x, y int) int {
			return slices.Compare(c.blocks[x].Counts, c.blocks[y].Counts)
		})
	}
	return lines
}
