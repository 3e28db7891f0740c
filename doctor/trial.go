package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gasm-profiler/gasm/internal/fix"
	"github.com/gasm-profiler/gasm/sampler"
	"github.com/gasm-profiler/gasm/sampler/collect"
	"github.com/gasm-profiler/gasm/sampler/collect/failure"
)

// triedEvents are the events that the doctor tries to sample, with perf and with gasm's own sampler. The best event
// comes first.
var triedEvents = []string{"cycles:P", "cycles", "instructions", "cpu-clock"}

// A trial is the result of sampling a target with perf or with gasm's own sampler.
type trial struct {
	event   string // the event that was sampled
	notes   []fix.Note
	samples int     // how many samples a busy target got
	seconds float64 // how long the target was busy
	buffers int     // size of the kernel's buffers, in bytes; 0 with perf
	err     error
}

// lockedMemory is held while a trial samples, because all recordings of a user share one limit of locked memory
// (perf_event_mlock_kb).
var lockedMemory sync.Mutex

// tryEach samples a busy target with the best available event, and then tries the other triedEvents. It returns the
// trial of the best event, and a trial for each of triedEvents in their order.
func tryEach(try func(events []sampler.Event, busy bool) trial) (best trial, each []trial) {
	best = try(nil, true)
	each = make([]trial, len(triedEvents))
	for i, event := range triedEvents {
		if each[i] = best; best.event != event {
			each[i] = try([]sampler.Event{sampler.ParseEvent(event)}, false)
		}
	}
	return best, each
}

// onTarget creates a folder in dir, starts a target, and calls try(folder, target). The target waits
// until it is released.
func onTarget(dir string, try func(dir string, child *target) trial) trial {
	dir, err := os.MkdirTemp(dir, "trial-")
	if err != nil {
		return trial{err: err}
	}
	child, err := startTarget()
	if err != nil {
		return trial{err: err}
	}
	defer child.end()
	lockedMemory.Lock()
	defer lockedMemory.Unlock()
	return try(dir, child)
}

// work releases a target, lets it work for a moment, and stores in t.seconds how long it worked.
func (t *trial) work(ctx context.Context, x *target) {
	x.release()
	x.awaitWork()
	begin := time.Now()
	pause(ctx, 150*time.Millisecond)
	t.seconds = time.Since(begin).Seconds()
}

// pause waits until the duration d has passed, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// check judges the trial of the event that `gasm profile` samples by default.
func (t *trial) check(area string) (Finding, samplerResult) {
	c := Finding{Area: area, Name: "sampling"}
	if t.err != nil {
		cause, todo := explain(t.err)
		c.Status, c.Text, c.Fix = Problem, cause, todo
		return c, samplerResult{cause: area + ": " + cause, fix: todo}
	}
	if t.samples == 0 {
		c.Status, c.Text = Problem, fmt.Sprintf("%s opens, but %.1f s of work gave no sample", t.event, t.seconds)
		if t.event != "cpu-clock" {
			c.Fix = "gasm profile --event cpu-clock ..."
		}
		return c, samplerResult{cause: area + ": " + c.Text, fix: c.Fix}
	}
	c.Status, c.Text = OK, fmt.Sprintf("samples %s; a busy process gave %d samples", t.event, t.samples)
	return c, samplerResult{works: true, event: t.event}
}

// checkRate reports how much time a sample takes, and how often `gasm profile` therefore samples.
func checkRate(area string, rate collect.Rate) Finding {
	c := Finding{Area: area, Name: "sample cost", Status: OK,
		Text: fmt.Sprintf("a sample's interrupt takes %.1f us: %d samples a second by default, %.1f %% of the time",
			rate.Cost.Seconds()*1e6, rate.Hertz, 100*rate.Share(rate.Hertz))}
	if rate.Hertz < collect.DefaultFrequency {
		c.Text += fmt.Sprintf(" (--frequency %d would take %.1f %%)",
			collect.DefaultFrequency, 100*rate.Share(collect.DefaultFrequency))
	}
	return c
}

// checkEvents judges the trials of triedEvents, which are in the same order. virtual is true on a virtual machine.
func checkEvents(area string, trials []trial, virtual bool) Finding {
	c := Finding{Area: area, Name: "events", Status: OK}
	var opened, refused []string
	var err error    // the first refusal that is not due to missing hardware
	counters := true // false if an event was refused because hardware counters are missing
	for i, t := range trials {
		if t.err == nil && t.event == triedEvents[i] {
			opened = append(opened, triedEvents[i])
			continue
		}
		refused = append(refused, triedEvents[i])
		var r *failure.RefusedError
		if t.err == nil || errors.As(t.err, &r) && r.Reason == failure.ReasonUnsupportedEvent {
			counters = false
		} else if err == nil {
			err = t.err
		}
	}
	switch {
	case len(opened) == 0:
		c.Status, c.Text = Problem, "none of "+strings.Join(triedEvents, ", ")+" opens"
	case len(refused) == 0:
		c.Text = strings.Join(opened, ", ") + " open"
	default:
		c.Status = Note
		c.Text = fmt.Sprintf("%s %s; not %s", strings.Join(opened, ", "), verb(len(opened), "opens", "open"),
			strings.Join(refused, ", "))
	}
	switch {
	case err != nil && len(opened) > 0:
		cause, todo := explain(err)
		c.Text, c.Fix = c.Text+": "+cause, todo
	case !counters && slices.Contains(opened, "cycles"):
		// The kernel has opened the event "cycles", so there are hardware counters. Only precise sampling or another event
		// is missing, and the text needs no explanation.
	case !counters && virtual:
		c.Text += ": a virtual machine without a PMU. cpu-clock works, but PCs are late where interrupts were off"
		c.Fix = "qemu -cpu host,pmu=on (in a cloud: a bare-metal instance)"
	case !counters:
		c.Text += ": no hardware counters. cpu-clock works, but PCs are late where interrupts were off"
	}
	return c
}
