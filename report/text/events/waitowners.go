package events

import (
	"fmt"
	"strings"

	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile/waits"
	"github.com/gasm-profiler/gasm/report/amount"
	"github.com/gasm-profiler/gasm/report/text/view"
)

// writeHolders writes the owners of locks for which threads waited, and what the owners did meanwhile.
func writeHolders(v *view.View) {
	w := v.Profile.Waits
	if len(w.Holders) == 0 {
		return
	}
	var total int64
	for i := range w.Holders {
		total += w.Holders[i].Nanos
	}
	v.Rule("Owners of Locks")
	shown := view.First(w.Holders, v.Options.Top)
	for v.Options.Top > 0 && len(shown) > 1 && float64(shown[len(shown)-1].Nanos) < leastHolder*float64(total) {
		shown = shown[:len(shown)-1]
	}
	for i := range shown {
		h := &shown[i]
		writeIndented(v, fmt.Sprintf("%7s  ", amount.ShareOf(h.Nanos, total)),
			fmt.Sprintf("%s: %s for %s, held by %s%s", view.Seconds(h.Nanos), waiters(h), shortLock(v, h), h.Owner,
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
	v.Paragraph("",
		"Shares are of the time that threads waited for locks whose owners are known. Below a lock is what its owner did while others waited for it."+holdersLeftOut(len(w.Holders)-len(shown)))
	v.Line("")
}

// leastHolder is the smallest share of the waiting time with which a lock's owner is in the text report. With --top 0,
// all owners are in it.
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
func shortLock(v *view.View, h *waits.Holder) string {
	short := *h
	short.Class = v.Short(h.Class, false)
	return short.Text()
}

// gotAt returns the place where a thread acquired a lock: " at acme.Report::handle:45", or "" if it is not known.
func gotAt(v *view.View, f event.Frame) string {
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
func (d *holderDid) did(v *view.View) string {
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

// writeIndented writes the parameter begin, followed by the text. The text is wrapped, and its further lines are
// indented by the width of begin.
func writeIndented(v *view.View, begin, text string) {
	for i, line := range layout.Wrap(text, max(v.Columns(layout.RuleWidth)-len(begin), view.LeastName)) {
		if i > 0 {
			begin = strings.Repeat(" ", len(begin))
		}
		v.Line("%s", v.Cut(begin+line))
	}
}

// writeDeadlocks writes which threads wait for one another.
func writeDeadlocks(v *view.View) {
	if len(v.Profile.Waits.Deadlocks) == 0 {
		return
	}
	v.Rule("Deadlocks")
	for i := range v.Profile.Waits.Deadlocks {
		d := &v.Profile.Waits.Deadlocks[i]
		v.Line("%s", v.Cut(fmt.Sprintf("%s wait for one another%s, for %s until the recording ended:",
			layout.Plural(len(d.Threads), "thread"), v.InJVM(d.PID), view.Seconds(d.ToMonoNanos-d.FromMonoNanos))))
		for k := range view.First(d.Threads, 2*max(v.Options.Top, 1)) {
			t, owner := &d.Threads[k], d.Threads[(k+1)%len(d.Threads)].Name
			writeIndented(v, "  ", fmt.Sprintf("%s waits for %s@%x, held by %s%s", t.Name, v.Short(t.Lock.Name(), false),
				t.Lock.Address, owner, gotAt(v, t.Frame)))
		}
	}
	v.EndRule()
	v.Line("")
}
