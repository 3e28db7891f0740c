package sampler

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/gasm-profiler/gasm/internal/fields"
)

// An XCTraceReader reads what `xctrace export` writes for an Instruments recording: the rows of the tables
// time-profile, cpu-profile and counters-profile. See the package comment for the format.
type XCTraceReader struct {
	x    *xmlReader
	name string

	table  string // the name of the table whose rows are being read
	open   []xcOpen
	ignore int // how many open elements are ignored, because they are nested too deeply
	values xcValues
	names  xcNames
	row    xcSample
	x86    bool // a module with instructions of x86-64 was seen

	record  any // what Record returns
	sample  Sample
	lost    Lost
	bad     SyntaxError
	err     error
	ended   bool
	told    bool // a SyntaxError has already said that there are too many values
	samples bool
	kernel  bool // there was a sample of the kernel
	scratch []byte

	clock machClock
}

// xcEvents maps the name of each table with samples to the event of the samples. Time Profiler samples by a timer, CPU
// Profiler by the cycle counter of each CPU, and CPU Counters by the event that its template names.
var xcEvents = map[string]string{"time-profile": TimeProfile, "cpu-profile": "cycles",
	"counters-profile": "counters-profile"}

// An xcOpen is an element whose end tag was not read yet.
type xcOpen struct {
	xcValue
	id     uint64
	stored bool // the value must be kept under its id
	frames int  // for a backtrace: how many of its frames were read
}

// maxXCDepth is the maximum depth of nested elements. Elements that are nested more deeply are ignored. An export needs
// depth 7: a binary in a frame in a backtrace in a tag in a row in a node in the result.
const maxXCDepth = 32

// An xcSample has the values of a table row from which a Sample is made.
type xcSample struct {
	time, pid, tid       int64
	thread               uint32
	stack                xcValue
	timed, stacked, idle bool
	unknown              bool // the row refers to a value that was not kept or does not exist
}

// NewXCTraceReader returns a reader of r. The name is for messages only. The times of samples count
// from the recording's start.
func NewXCTraceReader(r io.Reader, name string) *XCTraceReader {
	return &XCTraceReader{x: newXMLReader(r), name: name, names: newXCNames()}
}

// Record returns what Scan has read. It is valid until the next Scan.
func (r *XCTraceReader) Record() any { return r.record }

// Err returns the I/O error that ended the reading. It returns nil at EOF.
func (r *XCTraceReader) Err() error { return r.err }

// UserOnly reports whether there are samples, but none of the kernel. The text does not say whether Instruments was
// asked for samples of the kernel.
func (r *XCTraceReader) UserOnly() bool { return r.samples && !r.kernel }

// Scan reads the next record.
func (r *XCTraceReader) Scan() bool {
	r.record = nil
	for r.x.scan() {
		if r.x.bad != "" {
			return r.wrong(r.x.bad)
		}
		name, rest, end, empty := cutTag(r.x.tag)
		if !end {
			r.start(name, rest)
		}
		if (end || empty) && r.end() {
			return true
		}
	}
	first := !r.ended
	r.ended, r.err = true, r.x.failure(r.name)
	if first && r.table == "" && r.err == nil {
		return r.wrong("no table of samples: export time-profile, cpu-profile or counters-profile by --xpath")
	}
	return false
}

// wrong makes a SyntaxError with this message the current record, and returns true.
func (r *XCTraceReader) wrong(msg string) bool {
	r.bad = SyntaxError{File: r.name, Line: r.x.line, Msg: msg}
	r.record = &r.bad
	return true
}

