package text

import (
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/tally"
	"github.com/gasm-profiler/gasm/profile/threads"
	"github.com/gasm-profiler/gasm/report/text/events"
	"github.com/gasm-profiler/gasm/report/text/view"
)

const (
	maxOverviewRows    = 6 // for methods and native functions
	maxOverviewSources = 5
	maxOverviewFrames  = 3
	// leastOverviewFrame is the smallest share of the profile's samples with which a frame is in the overview. If all
	// frames have less, the time is spent elsewhere than in compiled Java code.
	leastOverviewFrame = 0.01
	// leastOtherThreads: if the JVM's own threads have less than this share of the profile's samples, the overview has
	// no line about threads, because nearly everything is the work of the program's threads.
	leastOtherThreads = 0.05
)

// An overview says in a few lines what is hottest. It comes before the annotated code, which can be long.
type overview struct{ *view.View }

func (o overview) write() {
	o.Labelled("Time in", o.joined(min(len(o.Profile.Sources), maxOverviewSources), func(i int) (string, tally.Counts) {
		return o.Profile.Sources[i].Source, o.Profile.Sources[i].Counts
	})...)
	if o.jvmWorks() {
		o.Labelled("Threads", o.joined(o.busyThreads(), func(i int) (string, tally.Counts) {
			return o.Profile.Threads[i].Kind,
				o.Profile.Threads[i].Counts
		})...)
	}
	if work := o.vmWork(); len(work) > 0 {
		o.Labelled("libjvm", work...)
	}
	o.Labelled("Hottest", o.hottest()...)
	o.Labelled("By line", o.hottestFrames()...)
	if lines := events.Summary(o.View); len(lines) > 0 {
		o.Labelled("Events", lines...)
	}
	if waits := events.WallSummary(o.View); waits != "" {
		o.Labelled("Waits", o.wrapped([]string{waits})...)
	}
	if len(o.Warmth) > 0 {
		o.Labelled("Warm-up", o.wrapped(o.Warmth)...)
	}
	if jit := jitSummary(o.View); len(jit) > 0 {
		o.Labelled("JIT", o.wrapped(jit)...)
	}
	if calls := inliningSummary(o.View); len(calls) > 0 {
		o.Labelled("Calls", o.wrapped(calls)...)
	}
	o.Line("")
}

// wrapped wraps lines to the room beside the labels.
func (o overview) wrapped(lines []string) (all []string) {
	for _, line := range lines {
		all = append(all, layout.Wrap(line, o.Columns(layout.RuleWidth)-view.LabelWidth)...)
	}
	return all
}

// joined returns lines with the amounts and names of n things: "52.10% c2, level 4; 20.03% kernel". Each line has as
// many things as there is room for.
func (o overview) joined(n int, thing func(i int) (name string, counts tally.Counts)) (lines []string) {
	room := o.Columns(layout.RuleWidth) - view.LabelWidth
	for i := range n {
		name, counts := thing(i)
		amount := strings.TrimSpace(o.BesideCode(0, counts[0]))
		if amount == "" {
			break
		}
		item := amount + " " + name
		if len(lines) == 0 && len(o.Profile.Counters) > 1 { // the overview shows the first event only
			item = o.Profile.Counters[0] + ": " + item
		}
		if last := len(lines) - 1; last >= 0 && layout.Width(lines[last]+"; "+item) <= room {
			lines[last] += "; " + item
		} else {
			lines = append(lines, item)
		}
	}
	return lines
}

// jvmWorks reports whether the JVM's own threads, for example those of the compilers, have a large enough part of the
// profile for a line in the overview.
func (o overview) jvmWorks() bool {
	others := int64(0)
	for _, k := range o.Profile.Threads {
		if k.Kind != threads.Application {
			others += k.Counts[0]
		}
	}
	return float64(others) >= leastOtherThreads*float64(o.Profile.Accounts[0].Profiled) && len(o.Profile.Threads) > 1
}

// busyThreads returns the number of kinds of threads that have at least one percent of the profile each.
func (o overview) busyThreads() int {
	n := 0
	for n < len(o.Profile.Threads) && 100*o.Profile.Threads[n].Counts[0] >= o.Profile.Accounts[0].Profiled {
		n++
	}
	return n
}

