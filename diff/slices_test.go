package diff

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// If a new compilation replaces an old one in the middle of a benchmark, the next run will do so at another time. That
// is not shown as a change.
func TestTakeOver(t *testing.T) {
	run := func(first int64) TrialSide {
		item := func(name string, counts ...int64) Item {
			i := Item{Source: "c2, level 4", Name: name, Slices: counts}
			for _, n := range counts {
				i.Count += n
			}
			return i
		}
		return TrialSide{Samples: 2000, Slices: []int64{400, 400, 400, 400, 400}, Methods: []Item{
			item("early", 400, first, 0, 0, 0), item("late", 0, 400-first, 400, 400, 400)}}
	}
	r := Compare(side("a", run(0)), side("b", run(300)), options()).Trials[0]
	assert.True(t, r.unchanged(), "%+v", r.Methods)
}
