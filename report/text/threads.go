package text

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile/tally"
	"github.com/gasm-profiler/gasm/profile/threads"
	"github.com/gasm-profiler/gasm/report/text/view"
)

// threadTable returns the table of the kinds of threads (the program's, the JIT compilers', the garbage collector's),
// with the hottest threads of each kind. With Options.Threads, it returns the table of all threads instead.
func threadTable(v *view.View) *ranking {
	if v.Options.Threads {
		return allThreads(v)
	}
	t := &ranking{View: v, title: "Threads", more: "kind", all: true}
	room := v.Options.TableWidth - 2*view.CellPadding
	for _, event := range v.Profile.Counters {
		room -= max(len("100.00%"), layout.Width(event)) + view.CellPadding
	}
	kind := 0
	for _, k := range v.Profile.Threads {
		kind = max(kind, layout.Width(k.Kind))
	}
	for _, k := range v.Profile.Threads {
		t.add(k.Counts, func() rankingRow {
			return rankingRow{name: k.Kind, native: true, details: hottestThreads(v, k.Threads, room-kind)}
		})
	}
	return t
}

// allThreads returns the table of all threads, with a row for each name. Threads whose names differ only in the number
// at the end share a row.
func allThreads(v *view.View) *ranking {
	type named struct {
		kind string
		threads.Total
	}
	var all []named
	for _, k := range v.Profile.Threads {
		for _, one := range k.Threads {
			all = append(all, named{k.Kind, one})
		}
	}
	slices.SortStableFunc(all, func(a, b named) int { return tally.Compare(a.Counts, b.Counts) })
	t := &ranking{View: v, title: "Threads", more: "thread"}
	for _, one := range all {
		t.add(one.Counts, func() rankingRow {
			return rankingRow{source: one.kind, name: cmp.Or(one.Name, noName),
				native: true}
		})
	}
	return t
}

// noName is shown for threads without a name.
const noName = "(no name)"

// hottestThreads returns a list of threads with their samples: as many as fit, but at most four. room is the width of
// the list in characters.
func hottestThreads(v *view.View, threads []threads.Total, room int) string {
	const most = 4
	text := ""
	for n, thread := range threads {
		amount := v.BesideCode(0, thread.Counts[0])
		if n == most || amount == "" {
			return text + moreThreads(text, len(threads)-n)
		}
		next := cmp.Or(thread.Name, noName) + " " + amount
		if text != "" {
			next = text + ", " + next
		}
		if more := moreThreads(next, len(threads)-n-1); text != "" && v.Options.TableWidth > 0 &&
			layout.Width(next+more) > room {
			return text + moreThreads(text, len(threads)-n)
		}
		text = next
	}
	return text
}

// moreThreads returns the end of a list from which n threads are left out: ", 5 more".
func moreThreads(list string, n int) string {
	switch {
	case n == 0:
		return ""
	case list == "":
		return fmt.Sprintf("%d more", n)
	}
	return fmt.Sprintf(", %d more", n)
}
