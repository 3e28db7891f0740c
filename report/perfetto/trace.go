package perfetto

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/threads"
	"github.com/gasm-profiler/gasm/profile/windows"
	"github.com/gasm-profiler/gasm/report/names"
)

// A Trace is what Write writes.
type Trace struct {
	// Capture describes the capture. Only JVMs with samples or events are in the trace.
	Capture *capture.Description
	// Events are in the order of their start.
	Events []event.Event
	// Waits are the files that say how threads spent wall-clock time.
	Waits []capture.WallFile
	Sites event.SiteRule // chooses the frame that names the place of an event
	// SourceFile returns the name of the file that a method's class was made from, or "" if it is unknown.
	SourceFile func(method string) string
	// Samples calls a function for each sample, as profile.PlaceSamples does. It is nil if the trace is to have no
	// samples.
	Samples func(yield func(*profile.PlacedSample) error) (*profile.Placement, error)
}

// Numbers of sequences. The samples of the counter i are in the sequence firstSamples+i.
const (
	eventSequence = 1
	firstSamples  = 2
)

// Write writes a trace. The notes say what is missing in the trace.
func Write(w io.Writer, t *Trace) (notes []string, err error) {
	b := newBuilder(w, t)
	b.snapshot()
	for i := range t.Events {
		b.event(&t.Events[i])
		if err := b.failed(); err != nil {
			return nil, err
		}
	}
	if err := b.waits(); err != nil {
		return nil, err
	}
	if t.Samples != nil {
		all, err := t.Samples(b.sample)
		if err != nil {
			return nil, err
		}
		b.lost(all.Lost)
		notes = all.Notes
	}
	notes = append(notes, b.unread...)
	if b.crowded > 0 {
		notes =
			append(notes, fmt.Sprintf("%d events overlap more than %d others of their thread or kind: the trace has only their start, and their length as an argument", b.crowded, maxLanes))
	}
	if b.timeless > 0 {
		notes = append(notes, fmt.Sprintf("%d samples have no time, and are not in the trace", b.timeless))
	}
	return notes, b.out.Flush()
}

// A builder has the state of a trace that is being written.
type builder struct {
	*writer
	trace   *Trace
	jvms    map[int]*capture.JVM // by process id
	threads *threads.Table
	tracks  map[trackKey]*track
	uuids   uint64 // the uuid of the last track

	events  *sequence[eventStack]
	samples []*sequence[profile.Place] // by counter
	body    message                    // of the packet that is being made
	scratch message
	last    int64 // the time of the latest sample

	crowded, timeless int
	unread            []string // about files of Waits that could not be read completely
}

func newBuilder(w io.Writer, t *Trace) *builder {
	b := &builder{writer: &writer{out: bufio.NewWriterSize(w, 1<<16)}, trace: t, jvms: map[int]*capture.JVM{},
		threads: threads.NewTable(threads.Choice{}), tracks: map[trackKey]*track{}}
	b.events = newSequence[eventStack](b.writer, eventSequence, nil)
	for i := range t.Capture.JVMs {
		j := &t.Capture.JVMs[i]
		b.jvms[j.PID] = j
		if j.Log != nil {
			b.threads.AddNames(j.PID, j.Log.ThreadNames)
		}
	}
	return b
}

// snapshot writes a packet that says which clock the times of the trace come from, and relates that clock to the time
// of day.
func (b *builder) snapshot() {
	var mono, wall uint64
	if clocks := b.trace.Capture.Clocks; len(clocks) > 0 && clocks[0].MonoNanos > 0 && clocks[0].WallNanos > 0 {
		mono, wall = uint64(clocks[0].MonoNanos), uint64(clocks[0].WallNanos)
	}
	var body message
	add := func(id, at uint64) {
		var clock message
		clock.uint(clockID, id)
		clock.uint(clockTimestamp, at)
		body.message(snapshotClocks, clock)
	}
	add(clockMonotonic, mono)
	if wall != 0 {
		add(clockRealtime, wall)
	}
	body.uint(snapshotPrimary, clockMonotonic)
	m := b.packet[:0]
	m.uint(packetSequenceID, eventSequence)
	m.message(packetClockSnapshot, body)
	b.packet = m
	b.write(m)
}

// A trackKey identifies the track of a thread, of a process (tid 0, no kind), of one kind of events of a process, or of
// the states of a thread (waitKind).
type trackKey struct {
	pid, tid int
	kind     event.Kind
}

// A track is a row in Perfetto's picture of the trace.
type track struct {
	uuid  uint64
	name  string
	lanes []lane
}

