// Package live records running JVMs for gasm top. A recording writes to the disk all the time. So a [Session] consists
// of one recording after another, each of five minutes by default, and only the last one is on the disk. A recording
// also ends when other JVMs are to be recorded, or when the user wants to keep it as a capture. The next recording
// begins before the previous one ends, so no time is missing.
//
// Everything that gasm attach promises holds here, because the recordings are those of gasm attach.
package live

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gasm-profiler/gasm/hotspot/attach"
	"github.com/gasm-profiler/gasm/internal/foreign"
	"github.com/gasm-profiler/gasm/internal/monotonic"
	"github.com/gasm-profiler/gasm/record"
	"github.com/gasm-profiler/gasm/record/processend"
	"github.com/gasm-profiler/gasm/sampler"
	"github.com/gasm-profiler/gasm/top"
)

// Options say what is recorded, and how.
type Options struct {
	Gasm string // the version of gasm
	JVMs []attach.Process
	// Wanted decides whether a JVM that is not in the field JVMs is recorded. If Wanted is nil, only the JVMs in that
	// field are recorded.
	Wanted func(*attach.Process) bool
	// Activity is true if the Model also gets the JVMs' performance data.
	Activity       bool
	Counters       []sampler.Event // as in record.AttachOptions
	Frequency      int
	FixedFrequency bool
	Stacks         record.StackChoice
	Segment        time.Duration // how long a recording is; 0 for the default
	ListEvery      time.Duration // time between two searches for new JVMs; 0 for the default
	// SegmentBytes is the size of a recording's files, in bytes, at which the next recording begins early; 0 for no
	// limit. The size is checked every few seconds, so the files may become a little larger.
	SegmentBytes int64
	// Unrecorded, if it is not nil, is called by Step with each wanted JVM that can't be recorded, each time that this
	// is noticed. The JVM's field Unreadable says why.
	Unrecorded func(*attach.Process)
	// Searched, if it is not nil, is called by Step after each search for JVMs, and after Wanted was called for each of
	// them.
	Searched func()
	// NoThreadNames is true if the names of threads that the kernel keeps, which may be cut, are enough.
	NoThreadNames bool
	// Pause is the longest time until a sample is processed; 0 means 150 ms. See record.AttachOptions.
	Pause time.Duration
}

const (
	// samplePause is the longest time until a sample is processed. A view that is drawn once a second does not need a
	// shorter time, and each processing costs 0.2 ms of CPU time.
	samplePause = 150 * time.Millisecond
	segmentTime = 5 * time.Minute
	// listEvery is the time between two searches for new JVMs. A search costs about as much as a second of sampling.
	listEvery = 5 * time.Second
	// watchEvery is the time between two readings of a JVM's performance data.
	watchEvery = 500 * time.Millisecond
	// retryAfter is the time after which gasm tries again to record a JVM that could not be recorded, for example
	// because it had just started. Each failed try doubles the time, up to mostRetryAfter.
	retryAfter     = 30 * time.Second
	mostRetryAfter = time.Hour
)

// A Session records JVMs for a Model. Its methods are called by the goroutine that calls the Model's.
type Session struct {
	o     Options
	model *top.Model
	ctx   context.Context
	end   context.CancelFunc
	// releaseSymbols is called at the end, see record.KeepKernelSymbols.
	releaseSymbols func()

	present *segment
	next    *segment // replaces present when its sampling has begun
	kept    *keeping // what is to be done with the recording in present when next replaces it
	ending  []*segment
	jvms    map[int]*watched
	noted   chan reading
	listed  chan []attach.Process
	lister  attach.Lister // used by one goroutine at a time
	listing bool
	listAt  time.Time
	beginAt time.Time // time of the last call of begin
	sizeAt  time.Time // when the size of the present recording was read last
	cpu     int64     // CPU time that gasm had used by the last Step, in ns
	cpuMono int64

	mu      sync.Mutex
	closed  bool
	failure error              // the last problem
	refused []*record.JVMError // JVMs that could not be recorded; empty without Options.Unrecorded
}

// The type watched is a JVM whose performance data are read.
type watched struct {
	attach.Process
	ticks uint64
	stop  chan struct{}
	gone  atomic.Bool // the process has ended
	ended bool        // the Model knows that the process has ended, or the Session is closed
	// tries counts the recordings of this JVM that have failed, and tryAt is when the next one may begin. tryAt is zero
	// if the JVM is recorded.
	tries int
	tryAt time.Time
}

