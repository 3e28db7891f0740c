// Package tracetest decodes traces for tests, by Perfetto's own rules. Interned data applies to a sequence until the
// sequence begins again. An end event ends the innermost open slice on its track. The package shares no code with the
// one that writes traces. The numbers are those of the fields in Perfetto's .proto files.
package tracetest

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"
)

// A Trace is a decoded trace.
type Trace struct {
	Processes map[int]string    // names by process id
	Threads   map[Thread]string // names
	Slices    []Slice           // in the order of their start
	Samples   []Sample          // in the order of the trace
	Lost      int64
	MonoNanos int64 // the readings of both clocks
	WallNanos int64
	Tracks    int // with slices
}

// A Thread identifies a thread.
type Thread struct{ PID, TID int }

// A Slice is an event. TID is 0 if the event belongs to the whole process.
type Slice struct {
	Thread
	Category, Name    string
	MonoNanos, Nanos  int64
	Args              map[string]string
	Track             string
	Stack             []Frame // innermost first
	packet, uuid, end uint64
}

// A Frame is a frame of a stack.
type Frame struct {
	Function, Mapping, Source string
	PC                        uint64
	Line                      int
}

// A Sample is a sample.
type Sample struct {
	Thread
	MonoNanos int64
	Counter   string
	Kernel    bool
	Error     uint64
	Stack     []Frame // innermost first
}

// A field is a field of a message: its number, and its value or its bytes.
type field struct {
	num   uint64
	value uint64
	bytes []byte
}

var errWire = errors.New("not protobuf")

// fieldsOf returns the fields of a message.
func fieldsOf(text []byte) (all []field, err error) {
	for len(text) > 0 {
		key, n := binary.Uvarint(text)
		if n <= 0 {
			return nil, errWire
		}
		text = text[n:]
		value, n := binary.Uvarint(text)
		if n <= 0 {
			return nil, errWire
		}
		text = text[n:]
		f := field{num: key >> 3, value: value}
		switch key & 7 {
		case 0:
		case 2:
			if value > uint64(len(text)) {
				return nil, errWire
			}
			f.bytes, text = text[:value:value], text[value:]
		default:
			return nil, fmt.Errorf("%w: type %d", errWire, key&7)
		}
		all = append(all, f)
	}
	return all, nil
}

// A message is a decoded message of protocol buffers: its fields, by their numbers.
type message map[uint64][]field

func (m message) value(num uint64) uint64 {
	if f := m[num]; len(f) > 0 {
		return f[0].value
	}
	return 0
}

func (m message) has(num uint64) bool { return len(m[num]) > 0 }

// A decoder decodes a trace. The first error that it meets is kept in err.
type decoder struct {
	Trace
	err       error
	sequences map[uint64]*sequence
	tracks    map[uint64]*track
}

type sequence struct {
	counter  string
	interned map[[2]uint64]message // by number of the field in InternedData, and iid
}

type track struct {
	Thread
	name   string
	parent uint64
	slices []Slice
}

// Decode decodes a trace.
func Decode(text []byte) (*Trace, error) {
	d := &decoder{Trace: Trace{Processes: map[int]string{}, Threads: map[Thread]string{}},
		sequences: map[uint64]*sequence{}, tracks: map[uint64]*track{}}
	for i, f := range d.fields(text) {
		if f.num != 1 {
			d.fail("field %d of a Trace", f.num)
		}
		d.packet(uint64(i), d.message(f.bytes))
		if d.err != nil {
			return nil, fmt.Errorf("packet %d: %w", i, d.err)
		}
	}
	d.finish()
	return &d.Trace, d.err
}

func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf(format, args...)
	}
}

func (d *decoder) fields(text []byte) []field {
	all, err := fieldsOf(text)
	if err != nil {
		d.fail("%v", err)
	}
	return all
}

func (d *decoder) message(text []byte) message {
	m := message{}
	for _, f := range d.fields(text) {
		m[f.num] = append(m[f.num], f)
	}
	return m
}

// inner returns a field that is a message.
func (d *decoder) inner(m message, num uint64) message {
	if !m.has(num) {
		return message{}
	}
	return d.message(m[num][0].bytes)
}

// text returns a field that is a string.
func (d *decoder) text(m message, num uint64) string {
	if !m.has(num) {
		return ""
	}
	s := string(m[num][0].bytes)
	if !utf8.ValidString(s) {
		d.fail("%q is not UTF-8", s)
	}
	return s
}

// packet decodes a TracePacket.
func (d *decoder) packet(number uint64, p message) {
	if p.value(10) == 0 {
		d.fail("it is in no sequence")
		return
	}
	s := d.sequence(p)
	at := int64(p.value(8))
	if p.has(8) && p.value(58) != 3 {
		d.fail("its time is of clock %d", p.value(58))
	}
	switch {
	case p.has(6):
		for _, c := range d.inner(p, 6)[1] {
			switch clock := d.message(c.bytes); clock.value(1) {
			case 1:
				d.WallNanos = int64(clock.value(2))
			case 3:
				d.MonoNanos = int64(clock.value(2))
			}
		}
		if d.inner(p, 6).value(2) != 3 {
			d.fail("the trace's clock is not CLOCK_MONOTONIC")
		}
	case p.has(60):
		d.track(d.inner(p, 60))
	case p.has(11):
		d.event(s, number, at, d.inner(p, 11))
	case p.has(66):
		d.sample(s, at, d.inner(p, 66))
	}
}

