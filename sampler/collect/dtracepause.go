package collect

import (
	"bytes"
	"math"
	"slices"

	"github.com/gasm-profiler/gasm/internal/monotonic"
	"github.com/gasm-profiler/gasm/sampler"
)

// A pausedTime is a time in which samples are left out: [from, to).
type pausedTime struct{ fromMonoNanos, toMonoNanos int64 }

// maxHeld bounds the text that withoutPauses keeps for the next one. DTrace has no line that long.
const maxHeld = 1 << 20

// mostPauses is how many pauses are known. DTrace is behind by half a minute at most, and
// who pauses it more often than ten times a second sees samples of the oldest pauses.
const mostPauses = 300

// Pause leaves the samples out of the text that DTrace takes until Resume. DTrace itself goes
// on: it would take two seconds to begin anew.
func (d *DTrace) Pause() error {
	t := d.text
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.paused() {
		t.pauses = append(t.pauses, pausedTime{monotonic.Nanos(), math.MaxInt64})
		t.pauses = slices.Delete(t.pauses, 0, max(0, len(t.pauses)-mostPauses))
	}
	return nil
}

// Resume has the samples in the text again that DTrace takes from now on.
func (d *DTrace) Resume() error {
	t := d.text
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.paused() {
		t.pauses[len(t.pauses)-1].toMonoNanos = monotonic.Nanos()
	}
	return nil
}

// paused tells whether the last pause has not ended. The caller has the lock.
func (t *dtraceText) paused() bool {
	return len(t.pauses) > 0 && t.pauses[len(t.pauses)-1].toMonoNanos == math.MaxInt64
}

// withoutPauses gives the whole lines of what has come, without samples that were taken in a
// pause. The rest is kept for what comes next. The caller has the lock.
func (t *dtraceText) withoutPauses(text []byte) (kept []byte) {
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
	if len(all) > maxHeld { // DTrace has no line that long
		kept, all = append(kept, all...), nil
	}
	t.line = slices.Clone(all)
	return kept
}

// inPause tells whether a time is in a pause. Most samples are younger than most pauses.
func (t *dtraceText) inPause(monoNanos int64) bool {
	for _, p := range slices.Backward(t.pauses) {
		if monoNanos >= p.fromMonoNanos {
			return monoNanos < p.toMonoNanos
		}
	}
	return false
}

// writeRest writes the begin of a last line that has no end.
func (t *dtraceText) writeRest() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.writeText(t.line)
	t.line = nil
}
