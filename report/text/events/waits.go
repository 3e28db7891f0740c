package events

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile/waits"
	"github.com/gasm-profiler/gasm/report/amount"
	"github.com/gasm-profiler/gasm/report/text/view"
	"github.com/gasm-profiler/gasm/wall"
)

// WriteWaits writes the tables about how threads spent wall-clock time.
func WriteWaits(v *view.View) {
	if v.Profile.Waits == nil {
		return
	}
	writeWaitPlaces(v)
	writePools(v)
	writeHolders(v)
	writeDeadlocks(v)
	writeVirtual(v)
	writeWallAccount(v)
}

// tableSeconds formats a number of ns as a number of seconds.
func tableSeconds(nanos int64) string { return fmt.Sprintf("%.2f", float64(nanos)/1e9) }

// shownPlaces returns the places that the report shows, and how long threads waited at them. With Options.Idle, these
// are all places; otherwise they are those outside of the queues of pools.
func shownPlaces(v *view.View) (places []waits.Place, total int64) {
	places = slices.Clone(v.Profile.Waits.Places)
	if !v.Options.Idle {
		places = slices.DeleteFunc(places, func(p waits.Place) bool { return p.Queue })
	}
	for i := range places {
		total += places[i].Nanos
	}
	return places, total
}

// writeWaitPlaces writes the table of the places where threads waited.
func writeWaitPlaces(v *view.View) {
	places, total := shownPlaces(v)
	v.Rule("Where Threads Wait")
	if len(places) > 0 {
		var rows [][]string
		for i := range view.First(places, v.Options.Top) {
			p := &places[i]
			rows = append(rows, []string{amount.ShareOf(p.Nanos, total).String(), tableSeconds(p.Nanos), strconv.Itoa(p.Threads),
				p.State.String(), poolName(v, p.Pool), waitPlace(v, p.Frame), waitsFor(v, p)})
		}
		writeLeft(v, []string{"waited", "s", "threads", "state", "pool", "at", "for"}, 3, rows)
	}
	text := fmt.Sprintf("Threads waited %s, all together.", view.Seconds(total))
	if len(places) == 0 {
		text = "No thread waited."
	}
	text += leftOut(len(places)-len(view.First(places, v.Options.Top))) + foldedNote(v)
	if slices.ContainsFunc(places, func(p waits.Place) bool { return p.Frame.Method != "" }) {
		text += siteNote(v)
	}
	v.Paragraph("", text)
	v.Line("")
	writeCallersOfPlaces(v, places, total)
}

// poolName returns the name of a pool. On a terminal, it takes a fifth of a line at most, because a server's threads
// may have names that would leave no room for anything else.
func poolName(v *view.View, name string) string {
	if v.Width == 0 {
		return name
	}
	return layout.CutEnd(name, max(v.Width/5, view.LeastName), v.Ellipsis())
}

// waitPlace returns a place in the program. On a terminal, it takes two fifths of a line at most.
func waitPlace(v *view.View, f event.Frame) string {
	text := site(v, f)
	if v.Width == 0 || f.Method == "" || layout.Width(text) <= v.Width*2/5 {
		return text
	}
	line := strings.TrimPrefix(text, v.Short(f.Method, false))
	return layout.ShortMethod(f.Method, max(v.Width*2/5-len(line), view.LeastName), v.Ellipsis()) + line
}

// waitsFor returns what the threads at a place waited for.
func waitsFor(v *view.View, p *waits.Place) string {
	text := p.For
	if p.State == wall.Monitor || p.State == wall.Park || p.State == wall.Wait {
		text = v.Short(p.For, false)
	}
	if p.Queue {
		text = strings.TrimSuffix("its pool's queue, "+text, ", ")
	}
	return text
}

// foldedNote returns a sentence about idle threads that a table leaves out, or "" if there are none.
func foldedNote(v *view.View) string {
	idle := v.Profile.Waits.Idle
	if idle.Threads == 0 && idle.Queued == 0 || v.Options.Idle {
		return ""
	}
	var parts []string
	if idle.Threads > 0 {
		parts = append(parts, fmt.Sprintf("%s (%s)", layout.Plural(idle.Threads, "idle thread"), view.Seconds(idle.Nanos)))
	}
	if idle.Queued > 0 {
		parts = append(parts, fmt.Sprintf("%s in which other threads waited for work in the queues of their pools",
			view.Seconds(idle.Queued)))
	}
	return " Without " + strings.Join(parts, ", and without ") + " (--idle-threads shows them)."
}

// writeCallersOfPlaces writes the callers of the places where threads waited longest.
func writeCallersOfPlaces(v *view.View, waited []waits.Place, total int64) {
	var places []place
	for i := range waited[:min(v.Options.SiteCallers, len(waited))] {
		p := &waited[i]
		places = append(places, place{amount.ShareOf(p.Nanos, total).String(), site(v, p.Frame),
			p.State.String() + ", " + p.Pool, p.Stacks})
	}
	writeSiteCallers(v, "Callers of Waits", "waits", "the stack could not be followed to its end", places)
}