// start handles the start of an element.
func (r *XCTraceReader) start(name, rest []byte) {
	o := xcOpen{}
	o.kind = xcKinds[string(name)]
	if o.kind == xcRow { // Rows are not nested, and the elements around a row are not needed.
		r.open, r.ignore = r.open[:0], 0
		r.row = xcSample{pid: NoPID, tid: NoPID}
	}
	if len(r.open) == maxXCDepth {
		r.ignore++
		return
	}
	var ref uint64
	referred := false
	attributes(rest, func(name, value []byte) {
		switch string(name) {
		case "id":
			o.id, o.stored = parseNumber(value)
			r.values.numbered++
		case "ref":
			ref, referred = parseNumber(value)
		default:
			r.attribute(&o, name, value)
		}
	})
	if referred && o.kind != xcOther {
		value, ok := r.values.find(ref, o.kind)
		r.row.unknown = r.row.unknown || !ok
		o.xcValue, o.stored = value, false
	}
	r.open = append(r.open, o)
}

// attribute stores the value of an attribute, in the element o or in r. It is called for all attributes except id and
// ref.
func (r *XCTraceReader) attribute(o *xcOpen, name, value []byte) {
	switch {
	case o.kind == xcFrame && string(name) == "addr":
		digits, hex := bytes.CutPrefix(value, []byte("0x"))
		n, err := strconv.ParseUint(string(digits), 16, 64)
		if hex && err == nil {
			o.number, o.flags = n, o.flags|xcKnown
		}
	case o.kind == xcFrame && string(name) == "name":
		if !isAddress(value) { // addresses are not remembered, because there are too many
			o.name = r.keepName(value)
		}
	case o.kind == xcFrame && string(name) == "inlined" && string(value) == "true":
		o.flags |= xcInlined
	case o.kind == xcBinary && string(name) == "name":
		o.name = r.keepName(value)
	case o.kind == xcBinary && string(name) == "arch":
		r.x86 = r.x86 || string(value) == "x86_64"
	case o.kind == xcThread && string(name) == "fmt":
		r.scratch = unescapeXML(r.scratch, value)
		o.name = r.names.add(threadOf(r.scratch))
	case o.kind == xcSchema && string(name) == "name":
		r.table = string(value[:min(len(value), 64)])
	}
}

func (r *XCTraceReader) keepName(value []byte) uint32 {
	r.scratch = unescapeXML(r.scratch, value)
	return r.names.add(r.scratch)
}

// threadOf returns the name of the thread in "C2 CompilerThread0 0x37c2d0a (java, pid: 32471)". It cuts the name to 15
// bytes, as Linux does. It also removes "Java: ", which HotSpot puts before the names of threads on macOS (os_bsd.cpp,
// os::set_native_thread_name).
func threadOf(text []byte) []byte {
	if i := bytes.LastIndex(text, []byte(" 0x")); i >= 0 {
		text = text[:i]
	}
	text = bytes.TrimSpace(text)
	text = bytes.TrimPrefix(text, []byte("Java: "))
	return bytes.ToValidUTF8(text[:min(len(text), 15)], nil)
}

func parseNumber(text []byte) (uint64, bool) {
	n, rest, ok := fields.CutUint(text, math.MaxInt64)
	return n, ok && len(rest) == 0
}

// end handles the end of the innermost element. It returns true if that made a record.
func (r *XCTraceReader) end() bool {
	if r.ignore > 0 {
		r.ignore--
		return false
	}
	if len(r.open) == 0 {
		return false
	}
	o := r.open[len(r.open)-1]
	r.open = r.open[:len(r.open)-1]
	if o.kind == xcOther || o.kind == xcSchema {
		return false
	}
	if o.kind == xcRow {
		return r.endRow()
	}
	r.takeText(&o)
	if o.stored && !r.values.keep(o.id, o.xcValue) && !r.told {
		r.told = true
		return r.wrong("there are more values with numbers than gasm keeps: samples that refer to one of the others are left out")
	}
	if len(r.open) > 0 {
		r.give(&o, &r.open[len(r.open)-1])
	}
	return false
}

