package capture

import (
	"fmt"
	"math"

	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/event/jfr"
)

// An Inlining has what a JVM's compilers decided about calls, as far as it was recorded. It has only the decisions of
// the compilations that ReadInlining was asked for.
type Inlining struct {
	// FromMonoNanos is the time of the first decision in the recording, whether ReadInlining was asked for it or not.
	// The decisions of earlier compilations are unknown. Some decisions of a compilation that was going on at that time
	// may be missing. FromMonoNanos is MaxInt64 if there is no decision, if some were left out, or if a recording is
	// cut, damaged, or lacks events that the JVM had no room for.
	FromMonoNanos int64
	Decided       []event.Inlined // in the order of the recording, each once
}

// maxInlined limits how many decisions of a capture are read. Their texts are limited to maxInlinedText bytes if equal
// texts count once, and to maxInlinedRead bytes if each repetition counts. C2 makes about twenty decisions per
// compilation, and compiles about ten thousand methods of the largest programs.
const (
	maxInlined     = 1 << 20
	maxInlinedText = 64 << 20
	maxInlinedRead = 1 << 30
)

// ReadInlining reads what the compilers decided about calls in those compilations for which wanted returns true. byPID
// has an Inlining for each JVM whose recordings have decisions or should have them. The notes say what could not be
// read, apart from what ReadEvents says about the same recordings.
func (c *Capture) ReadInlining(wanted func(pid, compileID int) bool) (byPID map[int]*Inlining, notes []string) {
	r := inliningReader{wanted: wanted, byPID: map[int]*Inlining{}, cut: map[int]bool{}, left: maxInlined,
		text: maxInlinedText, read: maxInlinedRead, texts: map[string]string{}}
	if len(c.parts) == 0 {
		r.capture(c, func(pid int) int { return pid })
	}
	for _, p := range c.parts {
		r.capture(p.Capture, p.pid)
	}
	for pid, of := range r.byPID {
		if r.full() || r.cut[pid] {
			of.FromMonoNanos = math.MaxInt64 // now a missing decision about a call does not mean that there was none
		}
	}
	if r.full() {
		notes =
			append(notes, fmt.Sprintf("the recordings have more than %d decisions about calls, or too long ones: the rest is left out", maxInlined))
	}
	return r.byPID, notes
}

// An inliningReader reads the decisions of all JVMs.
type inliningReader struct {
	wanted func(pid, compileID int) bool
	byPID  map[int]*Inlining
	cut    map[int]bool // the JVMs whose recordings lack events, or could not be read completely
	// What is left of the three limits: left is for maxInlined, text is for maxInlinedText, and read is for
	// maxInlinedRead.
	left, text, read int
	texts            map[string]string
}

// full reports whether no more decisions are read.
func (r *inliningReader) full() bool { return r.left < 0 || r.text < 0 || r.read < 0 }

// capture reads the decisions of the JVMs of a capture. pidOf converts a process id in c to the one that the caller
// uses.
func (r *inliningReader) capture(c *Capture, pidOf func(int) int) {
	for i := range c.JVMs {
		j := &c.JVMs[i]
		if !j.Inlining && len(c.foreign[j.PID]) == 0 {
			continue
		}
		if j.Inlining {
			r.of(pidOf(j.PID))
		}
		known := map[event.Inlined]bool{}
		for _, path := range c.recordingsOf(j) {
			r.recording(c, j, path, pidOf(j.PID), known)
		}
	}
}

// recording reads the decisions in one file. It skips decisions that are in the map known, because they were in an
// earlier file of the same JVM. It adds all others to that map.
func (r *inliningReader) recording(c *Capture, j *JVM, path string, pid int, known map[event.Inlined]bool) {
	anchor, _, err := c.anchor(j, path)
	if err != nil {
		r.cut[pid] = true
		return
	}
	f, recording, err := openRecording(path)
	if err != nil {
		r.cut[pid] = true
		return
	}
	defer f.Close()
	x := jfr.NewInlining(recording, func(id int) bool { return r.wanted(pid, id) }, anchor)
	var decided []event.Inlined
	for !r.full() && x.Scan() {
		if d := r.shared(x.Decided()); !known[d] {
			known[d] = true
			decided = append(decided, d)
			r.left--
		}
	}
	if recording.Damage().Any() || recording.Lost() > 0 || recording.Err() != nil {
		r.cut[pid] = true
	}
	if from, ok := x.FirstMonoNanos(); ok {
		of := r.of(pid)
		of.FromMonoNanos = min(of.FromMonoNanos, from)
		of.Decided = append(of.Decided, decided...)
	}
}

// of returns the Inlining of a JVM. At first, it is empty.
func (r *inliningReader) of(pid int) *Inlining {
	if r.byPID[pid] == nil {
		r.byPID[pid] = &Inlining{FromMonoNanos: math.MaxInt64}
	}
	return r.byPID[pid]
}

// shared returns the decision d. If an earlier decision has an equal text, d shares it, which saves memory: most texts
// occur in many decisions.
func (r *inliningReader) shared(d event.Inlined) event.Inlined {
	for _, s := range []*string{&d.Caller, &d.Callee, &d.Message} {
		r.read -= len(*s)
		kept, ok := r.texts[*s]
		if !ok {
			kept = *s
			r.texts[kept] = kept
			r.text -= len(kept)
		}
		*s = kept
	}
	return d
}
