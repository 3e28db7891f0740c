package text

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/tally"
)

// frameTable ranks Java methods. Samples of inlined code count for the method that was inlined, not for the compiled
// method that contains the code.
func frameTable(v *view) *ranking {
	t := &ranking{view: v, title: "Hottest Frames (inlining undone, by self)", more: "warm frame", about: "compiled code",
		withTotals: true}
	frames := v.p.Frames
	if v.opts.Sort == ByTotal {
		t.title = "Hottest Frames (inlining undone, by total)"
		frames = slices.Clone(frames)
		slices.SortStableFunc(frames, func(a, b profile.FrameTotal) int { return slices.Compare(total(&b), total(&a)) })
	}
	for i := range frames {
		f := &frames[i]
		t.add(f.Counts, func() rankingRow {
			return rankingRow{total: total(f), name: f.Name(), details: hottestLines(v, f.Lines)}
		})
	}
	return t
}

// total returns the samples in a method and in what it called. If there are no call stacks, only calls of methods that
// were inlined are known.
func total(f *profile.FrameTotal) tally.Counts {
	if f.WithCallees != nil {
		return f.WithCallees
	}
	return f.Total
}

// hottestLines lists the hottest lines of a frame, with samples of the first event: ":12 61.8%, :14 3.1%, 2 more".
func hottestLines(v *view, lines []profile.LineTotal) string {
	most := 3
	if v.narrow() {
		most = 2
	}
	total := v.p.Accounts[0].Profiled
	var cells []string
	for _, l := range lines {
		n := l.Counts[0]
		if n == 0 || len(cells) == most {
			continue
		}
		number, amount := l.Number(), strconv.FormatInt(n, 10)
		switch v.opts.Counts {
		case Percent:
			amount = fmt.Sprintf("%.1f%%", 100*float64(n)/float64(max(total, 1)))
		case Norm:
			amount = v.scale(0).Format(n)
		}
		cells = append(cells, ":"+number+" "+amount)
	}
	if more := len(lines) - len(cells); more > 0 && len(cells) > 0 {
		cells = append(cells, fmt.Sprintf("%d more", more))
	}
	return strings.Join(cells, ", ")
}