// takeText reads the number or the word in an element.
func (r *XCTraceReader) takeText(o *xcOpen) {
	if o.flags&xcKnown != 0 || len(r.x.text) == 0 {
		return
	}
	switch o.kind {
	case xcTime, xcTID, xcPID, xcMachTime, xcTimebaseField:
		if n, ok := parseNumber(r.x.text); ok {
			o.number, o.flags = n, o.flags|xcKnown
		}
	case xcState:
		o.flags |= xcKnown
		if string(r.x.text) == "Running" {
			o.flags |= xcRunning
		}
	}
}

// give hands the value of an element that has ended to its parent element.
func (r *XCTraceReader) give(o *xcOpen, parent *xcOpen) {
	known := o.flags&xcKnown != 0
	switch {
	case parent.kind == xcRow:
		r.giveRow(o, known)
	case parent.kind == xcThread && o.kind == xcTID && known:
		parent.number, parent.flags = o.number, parent.flags|xcKnown
	case parent.kind == xcThread && o.kind == xcProcess && known:
		parent.more, parent.flags = uint32(o.number), parent.flags|xcMore
	case parent.kind == xcProcess && o.kind == xcPID && known && o.number <= math.MaxInt32:
		parent.number, parent.flags = o.number, parent.flags|xcKnown
	case parent.kind == xcBacktrace && o.kind == xcBacktrace:
		parent.xcValue, parent.frames = o.xcValue, parent.frames+1
	case parent.kind == xcBacktrace && o.kind == xcFrame:
		parent.giveFrame(&o.xcValue)
	case parent.kind == xcFrame && o.kind == xcBinary:
		parent.more, parent.flags = o.name, parent.flags|xcMore
	case parent.kind == xcTimebase && o.kind == xcTimebaseField && known:
		if parent.flags&xcKnown == 0 {
			parent.number, parent.flags = o.number, parent.flags|xcKnown
		} else if parent.flags&xcMore == 0 && o.number <= math.MaxUint32 {
			parent.more, parent.flags = uint32(o.number), parent.flags|xcMore
		}
	}
}

// giveFrame adds a frame to a backtrace. The innermost frame comes first, and its address is the sampled one. If the
// function of that frame was inlined, the backtrace gets the function of the first frame that was not inlined.
func (b *xcOpen) giveFrame(f *xcValue) {
	switch {
	case b.frames == 0:
		b.xcValue = xcValue{number: f.number, name: f.name, more: f.more, kind: xcBacktrace, flags: f.flags}
	case b.flags&xcInlined != 0:
		b.name, b.more = f.name, f.more
		b.flags = b.flags&^(xcInlined|xcMore) | f.flags&(xcInlined|xcMore)
	}
	b.frames++
}

// giveRow adds a column to the row.
func (r *XCTraceReader) giveRow(o *xcOpen, known bool) {
	row := &r.row
	switch o.kind {
	case xcTime:
		row.time, row.timed = int64(o.number), known
	case xcThread:
		row.thread = o.name
		if known && o.number <= math.MaxInt32 {
			row.tid = int64(o.number)
		}
		if o.flags&xcMore != 0 {
			row.pid = int64(o.more)
		}
	case xcProcess:
		if known {
			row.pid = int64(o.number)
		}
	case xcState:
		row.idle = o.flags&xcRunning == 0
	case xcBacktrace:
		row.stack, row.stacked = o.xcValue, known
	case xcMachTime:
		r.clock.ticks, r.clock.known = o.number, known
	case xcTimebase:
		r.clock.numerator, r.clock.denominator = o.number, uint64(o.more)
	}
}

