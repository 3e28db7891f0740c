package perfetto

import (
	"bufio"
	"encoding/binary"
	"unicode/utf8"

	"github.com/gasm-profiler/gasm/internal/layout"
)

// A writer writes packets.
type writer struct {
	out    *bufio.Writer
	packet message // the packet that is being made; kept for the next one
	head   message
}

// write writes a packet. If that fails, w.out keeps the error and returns it from every later write and from Flush.
func (w *writer) write(packet message) {
	w.head = w.head[:0]
	w.head.key(tracePacket, wireBytes)
	w.head = binary.AppendUvarint(w.head, uint64(len(packet)))
	w.out.Write(w.head)
	w.out.Write(packet)
}

// A sequence is a sequence of packets that share their interned data: strings, frames and stacks that are written once
// and then referred to by number. S is the type that identifies a stack.
type sequence[S comparable] struct {
	*writer
	id       uint64
	defaults message // TracePacketDefaults, or nil

	begun   bool // the defaults are written
	strings map[interned]uint64
	frames  map[frame]uint64
	stacks  map[S]uint64
	size    int     // about how many bytes were interned
	pending message // the InternedData for the next packet
	scratch message
	ids     []uint64
}

// The type interned is a string in one of the tables of InternedData. Mappings are in the table internedMappings by
// their path.
type interned struct {
	table int
	text  string
}

// A frame is a frame of a stack. mapping, function and source are the ids of interned strings; 0 means no string.
type frame struct {
	mapping, function, source uint64
	pc                        uint64 // an address, or another number that distinguishes frames of one function
	line, kind                uint64 // 0 if they are not known
}

// maxInterned is roughly the number of bytes that a sequence interns before it begins again. When it begins again, it
// tells readers to forget all that was interned before. maxInterned is a variable only for tests.
var maxInterned = 256 << 20

func newSequence[S comparable](w *writer, id uint64, defaults message) *sequence[S] {
	s := &sequence[S]{writer: w, id: id, defaults: defaults}
	s.forget()
	return s
}

// forget drops everything that was interned, so that the sequence begins again.
func (s *sequence[S]) forget() {
	s.begun, s.size, s.pending = false, 0, s.pending[:0]
	s.strings, s.frames, s.stacks = map[interned]uint64{}, map[frame]uint64{}, map[S]uint64{}
}

// prepare has to be called before anything is interned for a packet. If too much was interned, it begins the sequence
// again.
func (s *sequence[S]) prepare() {
	if s.size > maxInterned {
		s.forget()
	}
}

// packetAt writes a packet with a time, in ns on CLOCK_MONOTONIC, and with one field that is a message.
func (s *sequence[S]) packetAt(monoNanos int64, field int, body message) {
	m := s.packet[:0]
	m.uint(packetTimestamp, uint64(max(monoNanos, 0)))
	m.uint(packetClockID, clockMonotonic)
	m.uint(packetSequenceID, s.id)
	flags := uint64(flagNeedsState)
	if !s.begun {
		s.begun = true
		flags |= flagCleared
		if s.defaults != nil {
			m.message(packetDefaults, s.defaults)
		}
	}
	m.uint(packetSequenceFlags, flags)
	if len(s.pending) > 0 {
		m.message(packetInternedData, s.pending)
		s.pending = s.pending[:0]
	}
	m.message(field, body)
	s.packet = m
	s.write(m)
}

// intern appends a message with a number (id) to the InternedData of the next packet. fill appends the other fields of
// the message.
func (s *sequence[S]) intern(table int, id uint64, fill func(*message)) {
	m := s.scratch[:0]
	m.uint(internedIID, id)
	fill(&m)
	s.scratch = m
	s.pending.message(table, m)
	s.size += len(m) + internedCost
}

// internedCost is roughly the number of bytes that an entry of a map takes.
const internedCost = 64

// string returns the number of a string in a table of InternedData. It interns the string if it is new.
func (s *sequence[S]) string(table int, text string) uint64 {
	key := interned{table, text}
	id, ok := s.strings[key]
	if !ok {
		id = uint64(len(s.strings) + 1)
		s.strings[key] = id
		s.size += len(text)
		s.intern(table, id, func(m *message) { m.text(internedText, clean(text)) })
	}
	return id
}

// mapping returns the number of a mapping.
func (s *sequence[S]) mapping(path string) uint64 {
	key := interned{internedMappings, path}
	id, ok := s.strings[key]
	if !ok {
		part := s.string(internedMappingPaths, path)
		id = uint64(len(s.strings) + 1)
		s.strings[key] = id
		s.intern(internedMappings, id, func(m *message) { m.uint(mappingPath, part) })
	}
	return id
}

// frame returns the number of a frame.
func (s *sequence[S]) frame(f frame) uint64 {
	id, ok := s.frames[f]
	if !ok {
		id = uint64(len(s.frames) + 1)
		s.frames[f] = id
		s.intern(internedFrames, id, func(m *message) {
			m.uint(frameFunction, f.function)
			m.uint(frameMapping, f.mapping)
			m.uint(frameRelPC, f.pc)
			if f.source != 0 {
				m.uint(frameSource, f.source)
			}
			if f.line != 0 {
				m.uint(frameLine, f.line)
			}
			if f.kind != 0 {
				m.uint(frameKind, f.kind)
			}
		})
	}
	return id
}

// stack returns the number of a stack. If the stack is new, it calls the function frames, which appends the numbers of
// the stack's frames to ids, from the innermost to the outermost.
func (s *sequence[S]) stack(key S, frames func(ids []uint64) []uint64) uint64 {
	id, ok := s.stacks[key]
	if !ok {
		s.ids = frames(s.ids[:0])
		id = uint64(len(s.stacks) + 1)
		s.stacks[key] = id
		s.intern(internedCallstacks, id, func(m *message) {
			for i := len(s.ids) - 1; i >= 0; i-- {
				m.uint(callstackFrames, s.ids[i])
			}
		})
	}
	return id
}

// maxText is the maximum length of a string in a trace, in bytes. Longer strings are cut. The names of a method and of
// its class can have 64 kB each.
const maxText = 4096

// clean makes a text from outside fit for a trace: valid UTF-8 without control characters, not too long.
func clean(text string) string {
	cut := len(text) > maxText
	if cut {
		end := maxText
		for end > maxText-utf8.UTFMax && !utf8.RuneStart(text[end]) {
			end--
		}
		text = text[:end]
	}
	if text = layout.Escape(text); cut {
		text += "…"
	}
	return text
}