// writeLeft writes a table whose columns from index left on are aligned left, because they are text.
func writeLeft(v *view.View, header []string, left int, rows [][]string) {
	aligns := make([]layout.Align, len(header))
	for i := range aligns {
		if aligns[i] = layout.Right; i >= left {
			aligns[i] = layout.Left
		}
	}
	for _, line := range layout.Table(header, rows, aligns) {
		v.Line("%s", v.Cut(strings.TrimRight(line, " ")))
	}
	v.EndRule()
}

// statesIn returns the states that have a time other than 0, in the order in which reports list states.
func statesIn(times *waits.Times) (states []wall.State) {
	for _, s := range wall.States() {
		if times[s] > 0 {
			states = append(states, s)
		}
	}
	return states
}

// writePools writes the table of what the threads of each pool did.
func writePools(v *view.View) {
	w := v.Profile.Waits
	pools := slices.Clone(w.Pools)
	if !v.Options.Idle {
		pools = slices.DeleteFunc(pools, func(p waits.Pool) bool { return p.Idle == p.Threads })
	}
	if len(pools) == 0 {
		return
	}
	shown := view.First(pools, v.Options.Top)
	states := statesOf(shown)
	lines := poolLines(v, shown, states, len(states))
	for n := len(states) - 1; v.Width > 0 && n > 0 && layout.Width(lines[0]) > v.Width; n-- {
		lines = poolLines(v, shown, states, n)
	}
	v.Rule("Threads by State")
	for _, line := range lines {
		v.Line("%s", v.Cut(line))
	}
	v.EndRule()
	v.Paragraph("",
		"Shares are percentages of the threads' wall clock."+leftOut(len(pools)-len(shown))+idlePoolsNote(len(w.Pools)-len(pools)))
	v.Line("")
}

// statesOf returns the states that occur in pools: first those of running threads, then the others by time, longest
// first.
func statesOf(pools []waits.Pool) []wall.State {
	var times waits.Times
	for i := range pools {
		times.Add(&pools[i].Times)
	}
	states := statesIn(&times)
	slices.SortStableFunc(states, func(a, b wall.State) int {
		if x, y := waits.Waits(a) || a == wall.Unseen, waits.Waits(b) || b == wall.Unseen; x != y {
			if x {
				return 1
			}
			return -1
		}
		return cmp.Compare(times[b], times[a])
	})
	return states
}

// poolLines returns the lines of a table with a column for each of the first n states, and one column for all others.
func poolLines(v *view.View, pools []waits.Pool, states []wall.State, n int) []string {
	header, aligns := []string{"pool", "threads", "idle", "s"}, []layout.Align{layout.Left, layout.Right, layout.Right,
		layout.Right}
	for i := range states[:n] {
		header = append(header, states[i].String())
	}
	if n < len(states) {
		header = append(header, "other")
	}
	for len(aligns) < len(header) {
		aligns = append(aligns, layout.Right)
	}
	var rows [][]string
	for i := range pools {
		p := &pools[i]
		row, all := []string{poolName(v, p.Name), strconv.Itoa(p.Threads), "-", tableSeconds(p.Times.Sum())}, p.Times.Sum()
		if p.Idle > 0 {
			row[2] = strconv.Itoa(p.Idle)
		}
		rest := all
		for _, s := range states[:n] {
			row = append(row, sharePercent(p.Times[s], all))
			rest -= p.Times[s]
		}
		if n < len(states) {
			row = append(row, sharePercent(rest, all))
		}
		rows = append(rows, row)
	}
	return layout.Table(header, rows, aligns)
}

// sharePercent returns n as a percentage of all, with one decimal and without the percent sign: "64.3". It returns ""
// for 0.
func sharePercent(n, all int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f", 100*float64(n)/float64(all))
}

// idlePoolsNote returns a sentence about n pools whose threads are all idle.
func idlePoolsNote(n int) string {
	if n == 0 {
		return ""
	}
	verb := "are"
	if n == 1 {
		verb = "is"
	}
	return fmt.Sprintf(" %s with only idle threads %s left out (--idle-threads).", layout.Plural(n, "pool"), verb)
}

// WallSummary returns the overview's line about waiting threads, or "" if there is none.
func WallSummary(v *view.View) string {
	if v.Profile.Waits == nil {
		return ""
	}
	places, total := shownPlaces(v)
	var parts []string
	const most = 3
	for i := range places[:min(len(places), most)] {
		p := &places[i]
		parts = append(parts, fmt.Sprintf("%s %s at %s (%s)", amount.ShareOf(p.Nanos, total), p.State, site(v, p.Frame),
			poolName(v, p.Pool)))
	}
	if n := len(v.Profile.Waits.Deadlocks); n > 0 {
		parts = append([]string{layout.Plural(n, "deadlock")}, parts...)
	}
	return strings.Join(parts, "; ")
}
