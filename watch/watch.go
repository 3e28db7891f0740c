package watch

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/hotspot/attach"
	"github.com/gasm-profiler/gasm/internal/monotonic"
	"github.com/gasm-profiler/gasm/push"
	"github.com/gasm-profiler/gasm/record"
	"github.com/gasm-profiler/gasm/sampler"
	"github.com/gasm-profiler/gasm/top"
	"github.com/gasm-profiler/gasm/top/live"
)

// Options say which JVMs are watched, and where their profiles go.
type Options struct {
	Gasm  string   // the version of gasm
	Words []string // process ids, and parts of the names of main classes and jars; all JVMs if there are none
	// The Watcher ends when all processes in PIDs have ended. If PIDs is empty, it runs until its context is done.
	PIDs []int
	// Share is the fraction of the JVMs that is watched, above 0 and up to 1. The JVMs are chosen at random.
	Share     float64
	Every     time.Duration // the length of the interval that a profile covers
	Frequency int           // samples per second and CPU
	Budget    float64       // the CPU time that gasm may use, as a fraction of one processor's time; 0 for no limit
	Stacks    record.StackChoice
	// Instructions adds a frame to the stacks for each hot instruction.
	Instructions bool
	Labels       []push.Label // set by the user
	// Events are the kinds of events that JVMs record for further profiles: event.Lock and event.Alloc.
	Events []event.Kind
	To     []Target
	Say    func(text string) // takes messages for the user, from several goroutines
	// Beat, if it is not nil, is called about once a second, as long as all is well.
	Beat func()
}

// A Target is a destination of profiles.
type Target struct {
	// Key identifies the destination with all its settings. When options change, a destination whose key is in the old
	// and in the new options keeps its queue.
	Key  string
	Open func() (push.Destination, error)
}

// Counter is the event that is sampled. Its samples stand for CPU time on every machine.
const Counter = "cpu-clock"

const (
	// A recording is replaced by the next one after recordingTime, or when its files are larger than recordingBytes.
	recordingTime  = 30 * time.Minute
	recordingBytes = 64 << 20
	// listEvery is the time between two searches for new JVMs. A search takes a few milliseconds of CPU time.
	listEvery = 10 * time.Second
	// samplePause is the longest time until a sample is processed. Each time, gasm wakes up and looks for changes in the
	// code cache of each JVM that has samples. With 20 JVMs, this costs a third less CPU time than with 150 ms. Methods
	// stay in the code cache for seconds after HotSpot has replaced them.
	samplePause = time.Second
	// closeTime is how long gasm tries to deliver the last profiles when it is asked to end.
	closeTime = 10 * time.Second
)

// A Watcher is a run of gasm watch. Its fields up to mu are used by the goroutine of Run.
type Watcher struct {
	o       Options
	model   *top.Model
	session *live.Session
	toWall  func() int64 // toWall, except in a test
	queues  []*queue
	jvms    map[int]*jvm // by process id
	given   []given      // the processes of the options' PIDs
	// searches is the number of searches for JVMs with the present options.
	searches  int
	jvmsNoted time.Time // when the status last got the JVMs; zero if it should get them at once

	budget  budget
	next    time.Time       // when the next profiles are made
	sending context.Context // done when the queues must end
	changes chan Options    // the options passed to Change; at most one element

	events recordings

	mu     sync.Mutex
	status Status
	opened []*queue // the queues of the latest options
}

// A queue is the queue of a Target.
type queue struct {
	*push.Queue
	key string
}

// New opens the destinations of the options.
func New(o Options) (*Watcher, error) {
	w := &Watcher{o: o, toWall: toWall, jvms: map[int]*jvm{}, given: givenOf(o.PIDs),
		changes: make(chan Options, 1)}
	w.events.set(&o)
	var err error
	w.opened, err = w.open(o)
	w.queues = w.opened
	return w, err
}

// open returns the queues of the options. It creates those that are not among the queues of the latest options.
func (w *Watcher) open(o Options) (queues []*queue, err error) {
	for _, to := range o.To {
		if i := slices.IndexFunc(w.opened, func(q *queue) bool { return q.key == to.Key }); i >= 0 {
			queues = append(queues, w.opened[i])
			continue
		}
		destination, err := to.Open()
		if err != nil {
			return nil, err
		}
		queues = append(queues, &queue{push.NewQueue(destination, o.Say), to.Key})
	}
	return queues, nil
}

// Change replaces the options of a running Watcher. After an error, the old ones stay in force. Sampling pauses for a
// moment, because another recording begins, but no sample that was taken before is lost.
func (w *Watcher) Change(o Options) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	queues, err := w.open(o)
	if err != nil {
		return err
	}
	w.opened = queues
	select {
	case <-w.changes: // the loop has not seen the previous options yet
	default:
	}
	w.changes <- o
	return nil
}