// endRow turns a row that has ended into a record, and reports whether it did. A row of a table without samples, or of
// a thread that waits, becomes no record. A row with <sentinel/> in place of a backtrace becomes a Lost, because
// Instruments could not find out where the thread was.
func (r *XCTraceReader) endRow() bool {
	row, event := &r.row, xcEvents[r.table]
	switch {
	case event == "":
		return false
	case row.unknown:
		return r.wrong("a row refers to a value by a number that no value has")
	case !row.timed:
		return r.wrong("a row without sample-time")
	case row.idle:
		return false
	case !row.stacked:
		r.lost = Lost{Count: 1}
		r.record = &r.lost
		return true
	}
	r.sample = Sample{MonoNanos: row.time, PID: int(row.pid), TID: int(row.tid), Thread: r.names.all[row.thread],
		PC:    r.address(row.stack.number),
		Event: event, Symbol: r.names.all[row.stack.name]}
	if row.stack.flags&xcMore != 0 {
		r.sample.Module = r.names.all[row.stack.more]
	}
	if r.sample.PC >= KernelStart {
		r.sample.Module, r.kernel = KernelModule, true
	}
	r.samples = true
	r.record = &r.sample
	return true
}

// address returns the program counter of an innermost frame. xctrace adds one to the address in the tables whose names
// end in -profile. It adds nothing in the raw tables from which these are made
// (https://developer.apple.com/forums/thread/748112). On arm64, the address of an instruction is a multiple of four. So
// an address to which nothing was added can be recognized, and is returned unchanged.
func (r *XCTraceReader) address(addr uint64) uint64 {
	if addr == 0 || !r.x86 && addr%4 == 0 {
		return addr
	}
	return addr - 1
}

// A machClock is the time at which a recording began, in ticks of mach_absolute_time. It comes from the table
// time-info.
type machClock struct {
	ticks                  uint64
	numerator, denominator uint64 // ns per tick: 125/3 on Apple's processors, 1/1 on Intel's
	known                  bool
}

// nanos returns the time at which the recording began, in ns on the clock CLOCK_UPTIME_RAW. It returns false if the
// file does not have the time, or if the time is too large.
func (c *machClock) nanos() (int64, bool) {
	n, d := c.numerator, c.denominator
	if !c.known || n == 0 || d == 0 || n > 1<<20 {
		return 0, false
	}
	whole, rest := c.ticks/d, c.ticks%d
	if whole > math.MaxInt64/n-1 {
		return 0, false
	}
	return int64(whole*n + rest*n/d), true
}

// XCTraceStart returns the time at which a recording began, in ns on CLOCK_UPTIME_RAW. It reads an export of the
// recording's table time-info:
//
//	<mach-absolute-time id="2" fmt="…">2897656234073</mach-absolute-time>
//	<mach-timebase-info id="4" fmt="125/3"><mach-timebase-info-field>125</…><mach-timebase-info-field>3</…></mach-timebase-info>
func XCTraceStart(in io.Reader) (nanos int64, err error) {
	r := NewXCTraceReader(in, "time-info")
	for r.Scan() {
		if bad, ok := r.Record().(*SyntaxError); ok && r.table != "time-info" {
			return 0, bad
		}
	}
	if r.Err() != nil {
		return 0, r.Err()
	}
	nanos, ok := r.clock.nanos()
	if !ok {
		return 0, errors.New("xctrace: the recording's table time-info does not say when it began")
	}
	return nanos, nil
}

// XCTraceDate returns the time at which a recording began, by the wall clock, to the millisecond. It reads the
// recording's table of contents, which `xctrace export --toc` writes:
//
//	<start-date>2026-03-01T12:30:05.123+01:00</start-date>
func XCTraceDate(toc []byte) (time.Time, error) {
	x := newXMLReader(bytes.NewReader(toc))
	for x.scan() {
		if name, _, end, _ := cutTag(x.tag); x.bad == "" && end && string(name) == "start-date" {
			at, err := time.Parse(time.RFC3339Nano, string(x.text))
			if err != nil {
				return at, fmt.Errorf("xctrace: the recording's start-date can't be read: %w", err)
			}
			return at, nil
		}
	}
	return time.Time{}, errors.New("xctrace: the recording does not say when it began: it has no time-info and no start-date")
}
