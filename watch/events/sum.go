package events

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"regexp"
	"time"

	pprof "github.com/google/pprof/profile"

	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/report/names"
)

// A Sum is the sum of events of one kind, by their stacks.
type Sum struct {
	Count int64 // number of events
	Value int64 // ns that threads waited, or allocated bytes

	stacks  []stack // the first one stands for all stacks for which there was no room
	index   map[string]int
	methods map[string]int // numbers of names, which make the keys of the index short
	text    int            // bytes of the names in all stacks
}

type stack struct {
	frames       []event.Frame
	cut          bool // outer frames are missing
	count, value int64
}

const (
	// maxStacks limits the number of different stacks of a profile. Pyroscope takes profiles with 16,000 samples.
	maxStacks = 16_000
	// maxText limits the bytes of the names in all stacks. A name counts in each stack that contains it.
	maxText = 64 << 20
	// maxValue limits sums, because they could otherwise overflow.
	maxValue = 1 << 60
)

func newSum() *Sum {
	return &Sum{stacks: make([]stack, 1), index: map[string]int{}, methods: map[string]int{}}
}

// stack returns the number of an event's stack. Stacks with equal methods and lines have the same number. The number is
// 0 for all stacks beyond the limits.
func (s *Sum) stack(e *event.Event) int {
	var key []byte
	text := 0
	for _, f := range e.Frames {
		method, ok := s.methods[f.Method]
		if !ok {
			method = len(s.methods)
			s.methods[f.Method] = method
		}
		key = binary.AppendUvarint(binary.AppendUvarint(key, uint64(method)), uint64(f.Line))
		text += len(f.Method)
	}
	if e.Truncated {
		key = append(key, 0)
	}
	n, ok := s.index[string(key)]
	if !ok && len(s.stacks) < maxStacks && s.text+text <= maxText {
		n, s.text = len(s.stacks), s.text+text
		s.index[string(key)] = n
		s.stacks = append(s.stacks, stack{frames: e.Frames, cut: e.Truncated})
	}
	return n
}

// add adds events with the stack of this number.
func (s *Sum) add(number int, count, value int64) {
	value = min(max(value, 0), maxValue-s.Value)
	at := &s.stacks[number]
	at.count, at.value = at.count+count, at.value+value
	s.Count, s.Value = s.Count+count, s.Value+value
}

// Names that stand in place of frames.
const (
	cutMark       = "[cut]"
	noStack       = "[no stack]"
	otherStack    = "[other stacks]"
	unknownMethod = "[unresolved]"
)

// hidden matches a part of the name of a hidden class in a recording, such as that of a lambda:
// Shop$$Lambda$72+0x00007fb770000c58.1309552426::run. In samples, the method is
// Shop$$Lambda$72/0x00007fb770000c58::run.
var hidden = regexp.MustCompile(`\+(0x[0-9a-f]+)\.[0-9]+::`)

// sampleTypes are the types of a profile's values, and then the type of its period.
var sampleTypes = map[event.Kind][3]pprof.ValueType{
	event.Lock: {{Type: "contentions", Unit: "count"}, {Type: "delay", Unit: "nanoseconds"},
		{Type: "contentions", Unit: "count"}},
	event.Alloc: {{Type: "alloc_samples", Unit: "count"}, {Type: "alloc_space", Unit: "bytes"},
		{Type: "space", Unit: "bytes"}},
}

// Pprof returns a profile in pprof's format, gzipped. A sample has a location for each frame, the innermost first.
// Locations have no addresses, and samples have no labels. If the outer frames of a stack are missing, its last
// location is "[cut]". gasm is the version of gasm.
func (s *Sum) Pprof(kind event.Kind, from, to time.Time, gasm string) ([]byte, error) {
	types := sampleTypes[kind]
	b := builder{functions: map[string]*pprof.Function{}, locations: map[pprof.Line]*pprof.Location{}}
	b.out = pprof.Profile{SampleType: []*pprof.ValueType{&types[0], &types[1]}, PeriodType: &types[2], Period: 1,
		TimeNanos: from.UnixNano(), DurationNanos: int64(to.Sub(from)), Comments: []string{"gasm " + gasm}}
	b.java, b.marks = b.mapping("[code cache]"), b.mapping("[stack]")
	for i := range s.stacks {
		if st := &s.stacks[i]; st.count > 0 {
			b.add(st, i == 0)
		}
	}
	var text bytes.Buffer
	if err := b.out.Write(&text); err != nil {
		return nil, fmt.Errorf("writing a profile of events: %w", err)
	}
	return text.Bytes(), nil
}

// A builder builds a profile. It adds each function and location once.
type builder struct {
	out         pprof.Profile
	java, marks *pprof.Mapping
	functions   map[string]*pprof.Function // by the name in the recording
	locations   map[pprof.Line]*pprof.Location
}

func (b *builder) mapping(file string) *pprof.Mapping {
	m := &pprof.Mapping{ID: uint64(len(b.out.Mapping) + 1), File: file,
		HasFunctions: true, HasFilenames: true, HasLineNumbers: true, HasInlineFrames: true}
	b.out.Mapping = append(b.out.Mapping, m)
	return m
}

func (b *builder) add(s *stack, others bool) {
	sample := &pprof.Sample{Value: []int64{s.count, s.value}}
	for _, f := range s.frames {
		if f.Method == "" {
			sample.Location = append(sample.Location, b.location(b.marks, unknownMethod, 0))
			continue
		}
		sample.Location = append(sample.Location, b.location(b.java, f.Method, f.Line))
	}
	switch {
	case others:
		sample.Location = append(sample.Location, b.location(b.marks, otherStack, 0))
	case s.cut:
		sample.Location = append(sample.Location, b.location(b.marks, cutMark, 0))
	case len(s.frames) == 0:
		sample.Location = append(sample.Location, b.location(b.marks, noStack, 0))
	}
	b.out.Sample = append(b.out.Sample, sample)
}

// location returns the location of a line of a method, or of a mark. method is the name in the recording.
func (b *builder) location(m *pprof.Mapping, method string, line int) *pprof.Location {
	f := b.functions[method]
	if f == nil {
		name := hidden.ReplaceAllString(method, "/$1::")
		f = &pprof.Function{ID: uint64(len(b.out.Function) + 1), Name: name, Filename: names.SourcePath(name, "")}
		b.functions[method] = f
		b.out.Function = append(b.out.Function, f)
	}
	key := pprof.Line{Function: f, Line: int64(line)}
	l := b.locations[key]
	if l == nil {
		l = &pprof.Location{ID: uint64(len(b.out.Location) + 1), Mapping: m, Line: []pprof.Line{key}}
		b.locations[key] = l
		b.out.Location = append(b.out.Location, l)
	}
	return l
}
