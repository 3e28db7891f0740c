package report

import (
	"encoding/binary"
	"io"
	"slices"
	"strconv"
	"strings"

	pprof "github.com/google/pprof/profile"

	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/sampler"
)

// WritePprof writes the profiles of one builder, one per trial, as one gzipped profile of pprof: what 'go tool pprof',
// Pyroscope and Parca read. The profiles must have their Locations.
//
// Each sample has one location, since samplers take program counters and no stacks. Its lines are the inlining chain; so
// flame graphs have the compiled method on top and what is inlined below. The samples of an event are in
//
//   - samples/count and, where the frequency is known, cpu/nanoseconds for the clock: cpu-clock, or a profile probe of
//     DTrace's. That is what Go's own CPU profiles have, and pprof shows the time unless told otherwise.
//   - EVENT_sample/count for any other event, in the words of perf's converter to pprof: a number of samples, not of events.
//
// Labels are pid, trial, compile_id and tier, which is the text report's Source column.
//
// HotSpot's log names no source files. File names are those that javac would ask for: java/util/HashMap.java for
// java.util.HashMap$Node, which is wrong for classes that share a file with another one of the top level.
func WritePprof(w io.Writer, h Header, ps []profile.Profile, _ Options) error {
	return newPprof(h, ps).Write(w)
}

func newPprof(h Header, ps []profile.Profile) *pprof.Profile {
	b := pprofBuilder{
		mappings: map[mappingKey]*pprof.Mapping{}, functions: map[functionKey]*pprof.Function{},
		locations: map[string]*pprof.Location{}, samples: map[sampleKey]*pprof.Sample{},
	}
	events := h.Events
	if len(ps) > 0 {
		events = ps[0].Events
	}
	b.sampleTypes(events, h.Frequency)
	// The first mapping is what pprof takes for the program.
	for i := range ps {
		for k := range ps[i].Locations {
			b.mapCode(&ps[i].Locations[k])
		}
	}
	for i := range ps {
		p := &ps[i]
		if start := p.StartWallNanos; start > 0 && (b.out.TimeNanos == 0 || start < b.out.TimeNanos) {
			b.out.TimeNanos = start
		}
		b.out.DurationNanos += int64(p.WindowSeconds * 1e9)
		for k := range p.Locations {
			b.add(p.Trial, &p.Locations[k])
		}
	}
	b.out.Comments = h.comments(ps)
	return &b.out
}

// comments is the head of the text report, shorter: pprof shows it above each of its tables.
func (h Header) comments(ps []profile.Profile) []string {
	comments := []string{strings.TrimSuffix("gasm "+h.GasmVersion, " ")}
	field := func(name, value string) {
		if value != "" {
			comments = append(comments, name+": "+value)
		}
	}
	words := make([]string, len(h.Command))
	for i, word := range h.Command {
		words[i] = quote(word)
	}
	field("command", shortCommand(words, 2*textWidth, "..."))
	field("sampler", h.samplerText())
	jvms := slices.DeleteFunc(slices.Clone(h.JVMs), func(j JVM) bool {
		return !slices.ContainsFunc(ps, func(p profile.Profile) bool { return slices.Contains(p.PIDs, j.PID) })
	})
	for i, j := range jvms {
		if i == maxJVMLines {
			field("JVMs", strconv.Itoa(len(jvms)-i)+" more")
			break
		}
		field("JVM", j.text())
	}
	for _, n := range h.Notes {
		field("note", n)
	}
	for i := range ps {
		mark := "warning"
		if ps[i].Trial != "" {
			mark += " of " + ps[i].Trial
		}
		for _, warning := range ps[i].Warnings {
			field(mark, warning)
		}
	}
	return comments
}

// A pprofBuilder makes one profile of pprof. Equal things in it are one thing.
type pprofBuilder struct {
	out       pprof.Profile
	scales    []scale // of the sample types
	mappings  map[mappingKey]*pprof.Mapping
	functions map[functionKey]*pprof.Function
	locations map[string]*pprof.Location // by mapping, address and lines
	samples   map[sampleKey]*pprof.Sample
}

// A scale makes a sample type's values of an event's counts.
type scale struct {
	event int
	each  int64 // value of one sample
}

type mappingKey struct {
	pid  int // 0 for what is the same file in all processes
	file string
}

type functionKey struct{ name, file string }

// A sampleKey is a location and its labels.
type sampleKey struct {
	location       *pprof.Location
	trial, tier    string
	pid, compileID int
}

// sampleTypes makes the types of the values, in the events' order. The first event's last type is the default.
func (b *pprofBuilder) sampleTypes(events []string, frequency int) {
	clock := -1
	for e, event := range events {
		hz, isClock := clockRate(event, frequency)
		if !isClock || clock >= 0 {
			b.sampleType(event+"_sample", "count", scale{e, 1})
		} else {
			clock = e
			b.sampleType("samples", "count", scale{e, 1})
			if hz > 0 {
				period := (1e9 + int64(hz)/2) / int64(hz)
				b.sampleType("cpu", "nanoseconds", scale{e, period})
			}
		}
		if e == 0 {
			last := len(b.scales) - 1
			b.out.PeriodType, b.out.Period = b.out.SampleType[last], b.scales[last].each
			b.out.DefaultSampleType = b.out.PeriodType.Type
		}
	}
}

func (b *pprofBuilder) sampleType(name, unit string, s scale) {
	b.out.SampleType = append(b.out.SampleType, &pprof.ValueType{Type: name, Unit: unit})
	b.scales = append(b.scales, s)
}

