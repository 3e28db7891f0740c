package report

import (
	"cmp"
	"fmt"

	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile"
)

// threadTable writes what the program's threads, the JIT compilers' and the collector's
// took, with the hottest threads of each kind.
func (r *textReport) threadTable() ranking {
	t := ranking{title: "Threads", more: "kind", all: true}
	room := r.o.TableWidth - 2*cellPadding
	for _, event := range r.p.Events {
		room -= max(len("100.00%"), layout.Width(event)) + cellPadding
	}
	kind := 0
	for _, k := range r.p.Threads {
		kind = max(kind, layout.Width(k.Kind))
	}
	for _, k := range r.p.Threads {
		r.add(&t, k.Counts, func() rankingRow {
			return rankingRow{name: k.Kind, native: true, details: r.hottestThreads(k.Threads, room-kind)}
		})
	}
	return t
}

// hottestThreads lists threads with their samples, as many as fit on a terminal.
func (r *textReport) hottestThreads(threads []profile.Thread, room int) string {
	const most = 4
	text := ""
	for n, thread := range threads {
		amount := r.amount(thread.Counts[0], 0)
		if n == most || amount == "" {
			return text + moreThreads(text, len(threads)-n)
		}
		next := cmp.Or(thread.Name, "(no name)") + " " + amount
		if text != "" {
			next = text + ", " + next
		}
		if more := moreThreads(next, len(threads)-n-1); text != "" && r.o.TableWidth > 0 && layout.Width(next+more) > room {
			return text + moreThreads(text, len(threads)-n)
		}
		text = next
	}
	return text
}

// moreThreads counts the threads that are not in a list: ", 5 more".
func moreThreads(list string, n int) string {
	switch {
	case n == 0:
		return ""
	case list == "":
		return fmt.Sprintf("%d more", n)
	}
	return fmt.Sprintf(", %d more", n)
}
