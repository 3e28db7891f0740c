package code

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// slowLoops returns the blocks of each loop by its head. It only uses the definitions: a block dominates another one if
// the other can't be reached from the root without passing it.
func slowLoops(next [][]int, root []bool) map[int][]int {
	reach := func(without int) []bool {
		seen := make([]bool, len(next))
		var walk func(b int)
		walk = func(b int) {
			if b == without || seen[b] {
				return
			}
			seen[b] = true
			for _, n := range next[b] {
				walk(n)
			}
		}
		for b, is := range root {
			if is {
				walk(b)
			}
		}
		return seen
	}
	loops := map[int][]int{}
	for head := range next {
		without := reach(head)
		body := map[int]bool{head: true}
		found := false
		for tail := range next {
			if !slices.Contains(next[tail], head) || tail != head && without[tail] {
				continue
			}
			found = true
			// The body is all blocks from which the tail can be reached without passing the head.
			for b := range next {
				if b == head {
					continue
				}
				seen := map[int]bool{head: true}
				var walk func(b int) bool
				walk = func(b int) bool {
					if b == tail {
						return true
					}
					if seen[b] {
						return false
					}
					seen[b] = true
					return slices.ContainsFunc(next[b], walk)
				}
				if tail != head && walk(b) {
					body[b] = true
				}
			}
		}
		if found {
			for b := range body {
				loops[head] = append(loops[head], b)
			}
			slices.Sort(loops[head])
		}
	}
	return loops
}

func TestLoops(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	loops := 0
	for range 2000 {
		n := 1 + random.IntN(12)
		next := make([][]int, n)
		for b := range next {
			for range random.IntN(3) {
				if to := random.IntN(n); !slices.Contains(next[b], to) {
					next[b] = append(next[b], to)
				}
			}
		}
		g := newFlow(next)
		got := map[int][]int{}
		for _, l := range g.loops() {
			slices.Sort(l.Blocks)
			got[l.Head] = l.Blocks
			loops++
		}
		for b := range next {
			next[b] = slices.DeleteFunc(next[b], func(to int) bool { return !g.leads(b, to) })
		}
		require.Equal(t, slowLoops(next, g.root), got, "%v", next)
	}
	assert.Greater(t, loops, 1000)
}

// The time that the search for loops takes is bounded, whatever the code is like. Here each block leads to the next one
// and to a far one.
func TestManyLoops(t *testing.T) {
	const n = maxLoopBlocks
	next := make([][]int, n)
	for b := range next {
		next[b] = []int{min(b+1, n-1), n - 1 - b}
	}
	g := newFlow(next)
	g.loops()
	assert.Less(t, g.work, maxLoopWork+2*n*n/1000, "visits")
}
