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

// JMH's lines come late. A fork sends the text that JMH should print to JMH's own JVM, over a TCP connection, and
// continues. JMH's own JVM prints the text slowly, because it often runs this code for the first time, and because the
// fork keeps the CPUs busy. On an idle machine with two CPUs, the first line of a fork came 30 to 70 ms late, and
// other lines 1 to 15 ms.
//
// The kernel knows when the last message arrived on the connection (package sockdiag). Between the beginning and the
// end of an iteration, a fork sends nothing unless the benchmark prints. So to find the beginning, gasm asks the kernel
// when the line "Iteration 1: " arrives. After the score, other messages follow within milliseconds. So to find the
// end, gasm asks the kernel again and again, from the moment at which the iteration should be over. By then the
// benchmark's threads have stopped, so asking does not disturb them. The kernel's time may be up to a tick earlier than
// the message. If the time at which the line arrived is earlier than the kernel's time, gasm uses the time of the line.

// A jmhLink finds out at which times JMH's forks sent the text that JMH prints. It asks the kernel for these times.
type jmhLink struct {
	output  *Output
	port    atomic.Uint32 // port of JMH's own JVM, to which the newest fork is connected; 0 before the first fork
	moments chan jmhMoment
	done    chan struct{}
	once    sync.Once
}

// A jmhMoment is the beginning or the end of an iteration. It is created when JMH's line about it has arrived.
type jmhMoment struct {
	fork, iteration int // indexes in jmhRun.forks and jmhFork.iterations
	ends            bool
	length          time.Duration // of the iteration, as JMH announced it; 0 if JMH announced no length
}

const (
	// mostMoments is the maximum number of moments that wait for an answer of the kernel. For further moments gasm does
	// not ask, and uses the time at which JMH's line arrived.
	mostMoments = 16
	// shortIteration is the least length of an iteration for which gasm asks the kernel. Asking once takes 0.1 to 1 ms
	// of CPU time, which is too much for a shorter iteration.
	shortIteration = 50 * time.Millisecond
	// endPause is the shortest pause before gasm asks the kernel again whether an iteration has ended. The pauses get
	// longer, because an iteration whose last operation is long may end much later than it should. After endWait, gasm
	// stops asking.
	endPause, endWait = 2 * time.Millisecond, 500 * time.Millisecond
	endPauses         = 8 // a pause is 1/endPauses of the time since the iteration should have ended
)

// newJMHLink returns a jmhLink for the lines of JMH that pass through output. It begins to look up when JMH's forks
// sent these lines.
func newJMHLink(output *Output) *jmhLink {
	l := &jmhLink{output: output, moments: make(chan jmhMoment, mostMoments), done: make(chan struct{})}
	output.mu.Lock()
	output.jmh.onMoment = l.ask
	output.mu.Unlock()
	go l.run()
	return l
}

// found is called with the command of each JVM that has started. If the JVM is a fork of JMH, found stores the port of
// JMH's own JVM, to which the fork connects.
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

// ourNetwork reports whether a process is in gasm's network namespace. A process in a container usually is not.
func ourNetwork(p *foreign.Process) bool {
	ours, err := os.Readlink("/proc/self/ns/net")
	theirs, errTheirs := p.Readlink("ns/net")
	return err == nil && errTheirs == nil && ours == theirs
}

// ask passes a new moment to the goroutine that calls l.run. If too many moments are waiting, it drops the new one. It
// must not block, because its caller holds the lock of the Output, through which the command's output passes.
func (l *jmhLink) ask(m jmhMoment) {
	select {
	case l.moments <- m:
	default:
	}
}

func (l *jmhLink) run() {
	defer close(l.done)
	var running jmhMoment     // the beginning of the iteration for whose end gasm asks the kernel
	var began int64           // when that iteration began
	var look <-chan time.Time // when to ask the kernel next; nil if gasm does not look for an end
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

// answer asks the kernel about a moment. ok is false if the kernel has no answer, for example because the fork has
// ended.
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

// stop waits until the kernel was asked about all moments that are still waiting, and ends the goroutine that calls
// l.run.
func (l *jmhLink) stop() {
	l.once.Do(func() {
		l.output.mu.Lock()
		l.output.jmh.onMoment = nil
		l.output.mu.Unlock()
		close(l.moments)
		<-l.done
	})
}

// moment calls onMoment for the beginning or the end of the newest iteration of a fork. It does nothing if the
// iteration before it was shorter than shortIteration.
func (r *jmhRun) moment(ends bool) {
	fork := &r.forks[len(r.forks)-1]
	last := len(fork.iterations) - 1
	if ends {
		fork.sent[last].ended = 0 // forgets the time of an earlier line that only looked like the score
	}
	if before := last - 1; before >= 0 &&
		time.Duration(fork.iterations[before].ToMonoNanos-fork.iterations[before].FromMonoNanos) < shortIteration {
		return
	}
	if r.onMoment != nil && !fork.host {
		r.onMoment(jmhMoment{len(r.forks) - 1, last, ends, r.length})
	}
}

// sent records when the fork sent the line that begins or ends an iteration. It ignores a time before the fork was
// announced, because that is the time of a message on the connection of an earlier fork.
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

// over records when the fork sent the first message after an iteration. m is the beginning of the iteration.
func (r *jmhRun) over(m jmhMoment, mono int64) { r.forks[m.fork].sent[m.iteration].over = mono }

// sentTimes says when a fork sent JMH's lines about an iteration (CLOCK_MONOTONIC, in ns). A time is 0 if it is
// unknown.
type sentTimes struct {
	began, ended int64
	over         int64 // the first message that was seen after the end; there may have been an earlier one
}

// iterationLength returns how long each iteration is: 400 ms for "2 iterations, 400 ms each", 0 for "5 iterations,
// single-shot each".
func iterationLength(value string) time.Duration {
	var count, n int64
	var name string
	if _, err := fmt.Sscanf(value, "%d iterations, %d %s each", &count, &n, &name); err != nil || n < 0 {
		return 0
	}
	unit := map[string]time.Duration{"ns": time.Nanosecond, "us": time.Microsecond, "ms": time.Millisecond,
		"s": time.Second, "min": time.Minute, "hr": time.Hour}[name]
	if unit == 0 || n > int64(maxIteration/unit) {
		return 0
	}
	return time.Duration(n) * unit
}

// maxIteration is the longest possible length of an iteration. If JMH's text has a longer one, the length is treated as
// unknown.
const maxIteration = 1000 * time.Hour

// corrected returns the times of a fork's iterations, and the number of operations of each. JMH's lines arrive late,
// so corrected replaces their times by the times at which the fork sent them, if these are known.
func (f *jmhFork) corrected() (iterations []capture.Span, operations []float64) {
	iterations, operations = slices.Clone(f.iterations), slices.Clone(f.operations)
	next := int64(0)
	for i := len(iterations) - 1; i >= 0; i-- {
		span, sent := &iterations[i], f.sent[i]
		old := span.ToMonoNanos - span.FromMonoNanos
		if sent.began > 0 {
			span.FromMonoNanos = min(span.FromMonoNanos, sent.began)
		}
		for _, limit := range []int64{sent.ended, sent.over, next} { // an iteration ends before the next one begins
			if limit > span.FromMonoNanos && span.ToMonoNanos > limit {
				span.ToMonoNanos = limit
			}
		}
		next = span.FromMonoNanos
		if length := span.ToMonoNanos - span.FromMonoNanos; old > 0 && length > 0 {
			operations[i] *= float64(length) / float64(old) // they were computed from the score and the old length
		}
	}
	return iterations, operations
}