// sequence returns the sequence that a packet belongs to. Before it returns, it reads the interned data in the packet.
func (d *decoder) sequence(p message) *sequence {
	id := p.value(10)
	if p.value(13)&1 != 0 { // SEQ_INCREMENTAL_STATE_CLEARED
		d.sequences[id] = &sequence{interned: map[[2]uint64]message{}}
	}
	s := d.sequences[id]
	if s == nil {
		if p.value(13) != 0 {
			d.fail("sequence %d has not begun", id)
		}
		return nil
	}
	if p.has(59) {
		s.counter = d.text(d.inner(d.inner(d.inner(p, 59), 12), 1), 10)
	}
	if !p.has(12) {
		return s
	}
	for _, f := range d.fields(p[12][0].bytes) {
		m := d.message(f.bytes)
		key := [2]uint64{f.num, m.value(1)}
		if key[1] == 0 || s.interned[key] != nil {
			d.fail("the number %d in the table %d", key[1], key[0])
		}
		s.interned[key] = m
	}
	return s
}

// interned returns an entry of a table.
func (d *decoder) interned(s *sequence, table, id uint64) message {
	m := s.interned[[2]uint64{table, id}]
	if m == nil {
		d.fail("there is no %d in the table %d", id, table)
	}
	return m
}

func (d *decoder) track(m message) {
	uuid := m.value(1)
	t := d.tracks[uuid]
	if t == nil {
		t = &track{}
		d.tracks[uuid] = t
	}
	switch {
	case m.has(3):
		p := d.inner(m, 3)
		t.PID = int(p.value(1))
		d.Processes[t.PID] = d.text(p, 6)
	case m.has(4):
		p := d.inner(m, 4)
		t.Thread = Thread{int(p.value(1)), int(p.value(2))}
		d.Threads[t.Thread] = d.text(p, 5)
	default:
		t.name, t.parent = d.text(m, 2), m.value(5)
		parent := d.tracks[t.parent]
		if parent == nil {
			d.fail("the track %d has no parent", uuid)
			return
		}
		t.Thread = parent.Thread
	}
}

func (d *decoder) event(s *sequence, number uint64, at int64, m message) {
	uuid := m.value(11)
	t := d.tracks[uuid]
	if t == nil {
		d.fail("an event has no track")
		return
	}
	slice := Slice{Thread: t.Thread, MonoNanos: at, Track: t.name, packet: number, uuid: uuid, end: m.value(9)}
	if slice.end != 2 {
		slice.Category, slice.Name = d.text(d.interned(s, 1, m.value(3)), 2), d.text(d.interned(s, 2, m.value(10)), 2)
		slice.Args = map[string]string{}
		for _, a := range m[4] {
			arg := d.message(a.bytes)
			value := d.text(arg, 6)
			switch {
			case arg.has(4):
				value = fmt.Sprint(int64(arg.value(4)))
			case arg.has(7): // a pointer
				value = fmt.Sprintf("0x%x", arg.value(7))
			}
			slice.Args[d.text(d.interned(s, 3, arg.value(1)), 2)] = value
		}
		if m.has(56) {
			slice.Stack = d.stack(s, m.value(56))
		}
	}
	t.slices = append(t.slices, slice)
}

// finish joins the beginnings and the ends of slices.
func (d *decoder) finish() {
	for _, t := range d.tracks {
		if len(t.slices) > 0 {
			d.Tracks++
		}
		slices.SortStableFunc(t.slices, func(a, b Slice) int {
			return cmp.Or(cmp.Compare(a.MonoNanos, b.MonoNanos), cmp.Compare(a.packet, b.packet))
		})
		var open []Slice
		for _, s := range t.slices {
			switch s.end {
			case 1:
				open = append(open, s)
			case 2:
				if len(open) == 0 {
					d.fail("an end without a beginning at %d", s.MonoNanos)
					return
				}
				last := open[len(open)-1]
				open = open[:len(open)-1]
				last.Nanos = s.MonoNanos - last.MonoNanos
				d.Slices = append(d.Slices, last)
			default:
				d.Slices = append(d.Slices, s)
			}
		}
		if len(open) > 0 {
			d.fail("%d events have no end", len(open))
		}
	}
	slices.SortFunc(d.Slices, func(a, b Slice) int {
		return cmp.Or(cmp.Compare(a.MonoNanos, b.MonoNanos), cmp.Compare(a.packet, b.packet))
	})
}

func (d *decoder) sample(s *sequence, at int64, m message) {
	if m.has(17) {
		d.Lost += int64(m.value(17))
		return
	}
	d.Samples = append(d.Samples, Sample{Thread: Thread{int(m.value(2)), int(m.value(3))}, MonoNanos: at,
		Counter: s.counter,
		Kernel:  m.value(5) == 1, Error: m.value(16), Stack: d.stack(s, m.value(4))})
}

// stack returns the frames of a stack.
func (d *decoder) stack(s *sequence, id uint64) (frames []Frame) {
	for _, f := range slices.Backward(d.interned(s, 7, id)[2]) {
		m := d.interned(s, 6, f.value)
		frame := Frame{Function: d.text(d.interned(s, 5, m.value(2)), 2), PC: m.value(4), Line: int(m.value(6))}
		frame.Mapping = d.text(d.interned(s, 17, d.interned(s, 19, m.value(3)).value(7)), 2)
		if m.has(5) {
			frame.Source = d.text(d.interned(s, 18, m.value(5)), 2)
		}
		frames = append(frames, frame)
	}
	if len(frames) == 0 {
		d.fail("the stack %d has no frames", id)
	}
	return frames
}
