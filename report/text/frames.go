package text

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/tally"
	"github.com/gasm-profiler/gasm/report/text/counts"
	"github.com/gasm-profiler/gasm/report/text/view"
)

// frameTable returns the table of Java methods. Samples of inlined code count for the method that was inlined, not for
// the compiled method that contains the code.
func frameTable(v *view.View) *ranking {
	t := &ranking{View: v, title: "Hottest Frames (inlining undone, by self)", more: "warm frame", about: "compiled code",
		withTotals: true}
	frames := v.Profile.Frames
	if v.Options.Sort == view.ByTotal {
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

// hottestLines returns a list of the hottest lines of a frame, with their samples of the first event: ":12 61.8%, :14
// 3.1%, 2 more".
func hottestLines(v *view.View, lines []profile.LineTotal) string {
	most := 3
	if v.Narrow() {
		most = 2
	}
	total := v.Profile.Accounts[0].Profiled
	var cells []string
	for _, l := range lines {
		n := l.Counts[0]
		if n == 0 || len(cells) == most {
			continue
		}
		number, amount := l.Number(), strconv.FormatInt(n, 10)
		switch v.Options.Counts {
		case counts.Percent:
			amount = fmt.Sprintf("%.1f%%", 100*float64(n)/float64(max(total, 1)))
		case counts.Norm:
			amount = v.Scale(0).Format(n)
		}
		cells = append(cells, ":"+number+" "+amount)
	}
	if more := len(lines) - len(cells); more > 0 && len(cells) > 0 {
		cells = append(cells, fmt.Sprintf("%d more", more))
	}
	return strings.Join(cells, ", ")
}
