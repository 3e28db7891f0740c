package dtrace

import (
	"bytes"
	"math"
	"slices"

	"github.com/gasm-profiler/gasm/internal/monotonic"
	"github.com/gasm-profiler/gasm/sampler"
)

// A pausedTime is the time from a Pause to the next Resume. Samples from fromMonoNanos on and before toMonoNanos are
// left out. toMonoNanos is math.MaxInt64 until Resume is called.
type pausedTime struct{ fromMonoNanos, toMonoNanos int64 }

// maxHeld is the maximum length, in bytes, of an incomplete line that withoutPauses keeps for its next call. DTrace
// prints no line that long.
const maxHeld = 1 << 20

// mostPauses is the maximum number of pauses that are remembered. A pause must be remembered for half a minute, because
// DTrace may print a sample that late. So the limit is enough for ten pauses a second.
const mostPauses = 300

// Pause begins a pause: samples that DTrace takes from now until Resume are left out. DTrace itself continues to
// sample, because it would take two seconds to start it again.
func (d *Tracer) Pause() error {
	t := d.text
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.paused() {
		t.pauses = append(t.pauses, pausedTime{monotonic.Nanos(), math.MaxInt64})
		t.pauses = slices.Delete(t.pauses, 0, max(0, len(t.pauses)-mostPauses))
	}
	return nil
}

// Resume ends a pause: samples that DTrace takes from now on are kept.
func (d *Tracer) Resume() error {
	t := d.text
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.paused() {
		t.pauses[len(t.pauses)-1].toMonoNanos = monotonic.Nanos()
	}
	return nil
}

// paused reports whether a pause has begun that Resume has not ended yet. The caller must hold the lock.
func (t *output) paused() bool {
	return len(t.pauses) > 0 && t.pauses[len(t.pauses)-1].toMonoNanos == math.MaxInt64
}

// withoutPauses returns the text without the samples that were taken in a pause. It keeps an incomplete last line for
// the next call. The caller must hold the lock.
func (t *output) withoutPauses(text []byte) (kept []byte) {
	all := append(t.line, text...)
	for {
		end := bytes.IndexByte(all, '\n') + 1
		if end == 0 {
			break
		}
		if at, ok := sampler.DTraceSampleTime(all[:end]); !ok || !t.inPause(at) {
			kept = append(kept, all[:end]...)
		}
		all = all[end:]
	}
	if len(all) > maxHeld { // DTrace prints no line that long
		kept, all = append(kept, all...), nil
	}
	t.line = slices.Clone(all)
	return kept
}

// inPause reports whether a time is in a pause. It looks at the last pause first, because most samples arrive soon
// after they were taken.
func (t *output) inPause(monoNanos int64) bool {
	for _, p := range slices.Backward(t.pauses) {
		if monoNanos >= p.fromMonoNanos {
			return monoNanos < p.toMonoNanos
		}
	}
	return false
}

// writeRest writes the incomplete last line, if withoutPauses has kept one. It is called at the end of the text.
func (t *output) writeRest() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.writeText(t.line)
	t.line = nil
}
