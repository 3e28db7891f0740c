package jvmevents

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/hotspot/usdt"
	"github.com/gasm-profiler/gasm/internal/foreign"
	"github.com/gasm-profiler/gasm/record/processend"
)

// A usdtRecorders records events of HotSpot's USDT probes in running JVMs.
type usdtRecorders struct {
	o        *Options
	patterns []string // names of probes; if empty, nothing is recorded

	jvms  sync.WaitGroup  // counts the JVMs whose recording has not ended
	setUp sync.WaitGroup  // counts the JVMs whose recording has not begun yet
	stop  <-chan struct{} // closed to end all recordings

	mu      sync.Mutex
	results map[int]usdt.Result
	failed  []usdtNote
	silent  []usdtNote
}

func (u *usdtRecorders) begin(o *Options, stop <-chan struct{}) {
	u.o, u.patterns = o, o.Choice.USDTPatterns()
	u.stop, u.results = stop, map[int]usdt.Result{}
}

// startTime is how long the sampler looks for new JVMs more often after a command has started. A JVM that starts within
// this time is found at once.
const startTime = 3 * time.Second

// expect makes the sampler s look for new JVMs more often for some time, because gasm misses the events of a JVM until
// its probes are set. If the sampler can't do that, expect does nothing.
func (u *usdtRecorders) expect(s any) {
	if n, ok := s.(interface{ LookOften(time.Duration) }); ok && len(u.patterns) > 0 {
		n.LookOften(startTime)
	}
}

// found begins to record the probes of a JVM in a new goroutine.
func (u *usdtRecorders) found(ctx context.Context, pid int) {
	if len(u.patterns) > 0 {
		u.setUp.Add(1)
		u.jvms.Go(func() { u.record(ctx, pid, sync.OnceFunc(u.setUp.Done)) })
	}
}

// awaitBegun waits until the probes of each JVM that was found are set, or until setting them has failed. It returns
// earlier if stop is closed.
func (u *usdtRecorders) awaitBegun(stop <-chan struct{}) {
	begun := make(chan struct{})
	go func() {
		u.setUp.Wait()
		close(begun)
	}()
	select {
	case <-begun:
	case <-stop:
	}
}

// record records the probes of a JVM until the JVM ends or stop is closed. It calls begun when the probes are set or
// setting them has failed. It may call begun twice.
func (u *usdtRecorders) record(ctx context.Context, pid int, begun func()) {
	defer begun()
	ticks := processend.StartTicks(pid)
	f, err := os.OpenFile(u.o.path(capture.USDTText(pid)), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		u.o.Problem(fmt.Errorf("writing the USDT events of JVM %d: %w", pid, err))
		return
	}
	recorder, err := usdt.Start(context.WithoutCancel(ctx), pid, usdt.Options{
		Patterns: u.patterns, Text: f, Placed: u.o.Placed(pid), DTrace: u.o.Choice.ByDTrace, Sudo: u.o.Choice.Sudo})
	if err != nil {
		f.Close()
		os.Remove(f.Name())
		u.fail(pid, err)
		return
	}
	begun()
	u.noteSilent(pid, optionsWithout(ctx, pid, usdt.FlagsOf(u.patterns)))
	processend.Await(pid, ticks, u.stop)
	result := recorder.Stop()
	if err := errors.Join(result.Err, f.Close()); err != nil {
		u.o.Problem(fmt.Errorf("writing the USDT events of JVM %d: %w", pid, err))
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.results[pid] = result
}

func (u *usdtRecorders) fail(pid int, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.failed = addUSDTNote(u.failed, pid, "no USDT events of ", ": "+err.Error())
}

// usdtEndTime is the time limit for stopping the recorders of all JVMs. Stopping DTrace takes seconds.
const usdtEndTime = time.Minute

// await waits until every JVM's recorder has stopped. The caller must have closed stop. A recorder may be blocked
// while it reads its JVM's memory. If it does not stop in time, await reports a problem, and the events of that JVM
// are missing.
func (u *usdtRecorders) await(ctx context.Context) {
	if len(u.patterns) == 0 {
		return // there is nothing to wait for, even if ctx is done
	}
	_, err := foreign.Within(ctx, usdtEndTime, func() (struct{}, error) {
		u.jvms.Wait()
		return struct{}{}, nil
	})
	if err != nil {
		u.o.Problem(fmt.Errorf("recording USDT events: %w", err))
	}
}

// take sets the field USDT of each JVM to the name of the file with the JVM's events. The notes say which events are
// missing.
func (u *usdtRecorders) take(jvms map[int]*capture.JVM, startedMonoNanos int64) (notes []string) {
	u.mu.Lock() // a recorder that did not stop in time may still add its result
	defer u.mu.Unlock()
	for _, n := range slices.Concat(u.failed, u.silent) {
		notes = append(notes, n.String())
	}
	var said []string
	var late lateProbes
	for _, pid := range slices.Sorted(maps.Keys(u.results)) {
		r, j := u.results[pid], jvms[pid]
		if j == nil {
			continue // the JVM is not in the capture
		}
		j.USDT = capture.USDTText(pid)
		if by := late.add(pid, r.SetMonoNanos, max(j.StartMonoNanos, startedMonoNanos)); by > 0 &&
			r.SetMonoNanos > j.RecordingFromMonoNanos {
			j.RecordingFromMonoNanos, j.RecordingLateNanos = r.SetMonoNanos, int64(by)
		}
		for _, note := range []string{r.Note, u.noProbes(r.Unknown)} {
			if note != "" && !slices.Contains(said, note) {
				said = append(said, note)
			}
		}
	}
	if note := late.note(); note != "" {
		said = append(said, note)
	}
	return append(notes, said...)
}

// noProbes returns a note about the probes that the user has named (Choice.Probes) but the JVM does not have. It
// returns "" if there are none. names are all names that match no probe of the JVM, including those that gasm itself
// has chosen.
func (u *usdtRecorders) noProbes(names []string) string {
	names = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !slices.Contains(u.o.Choice.Probes, n) })
	if len(names) == 0 {
		return ""
	}
	return "the JVM has no USDT probes " + strings.Join(names, ", ") + " (docs/usdt-probes.md says which JDK has which)"
}

// USDTPatterns returns the names of the USDT probes to be recorded. A * in a name matches any text.
func (c *Choice) USDTPatterns() []string {
	return slices.Concat(usdt.Patterns(c.USDT), c.Probes)
}
