package usdt

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/gasm-profiler/gasm/event/usdt"
	"github.com/gasm-profiler/gasm/sampler/collect/dtrace"
)

// The type dtraced is a set of probes that DTrace records. On Linux DTrace is the last resort, and on other systems the
// only way. DTrace copies the texts out of the JVM itself. It has a buffer for each processor, and prints one buffer
// after another, so events do not come in the order of their times. gasm holds an event back until DTrace has printed
// everything older from all other processors.
type dtraced struct {
	places  []place
	layouts []layout
	why     string        // why BPF and perf's events can't be used; "" if DTrace was chosen
	delay   time.Duration // from the start of DTrace until its probes were set
	tracer  *dtrace.Tracer
	pipe    *io.PipeWriter
	ended   chan struct{} // closed when DTrace has printed everything

	mu     sync.Mutex
	come   []*dtraceEvent
	cpus   map[int]uint64 // the time of the last line that DTrace printed for each processor
	first  uint64         // the time in the first line that DTrace printed
	newest uint64
	bad    int64 // lines that could not be read
	good   int64 // events that could be read
	total  int64 // how often probes were reached, by DTrace's own count; 0 until DTrace ends
	// recent and older have the last events that DTrace printed, up to mostRecent in each. They show which events
	// DTrace has printed twice.
	recent, older map[reached]bool

	textBytes int                // size of all texts in the map texts
	texts     map[textKey][]byte // texts of the events handed out so far, by address and length in the JVM
}

// A reached identifies one firing of a probe. The clock is so fine that a thread can't reach a probe twice at the same
// time.
type reached struct {
	mono       uint64
	tid, probe int
}

type textKey struct{ addr, length uint64 }

const (
	// settle is how long all events are held back after DTrace's first line, in ns. After that time DTrace has printed
	// a mark (see dtraceMark) for each processor.
	settle = uint64(time.Second)
	// silence is how long gasm waits for the next mark of a processor, in ns. If none comes, gasm assumes that the
	// processor is switched off, and holds back no event because of it.
	silence = uint64(5 * time.Second)
	// mostHeld is the maximum number of events that are held back. If there are more, all of them
	// are handed out at once.
	mostHeld = 1 << 18
	// mostRecent is the maximum number of events in each of the maps recent and older. It is larger than the number of
	// events in DTrace's buffer of a processor, because DTrace may print a whole buffer twice.
	mostRecent = 1 << 16
	// Upper bounds for the texts that are kept: their total size in bytes, and their number. Most
	// names of classes and methods have a few dozen bytes; the longest possible name has 64 kB.
	mostTextBytes = 32 << 20
	mostTexts     = 1 << 16
)

// openDTrace makes DTrace record the probes of a JVM.
func openDTrace(ctx context.Context, pid int, lib library, places []place, layouts []layout, sudo bool,
	why string) (*dtraced, error) {
	d := &dtraced{places: places, layouts: layouts, why: why, ended: make(chan struct{}), cpus: map[int]uint64{},
		texts: map[textKey][]byte{}}
	if err := d.start(ctx, dtraceScript(pid, places, layouts, lib), sudo); err != nil {
		return nil, err
	}
	return d, nil
}

func (d *dtraced) start(ctx context.Context, script *dtrace.Script, sudo bool) (err error) {
	var text io.ReadCloser
	text, d.pipe = io.Pipe()
	go d.collect(text)
	begin := time.Now()
	d.tracer, err = dtrace.Start(ctx, dtrace.Options{Sudo: sudo, Script: script, Text: d.pipe})
	if err != nil {
		d.pipe.Close()
		return err
	}
	d.delay = time.Since(begin)
	return nil
}

// collect reads what DTrace prints. After DTrace's last line it discards the rest, until the pipe is
// closed.
func (d *dtraced) collect(text io.ReadCloser) {
	r := newDTraceReader(text)
	for r.scan() {
		d.mu.Lock()
		switch rec := r.record.(type) {
		case *dtraceEvent:
			if !d.repeated(rec) {
				d.come = append(d.come, rec)
				d.at(rec.cpu, rec.mono)
			}
		case *dtraceMark:
			d.at(rec.cpu, rec.mono)
		case dtraceTotal:
			d.total = int64(rec)
		default:
			d.bad++
		}
		d.mu.Unlock()
	}
	close(d.ended)
	_, _ = io.Copy(io.Discard, text) // reading a pipe of this process does not fail
}

// repeated reports whether DTrace has printed an event before. On a busy machine DTrace 2.0 for Linux sometimes prints
// all events of a full buffer twice.
func (d *dtraced) repeated(e *dtraceEvent) bool {
	key := reached{e.mono, e.tid, e.probe}
	if d.recent[key] || d.older[key] {
		return true
	}
	if d.recent == nil || len(d.recent) >= mostRecent {
		d.older, d.recent = d.recent, map[reached]bool{}
	}
	d.recent[key] = true
	return false
}

func (d *dtraced) at(cpu int, mono uint64) {
	d.cpus[cpu] = mono
	d.newest = max(d.newest, mono)
	if d.first == 0 {
		d.first = mono
	}
}

// until returns the time up to which DTrace has printed all events of every processor. It returns 0
// if this time is not known yet. The caller holds the lock.
func (d *dtraced) until() uint64 {
	if d.newest < d.first+settle {
		return 0
	}
	least := d.newest
	for _, mono := range d.cpus {
		if mono+silence > d.newest {
			least = min(least, mono)
		}
	}
	return least
}

