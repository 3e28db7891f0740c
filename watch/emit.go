package watch

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/monotonic"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/push"
	"github.com/gasm-profiler/gasm/report/stacks"
	"github.com/gasm-profiler/gasm/top"
)

// emit makes a profile of each JVM that had samples since the last call, and adds it to all queues. The parameter wait
// is how many of the latest seconds it leaves for the next call.
func (w *Watcher) emit(wait int) {
	s, ok := w.model.TakeSettled(wait)
	if !ok {
		return
	}
	w.countLost(s.Lost)
	toWall := w.toWall()
	for len(s.Samples) > 0 {
		n := 1 // samples of one JVM are adjacent
		for n < len(s.Samples) && s.Samples[n].PID == s.Samples[0].PID {
			n++
		}
		p, err := w.profile(&s, s.Samples[:n], toWall)
		s.Samples = s.Samples[n:]
		if err != nil {
			w.o.Say(err.Error())
			continue
		}
		w.count(p)
		w.add(p)
	}
}

// add adds a profile to all queues.
func (w *Watcher) add(p *push.Profile) {
	for _, q := range w.queues {
		q.Add(p)
	}
}

// emitEvents adds the profiles of events that were made since the last call to all queues.
func (w *Watcher) emitEvents() {
	for _, m := range w.events.take() {
		m.profile.ID, m.profile.Labels = newID(), w.labelsOf(m.jvm.PID, m.jvm)
		w.add(m.profile)
	}
}

// toWall returns what must be added to a current time of CLOCK_MONOTONIC to convert it to the wall clock, in ns.
func toWall() int64 { return time.Now().UnixNano() - monotonic.Nanos() }

// profile makes the profile of one JVM. Adding toWall (in ns) to a CLOCK_MONOTONIC time converts it to the wall clock.
func (w *Watcher) profile(s *top.Settled, samples []profile.Location, toWall int64) (*push.Profile, error) {
	pid := samples[0].PID
	if j := w.jvms[pid]; j != nil {
		j.state = StateProfiled
	}
	p := &push.Profile{ID: newID(), Labels: w.labelsOf(pid, w.jvms[pid]), Lost: s.Lost,
		From: time.Unix(0, s.FromMono+toWall), To: time.Unix(0, s.ToMono+toWall)}
	for i := range samples {
		p.Samples += samples[i].Counts[0]
	}
	p.CPUNanos = p.Samples * stacks.Period(s.Hertz)
	var text bytes.Buffer
	err := stacks.WriteSeries(&text, &profile.Profiles{
		Capture: capture.Description{Sampler: "native", Events: []string{s.Counter}, Frequency: s.Hertz},
		Trials: []profile.Profile{{Counters: []string{s.Counter}, Locations: samples, PIDs: []int{pid},
			StartWallNanos: p.From.UnixNano(), WindowSeconds: float64(s.ToMono-s.FromMono) / 1e9}},
		Stacks:      s.Stacks,
		SourceFiles: s.SourceFiles[pid],
	}, w.o.Gasm)
	if err != nil {
		return nil, fmt.Errorf("the profile of JVM %d: %w", pid, err)
	}
	p.Pprof = text.Bytes()
	return p, nil
}

// newID returns a random UUID.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
