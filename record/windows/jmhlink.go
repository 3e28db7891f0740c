package windows

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/foreign"
	"github.com/gasm-profiler/gasm/internal/monotonic"
	"github.com/gasm-profiler/gasm/internal/sockdiag"
)

// JMH's lines come late. A fork sends what is to be printed to JMH's own JVM, over a TCP connection, and goes on. That JVM
// takes its time: what it does, it often does for the first time, and the fork has the processors. On an idle machine of
// two processors the first line of a fork came 30 to 70 ms late, the others 1 to 15 ms.
//
// The kernel knows when the last message arrived (sockdiag). Between the beginning and the end of an iteration a fork sends
// nothing unless the benchmark prints, so for the beginning it is asked when the line has come. After the score follow other
// messages, within milliseconds. So for the end the kernel is asked again and again, from the time at which the
// iteration is over by its length; its threads do nothing more then. What the kernel says is never before the message, but
// for its ticks, so the earlier one of its time and the line's is taken.

// A jmhLink asks the kernel when JMH's forks sent what JMH prints.
type jmhLink struct {
	output  *Output
	port    atomic.Uint32 // JMH's end of the newest fork's connection; 0 before
	moments chan jmhMoment
	done    chan struct{}
	once    sync.Once
}

// A jmhMoment is the beginning or the end of an iteration, by its line.
type jmhMoment struct {
	fork, iteration int // indexes
	ends            bool
	length          time.Duration // of the iteration; 0 when it has none
}

const (
	// mostMoments are waiting for an answer; of more, the line's time is taken.
	mostMoments = 16
	// shortIteration is one that is not asked about: what the kernel is asked costs 0.1 to 1 ms of a processor.
	shortIteration = 50 * time.Millisecond
	// The end of an iteration is looked for so often and so long. An operation may take longer than the iteration has, so
	// the pauses grow with the time for which it has been looked for.
	endPause, endWait = 2 * time.Millisecond, 500 * time.Millisecond
	endPauses         = 8 // a pause is the eighth part of it
)

// newJMHLink begins to answer for the lines that output sees.
func newJMHLink(output *Output) *jmhLink {
	l := &jmhLink{output: output, moments: make(chan jmhMoment, mostMoments), done: make(chan struct{})}
	output.mu.Lock()
	output.jmh.onMoment = l.ask
	output.mu.Unlock()
	go l.run()
	return l
}

// found is told the command of a JVM that has started.
func (l *jmhLink) found(p *foreign.Process, command []string) {
	at := slices.Index(command, "org.openjdk.jmh.runner.ForkedMain")
	if at < 0 || at+2 >= len(command) {
		return
	}
	port, err := strconv.ParseUint(command[at+2], 10, 16)
	if err != nil || !ourNetwork(p) {
		return
	}
	l.port.Store(uint32(port))
}

// ourNetwork tells whether a process has the same network as gasm, where it is in no container of its own.
func ourNetwork(p *foreign.Process) bool {
	ours, err := os.Readlink("/proc/self/ns/net")
	theirs, errTheirs := p.Readlink("ns/net")
	return err == nil && errTheirs == nil && ours == theirs
}

// ask takes a moment that has just been seen. The output's lock is held, and the command's output waits.
func (l *jmhLink) ask(m jmhMoment) {
	select {
	case l.moments <- m:
	default:
	}
}

func (l *jmhLink) run() {
	defer close(l.done)
	var running jmhMoment     // the beginning of the iteration whose end is looked for
	var began int64           // when that was
	var look <-chan time.Time // when to look; nil when nothing is looked for
	for {
		select {
		case m, ok := <-l.moments:
			if !ok {
				return
			}
			look = nil
			if at, ok := l.answer(m); ok && !m.ends && m.length >= shortIteration {
				running, began = m, at
				look = time.After(m.length - time.Duration(monotonic.Nanos()-at))
			}
		case <-look:
			look = nil
			over := began + int64(running.length)
			at, err := sockdiag.LastReceived(uint16(l.port.Load()))
			looked := time.Duration(monotonic.Nanos() - over)
			switch isNew := err == nil && at.Middle() > over-int64(running.length)/2; {
			case isNew && at.Hi >= over:
				l.tell(running, at.Middle(), (*jmhRun).over)
			case err == nil && !isNew && looked < endWait:
				look = time.After(max(endPause, looked/endPauses))
			}
		}
	}
}

