package hslog

import (
	"bytes"

	"github.com/gasm-profiler/gasm/event"
)

// safepoint reads a message about a safepoint. The last message about each safepoint has its duration; only for that
// message, found is true.
func (r *Reader) safepoint(message []byte) (found bool, msg string) {
	if rest, ok := bytes.CutPrefix(message, []byte(`Safepoint "`)); ok {
		end := bytes.IndexByte(rest, '"')
		if end < 0 {
			return false, "the name of a safepoint has no end"
		}
		wait, hasWait := field(rest, "Reaching safepoint: ")
		total, hasTotal := field(rest, "Total: ")
		if !hasWait || !hasTotal {
			return false, "a safepoint without the times Reaching safepoint and Total"
		}
		return r.stopped(r.label(rest[:end], plainLabel).name, wait, total)
	}
	if bytes.HasPrefix(message, []byte("Application time: ")) {
		r.regionMono = r.event.MonoNanos
		return false, ""
	}
	if rest, ok := bytes.CutPrefix(message, []byte("Entering safepoint region: ")); ok {
		r.region = r.label(rest, plainLabel).name
		return false, ""
	}
	rest, ok := bytes.CutPrefix(message, []byte("Total time for which application threads were stopped: "))
	if !ok {
		return false, ""
	}
	total, rest, ok := cutSeconds(rest)
	if !ok {
		return false, "a safepoint without its time"
	}
	rest, ok = bytes.CutPrefix(rest, []byte(", Stopping threads took: "))
	wait, _, hasWait := cutSeconds(rest)
	if !ok || !hasWait {
		return false, "a safepoint without the time that stopping threads took"
	}
	name, began := r.region, r.regionMono
	r.region, r.regionMono = "", 0
	if late := r.event.MonoNanos - total - began; began > 0 && late > 0 && late < latestTimer {
		wait, total = wait+late, total+late
	}
	return r.stopped(name, wait, total)
}

// latestTimer is the largest delay in ns that the Reader believes between the beginning of a safepoint and the moment
// at which HotSpot starts to measure it. JDK 9 to 12 first write the line "Application time" and then start to measure,
// usually 5 µs later, or 20 µs in a JVM that has just started. The Reader takes the time of that line as the beginning
// of the safepoint, unless the delay is larger than latestTimer.
const latestTimer = 10_000_000

// stopped sets r.event to a safepoint that ended at the time of the current line. wait and total are in ns.
func (r *Reader) stopped(name string, wait, total int64) (found bool, msg string) {
	if wait > total || total > r.event.MonoNanos {
		return false, "the times of a safepoint are impossible"
	}
	r.event.Kind, r.event.Name = event.Safepoint, name
	r.event.MonoNanos, r.event.Nanos, r.event.WaitNanos = r.event.MonoNanos-total, total, wait
	return true, ""
}

// field returns the nanoseconds after a word: 101656 for the word "Total: " in "Total: 101656 ns".
func field(text []byte, word string) (nanos int64, ok bool) {
	at := bytes.Index(text, []byte(word))
	if at < 0 {
		return 0, false
	}
	n, rest := cutNumber(bytes.TrimLeft(text[at+len(word):], " "))
	if n > lastMono || !bytes.HasPrefix(rest, []byte(" ns")) {
		return 0, false
	}
	return int64(n), true
}

// cutSeconds reads a time like "0.0012345 seconds" at the start of a text, and returns the rest of the text.
func cutSeconds(text []byte) (nanos int64, rest []byte, ok bool) {
	text = bytes.TrimLeft(text, " ")
	end := bytes.IndexByte(text, ' ')
	if end < 0 {
		return 0, text, false
	}
	rest, ok = bytes.CutPrefix(text[end:], []byte(" seconds"))
	if !ok {
		return 0, text, false
	}
	nanos, ok = parseDecimal(text[:end], 1e9)
	return nanos, rest, ok
}
