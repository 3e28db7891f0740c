package page

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/profile/waits"
	"github.com/gasm-profiler/gasm/report/page/show"
	"github.com/gasm-profiler/gasm/report/schema"
)

// waitTables returns the tables about how threads spent wall-clock time.
func (t *tableBuilder) waitTables() []*table {
	if t.p.Waits == nil {
		return nil
	}
	return []*table{t.waitPlaces(), t.waitPools(), t.holders(), t.deadlocks(), t.virtual()}
}

// seconds returns a cell with a time in s.
func seconds(nanos int64) cell {
	return number(fmt.Sprintf("%.2f", float64(nanos)/1e9), float64(nanos))
}

// waitPlaces returns the table of the places where threads waited.
func (t *tableBuilder) waitPlaces() *table {
	note := "by the wall clock, of all threads together"
	if idle := t.p.Waits.Idle; idle.Threads > 0 && !t.b.in.Idle {
		note +=
			fmt.Sprintf("; without %s (%.2f s), and without the time in which threads waited for work in the queue of their pool (--idle-threads)", show.Count(idle.Threads, "idle thread"), float64(idle.Nanos)/1e9)
	}
	out := t.eventTable("waits", "Where threads wait", note, []string{"s", "threads"},
		[]string{"state", "pool", "at", "for"})
	full := 0
	for i, p := range t.r.Waits.Places {
		if p.Queue && !t.b.in.Idle {
			continue
		}
		if full++; full > t.limit(full) {
			continue
		}
		text := show.Text(p.For)
		if p.Queue {
			text = strings.TrimSuffix("its pool's queue, "+text, ", ")
		}
		out.Rows = append(out.Rows, row{Link: t.siteLink(p.At),
			Cells: []cell{seconds(p.NS), number(strconv.Itoa(p.Threads), float64(p.Threads)), {Text: p.State},
				{Text: show.Text(p.Pool)},
				{Text: site(p.At), Name: true, Callers: t.callers(t.p.Waits.Places[i].Stacks)}, {Text: text}}})
	}
	return t.cut(out, full+t.leftOut().Places)
}

// leftOut returns the numbers of elements that are missing in the lists of the JSON report.
func (t *tableBuilder) leftOut() schema.WaitsLeftOut {
	if t.r.Waits.LeftOut == nil {
		return schema.WaitsLeftOut{}
	}
	return *t.r.Waits.LeftOut
}

// waitPools returns the table of what the threads of each pool did.
func (t *tableBuilder) waitPools() *table {
	numbers := []string{"s", "threads", "idle"}
	states := statesOf(t.p.Waits)
	for _, key := range states {
		numbers = append(numbers, key.Name)
	}
	out := t.eventTable("pools", "Threads by state", "shares of the wall clock of a pool's threads", numbers,
		[]string{"pool"})
	out.Columns[0].Sorted = false // rows are sorted by the time outside of queues, which the table does not show
	full := 0
	for i := range t.p.Waits.Pools {
		p := &t.p.Waits.Pools[i]
		if p.Idle == p.Threads && !t.b.in.Idle {
			continue
		}
		if full++; full > t.limit(full) {
			continue
		}
		sum := p.Times.Sum()
		cells := []cell{seconds(sum), number(strconv.Itoa(p.Threads), float64(p.Threads)),
			number(strconv.Itoa(p.Idle), float64(p.Idle))}
		for _, key := range states {
			n := p.Times[key.Number]
			cells = append(cells, number(show.Percent(n, sum), float64(n)/float64(max(sum, 1))))
		}
		out.Rows = append(out.Rows, row{Cells: append(cells, cell{Text: show.Text(p.Name), Name: true})})
	}
	return t.cut(out, full)
}

