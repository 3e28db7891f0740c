package text

import (
	"cmp"
	"fmt"

	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile/threads"
)

// threadTable ranks the kinds of threads (the program's, the JIT compilers', the garbage collector's) with the hottest
// threads of each kind.
func threadTable(v *view) *ranking {
	t := &ranking{view: v, title: "Threads", more: "kind", all: true}
	room := v.opts.TableWidth - 2*cellPadding
	for _, event := range v.p.Counters {
		room -= max(len("100.00%"), layout.Width(event)) + cellPadding
	}
	kind := 0
	for _, k := range v.p.Threads {
		kind = max(kind, layout.Width(k.Kind))
	}
	for _, k := range v.p.Threads {
		t.add(k.Counts, func() rankingRow {
			return rankingRow{name: k.Kind, native: true, details: hottestThreads(v, k.Threads, room-kind)}
		})
	}
	return t
}

// hottestThreads lists threads with their samples, as many as fit. room is the number of columns that the list may
// take.
func hottestThreads(v *view, threads []threads.Total, room int) string {
	const most = 4
	text := ""
	for n, thread := range threads {
		amount := v.besideCode(0, thread.Counts[0])
		if n == most || amount == "" {
			return text + moreThreads(text, len(threads)-n)
		}
		next := cmp.Or(thread.Name, "(no name)") + " " + amount
		if text != "" {
			next = text + ", " + next
		}
		if more := moreThreads(next, len(threads)-n-1); text != "" && v.opts.TableWidth > 0 && layout.Width(next+more) > room {
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