// answer asks the kernel about a moment. It is false when it does not tell, because the fork has ended, or at all.
func (l *jmhLink) answer(m jmhMoment) (mono int64, ok bool) {
	port := l.port.Load()
	if port == 0 {
		return 0, false
	}
	at, err := sockdiag.LastReceived(uint16(port))
	if err != nil {
		return 0, false
	}
	l.tell(m, at.Middle(), (*jmhRun).sent)
	return at.Middle(), true
}

func (l *jmhLink) tell(m jmhMoment, mono int64, what func(*jmhRun, jmhMoment, int64)) {
	l.output.mu.Lock()
	defer l.output.mu.Unlock()
	what(&l.output.jmh, m, mono)
}

// stop ends it when all has been answered.
func (l *jmhLink) stop() {
	l.once.Do(func() {
		l.output.mu.Lock()
		l.output.jmh.onMoment = nil
		l.output.mu.Unlock()
		close(l.moments)
		<-l.done
	})
}

// moment tells of the newest iteration's beginning or end.
func (r *jmhRun) moment(ends bool) {
	fork := &r.forks[len(r.forks)-1]
	last := len(fork.iterations) - 1
	if ends {
		fork.sent[last].ended = 0 // an earlier line was no score
	}
	if before := last - 1; before >= 0 && time.Duration(fork.iterations[before].ToMonoNanos-fork.iterations[before].FromMonoNanos) < shortIteration {
		return
	}
	if r.onMoment != nil && !fork.host {
		r.onMoment(jmhMoment{len(r.forks) - 1, last, ends, r.length})
	}
}

// sent notes when the fork sent what the line of a moment says. It is of another connection when it is before the fork.
func (r *jmhRun) sent(m jmhMoment, mono int64) {
	fork := &r.forks[m.fork]
	switch times := &fork.sent[m.iteration]; {
	case mono < fork.announced:
	case m.ends:
		times.ended = mono
	default:
		times.began = mono
	}
}

// over notes when the fork sent the first message behind the end of an iteration that began at m.
func (r *jmhRun) over(m jmhMoment, mono int64) { r.forks[m.fork].sent[m.iteration].over = mono }

// sentTimes are when a fork sent what JMH's lines of an iteration say, CLOCK_MONOTONIC in ns; 0 when unknown.
type sentTimes struct {
	began, ended int64
	over         int64 // the first message behind the end, which need not have been seen
}

// iterationLength is how long each iteration is: "2 iterations, 400 ms each"; 0 for "5 iterations, single-shot each".
func iterationLength(value string) time.Duration {
	var count, n int64
	var name string
	if _, err := fmt.Sscanf(value, "%d iterations, %d %s each", &count, &n, &name); err != nil || n < 0 {
		return 0
	}
	unit := map[string]time.Duration{"ns": time.Nanosecond, "us": time.Microsecond, "ms": time.Millisecond, "s": time.Second, "min": time.Minute, "hr": time.Hour}[name]
	if unit == 0 || n > int64(maxIteration/unit) {
		return 0
	}
	return time.Duration(n) * unit
}

// maxIteration is longer than an iteration is.
const maxIteration = 1000 * time.Hour

// corrected returns a fork's iterations, and the operations of each, with what is known of the times at which it sent them.
func (f *jmhFork) corrected() (iterations []capture.Span, operations []float64) {
	iterations, operations = slices.Clone(f.iterations), slices.Clone(f.operations)
	next := int64(0)
	for i := len(iterations) - 1; i >= 0; i-- {
		span, sent := &iterations[i], f.sent[i]
		old := span.ToMonoNanos - span.FromMonoNanos
		if sent.began > 0 {
			span.FromMonoNanos = min(span.FromMonoNanos, sent.began)
		}
		for _, limit := range []int64{sent.ended, sent.over, next} { // it ends before the next one begins
			if limit > span.FromMonoNanos && span.ToMonoNanos > limit {
				span.ToMonoNanos = limit
			}
		}
		next = span.FromMonoNanos
		if length := span.ToMonoNanos - span.FromMonoNanos; old > 0 && length > 0 {
			operations[i] *= float64(length) / float64(old) // which are by the score, so by the length
		}
	}
	return iterations, operations
}
