package listing

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile/code"
	"github.com/gasm-profiler/gasm/profile/tally"
	"github.com/gasm-profiler/gasm/report/reporttest"
)

// TestManyArrows checks that the report says how many arrows it leaves out.
func TestManyArrows(t *testing.T) {
	const loops = maxArrowColumns + 2 // each one is within the one before
	p := reporttest.Dot(t)
	var lines []code.Line
	for i := range uint64(2 * loops) {
		l := code.Line{Counts: tally.Counts{0}}
		l.Lo, l.Hi, l.Text = 0x1000+i, 0x1001+i, "nop"
		if i >= loops {
			l.Text, l.Kind, l.Target = "jmp", disasm.Jump, 0x1000+2*loops-1-i
		}
		lines = append(lines, l)
	}
	p.Regions[0].Lines = lines
	assert.Contains(t, string(listingOf(p, layout.Look{}, Options{DrawIntraJumps: true})), "(2 more arrows not drawn)")
}