// read calls give(record) for each event that need not be held back, in the order of their times. If all is true, as in
// the last call, no event is held back.
func (d *dtraced) read(all bool, give func(record []byte)) {
	d.mu.Lock()
	until := d.until()
	slices.SortStableFunc(d.come, func(a, b *dtraceEvent) int { return cmp.Compare(a.mono, b.mono) })
	n, _ := slices.BinarySearchFunc(d.come, until, func(e *dtraceEvent,
		until uint64) int {
		return cmp.Compare(e.mono, until)
	})
	if all || len(d.come) > mostHeld {
		n = len(d.come)
	}
	ready := slices.Clone(d.come[:n])
	d.come = slices.Delete(d.come, 0, n)
	d.mu.Unlock()
	bad := int64(0)
	for _, e := range ready {
		if record, ok := d.record(e); ok {
			give(record)
		} else {
			bad++
		}
	}
	d.mu.Lock()
	d.bad, d.good = d.bad+bad, d.good+int64(len(ready))-bad
	d.mu.Unlock()
}

// record converts an event to a record in the form that the BPF program writes. ok is false if the
// event does not have the fields that its probe should have.
func (d *dtraced) record(e *dtraceEvent) (record []byte, ok bool) {
	if e.probe >= len(d.places) {
		return nil, false
	}
	p := &d.places[e.probe]
	l := &d.layouts[p.layout]
	record = binary.NativeEndian.AppendUint64(make([]byte, 0, l.size()), e.mono)
	record = binary.NativeEndian.AppendUint64(record, uint64(uint32(e.tid)))
	record = binary.NativeEndian.AppendUint64(record, p.cookie(e.probe))
	fields, brief, at := fieldsLeft{fields: e.fields}, []byte(nil), 0
	for _, par := range p.parameters {
		var values [2]uint64
		for k := range par.Kind.Width() {
			if p.Args[at+k].isRead() {
				values[k] = fields.number()
				record = binary.NativeEndian.AppendUint64(record, values[k])
			}
		}
		if p.hasText(par.Kind, at) {
			if brief = fields.text(); par.Kind == usdt.Text {
				d.keep(values[0], values[1], brief)
			}
		}
		at += par.Kind.Width()
	}
	record = append(record, make([]byte, l.size()-len(record))...)
	if l.caller && len(fields.fields) > 0 {
		for i := range 2 + words { // two return addresses, then the words of the stack, if the record has room for them
			value := fields.number()
			if to := l.callerAt() + 8*i; i < 2 || l.words {
				binary.NativeEndian.PutUint64(record[to:], value)
			}
		}
	}
	if l.brief >= 0 {
		copy(record[l.briefAt():], brief)
	}
	return record, !fields.missing && len(fields.fields) == 0
}

// fieldsLeft are the fields of an event that have not been converted yet.
type fieldsLeft struct {
	fields  []dtraceField
	missing bool // true if a field was requested that does not exist or has a different type
}

func (l *fieldsLeft) next(isText bool) (f dtraceField) {
	if len(l.fields) == 0 || l.fields[0].isText != isText {
		l.missing = true
		return f
	}
	f, l.fields = l.fields[0], l.fields[1:]
	return f
}

func (l *fieldsLeft) number() uint64 { return l.next(false).number }
func (l *fieldsLeft) text() []byte   { return l.next(true).text }

// keep stores a text until the line of its event is written. If DTrace had no room for the whole text, an ellipsis is
// appended.
func (d *dtraced) keep(addr, length uint64, text []byte) {
	if uint64(len(text)) < length && len(text) >= longestDTraceText {
		text = append(text[:len(text):len(text)], "…"...)
	} else {
		text = text[:min(uint64(len(text)), length)]
	}
	key := textKey{addr, length}
	d.textBytes -= len(d.texts[key])
	delete(d.texts, key)
	if d.textBytes += len(text); d.textBytes <= 2*mostTextBytes { // otherwise no text is added until forget is called
		d.texts[key] = text
	}
}

// text returns the text that was kept for an address and a length. It returns false if there is
// none.
func (d *dtraced) text(addr, length uint64) ([]byte, bool) {
	text, ok := d.texts[textKey{addr, length}]
	return text, ok || length == 0
}

// forget forgets all texts if there are many. Call it only after the sums of allocations have been
// written, because their lines need the texts.
func (d *dtraced) forget() {
	if len(d.texts) > mostTexts || d.textBytes > mostTextBytes {
		clear(d.texts)
		d.textBytes = 0
	}
}

// detach ends DTrace and waits for it. DTrace first prints the events that it still has. Then it takes several seconds
// to release its probes in the kernel.
func (d *dtraced) detach() error {
	err := d.tracer.Stop()
	d.tracer.Wait()
	d.pipe.Close()
	<-d.ended
	return err
}

// lost returns the number of events that were lost. This is the number of firings that DTrace has counted, minus the
// events that gasm could read. If DTrace was killed, it has not printed its count. Then the result is what DTrace
// reported as lost while it ran, without the last losses of each processor.
func (d *dtraced) lost() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.total > 0 {
		return max(0, d.total-d.good)
	}
	return d.tracer.Lost() + d.bad
}

func (d *dtraced) note() string {
	began :=
		fmt.Sprintf("USDT probes are recorded by DTrace, which took %.1f s to begin: what the JVM did before is missing",
			d.delay.Seconds())
	if d.why != "" {
		return d.why + ": " + began
	}
	return began
}

func (d *dtraced) close() {}