// Run watches JVMs until ctx is done, or all PIDs of the options have ended. Then it tries to deliver the last
// profiles, for closeTime at most.
func (w *Watcher) Run(ctx context.Context) error {
	var stop context.CancelFunc
	w.sending, stop = context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	for _, q := range w.queues {
		go q.Run(w.sending) // the end does not wait for it, because a destination may block for ever
	}
	w.budget = newBudget(&w.o)
	if err := w.begin(ctx); err != nil {
		return err
	}
	err := w.loop(ctx)
	w.events.stopAll()
	w.end()
	w.events.wait()
	w.emitEvents()
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
	defer cancel()
	closeAll(closing, w.queues, w.o.Say)
	return err
}

// begin begins to record, at the frequency and with the share that the budget allows.
func (w *Watcher) begin(ctx context.Context) (err error) {
	w.model = top.NewRecent(int(w.o.Every/time.Second)+2*top.SettleTicks, disasm.ATT)
	if w.o.Instructions {
		w.model.NameInstructions()
	}
	w.model.Tick(monotonic.Nanos()) // the first profile begins here
	// The last SettleTicks seconds of samples are kept back until their code is known.
	w.next = time.Now().Add(w.o.Every + top.SettleTicks*time.Second)
	w.session, err = live.Start(ctx, w.model, live.Options{Gasm: w.o.Gasm, Wanted: w.wanted, Unrecorded: w.unrecorded,
		Searched: w.searched, Frequency: w.budget.hertz, Counters: []sampler.Event{sampler.ParseEvent(Counter)},
		Stacks: w.o.Stacks, Segment: recordingTime, SegmentBytes: recordingBytes, ListEvery: listEvery,
		NoThreadNames: true, Pause: samplePause})
	return err
}

// end ends the recording, and makes profiles of all its samples.
func (w *Watcher) end() {
	w.session.Close()
	w.model.Tick(monotonic.Nanos())
	w.emit(0)
}

// loop makes profiles until ctx is done.
func (w *Watcher) loop(ctx context.Context) error {
	timer := time.NewTimer(monotonic.Until(time.Second))
	defer timer.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return nil
		case o := <-w.changes:
			w.end()
			w.change(o)
			err = w.begin(ctx)
		case <-timer.C:
			timer.Reset(monotonic.Until(time.Second))
			w.step()
			if text := w.over(); text != "" {
				w.o.Say(text)
				return nil
			}
			if text := w.budget.judge(ownCPU(), monotonic.Nanos()); text != "" {
				w.o.Say(text)
				w.end()
				err = w.begin(ctx)
			}
		}
		if err != nil {
			return err
		}
	}
}

// step does what is due each second.
func (w *Watcher) step() {
	w.session.Step()
	w.model.Tick(monotonic.Nanos())
	if err := w.session.Failure(); err != nil {
		w.o.Say(err.Error())
	}
	w.emitEvents()
	if now := time.Now(); !now.Before(w.next) {
		w.emit(top.SettleTicks)
		w.forget(now)
		if w.next = w.next.Add(w.o.Every); w.next.Before(now) {
			w.next = now.Add(w.o.Every)
		}
	}
	w.note()
	if w.o.Beat != nil {
		w.o.Beat()
	}
}

// change adopts new options. The queues of destinations that the new options do not have are closed in the background,
// after their profiles were delivered.
func (w *Watcher) change(o Options) {
	w.mu.Lock()
	queues := w.opened
	w.mu.Unlock()
	var removed []*queue
	for _, q := range w.queues {
		if !slices.Contains(queues, q) {
			removed = append(removed, q)
		}
	}
	for _, q := range queues {
		if !slices.Contains(w.queues, q) {
			go q.Run(w.sending)
		}
	}
	w.o, w.queues = o, queues
	w.given, w.searches = givenOf(o.PIDs), 0
	w.budget.change(&o)
	w.events.set(&o)
	for _, j := range w.jvms { // their labels may have changed
		j.ticks = 0
	}
	go func() {
		closing, cancel := context.WithTimeout(w.sending, push.MaxAge)
		defer cancel()
		closeAll(closing, removed, o.Say)
	}()
	o.Say("the configuration was read again")
}

// closeAll waits until the given queues are empty, and reports how many profiles were delivered and dropped.
func closeAll(ctx context.Context, queues []*queue, say func(text string)) {
	for _, q := range queues {
		say(q.Close(ctx).Text(q.String()))
	}
}

// unrecorded reports once that a JVM can't be recorded. If the JVM has just started, it reports nothing yet: the JVM
// may only need some more time.
func (w *Watcher) unrecorded(p *attach.Process) {
	j := w.jvms[p.PID]
	if j != nil {
		j.state = StateRefused
	}
	if j == nil || j.reported || time.Duration(monotonic.Nanos()-p.StartMonoNanos) < youngTime {
		return
	}
	j.reported = true
	w.o.Say(fmt.Sprintf("JVM %s is not profiled: %v", p, p.Unreadable))
}

// youngTime is how long after a JVM's start its memory may be unreadable.
const youngTime = 10 * time.Second