// trackOf returns the track for a key. kernel is the kernel's name for the thread, or "".
func (b *builder) trackOf(key trackKey, kernel string) *track {
	t := b.tracks[key]
	if t == nil {
		t = &track{}
		b.tracks[key] = t
		if key != (trackKey{pid: key.pid}) {
			b.trackOf(trackKey{pid: key.pid}, "") // the process comes first
		}
		if key.kind == waitKind {
			b.trackOf(trackKey{pid: key.pid, tid: key.tid}, kernel) // the parent is the thread's track
		}
		b.uuids++
		t.uuid = b.uuids
		t.name = b.nameOf(key, kernel)
		b.describe(key, t)
		t.lanes = []lane{{uuid: t.uuid}}
	}
	return t
}

// nameOf returns the name of a track.
func (b *builder) nameOf(key trackKey, kernel string) string {
	switch {
	case key.kind == waitKind:
		return cmp.Or(kernel, fmt.Sprintf("thread %d", key.tid)) + " by the wall clock"
	case key.kind != "" && key.kind.OfThread():
		return string(key.kind) + " (thread unknown or virtual)"
	case key.kind != "":
		return string(key.kind)
	case key.tid != 0:
		return b.threads.Name(key.pid, key.tid, kernel)
	}
	if j := b.jvms[key.pid]; j != nil {
		return names.Program(windows.Program(j.Main))
	}
	return ""
}

// describe writes the TrackDescriptor of a track.
func (b *builder) describe(key trackKey, t *track) {
	body, inner := b.body[:0], b.scratch[:0]
	body.uint(trackUUID, t.uuid)
	switch {
	case key.kind == waitKind:
		body.uint(trackParent, b.tracks[trackKey{pid: key.pid, tid: key.tid}].uuid)
		body.text(trackName, clean(t.name))
	case key.kind != "":
		body.uint(trackParent, b.tracks[trackKey{pid: key.pid}].uuid)
		body.text(trackName, clean(t.name))
	case key.tid != 0:
		inner.int(threadPID, int64(key.pid))
		inner.int(threadTID, int64(key.tid))
		if t.name != "" {
			inner.text(threadName, clean(t.name))
		}
		body.message(trackThread, inner)
	default:
		inner.int(processPID, int64(key.pid))
		if t.name != "" {
			inner.text(processName, clean(t.name))
		}
		if j := b.jvms[key.pid]; j != nil && j.StartMonoNanos > 0 {
			inner.int(processStart, j.StartMonoNanos)
		}
		body.message(trackProcess, inner)
	}
	b.body, b.scratch = body, inner
	b.descriptor(body)
}

// descriptor writes a TrackDescriptor.
func (b *builder) descriptor(body message) {
	m := b.packet[:0]
	m.uint(packetSequenceID, eventSequence)
	m.message(packetTrackDescriptor, body)
	b.packet = m
	b.write(m)
}

// A lane is a part of a track in which two events never overlap, unless one is inside the other.
type lane struct {
	uuid uint64
	ends []int64 // when the events that have begun are over, the innermost last
}

const (
	maxLanes = 256 // of a track
	// maxDepth is the maximum number of events of a lane that are inside one another. Perfetto refuses more than 1024.
	maxDepth = 512
)

// laneFor returns the uuid of the lane for an event that begins and ends at the given times. An event fits into a lane
// if it overlaps no event there, or is inside another one. If it fits into no lane, laneFor adds one. If the track
// already has maxLanes lanes, ok is false.
func (b *builder) laneFor(key trackKey, t *track, from, to int64) (uuid uint64, ok bool) {
	for i := range t.lanes {
		l := &t.lanes[i]
		n := len(l.ends)
		for n > 0 && l.ends[n-1] <= from {
			n--
		}
		l.ends = l.ends[:n]
		if n == 0 || n < maxDepth && to <= l.ends[n-1] {
			l.ends = append(l.ends, to)
			return l.uuid, true
		}
	}
	if len(t.lanes) >= maxLanes {
		return t.uuid, false
	}
	b.uuids++
	t.lanes = append(t.lanes, lane{uuid: b.uuids, ends: []int64{to}})
	body := b.body[:0]
	body.uint(trackUUID, b.uuids)
	if key.kind == "" {
		body.uint(trackParent, t.uuid)
		body.text(trackName, clean("overlapping events of "+cmp.Or(t.name, fmt.Sprintf("thread %d", key.tid))))
	} else {
		body.uint(trackParent, b.tracks[trackKey{pid: key.pid}].uuid)
		body.text(trackName, clean(t.name))
	}
	b.body = body
	b.descriptor(body)
	return b.uuids, true
}

// endOf returns when an event ends.
func endOf(e *event.Event) int64 {
	if e.Nanos > math.MaxInt64-max(e.MonoNanos, 0) {
		return math.MaxInt64
	}
	return max(e.MonoNanos, 0) + e.Nanos
}
