package page_test

import (
	"fmt"
	"html"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/profile/loops"
)

// The page describes each loop in the overview and beside the code. It marks the instructions of the chains that limit
// loops, and shows the output of other programs as text.
func TestLoops(t *testing.T) {
	t.Parallel()
	const evil = "<img src=x>\x1b[31m"
	ps := profiles(t, "jdk25-lean-none")
	for i := range ps.Trials[0].HotLoops {
		ps.Trials[0].HotLoops[i].Facts.Modelled = &loops.Model{Tool: "osaca" + evil, Verdict: "7 cycles" + evil,
			Text: "first" + evil + "\nsecond"}
	}
	text := page(t, ps)
	articles := listing.FindAllString(text, -1)
	chains, described := 0, 0
	for number, l := range ps.Trials[0].Listings {
		marked, links := strings.Count(articles[number], " •<code>"), map[uint64]bool{}
		for _, h := range ps.Trials[0].HotLoops {
			if h.Source != l.Source || h.Method != l.Method || h.CompileID != l.CompileID {
				continue
			}
			described++
			assert.Contains(t, articles[number], html.EscapeString(h.Facts.Words()))
			assert.Contains(t, articles[number], html.EscapeString(h.Facts.Limit()))
			if b := h.Facts.Bound; b != nil && b.Limited() {
				chains++
				assert.Contains(t, articles[number], "• chain of "+b.Links())
				for _, link := range b.Chain {
					links[link.Addr] = true
					assert.Regexp(t, fmt.Sprintf(`id="c%d-%x".*%x •<code>`, number, link.Addr-l.Lines[0].Lo, link.Addr),
						articles[number])
				}
			}
		}
		assert.GreaterOrEqual(t, marked, len(links))
	}
	assert.Positive(t, chains)
	assert.Positive(t, described)
	assert.Equal(t, described, strings.Count(text,
		`<details class="callers model"><summary>osaca&lt;img src=x&gt;\x1b[31m: 7 cycles&lt;img src=x&gt;\x1b[31m</summary>`))
	assert.Contains(t, text, "first&lt;img src=x&gt;\\x1b[31m\nsecond\n</pre>")
	assert.NotContains(t, text, "<img")
}