// hottestFrames returns lines about the hottest Java methods as they are in the source, without inlining, and their
// hottest lines of source. They show why a compiled method is hot.
func (o overview) hottestFrames() []string {
	frames := o.frames()
	if len(frames) == 0 {
		return nil
	}
	var cells [][]string
	for _, f := range frames {
		amount := o.InTable(0, f.Counts[0])
		cells = append(cells, []string{strings.TrimSpace(amount), o.Short(f.Name(), false), frameDetails(o.View, &f)})
	}
	lines := layout.Table(nil, cells, []layout.Align{layout.Right, layout.Left, layout.Left})
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], " ")
	}
	return lines
}

// frames returns the hottest frames that the overview shows, at most maxOverviewFrames.
func (o overview) frames() []profile.FrameTotal {
	frames := o.Profile.Frames[:min(len(o.Profile.Frames), maxOverviewFrames)]
	for i := range frames {
		if float64(frames[i].Counts[0]) < leastOverviewFrame*float64(o.Profile.Accounts[0].Profiled) ||
			!o.Visible(frames[i].Counts) {
			return frames[:i]
		}
	}
	return frames
}

// frameDetails returns the hottest two lines of a frame, as hottestLines formats them. It ignores samples without a
// line number.
func frameDetails(v *view.View, f *profile.FrameTotal) string {
	var known []profile.LineTotal
	for _, l := range f.Lines {
		if l.Line > 0 && len(known) < 2 {
			known = append(known, l)
		}
	}
	return hottestLines(v, known)
}

// hottest returns lines about the hottest methods and native functions. A line also has the numbers of the annotated
// regions of its method.
func (o overview) hottest() []string {
	rows := o.rows()
	if len(rows) == 0 {
		return nil
	}
	var cells [][]string
	for _, row := range rows {
		amount := o.InTable(0, row.counts[0])
		cells = append(cells, []string{strings.TrimSpace(amount), row.source, o.Short(row.name, row.native) + row.tail})
	}
	lines := layout.Table(nil, cells, []layout.Align{layout.Right, layout.Right, layout.Left})
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], " ")
	}
	return lines
}

// rows returns the rows of the hottest methods and native functions. It leaves out a row with fewer than MinSamples
// samples, unless the row's code is annotated or all rows have fewer.
func (o overview) rows() []rankingRow {
	type key struct{ source, name string }
	regions := map[key][]string{}
	for i, h := range hotspots(o.Profile) {
		k := key{h.source, h.name}
		regions[k] = append(regions[k], strconv.Itoa(i+1))
	}
	var rows []rankingRow
	add := func(c tally.Counts, row rankingRow) {
		numbers := regions[key{row.source, row.name}]
		few := c[0] < int64(o.Profile.MinSamples) && len(rows) > 0 && rows[0].counts[0] >= int64(o.Profile.MinSamples)
		if len(rows) == maxOverviewRows || !o.Visible(c) || few && len(numbers) == 0 {
			return
		}
		row.counts = c
		switch {
		case len(numbers) == 1:
			row.tail = ", region " + numbers[0]
		case len(numbers) > 1:
			row.tail = ", regions " + strings.Join(numbers[:min(len(numbers), 3)], ", ")
		}
		rows = append(rows, row)
	}
	inOrder(o.Profile.Methods, o.Profile.Native, func(m *profile.Method) tally.Counts { return m.Counts },
		func(m *profile.Method, n *profile.NativeFunction) {
			if n != nil {
				add(n.Counts, rankingRow{source: n.Module, name: symbol(n), native: true})
			} else {
				add(m.Counts, rankingRow{source: m.Source, name: m.Name})
			}
		})
	return rows
}

// fitNames limits the width of the names in the overview.
func (o overview) fitNames() {
	rows := o.rows()
	source := 0
	for _, row := range rows {
		source = max(source, layout.Width(row.source))
	}
	const amount = len("100.00%") + view.CellPadding
	for _, row := range rows {
		o.Fit(row.name, row.native,
			o.Options.TableWidth-view.LabelWidth-amount-source-view.CellPadding-layout.Width(row.tail)-1)
	}
	details := 0
	frames := o.frames()
	for i := range frames {
		details = max(details, layout.Width(frameDetails(o.View, &frames[i])))
	}
	for _, f := range frames {
		o.Fit(f.Method, false, o.Options.TableWidth-view.LabelWidth-amount-details-view.CellPadding-1)
	}
}