// holders returns the table of the owners of locks.
func (t *tableBuilder) holders() *table {
	out := t.eventTable("lock-owners", "Owners of locks",
		"threads that had a lock for which others waited, and what they did meanwhile", []string{"s", "threads", "at once"},
		[]string{"lock", "held by", "got at", "meanwhile"})
	w := t.p.Waits
	for i, h := range t.r.Waits.Holders[:t.limit(len(t.r.Waits.Holders))] {
		out.Rows = append(out.Rows, row{Link: t.siteLink(h.TakenAt),
			Cells: []cell{seconds(h.NS), number(strconv.Itoa(h.Threads), float64(h.Threads)),
				number(strconv.Itoa(h.AtOnce), float64(h.AtOnce)),
				{Text: show.Text(w.Holders[i].Text())}, {Text: show.Text(h.Owner)}, {Text: taken(h.TakenAt), Name: true},
				{Text: show.Text(meanwhile(w, i))}}})
	}
	return t.cut(out, len(w.Holders))
}

// taken returns the place where a thread acquired a lock.
func taken(at *schema.Frame) string {
	if at == nil {
		return ""
	}
	return site(at)
}

// meanwhile returns what the owner of a lock did while others waited for it, and the chain of owners for which it
// waited.
func meanwhile(w *waits.Table, holder int) string {
	var parts []string
	h := &w.Holders[holder]
	const most = 3
	for i := range h.Meanwhile[:min(len(h.Meanwhile), most)] {
		m := &h.Meanwhile[i]
		text := show.Percent(m.Nanos, h.HeldNanos) + " " + m.State.String()
		if m.Frame.Method != "" {
			text += " at " + m.Frame.Method + ":" + strconv.Itoa(m.Frame.Line)
		}
		parts = append(parts, text)
	}
	for _, next := range w.Chain(holder)[1:] {
		parts = append(parts, "waited for "+w.Holders[next].Text()+", held by "+w.Holders[next].Owner)
	}
	return strings.Join(parts, "; ")
}

// deadlocks returns the table of threads that wait for one another.
func (t *tableBuilder) deadlocks() *table {
	out := t.eventTable("deadlocks", "Deadlocks", "threads that waited for one another when the recording ended",
		[]string{"number"}, []string{"thread", "waits for", "held by", "at"})
	full := 0
	for i, d := range t.r.Waits.Deadlocks {
		for k, one := range d.Threads {
			if full++; full > t.limit(full) {
				continue
			}
			owner := d.Threads[(k+1)%len(d.Threads)].Name
			out.Rows = append(out.Rows, row{Link: t.siteLink(one.At),
				Cells: []cell{number(strconv.Itoa(i+1), float64(i+1)), {Text: show.Text(one.Name)},
					{Text: show.Text(one.Class + "@" + one.Address)},
					{Text: show.Text(owner)}, {Text: site(one.At), Name: true}}})
		}
	}
	if len(out.Columns) > 0 {
		out.Columns[0].Sorted = false // they are in ascending order
	}
	return t.cut(out, full)
}

// virtual returns the table of virtual threads that were not mounted on a thread.
func (t *tableBuilder) virtual() *table {
	note := "those that were not mounted on a thread of the kernel"
	if c := t.r.Waits.VirtualCounts; c != nil && c.Looked < c.Threads {
		note += fmt.Sprintf("; of %.0f virtual threads, %.0f were looked at for each count, chosen at random", c.Threads, c.Looked)
	}
	out := t.eventTable("virtual", "Virtual threads", note,
		[]string{"mean", "most"}, []string{"state", "at", "for"})
	list := t.r.Waits.Virtual
	for _, v := range list[:t.limit(len(list))] {
		out.Rows = append(out.Rows, row{Link: t.siteLink(v.At),
			Cells: []cell{number(fmt.Sprintf("%.1f", v.Mean), v.Mean), number(strconv.Itoa(v.Most), float64(v.Most)),
				{Text: v.State}, {Text: site(v.At), Name: true}, {Text: show.Text(v.For)}}})
	}
	return t.cut(out, len(list))
}
