package record

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
	"github.com/gasm-profiler/gasm/event/usdt"
	"github.com/gasm-profiler/gasm/internal/foreign"
	"github.com/gasm-profiler/gasm/record/processend"
)

// liveUSDT records HotSpot's USDT probes in JVMs that run.
type liveUSDT struct {
	s        *session
	choice   *EventChoice
	patterns []string // of probes; none: nothing is recorded

	jvms  sync.WaitGroup  // whose recording has not ended
	setUp sync.WaitGroup  // whose recording has not begun
	stop  <-chan struct{} // closed when all are to end

	mu      sync.Mutex
	results map[int]usdt.Result
	failed  []usdtNote
	silent  []usdtNote
}

func (l *liveUSDT) begin(s *session, choice *EventChoice, stop <-chan struct{}) {
	l.s, l.patterns, l.choice = s, choice.usdtPatterns(), choice
	l.stop, l.results = stop, map[int]usdt.Result{}
}

// startTime is how long a command may take to start its first JVM, if gasm is to find it at once.
const startTime = 3 * time.Second

// expect has the sampler tell of a JVM soon: what it does before its probes are set is missed.
func (l *liveUSDT) expect(s sampling) {
	if n, ok := s.(interface{ LookOften(time.Duration) }); ok && len(l.patterns) > 0 {
		n.LookOften(startTime)
	}
}

// found begins to record the probes of a JVM. It returns at once.
func (l *liveUSDT) found(pid int) {
	if len(l.patterns) > 0 {
		l.setUp.Add(1)
		l.jvms.Go(func() { l.record(pid, sync.OnceFunc(l.setUp.Done)) })
	}
}

// awaitBegun waits until the probes are set in all JVMs that were found, or can't be, or stop is closed.
func (l *liveUSDT) awaitBegun(stop <-chan struct{}) {
	begun := make(chan struct{})
	go func() {
		l.setUp.Wait()
		close(begun)
	}()
	select {
	case <-begun:
	case <-stop:
	}
}

// record records the probes of a JVM until it ends, or all are to end. It calls begun at least once, when it has begun or failed.
func (l *liveUSDT) record(pid int, begun func()) {
	defer begun()
	ticks := processend.StartTicks(pid)
	f, err := os.OpenFile(l.s.path(capture.USDTText(pid)), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		l.s.problem(fmt.Errorf("writing the USDT events of JVM %d: %w", pid, err))
		return
	}
	recorder, err := usdt.Start(pid, usdt.Options{
		Patterns: l.patterns, Text: f, Placed: l.s.placedIn(pid), DTrace: l.choice.ByDTrace, Sudo: l.choice.Sudo})
	if err != nil {
		f.Close()
		os.Remove(f.Name())
		l.fail(pid, err)
		return
	}
	begun()
	l.noteSilent(pid, optionsWithout(pid, usdt.FlagsOf(l.patterns)))
	processend.Await(pid, ticks, l.stop)
	result := recorder.Stop()
	if err := errors.Join(result.Err, f.Close()); err != nil {
		l.s.problem(fmt.Errorf("writing the USDT events of JVM %d: %w", pid, err))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.results[pid] = result
}

func (l *liveUSDT) fail(pid int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failed = addUSDTNote(l.failed, pid, "no USDT events of ", ": "+err.Error())
}

// usdtEndTime is how long the recorders of all JVMs may take to stop. DTrace takes seconds.
const usdtEndTime = time.Minute

// await waits until every JVM's recorder has stopped. The caller has closed stop. A recorder that does not stop, because it
// waits for the memory of its JVM, is a problem, and its events are missing.
func (l *liveUSDT) await(ctx context.Context) {
	_, err := foreign.Within(ctx, usdtEndTime, func() (struct{}, error) {
		l.jvms.Wait()
		return struct{}{}, nil
	})
	if err != nil {
		l.s.problem(fmt.Errorf("recording USDT events: %w", err))
	}
}

// take notes in each JVM which text is its.
func (l *liveUSDT) take(jvms map[int]*capture.JVM) (notes []string) {
	l.mu.Lock() // a recorder that did not stop in time may do so now
	defer l.mu.Unlock()
	for _, n := range slices.Concat(l.failed, l.silent) {
		notes = append(notes, n.String())
	}
	var said []string
	var late lateProbes
	for _, pid := range slices.Sorted(maps.Keys(l.results)) {
		r, j := l.results[pid], jvms[pid]
		if j == nil {
			continue // it is not in the capture
		}
		j.USDT = capture.USDTText(pid)
		late.add(pid, r.SetMonoNanos, max(j.StartMonoNanos, l.s.startedMonoNanos))
		for _, note := range []string{r.Note, l.noProbes(r.Unknown)} {
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

// noProbes says that names of the user's match no probe; "" for none.
func (l *liveUSDT) noProbes(names []string) string {
	names = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !slices.Contains(l.choice.Probes, n) })
	if len(names) == 0 {
		return ""
	}
	return "the JVM has no USDT probes " + strings.Join(names, ", ") + " (docs/usdt-probes.md says which JDK has which)"
}

// usdtPatterns are the probes that are to be recorded.
func (c *EventChoice) usdtPatterns() []string {
	return slices.Concat(usdt.Patterns(c.USDT), c.Probes)
}

// addUSDTFlags adds the options without which some of HotSpot's probes are never reached.
// All JVMs with probes know them, and those without too.
func (r *Recording) addUSDTFlags(flags javaFlags) javaFlags {
	needed := usdt.FlagsOf(r.o.Events.usdtPatterns())
	flags.tool = append(slices.Clip(flags.tool), needed...)
	return flags
}