// clockRate tells whether an event is time on a processor, and how often it is sampled per second of it; 0 when that is
// unknown. The name of DTrace's probe has the rate.
func clockRate(event string, frequency int) (hz int, ok bool) {
	if rate, ok := strings.CutPrefix(event, "profile-"); ok {
		if hz, err := strconv.Atoi(strings.TrimSuffix(rate, "hz")); err == nil && hz > 0 {
			return hz, true
		}
	}
	return frequency, sampler.ByClock(event)
}

// Brackets tell pprof that a mapping is no file that it could look for symbols in.
const (
	codeCache  = "[code cache]"
	unresolved = "[unresolved]"
	kernel     = "[kernel]"
)

// mapCode makes the code cache of a location's process reach to it.
func (b *pprofBuilder) mapCode(l *profile.Location) {
	if l.Module != "" || l.Source == profile.UnresolvedSource {
		return
	}
	const page = 0x1000
	m := b.mapping(mappingKey{l.PID, codeCache})
	lo := l.PC &^ (page - 1)
	if m.Limit == 0 || lo < m.Start {
		m.Start = lo
	}
	m.Limit = max(m.Limit, lo+page)
}

// mapping gives the mapping of a file. All its functions are known as well as they can be, so pprof need not look for them.
func (b *pprofBuilder) mapping(key mappingKey) *pprof.Mapping {
	m := b.mappings[key]
	if m == nil {
		m = &pprof.Mapping{ID: uint64(len(b.out.Mapping) + 1), File: key.file,
			HasFunctions: true, HasFilenames: true, HasLineNumbers: true, HasInlineFrames: true}
		b.mappings[key] = m
		b.out.Mapping = append(b.out.Mapping, m)
	}
	return m
}

// function gives the function of a name. It has no system name: pprof would cut "<init>" off one that equals the name,
// for the arguments of a C++ template.
func (b *pprofBuilder) function(name, file string) *pprof.Function {
	key := functionKey{name, file}
	f := b.functions[key]
	if f == nil {
		f = &pprof.Function{ID: uint64(len(b.out.Function) + 1), Name: name, Filename: file}
		b.functions[key] = f
		b.out.Function = append(b.out.Function, f)
	}
	return f
}

// place gives the mapping of a location, and its lines.
func (b *pprofBuilder) place(l *profile.Location) (*pprof.Mapping, []pprof.Line) {
	if len(l.Frames) > 0 {
		lines := make([]pprof.Line, len(l.Frames))
		for i, f := range l.Frames {
			lines[i] = pprof.Line{Function: b.function(f.Method, sourceFile(f.Method)), Line: int64(f.Line)}
		}
		return b.mapping(mappingKey{l.PID, codeCache}), lines
	}
	key, name := mappingKey{l.PID, codeCache}, l.Name
	switch {
	case l.Source == profile.UnresolvedSource:
		key, name = mappingKey{0, unresolved}, unresolved
	case l.Module == "kernel":
		key = mappingKey{0, kernel}
	case l.Module != "":
		key = mappingKey{0, l.Module}
	}
	if name == "" {
		name = "[" + strings.Trim(key.file, "[]") + "]" // as pprof shows what has no symbol
	}
	return b.mapping(key), []pprof.Line{{Function: b.function(name, "")}}
}

func (b *pprofBuilder) location(l *profile.Location) *pprof.Location {
	m, lines := b.place(l)
	var key []byte
	key = binary.AppendUvarint(key, m.ID)
	key = binary.AppendUvarint(key, l.PC)
	for _, line := range lines {
		key = binary.AppendUvarint(key, line.Function.ID)
		key = binary.AppendUvarint(key, uint64(line.Line))
	}
	loc := b.locations[string(key)]
	if loc == nil {
		loc = &pprof.Location{ID: uint64(len(b.out.Location) + 1), Mapping: m, Address: l.PC, Line: lines}
		b.locations[string(key)] = loc
		b.out.Location = append(b.out.Location, loc)
	}
	return loc
}

// add counts a location's samples.
func (b *pprofBuilder) add(trial string, l *profile.Location) {
	key := sampleKey{b.location(l), trial, l.Source, l.PID, l.CompileID}
	s := b.samples[key]
	if s == nil {
		s = &pprof.Sample{Location: []*pprof.Location{key.location}, Value: make([]int64, len(b.scales)),
			Label:    map[string][]string{"tier": {key.tier}},
			NumLabel: map[string][]int64{"pid": {int64(key.pid)}}}
		if trial != "" {
			s.Label["trial"] = []string{trial}
		}
		if key.compileID > 0 {
			s.NumLabel["compile_id"] = []int64{int64(key.compileID)}
		}
		b.samples[key] = s
		b.out.Sample = append(b.out.Sample, s)
	}
	for i, scale := range b.scales {
		s.Value[i] += l.Counts[scale.event] * scale.each
	}
}

// sourceFile is the path that the source of a method most likely has below its root, "" when nothing is likely.
func sourceFile(method string) string {
	class, _, ok := strings.Cut(method, "::")
	if !ok {
		return ""
	}
	class, _, _ = strings.Cut(class, "/") // the number of a hidden class
	dot := strings.LastIndexByte(class, '.') + 1
	outer, _, _ := strings.Cut(class[dot:], "$")
	if outer == "" {
		return "" // made at run time: $Proxy7
	}
	return strings.ReplaceAll(class[:dot], ".", "/") + outer + ".java"
}
