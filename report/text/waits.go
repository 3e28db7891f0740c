package text

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
	"github.com/gasm-profiler/gasm/wall"
)

// writeWaitingThreads writes the tables about what threads did by the wall clock.
func writeWaitingThreads(v *view) {
	if v.p.Waits == nil {
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

// shownPlaces returns the places that are shown, and how long threads waited at them. With Options.Idle, these are all
// places; otherwise they are those outside of the queues of pools.
func shownPlaces(v *view) (places []waits.Place, total int64) {
	places = slices.Clone(v.p.Waits.Places)
	if !v.opts.Idle {
		places = slices.DeleteFunc(places, func(p waits.Place) bool { return p.Queue })
	}
	for i := range places {
		total += places[i].Nanos
	}
	return places, total
}

// writeWaitPlaces writes the table of the places where threads waited.
func writeWaitPlaces(v *view) {
	places, total := shownPlaces(v)
	v.Rule("Where Threads Wait")
	if len(places) > 0 {
		var rows [][]string
		for i := range first(places, v.opts.Top) {
			p := &places[i]
			rows = append(rows, []string{amount.ShareOf(p.Nanos, total).String(), tableSeconds(p.Nanos), strconv.Itoa(p.Threads),
				p.State.String(), p.Pool, site(v, p.Frame), waitsFor(v, p)})
		}
		writeLeft(v, []string{"waited", "s", "threads", "state", "pool", "at", "for"}, 3, rows)
	}
	text := fmt.Sprintf("Threads waited %s, all together.", seconds(total))
	if len(places) == 0 {
		text = "No thread waited."
	}
	text += leftOut(len(places)-len(first(places, v.opts.Top))) + foldedNote(v)
	if slices.ContainsFunc(places, func(p waits.Place) bool { return p.Frame.Method != "" }) {
		text += siteNote(v)
	}
	v.Paragraph("", text)
	v.Line("")
	writeCallersOfPlaces(v, places, total)
}

// waitsFor returns what the threads at a place waited for.
func waitsFor(v *view, p *waits.Place) string {
	text := p.For
	if p.State == wall.Monitor || p.State == wall.Park || p.State == wall.Wait {
		text = v.short(p.For, false)
	}
	if p.Queue {
		text = strings.TrimSuffix("its pool's queue, "+text, ", ")
	}
	return text
}

// foldedNote returns a sentence about idle threads that a table leaves out, or "" if there are none.
func foldedNote(v *view) string {
	idle := v.p.Waits.Idle
	if idle.Threads == 0 && idle.Queued == 0 || v.opts.Idle {
		return ""
	}
	var parts []string
	if idle.Threads > 0 {
		parts = append(parts, fmt.Sprintf("%s (%s)", layout.Plural(idle.Threads, "idle thread"), seconds(idle.Nanos)))
	}
	if idle.Queued > 0 {
		parts = append(parts, fmt.Sprintf("%s in which other threads waited for work in the queues of their pools",
			seconds(idle.Queued)))
	}
	return " Without " + strings.Join(parts, ", and without ") + " (--idle-threads shows them)."
}

// writeCallersOfPlaces writes the callers of the places where threads waited longest.
func writeCallersOfPlaces(v *view, waited []waits.Place, total int64) {
	var places []place
	for i := range waited[:min(v.opts.SiteCallers, len(waited))] {
		p := &waited[i]
		places = append(places, place{amount.ShareOf(p.Nanos, total).String(), site(v, p.Frame),
			p.State.String() + ", " + p.Pool, p.Stacks})
	}
	writeSiteCallers(v, "Callers of Waits", "waits", "the stack could not be followed to its end", places)
}

// writeLeft writes a table whose columns from index left on are aligned left, because they are text.
func writeLeft(v *view, header []string, left int, rows [][]string) {
	aligns := make([]layout.Align, len(header))
	for i := range aligns {
		if aligns[i] = layout.Right; i >= left {
			aligns[i] = layout.Left
		}
	}
	for _, line := range layout.Table(header, rows, aligns) {
		v.Line("%s", v.cut(strings.TrimRight(line, " ")))
	}
	v.EndRule()
}

// statesIn returns the states that have time, in the order of a report.
func statesIn(times *waits.Times) (states []wall.State) {
	for _, s := range wall.States() {
		if times[s] > 0 {
			states = append(states, s)
		}
	}
	return states
}

// writePools writes the table of what the threads of each pool did.
func writePools(v *view) {
	w := v.p.Waits
	pools := slices.Clone(w.Pools)
	if !v.opts.Idle {
		pools = slices.DeleteFunc(pools, func(p waits.Pool) bool { return p.Idle == p.Threads })
	}
	if len(pools) == 0 {
		return
	}
	shown := first(pools, v.opts.Top)
	states := statesOf(shown)
	lines := poolLines(shown, states, len(states))
	for n := len(states) - 1; v.Width > 0 && n > 0 && layout.Width(lines[0]) > v.Width; n-- {
		lines = poolLines(shown, states, n)
	}
	v.Rule("Threads by State")
	for _, line := range lines {
		v.Line("%s", v.cut(line))
	}
	v.EndRule()
	v.Paragraph("", "Shares are percentages of the threads' wall clock."+leftOut(len(pools)-len(shown))+idlePoolsNote(len(w.Pools)-len(pools)))
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
func poolLines(pools []waits.Pool, states []wall.State, n int) []string {
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
		row, all := []string{p.Name, strconv.Itoa(p.Threads), "-", tableSeconds(p.Times.Sum())}, p.Times.Sum()
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

// sharePercent returns n as a percentage of all, with one decimal and without a sign: "64.3". It returns "" for 0.
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

// writeHolders writes the owners of locks that threads waited for, and what the owners did meanwhile.
func writeHolders(v *view) {
	w := v.p.Waits
	if len(w.Holders) == 0 {
		return
	}
	var total int64
	for i := range w.Holders {
		total += w.Holders[i].Nanos
	}
	v.Rule("Owners of Locks")
	shown := first(w.Holders, v.opts.Top)
	for v.opts.Top > 0 && len(shown) > 1 && float64(shown[len(shown)-1].Nanos) < leastHolder*float64(total) {
		shown = shown[:len(shown)-1]
	}
	for i := range shown {
		h := &shown[i]
		writeIndented(v, fmt.Sprintf("%7s  ", amount.ShareOf(h.Nanos, total)),
			fmt.Sprintf("%s: %s for %s, held by %s%s", seconds(h.Nanos), waiters(h), shortLock(v, h), h.Owner,
				gotAt(v, h.Taken)))
		for _, m := range meanwhile(h) {
			writeIndented(v, fmt.Sprintf("%9s%7s  ", "", m.share), m.did(v))
		}
		chain := w.Chain(i)
		for n, next := range chain[1:] {
			to := &w.Holders[next]
			writeIndented(v, strings.Repeat(" ", 9+2*min(n, 10)),
				fmt.Sprintf("%s waited for %s, held by %s%s", w.Holders[chain[n]].Owner, shortLock(v, to), to.Owner,
					gotAt(v, to.Taken)))
		}
	}
	v.EndRule()
	v.Paragraph("", "Shares are of the time that threads waited for locks whose owners are known. Below a lock is what its owner did while others waited for it."+holdersLeftOut(len(w.Holders)-len(shown)))
	v.Line("")
}

// leastHolder is the smallest share of the waiting time with which a lock's owner is in the text report. With --top 0,
// all are.
const leastHolder = 0.01

// holdersLeftOut returns a sentence about n owners that are not shown, or "" if n is 0.
func holdersLeftOut(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" %s left out (--top 0 shows all).", layout.Plural(n, "more owner"))
}

// waiters returns how many threads waited for a lock, as text: "280 threads wait, up to 275 at once".
func waiters(h *waits.Holder) string {
	if h.Threads == 1 {
		return "1 thread waits"
	}
	text := fmt.Sprintf("%d threads wait", h.Threads)
	if h.Most < h.Threads {
		text += fmt.Sprintf(", up to %d at once,", h.Most)
	}
	return text
}

// shortLock returns Holder.Text with a shortened class.
func shortLock(v *view, h *waits.Holder) string {
	short := *h
	short.Class = v.short(h.Class, false)
	return short.Text()
}

// gotAt returns where a thread got a lock: " at acme.Report::handle:45", or "" if that is not known.
func gotAt(v *view, f event.Frame) string {
	if f.Method == "" {
		return ""
	}
	return " at " + site(v, f)
}

// A holderDid is what the owner of a lock did while others waited for it, with its share of that time.
type holderDid struct {
	share amount.Share
	*waits.Meanwhile
}

// did returns a text about what the owner did.
func (d *holderDid) did(v *view) string {
	if d.Meanwhile == nil {
		return "other"
	}
	text := d.State.String()
	if d.Frame.Method != "" {
		text += " at " + site(v, d.Frame)
	}
	if d.For != "" {
		text += ", " + d.For
	}
	return text
}

// meanwhile returns what the owner of a lock did while others waited for the lock.
func meanwhile(h *waits.Holder) (list []holderDid) {
	const most = 3
	var known int64
	for i := range h.Meanwhile[:min(len(h.Meanwhile), most)] {
		m := &h.Meanwhile[i]
		list = append(list, holderDid{amount.ShareOf(m.Nanos, h.HeldNanos), m})
		known += m.Nanos
	}
	if rest := amount.ShareOf(h.HeldNanos-known, h.HeldNanos); len(h.Meanwhile) > most && rest > 0 {
		list = append(list, holderDid{share: rest})
	}
	return list
}

// writeIndented writes begin, followed by text. The text is wrapped, and its further lines are indented by the width of
// begin.
func writeIndented(v *view, begin, text string) {
	for i, line := range layout.Wrap(text, max(v.Columns(layout.RuleWidth)-len(begin), leastName)) {
		if i > 0 {
			begin = strings.Repeat(" ", len(begin))
		}
		v.Line("%s", v.cut(begin+line))
	}
}

// writeDeadlocks writes which threads wait for one another.
func writeDeadlocks(v *view) {
	if len(v.p.Waits.Deadlocks) == 0 {
		return
	}
	v.Rule("Deadlocks")
	for i := range v.p.Waits.Deadlocks {
		d := &v.p.Waits.Deadlocks[i]
		v.Line("%s", v.cut(fmt.Sprintf("%s wait for one another%s, for %s until the recording ended:",
			layout.Plural(len(d.Threads), "thread"), v.inJVM(d.PID), seconds(d.ToMonoNanos-d.FromMonoNanos))))
		for k := range first(d.Threads, 2*max(v.opts.Top, 1)) {
			t, owner := &d.Threads[k], d.Threads[(k+1)%len(d.Threads)].Name
			writeIndented(v, "  ", fmt.Sprintf("%s waits for %s@%x, held by %s%s", t.Name, v.short(t.Lock.Name(), false),
				t.Lock.Address, owner, gotAt(v, t.Frame)))
		}
	}
	v.EndRule()
	v.Line("")
}

// writeVirtual writes the places of virtual threads that were not mounted on a thread.
func writeVirtual(v *view) {
	list := v.p.Waits.Virtual
	if len(list) == 0 {
		return
	}
	var rows [][]string
	for i := range first(list, v.opts.Top) {
		p := &list[i]
		rows = append(rows, []string{fmt.Sprintf("%.1f", p.Mean), strconv.Itoa(p.Most), p.State.String(), site(v, p.Frame),
			v.short(p.For, false)})
	}
	v.Rule("Virtual Threads")
	writeLeft(v, []string{"mean", "most", "state", "at", "for"}, 2, rows)
	v.Paragraph("", "How many virtual threads were not mounted on a thread of the kernel; the mean and the largest of the counts during the recording."+leftOut(len(list)-len(first(list, v.opts.Top))))
	v.Line("")
}

// writeWallAccount writes where the recorded time of all threads went, and how the threads were observed.
func writeWallAccount(v *view) {
	w := v.p.Waits
	a := &w.Account
	labels, values := []string{"recorded"}, []int64{a.Total}
	add := func(label string, n int64, always bool) {
		if n > 0 || always {
			labels, values = append(labels, label), append(values, n)
		}
	}
	add("  outside the window", a.OutsideWindow, true)
	add("  other threads", a.OtherThread, false)
	add("  outside the method", a.OutsideMethod, false)
	add("  not under the method", a.NotUnder, false)
	add("  in the profile", a.Profiled, true)
	top := len(values)
	for _, s := range statesIn(&w.Times) {
		add("    "+s.String(), w.Times[s], true)
	}
	ofRecorded, ofProfile := amount.Shares(values[1:top], a.Total), amount.Shares(values[top:], a.Profiled)
	var rows [][]string
	for i, n := range values {
		row := []string{labels[i], tableSeconds(n), "", ""}
		switch {
		case i == 0:
			row[2] = amount.Whole.String()
		case i < top && n > 0:
			row[2] = ofRecorded[i-1].String()
		case i >= top:
			row[3] = ofProfile[i-top].String()
		}
		if i == top-1 && n > 0 {
			row[3] = amount.Whole.String()
		}
		rows = append(rows, row)
	}
	v.Rule("Account of Threads' Time")
	for _, line := range layout.Table([]string{"", "s", "of recorded", "of profile"}, rows,
		[]layout.Align{layout.Left, layout.Right, layout.Right, layout.Right}) {
		v.Line("%s", line)
	}
	for i := range w.JVMs {
		v.Paragraph("", looks(v, &w.JVMs[i]))
	}
	v.Line("")
}

// looks returns sentences about how the threads of a JVM were observed.
func looks(v *view, j *waits.JVM) string {
	text := fmt.Sprintf("Threads%s were looked at %d times a second, for %s.", v.inJVM(j.PID), j.Hertz,
		seconds(j.ToMonoNanos-j.FromMonoNanos))
	if len(v.p.PIDs) > 1 {
		text = strings.Replace(text, "Threads, ", "Threads of ", 1)
	}
	e := j.End
	if e == nil {
		return text + " The recording was cut off."
	}
	text +=
		fmt.Sprintf(" Of %d looks, %d found a thread that ran each time it was read, %d could not read the thread, and %d were left out to save time.", e.Looks+e.Left, e.Moved, e.Unread, e.Left)
	if e.Clamped >= 5e6 { // less would be shown as 0.00 s
		text += fmt.Sprintf(" %s were taken off the kernel's counters, which said more than the clock.", seconds(e.Clamped))
	}
	return text
}

// wallSummary returns the overview's line about waiting threads, or "" if there is none.
func wallSummary(v *view) string {
	if v.p.Waits == nil {
		return ""
	}
	places, total := shownPlaces(v)
	var parts []string
	const most = 3
	for i := range places[:min(len(places), most)] {
		p := &places[i]
		parts = append(parts, fmt.Sprintf("%s %s at %s (%s)", amount.ShareOf(p.Nanos, total), p.State, site(v, p.Frame),
			p.Pool))
	}
	if n := len(v.p.Waits.Deadlocks); n > 0 {
		parts = append([]string{layout.Plural(n, "deadlock")}, parts...)
	}
	return strings.Join(parts, "; ")
}
