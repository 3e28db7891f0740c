package capture

import (
	"fmt"
	"path/filepath"

	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/event/usdt"
	"github.com/gasm-profiler/gasm/internal/regular"
)

// readUSDT reads the events of the USDT probes of all JVMs. The caller passes the events that were already read from
// other sources, for example from HotSpot's log. If a JVM has events of some kind there, its USDT events of the same
// kind become events of kind Probe, so that nothing is counted twice.
func (c *Capture) readUSDT(others []event.Event, b *eventBudget) (events []event.Event, notes []string) {
	// seen has the files that were read, because in a damaged capture, several JVMs may have the same file.
	told, seen := kindsOfJVMs(others), map[string]bool{}
	for i := range c.JVMs {
		j := &c.JVMs[i]
		if j.USDT == "" || seen[j.USDT] {
			continue
		}
		seen[j.USDT] = true
		read, more := c.usdtEvents(j, told[j.PID], b)
		events = append(events, read...)
		if len(notes) < maxMissing {
			notes = append(notes, more...)
		}
	}
	return events, notes
}

// usdtEvents returns the events of a JVM's USDT probes in the order in which they ended. The parameter told has the
// kinds of events that were already read from another source.
func (c *Capture) usdtEvents(j *JVM, told map[event.Kind]bool, b *eventBudget) (events []event.Event, notes []string) {
	f, _, err := regular.Open(filepath.Join(c.dir, filepath.Base(j.USDT)))
	if err != nil {
		return nil, []string{fmt.Sprintf("the USDT events of JVM %d could not be read, and are not in the report: %v", j.PID,
			err)}
	}
	defer f.Close()
	r := usdt.NewReader(f, j.USDT, j.PID)
	bad, first := 0, ""
	for r.Scan() {
		switch rec := r.Record().(type) {
		case *event.Event:
			if told[rec.Kind] {
				usdt.Plain(rec)
			}
			if !b.take(rec) {
				return events, append(notes, fmt.Sprintf("%s has more events than gasm reads: those after line %d are left out",
					j.USDT, r.Lines()))
			}
			events = append(events, *rec)
		case *usdt.Lost:
			notes = append(notes, fmt.Sprintf("%d USDT events of JVM %d were lost, because they came faster than they were read",
				rec.Events, j.PID))
		case *usdt.SyntaxError:
			if bad++; bad == 1 {
				first = rec.Error()
			}
		}
	}
	switch {
	case r.Err() != nil:
		notes = append(notes, fmt.Sprintf("the USDT events of JVM %d could not be read to the end: %v", j.PID, r.Err()))
	case bad > 0:
		notes = append(notes, fmt.Sprintf("lines of the USDT events could not be read: %d, the first: %s", bad, first))
	}
	return events, notes
}

// kindsOfJVMs returns which kinds of events each JVM has. The result is indexed by process id.
func kindsOfJVMs(events []event.Event) map[int]map[event.Kind]bool {
	kinds := map[int]map[event.Kind]bool{}
	for i := range events {
		e := &events[i]
		if kinds[e.PID] == nil {
			kinds[e.PID] = map[event.Kind]bool{}
		}
		kinds[e.PID][e.Kind] = true
	}
	return kinds
}
