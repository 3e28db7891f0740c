package usdt

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/gasm-profiler/gasm/event/usdt"
)

// maxLines is the largest number of lines that a sink writes. Package capture does not read more events than that from
// a capture. When the limit is reached, all further events count as lost.
const maxLines = 4_000_000

// maxBytes limits the number of bytes that a sink writes. A line usually has about 100 bytes, but a JVM could have very
// long names. When the limit is reached, all further events count as lost.
const maxBytes = 1 << 30

// A sink turns the kernel's records into text.
type sink struct {
	out     *bufio.Writer
	err     error // why the text could not be written
	places  []place
	layouts []layout
	// texts returns the text at an address in the JVM's memory, or false if the text can't be read.
	texts func(addr, length uint64) ([]byte, bool)
	// thread converts a thread's id in the JVM's own namespace to the id that samples have. It returns
	// 0 if the thread has ended.
	thread func(own int) int
	// placed is [Options.Placed]; it may be nil.
	placed func(pc uint64, monoNanos int64)
	// signature is the field signature of the [library].
	signature uint64

	// until is when the recording ends; 0 while it goes on.
	until atomic.Uint64

	line   []byte
	lines  int
	bytes  int64
	events int64
	full   int64 // events that were not written because the text had reached maxLines or maxBytes
	allocs map[allocSite]*allocSum
	noted  []allocSite // keys of allocs, in the order in which they were added
}

// An allocSite is an instruction that allocates objects of one class. pc is the address after that instruction, to
// which the library's code returns. It is 0 if this address was not found. If pc is in a stub, the stub's own return
// address is in one of the next two fields: in the field caller if it was found by the chain of frame pointers, or in
// the field above if it was found by searching the stack. class and length are the address and the length of the
// class's name in the JVM's memory.
type allocSite struct{ pc, caller, above, class, length uint64 }

type allocSum struct {
	mono         uint64
	count, bytes int64
	noBytes      bool // the size can't be trusted
}

func newSink(w io.Writer, places []place, layouts []layout) *sink {
	s := &sink{out: bufio.NewWriterSize(w, 1<<18), places: places, layouts: layouts, allocs: map[allocSite]*allocSum{}}
	s.line = append(s.line, usdt.TextHead...)
	s.write()
	s.line = append(append(s.line, usdt.ProbesHead...), strings.Join(namesOf(places), " ")...)
	s.write()
	return s
}

