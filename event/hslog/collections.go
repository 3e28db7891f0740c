package hslog

import (
	"bytes"
	"strings"

	"github.com/gasm-profiler/gasm/event"
)

// collection reads a message about a garbage collection: "GC(3) Pause Remark 24M->24M(256M) 0.812ms". part is true if
// the message has the tag "phases". Such a message is about a part of a collection. It is ignored unless that part is a
// pause.
func (r *Reader) collection(message []byte, part bool) (found bool, msg string) {
	rest, ok := bytes.CutPrefix(message, []byte("GC("))
	if !ok {
		return false, "" // "Using G1"
	}
	id, rest := cutNumber(rest)
	rest, ok = bytes.CutPrefix(rest, []byte(") "))
	if !ok {
		return false, "the number of a collection has no end"
	}
	text := bytes.TrimLeft(rest, " ")
	if len(text) > 3 && text[1] == ':' && text[2] == ' ' { // "y: ", "Y: ", "O: " of ZGC's generations
		text = text[3:]
	}
	kind := collectionKind(text)
	if kind == "" || part && (kind != event.GC || rest[0] == ' ') {
		return false, ""
	}
	nanos, before, timed := cutDuration(text)
	if i := r.begunAs(id, text); i >= 0 {
		b := r.close(i)
		if r.event.Nanos = nanos; !timed {
			r.event.Nanos = max(r.event.MonoNanos-b.mono, 0)
		}
		r.event.MonoNanos = b.mono
		if kind == event.GC {
			r.endInner(&b)
		}
		r.ended(kind, b.label, text[len(b.label.text):])
		return true, ""
	}
	if !timed {
		r.begin(begun{kind: kind, id: id, mono: r.event.MonoNanos, label: r.label(text, collectionLabel)})
		return false, ""
	}
	if nanos > r.event.MonoNanos {
		return false, "a collection that began before the machine did"
	}
	r.event.MonoNanos, r.event.Nanos = r.event.MonoNanos-nanos, nanos
	name, heap := cutHeap(before)
	r.ended(kind, r.label(name, collectionLabel), heap)
	return true, ""
}

// endInner is called for a pause b that has just ended. If another pause began inside b, endInner ends the event of b
// where that pause began, so that no time counts twice. It also notes the start of b in the pauses that are still open
// around b.
func (r *Reader) endInner(b *begun) {
	if b.inner > 0 {
		r.event.Nanos = max(b.inner-b.mono, 0)
	}
	for i := range r.open {
		if o := &r.open[i]; o.kind == event.GC && o.mono <= b.mono && o.inner == 0 {
			o.inner = b.mono
		}
	}
}

// ended sets r.event to a collection that is over. The parameter tail is the rest of the message after the name.
// It may begin with the heap's size, "24M->4M(256M)".
func (r *Reader) ended(kind event.Kind, l label, tail []byte) {
	r.event.Kind, r.event.Name = kind, l.name
	if l.cause != "" {
		r.event.Args = append(r.event.Args, event.Arg{Name: "cause", Value: l.cause})
	}
	tail = bytes.TrimLeft(tail, " ")
	if end := bytes.IndexByte(tail, ' '); end >= 0 {
		tail = tail[:end]
	}
	if bytes.Contains(tail, []byte("->")) {
		r.event.Args = append(r.event.Args, event.Arg{Name: "heap", Value: string(tail)})
	}
}

// collectionKinds lists prefixes of collections' names, and the kind of event for each prefix.
var collectionKinds = []struct {
	start []byte
	kind  event.Kind
}{
	{[]byte("Pause "), event.GC},
	{[]byte("Concurrent "), event.Concurrent},
	{[]byte("Garbage Collection "), event.Concurrent}, // ZGC
	{[]byte("Minor Collection "), event.Concurrent},
	{[]byte("Major Collection "), event.Concurrent},
}

// collectionKind returns the kind of event for a text such as "Pause Young (Normal)", or "" if the text is not about an
// event.
func collectionKind(text []byte) event.Kind {
	for _, k := range collectionKinds {
		if bytes.HasPrefix(text, k.start) {
			return k.kind
		}
	}
	return ""
}

// begunAs returns the index in r.open of the collection whose end a message reports, or -1. The text of the message
// that reported the beginning is a prefix of text, and both messages have the same id. If several open collections
// match, begunAs returns the one with the longest text.
func (r *Reader) begunAs(id uint64, text []byte) int {
	best := -1
	for i := range r.open {
		b := &r.open[i]
		n := len(b.label.text)
		if b.kind != event.GC && b.kind != event.Concurrent || b.id != id || len(text) < n ||
			string(text[:n]) != b.label.text {
			continue
		}
		if len(text) > n && text[n] != ' ' {
			continue
		}
		if best < 0 || len(r.open[best].label.text) < n {
			best = i
		}
	}
	return best
}

// collectionLabel splits a text into a name and a cause. The cause is the text in the last parentheses. For example, it
// is "System.gc()" in "Pause Full (System.gc())", and "G1 Evacuation Pause" in
// "Pause Young (Normal) (G1 Evacuation Pause)".
func collectionLabel(text string) label {
	l := label{text: text, name: text}
	if !strings.HasSuffix(text, ")") {
		return l
	}
	depth := 0
	for i := len(text) - 1; i > 0; i-- {
		switch text[i] {
		case ')':
			depth++
		case '(':
			depth--
		}
		if depth == 0 {
			if name := strings.TrimRight(text[:i], " "); name != "" {
				l.name, l.cause = name, text[i+1:len(text)-1]
			}
			return l
		}
	}
	return l
}

// cutDuration splits off the duration at the end of a text: " 2.345ms", " 0.012s".
func cutDuration(text []byte) (nanos int64, before []byte, ok bool) {
	at := bytes.LastIndexByte(text, ' ')
	if at < 0 {
		return 0, text, false
	}
	word := text[at+1:]
	scale := int64(1e9)
	if w, ok := bytes.CutSuffix(word, []byte("ms")); ok {
		word, scale = w, 1e6
	} else if word, ok = bytes.CutSuffix(word, []byte("s")); !ok {
		return 0, text, false
	}
	if nanos, ok = parseDecimal(word, scale); !ok {
		return 0, text, false
	}
	return nanos, text[:at], true
}

// cutHeap splits off the heap's size at the end of a text: " 24M->4M(256M)".
func cutHeap(text []byte) (before, heap []byte) {
	if at := bytes.LastIndexByte(text, ' '); at >= 0 && bytes.Contains(text[at:], []byte("->")) {
		return text[:at], text[at:]
	}
	return text, nil
}

// parseDecimal reads a number such as "0.0012345" in units of 1/scale, where scale is a power of ten. It returns
// false for anything else, and for a duration of more than a year.
func parseDecimal(text []byte, scale int64) (n int64, ok bool) {
	whole, rest := cutNumber(text)
	if len(rest) == len(text) || whole > 1<<25 {
		return 0, false
	}
	n = int64(whole) * scale
	if len(rest) == 0 {
		return n, true
	}
	if rest[0] != '.' || len(rest) == 1 {
		return 0, false
	}
	for _, c := range rest[1:] {
		if c < '0' || c > '9' {
			return 0, false
		}
		scale /= 10
		n += int64(c-'0') * scale
	}
	return n, true
}
