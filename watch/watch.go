package watch

import (
	"context"
	"fmt"
	"time"

	"github.com/gasm-profiler/gasm/disasm"
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
	// Share is the fraction of the JVMs that is watched, above 0 and up to 1. The JVMs are chosen at random.
	Share     float64
	Every     time.Duration // the length of the interval that a profile covers
	Frequency int           // samples per second and CPU
	Stacks    record.StackChoice
	Labels    []push.Label // set by the user
	To        []push.Destination
	Say       func(text string) // takes messages for the user, from several goroutines
}

// Counter is what is sampled. Its samples stand for CPU time on every machine.
const Counter = "cpu-clock"

const (
	// A recording is replaced by the next one after recordingTime, or when its files are larger than recordingBytes.
	recordingTime  = 30 * time.Minute
	recordingBytes = 64 << 20
	// listEvery is the time between two searches for new JVMs. A search takes a few milliseconds of CPU time.
	listEvery = 10 * time.Second
	// closeTime is how long gasm tries to deliver the last profiles when it is asked to end.
	closeTime = 10 * time.Second
)

// A watcher is a run of gasm watch. Its fields are used by one goroutine.
type watcher struct {
	o       Options
	model   *top.Model
	session *live.Session
	queues  []*push.Queue
	jvms    map[int]*jvm // by process id
	started time.Time
}

// Run watches JVMs until ctx is done. Then it delivers the last profiles, which takes some seconds at most.
func Run(ctx context.Context, o Options) error {
	w := &watcher{o: o, jvms: map[int]*jvm{}, started: time.Now()}
	w.model = top.NewRecent(int(o.Every/time.Second)+2*top.SettleTicks, disasm.ATT)
	sending, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	for _, to := range o.To {
		q := push.NewQueue(to, o.Say)
		w.queues = append(w.queues, q)
		go q.Run(sending) // the end does not wait for it, because a destination may block for ever
	}
	w.model.Tick(monotonic.Nanos()) // the first profile begins here
	var err error
	w.session, err = live.Start(ctx, w.model, live.Options{Gasm: o.Gasm, Wanted: w.wanted, Unrecorded: w.unrecorded,
		Frequency: o.Frequency, Counters: []sampler.Event{sampler.ParseEvent(Counter)}, Stacks: o.Stacks,
		Segment: recordingTime, SegmentBytes: recordingBytes, ListEvery: listEvery})
	if err != nil {
		stop()
		return err
	}
	w.loop(ctx)
	w.session.Close()
	w.model.Tick(monotonic.Nanos())
	w.emit(0)
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
	defer cancel()
	w.close(closing)
	stop()
	return nil
}

// loop makes profiles until ctx is done.
func (w *watcher) loop(ctx context.Context) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	// The last SettleTicks seconds of samples are kept back until their code is known.
	next := time.Now().Add(w.o.Every + top.SettleTicks*time.Second)
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		w.session.Step()
		w.model.Tick(monotonic.Nanos())
		if err := w.session.Failure(); err != nil {
			w.o.Say(err.Error())
		}
		if now := time.Now(); !now.Before(next) {
			w.emit(top.SettleTicks)
			w.forget(now)
			if next = next.Add(w.o.Every); next.Before(now) {
				next = now.Add(w.o.Every)
			}
		}
	}
}

// close waits until the queues are empty, and reports how many profiles were delivered and dropped.
func (w *watcher) close(ctx context.Context) {
	for _, q := range w.queues {
		w.o.Say(q.Close(ctx).Text(q.String()))
	}
}

// unrecorded reports once that a JVM can't be recorded. If the JVM has just started, it reports nothing yet: the JVM
// may only need some more time.
func (w *watcher) unrecorded(p *attach.Process) {
	j := w.jvms[p.PID]
	if j == nil || j.reported || time.Duration(monotonic.Nanos()-p.StartMonoNanos) < youngTime {
		return
	}
	j.reported = true
	w.o.Say(fmt.Sprintf("JVM %s is not profiled: %v", p, p.Unreadable))
}

// youngTime is how long after a JVM's start its memory may be unreadable.
const youngTime = 10 * time.Second