// A reading is what the performance data of a JVM said at a certain time.
type reading struct {
	pid       int
	monoNanos int64
	activity  attach.Activity
}

// Start begins to record. It returns when the sampling has begun, or has failed to begin. Without JVMs, it returns at
// once.
func Start(ctx context.Context, m *top.Model, o Options) (*Session, error) {
	s := &Session{o: o, model: m, jvms: map[int]*watched{}, noted: make(chan reading, 1024),
		listed: make(chan []attach.Process, 1), releaseSymbols: record.KeepKernelSymbols()}
	if len(o.JVMs) > 0 {
		s.listAt = time.Now()
	}
	s.o.Segment, s.o.ListEvery = cmp.Or(s.o.Segment, segmentTime), cmp.Or(s.o.ListEvery, listEvery)
	s.o.Pause = cmp.Or(s.o.Pause, samplePause)
	s.ctx, s.end = context.WithCancel(context.WithoutCancel(ctx))
	if len(o.JVMs) == 0 {
		return s, nil
	}
	s.know(o.JVMs)
	s.present = s.startSegment(s.ctx, o.JVMs)
	select {
	case <-s.present.began:
		s.o.Frequency, s.o.FixedFrequency = s.present.hertz, true
		return s, nil
	case <-s.present.over:
		if s.present.err == nil {
			return s, nil // the JVMs have ended at once
		}
		s.Close()
		return nil, s.present.err
	case <-ctx.Done():
		s.Close()
		return nil, context.Cause(ctx)
	}
}

// know notes which JVMs are recorded from now on. Known JVMs that run, but are missing from the list because they could
// not be read for a moment, stay known.
func (s *Session) know(jvms []attach.Process) {
	var known []top.JVM
	for _, j := range jvms {
		w := s.jvms[j.PID]
		same := w != nil && !s.isNew(&j)
		if same && w.ended { // it has ended since it was listed
			continue
		}
		if same {
			j.StartMonoNanos = w.StartMonoNanos
		}
		known = append(known, top.JVM{PID: j.PID, Main: j.Main, Version: j.Version, StartMonoNanos: j.StartMonoNanos})
		if same {
			continue
		} else if w != nil {
			w.leave()
		}
		w = &watched{Process: j, ticks: processend.StartTicks(j.PID), stop: make(chan struct{})}
		s.jvms[j.PID] = w
		go w.await(w.PID, w.ticks)
		if s.o.Activity {
			go w.watch(s.ctx, s.noted)
		}
	}
	for _, w := range s.jvms {
		if !w.ended && !slices.ContainsFunc(jvms, func(j attach.Process) bool { return j.PID == w.PID }) {
			known = append(known, top.JVM{PID: w.PID, Main: w.Main, Version: w.Version, StartMonoNanos: w.StartMonoNanos})
		}
	}
	s.model.SetJVMs(known)
}

// isNew reports whether a listed JVM is not known yet. It compares the start ticks, because StartMonoNanos is computed
// from two readings of clocks, and so differs a little each time.
func (s *Session) isNew(j *attach.Process) bool {
	w := s.jvms[j.PID]
	if w == nil {
		return true
	}
	ticks := processend.StartTicks(j.PID)
	return ticks != 0 && ticks != w.ticks // 0 if it has ended since it was listed
}

// await waits for the end of the process, whose id and start ticks are given.
func (w *watched) await(pid int, ticks uint64) {
	if processend.Await(pid, ticks, w.stop) {
		w.gone.Store(true)
	}
}

func (w *watched) leave() {
	if !w.ended {
		w.ended = true
		close(w.stop)
	}
}

// watch reads a JVM's performance data again and again.
func (w *watched) watch(ctx context.Context, to chan<- reading) {
	data, err := attach.StartWatch(ctx, w.PID)
	if err != nil {
		return // the view shows that the data are not known
	}
	defer data.Close()
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	for {
		if a, known := data.Read(); known {
			select {
			case to <- reading{w.PID, monotonic.Nanos(), a}:
			default: // nobody takes the readings
			}
		}
		select {
		case <-ticker.C:
		case <-w.stop:
			return
		case <-ctx.Done():
			return
		}
	}
}