// namesOf returns the names of probes, sorted and without duplicates.
func namesOf(places []place) (names []string) {
	for i := range places {
		names = append(names, places[i].name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// take writes the line of a record. If the record is an allocation, it is added to the sums instead. Damaged records
// are skipped, and so are records of events after the end of the recording.
func (s *sink) take(data []byte) {
	if len(data) < headSize {
		return
	}
	at := binary.NativeEndian.Uint64(data[16:])
	index, number := int(uint32(at)), int(at>>32)
	if index >= len(s.places) || number >= len(s.layouts) || len(data) < s.layouts[number].size() {
		return
	}
	if until := s.until.Load(); until != 0 && binary.NativeEndian.Uint64(data) > until {
		return
	}
	s.events++
	p, l := &s.places[index], &s.layouts[number]
	if p.Name == objectAlloc && l.caller && s.allocated(p, l, data) {
		return
	}
	if s.isFull() {
		s.full++
		return
	}
	s.begin(binary.NativeEndian.Uint64(data), s.thread(int(binary.NativeEndian.Uint32(data[8:]))))
	s.line = append(s.line, p.name...)
	s.arguments(p, l, data)
	s.write()
}

// begin writes the first two fields of a line: its time and its thread.
func (s *sink) begin(mono uint64, tid int) {
	s.line = strconv.AppendUint(s.line[:0], mono/1e9, 10)
	// The nine digits may begin with zeros. A 1 before them keeps these zeros, and is then replaced
	// with the decimal point.
	point := len(s.line)
	s.line = strconv.AppendUint(s.line, 1e9+mono%1e9, 10)
	s.line[point] = '.'
	s.line = strconv.AppendInt(append(s.line, ' '), int64(tid), 10)
	s.line = append(s.line, ' ')
}

// isFull reports whether the text has no room for another event.
func (s *sink) isFull() bool { return s.lines >= maxLines || s.bytes >= maxBytes }

// write ends the line and writes it.
func (s *sink) write() {
	s.line = append(s.line, '\n')
	s.lines++
	s.bytes += int64(len(s.line))
	if _, err := s.out.Write(s.line); err != nil && s.err == nil {
		s.err = err
	}
	s.line = s.line[:0]
}

// values appends the values of a probe's arguments to buf.
func values(buf []int64, p *place, data []byte) []int64 {
	at := headSize
	for i := range p.Args {
		o, raw := &p.Args[i], uint64(0)
		if o.isRead() {
			raw = binary.NativeEndian.Uint64(data[at:])
			at += 8
		}
		buf = append(buf, o.value(raw))
	}
	return buf
}

// arguments appends the arguments of a probe to the line.
func (s *sink) arguments(p *place, l *layout, data []byte) {
	var room [16]int64
	v, at := values(room[:0], p, data), 0
	for _, par := range p.parameters {
		s.line = append(s.line, ' ')
		switch {
		case p.Args[at].Form == UnknownForm:
			s.line = append(s.line, '?')
		case par.Kind == usdt.Number || par.Kind == usdt.Boolean:
			s.line = strconv.AppendInt(s.line, v[at], 10)
		case par.Kind == usdt.Address:
			s.line = append(s.line, "0x"...)
			s.line = strconv.AppendUint(s.line, uint64(v[at]), 16)
		case par.Kind == usdt.Brief && l.brief >= 0:
			s.quote(data[l.briefAt():][:min(max(v[at+1], 0), briefSize)], true)
		default:
			s.quote(s.texts(uint64(v[at]), uint64(v[at+1])))
		}
		at += par.Kind.Width()
	}
}

func (s *sink) quote(text []byte, ok bool) {
	if !ok {
		s.line = append(s.line, '?')
		return
	}
	s.line = strconv.AppendQuote(s.line, string(text))
}

// allocated adds an allocation to the sums. If the probe's parameters are not those of JDK 11 to
// 28, it adds nothing and returns false.
func (s *sink) allocated(p *place, l *layout, data []byte) bool {
	if len(p.parameters) != 3 || p.parameters[1].Kind != usdt.Text {
		return false
	}
	var room [8]int64
	v := values(room[:0], p, data)
	at := data[l.callerAt():]
	site := allocSite{binary.NativeEndian.Uint64(at), binary.NativeEndian.Uint64(at[8:]), 0, uint64(v[1]), uint64(v[2])}
	if l.words {
		site.above = firstNear(at[16:][:8*words], site.pc, s.signature)
	}
	sum := s.allocs[site]
	if sum == nil {
		if len(s.allocs) >= mostSites {
			s.flush()
		}
		sum = &allocSum{mono: binary.NativeEndian.Uint64(data)}
		s.allocs[site] = sum
		s.noted = append(s.noted, site)
	}
	sum.count++
	sum.noBytes = !p.hasSize()
	sum.bytes += v[3]
	return true
}

// codeCache is an upper bound for the size of a code cache. If two addresses are farther apart than
// this, they can't both be in the code cache.
const codeCache = 2 << 30

// firstNear returns the first word of a stack that may be an address in the same code cache as pc, or 0 if there is
// none. It ignores the bits of a signature.
func firstNear(stack []byte, pc, signature uint64) uint64 {
	for ; len(stack) >= 8; stack = stack[8:] {
		if word := binary.NativeEndian.Uint64(stack) &^ signature; word-pc+codeCache < 2*codeCache {
			return word
		}
	}
	return 0
}

// mostSites is the maximum number of sums that are kept. Programs usually allocate at fewer sites between two readings
// of the records. If there are more, the sums are written early.
const mostSites = 1 << 16

// flush writes the sums of allocations, and passes all buffered text to the writer.
func (s *sink) flush() {
	for _, site := range s.noted {
		sum := s.allocs[site]
		if s.placed != nil {
			for _, at := range []uint64{site.pc, site.caller, site.above} {
				s.placed(at-1, int64(sum.mono))
			}
		}
		if s.isFull() {
			s.full += sum.count
			continue
		}
		s.begin(sum.mono, 0)
		s.line = fmt.Appendf(s.line, "%s %#x %#x %#x ", usdt.WordAllocated, site.pc, site.caller, site.above)
		s.quote(s.texts(site.class, site.length))
		if s.line = fmt.Appendf(s.line, " %d ", sum.count); sum.noBytes {
			s.line = append(s.line, '?')
		} else {
			s.line = strconv.AppendInt(s.line, sum.bytes, 10)
		}
		s.write()
	}
	clear(s.allocs)
	s.noted = slices.Delete(s.noted, 0, len(s.noted))
	if err := s.out.Flush(); err != nil && s.err == nil {
		s.err = err
	}
}

// end writes how many events were lost, and when the recording ended.
func (s *sink) end(mono uint64, lost int64) {
	s.flush()
	if lost += s.full; lost > 0 {
		s.begin(mono, 0)
		s.line = fmt.Appendf(s.line, "%s %d", usdt.WordLost, lost)
		s.write()
	}
	s.begin(mono, 0)
	s.line = append(s.line, usdt.WordEnd...)
	s.write()
	s.flush()
}