// Step does what is due: it passes on what was read, notices JVMs that have ended, and begins the next recording. It is
// called before each Tick of the Model. It never blocks.
func (s *Session) Step() {
	for len(s.noted) > 0 {
		r := <-s.noted
		a := top.Activity{Safepoints: r.activity.Safepoints, SafepointNanos: r.activity.SafepointNanos,
			SyncNanos: r.activity.SyncNanos, Threads: r.activity.Threads}
		for _, c := range r.activity.Collectors {
			a.Collectors = append(a.Collectors, top.Collector(c))
		}
		s.model.Observe(r.pid, r.monoNanos, a)
	}
	for _, w := range s.jvms {
		if !w.ended && w.gone.Load() {
			w.leave()
			s.model.EndJVM(w.PID)
		}
	}
	s.measure()
	s.list()
	s.turn()
	s.noteRefused()
}

// Alive returns the running JVMs.
func (s *Session) Alive() (jvms []attach.Process) {
	for _, w := range s.jvms {
		if !w.ended {
			jvms = append(jvms, w.Process)
		}
	}
	slices.SortFunc(jvms, func(a, b attach.Process) int { return a.PID - b.PID })
	return jvms
}

// measure tells the Model how much CPU time gasm itself uses.
func (s *Session) measure() {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return
	}
	now, cpu := monotonic.Nanos(), usage.Utime.Nano()+usage.Stime.Nano()
	if s.cpuMono != 0 && now > s.cpuMono {
		s.model.SetCost(float64(cpu-s.cpu) / float64(now-s.cpuMono))
	}
	s.cpu, s.cpuMono = cpu, now
}

// list searches for new JVMs, in a goroutine of its own.
func (s *Session) list() {
	if s.o.Wanted == nil {
		return
	}
	select {
	case jvms := <-s.listed:
		s.listing = false
		readable := s.readable(jvms)
		if s.o.Searched != nil {
			s.o.Searched()
		}
		if s.next == nil && slices.ContainsFunc(readable, func(j attach.Process) bool { return s.isNew(&j) }) {
			s.know(readable)
			s.begin()
		}
		maps.DeleteFunc(s.jvms, func(pid int, w *watched) bool {
			return w.ended && !slices.ContainsFunc(jvms, func(j attach.Process) bool { return j.PID == pid })
		})
	default:
	}
	if !s.listing && time.Since(s.listAt) > s.o.ListEvery {
		s.listing, s.listAt = true, time.Now()
		go func() {
			jvms, _ := s.lister.List(s.ctx) // the list is empty after an error
			s.listed <- jvms
		}()
	}
}

// readable returns the JVMs that are wanted and can be recorded.
func (s *Session) readable(jvms []attach.Process) (readable []attach.Process) {
	for i := range jvms {
		switch j := &jvms[i]; {
		case !s.o.Wanted(j):
		case j.Unreadable == nil:
			readable = append(readable, *j)
		case s.o.Unrecorded != nil:
			s.o.Unrecorded(j)
		}
	}
	return readable
}

// isDue reports whether it is time to begin the next recording.
func (s *Session) isDue(alive []attach.Process) bool {
	if len(alive) == 0 {
		return false
	}
	over := s.present == nil || isClosed(s.present.over)
	if s.o.Wanted != nil && slices.ContainsFunc(alive, func(j attach.Process) bool {
		w := s.jvms[j.PID]
		if w.tryAt.IsZero() { // it is not recorded, but should be
			return over && time.Since(s.beginAt) > retryAfter
		}
		return time.Now().After(w.tryAt)
	}) {
		return true
	}
	if over {
		return false
	}
	if time.Duration(monotonic.Nanos()-s.present.startMono) > s.o.Segment {
		return true
	}
	if s.o.SegmentBytes == 0 || time.Since(s.sizeAt) < listEvery || !isClosed(s.present.began) {
		return false
	}
	s.sizeAt = time.Now()
	return s.present.folder.Size() > s.o.SegmentBytes
}

// noteRefused determines when to try again to record the JVMs that could not be recorded.
func (s *Session) noteRefused() {
	s.mu.Lock()
	refused := s.refused
	s.refused = nil
	s.mu.Unlock()
	for _, r := range refused {
		w := s.jvms[r.JVM.PID]
		if w == nil || w.ended {
			continue
		}
		w.tryAt = time.Now().Add(min(retryAfter<<min(w.tries, 10), mostRetryAfter))
		w.tries++
		if s.o.Unrecorded != nil {
			r.JVM.Unreadable = r.Err
			s.o.Unrecorded(&r.JVM)
		}
	}
}

// begin begins the next recording, of all JVMs that run.
func (s *Session) begin() {
	for _, w := range s.jvms {
		w.tryAt = time.Time{}
	}
	s.beginAt = time.Now()
	s.next = s.startSegment(s.ctx, s.Alive())
}

// turn begins the next recording when it is due (see isDue), and ends the present recording when the next one has
// begun.
func (s *Session) turn() {
	s.ending = slices.DeleteFunc(s.ending, func(g *segment) bool { return isClosed(g.ended) })
	alive := s.Alive()
	if s.next == nil && s.isDue(alive) {
		s.begin()
	}
	if s.next == nil {
		return
	}
	began := isClosed(s.next.began)
	if !began && isClosed(s.next.over) { // it could not begin; the present one goes on
		if s.next.err != nil {
			s.problem(s.next.err)
		}
		if s.present != nil {
			s.present.startMono = monotonic.Nanos() // try again later
		}
		for _, w := range s.jvms { // noteRefused may set other times
			w.tryAt = time.Now().Add(retryAfter)
		}
		s.giveUpKeeping(s.next.err)
		s.next = nil
		return
	}
	if !began {
		return
	}
	// The first recording chooses the frequency, and all others use it, so that all samples of the session stand for
	// the same time.
	s.o.Frequency, s.o.FixedFrequency = s.next.hertz, true
	if s.present != nil {
		if s.kept != nil {
			s.present.keepAs(*s.kept)
			s.kept = nil
		}
		s.stop(s.present)
		s.ending = append(s.ending, s.present)
	}
	s.present, s.next = s.next, nil
}

func (s *Session) giveUpKeeping(err error) {
	if s.kept != nil {
		if err == nil {
			err = errors.New("the JVM has ended")
		}
		s.kept.done(err)
		s.kept = nil
	}
}

// Keep writes the samples between two CLOCK_MONOTONIC times (in ns) as a capture into a new folder, as far as the
// present recording has them. It returns at once. The parameter done is called once, usually from another goroutine.
func (s *Session) Keep(dir string, fromMono, toMono int64, done func(err error)) {
	k := keeping{dir, fromMono, toMono, done}
	switch {
	case s.kept != nil || s.next != nil:
		done(errors.New("wait a moment, until the last recording is written"))
	case s.present == nil || isClosed(s.present.ended):
		done(errNoRecording)
	case isClosed(s.present.over), len(s.Alive()) == 0: // it ends by itself
		s.present.keepAs(k)
	default:
		s.kept = &k
		s.next = s.startSegment(s.ctx, s.Alive())
	}
}

// Failure returns the last problem, and forgets it.
func (s *Session) Failure() (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	err, s.failure = s.failure, nil
	return err
}

// problem notes a problem. If one of many JVMs has ended, that is not a problem.
func (s *Session) problem(err error) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, one := range joined.Unwrap() {
			s.problem(one)
		}
		return
	}
	if s.o.Wanted != nil && (errors.Is(err, syscall.ESRCH) || errors.Is(err, foreign.ErrEnded)) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if refused, ok := errors.AsType[*record.JVMError](err); ok && s.o.Unrecorded != nil {
		s.refused = append(s.refused, refused)
		return
	}
	s.failure = err
}

// Close ends all recordings, and removes their folders. Recordings that are to be kept are written first.
func (s *Session) Close() {
	if s.kept != nil && s.present != nil {
		s.present.keepAs(*s.kept)
		s.kept = nil
	}
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	for _, w := range s.jvms {
		w.leave()
	}
	all := append(s.ending, s.present, s.next)
	for _, g := range all {
		if g != nil {
			s.stop(g)
		}
	}
	for _, g := range all {
		if g != nil {
			<-g.ended
			g.giveUp()
		}
	}
	s.releaseSymbols()
	s.end()
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
