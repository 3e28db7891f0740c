package stacks

import (
	"cmp"
	"compress/gzip"
	"encoding/binary"
	"io"
	"strconv"
	"strings"
	"sync"

	pprof "github.com/google/pprof/profile"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/windows"
	"github.com/gasm-profiler/gasm/report/names"
	"github.com/gasm-profiler/gasm/sampler"
)

// WritePprof writes the profiles of all trials as one gzipped profile in pprof's format, which 'go tool pprof',
// Pyroscope and Parca read. The profiles must have their Locations. gasm is the version of gasm.
//
// A sample has a location for each of its frames, the innermost first. The lines of a location are a compiled method
// and the methods that were inlined into it, so a flame graph shows the compiled method on top and the others below. If
// outer frames are missing, the last location is a mark: a function "[cut]", "[frozen]" or "[not walked]". If the
// capture has no call stacks, each sample has one location. The sample types of an event are
//
//   - samples/count and, if the frequency is known, cpu/nanoseconds for an event that samples by the clock (cpu-clock,
//     or one of DTrace's profile probes). Go's own CPU profiles have these types. pprof shows the time by default.
//   - EVENT_sample/count for any other event, which is how perf's converter to pprof names it. Its value is the number
//     of samples, not of events.
//   - wall/nanoseconds, if the capture says how threads spent wall-clock time (package waits). These samples have no
//     other values. Their labels are pid, jvm, thread, trial and state ("monitor"). Their stacks are the places where
//     threads waited. Idle threads are left out, unless idle is true.
//
// Labels of the other samples are pid, jvm (the main class or jar), thread, trial, compile_id, tier, during and, if
// captures of several hosts were merged, host. The label tier has the same text as the Source column of the text
// report. The label during names the events that were going on when the sample was taken: gc, safepoint, lock …, or the
// name of one of the program's own events. A thread's label is its name without the number at its end.
//
// File names have the folder of the class's package. Logs that HotSpot has printed do not name files, so these are
// guessed from class names: java/util/HashMap.java for java.util.HashMap$Node. The guess is wrong for other languages
// than Java, and for a class that shares its file with another top-level class.
func WritePprof(w io.Writer, ps *profile.Profiles, gasm string, idle bool) error {
	return newPprof(ps, gasm, idle, false).Write(w)
}

// WriteSeries is like WritePprof, for servers that store profiles. Its samples have no labels, because a server creates
// a series for each distinct set of labels. Its locations have no addresses, so that stacks with equal lines are one
// sample. In the Locations, Thread must be the kind of thread, such as "garbage collector", or "" for a thread of the
// application. If it is not "", it becomes the outermost frame, in brackets. If a Location has an Instruction, that is
// the innermost frame.
func WriteSeries(w io.Writer, ps *profile.Profiles, gasm string) error {
	p := newPprof(ps, gasm, false, true)
	zip := zips.Get().(*gzip.Writer) // only this function puts something into the pool
	defer zips.Put(zip)
	zip.Reset(w)
	if err := p.WriteUncompressed(zip); err != nil {
		return err
	}
	return zip.Close()
}

// zips has gzip.Writers that are not in use. Each has over a megabyte of memory. A fleet profile is written every few
// seconds for each JVM.
var zips = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}

func newPprof(all *profile.Profiles, gasm string, idle, series bool) *pprof.Profile {
	about, ps := &all.Capture, all.Trials
	b := pprofBuilder{
		mappings: map[mappingKey]*pprof.Mapping{}, functions: map[functionKey]*pprof.Function{},
		locations: map[string]*pprof.Location{}, samples: map[sampleKey]*pprof.Sample{}, labels: map[labelKey]*labels{},
		programs: map[int]string{}, hosts: map[int]string{}, all: all, series: series, byFrames: map[string]*pprof.Sample{},
	}
	b.callers = stackLocations{&b, all.Stacks, map[callerKey]caller{}}
	for _, j := range about.JVMs {
		b.programs[j.PID] = windows.Program(j.Main)
		b.hosts[j.PID] = j.Host
	}
	events := about.Events
	if len(ps) > 0 {
		events = ps[0].Counters
	}
	b.sampleTypes(events, about.Frequency)
	// pprof assumes that the first mapping is the program, so the code cache comes first.
	for i := range ps {
		for k := range ps[i].Locations {
			b.mapCode(&ps[i].Locations[k])
			b.callers.mapCallers(ps[i].Locations[k].PID, ps[i].Locations[k].Stack)
		}
	}
	wall := b.mapWaits()
	for i := range ps {
		p := &ps[i]
		if start := p.StartWallNanos; start > 0 && (b.out.TimeNanos == 0 || start < b.out.TimeNanos) {
			b.out.TimeNanos = start
		}
		b.out.DurationNanos += int64(p.WindowSeconds * 1e9)
		for k := range p.Locations {
			b.add(p.Trial, &p.Locations[k])
		}
		wall.add(p, idle)
	}
	b.out.Comments = append(comments(all, gasm), wall.comments(idle)...)
	return &b.out
}

// maxJVMs is the maximum number of JVMs that the comments describe. Further JVMs are only counted.
const maxJVMs = 6

// comments returns what the header of the text report says, but shorter, because pprof shows the comments above each of
// its tables.
func comments(all *profile.Profiles, gasm string) []string {
	about, ps := &all.Capture, all.Trials
	comments := []string{strings.TrimSuffix("gasm "+gasm, " ")}
	field := func(name, value string) {
		if value != "" {
			comments = append(comments, name+": "+value)
		}
	}
	field("command", names.ShortCommand(about.Command, 2*layout.RuleWidth))
	field("sampler", about.SamplerText())
	field("chosen", all.Chosen)
	jvms := profiled(about.JVMs, ps)
	for i := range jvms {
		if i == maxJVMs {
			field("JVMs", strconv.Itoa(len(jvms)-i)+" more")
			break
		}
		field("JVM", jvms[i].String())
	}
	for _, n := range about.Notes {
		field("note", n)
	}
	for i := range ps {
		mark := "warning"
		if len(ps) > 1 || ps[i].Trial != "" {
			mark += " of " + all.Name(&ps[i])
		}
		for _, warning := range ps[i].Warnings {
			field(mark, warning)
		}
	}
	return comments
}

// profiled returns the JVMs that have samples in a profile or were measured for it.
func profiled(jvms []capture.JVM, ps []profile.Profile) []*capture.JVM {
	pids := map[int]bool{}
	for i := range ps {
		for _, pid := range ps[i].PIDs {
			pids[pid] = true
		}
	}
	var in []*capture.JVM
	for i := range jvms {
		if pids[jvms[i].PID] {
			in = append(in, &jvms[i])
		}
	}
	return in
}

// A pprofBuilder builds one profile in pprof's format. It adds each mapping, function, location and sample once.
type pprofBuilder struct {
	out       pprof.Profile
	scales    []scale // one for each sample type
	mappings  map[mappingKey]*pprof.Mapping
	functions map[functionKey]*pprof.Function
	locations map[string]*pprof.Location // by mapping, address and lines
	samples   map[sampleKey]*pprof.Sample
	labels    map[labelKey]*labels
	callers   stackLocations
	programs  map[int]string // by process id
	hosts     map[int]string // by process id; "" unless there are captures of several hosts
	all       *profile.Profiles
	series    bool                     // made by WriteSeries
	byFrames  map[string]*pprof.Sample // by the IDs of the sample's locations; only for WriteSeries
}

// A scale converts the counts of an event to the values of a sample type.
type scale struct {
	event int
	each  int64 // the value of one sample
}

type mappingKey struct {
	pid  int // 0 for a file, which is the same in all processes
	file string
}

type functionKey struct{ name, file string }

// A sampleKey identifies a sample by its instruction, its location, its callers and its labels.
type sampleKey struct {
	instruction string
	location    *pprof.Location
	stack       callstack.ID
	labelKey
}

type labelKey struct {
	trial, tier, thread string
	during              string // names of events, joined by blanks; no name has a blank
	pid, compileID      int
}

// labels are a sample's labels, in pprof's types. Samples with equal labels share the same maps, because the maps are
// larger than the rest of a sample.
type labels struct {
	text    map[string][]string
	numbers map[string][]int64
}

// labelsOf returns the labels for a key. It creates them when the key is new.
func (b *pprofBuilder) labelsOf(key labelKey) *labels {
	l := b.labels[key]
	if l == nil {
		l = &labels{map[string][]string{"tier": {key.tier}}, map[string][]int64{"pid": {int64(key.pid)}}}
		if key.trial != "" {
			l.text["trial"] = []string{key.trial}
		}
		if program := b.programs[key.pid]; program != "" {
			l.text["jvm"] = []string{program}
		}
		if host := b.hosts[key.pid]; host != "" {
			l.text["host"] = []string{host}
		}
		if key.thread != "" {
			l.text["thread"] = []string{key.thread}
		}
		if key.during != "" {
			l.text["during"] = strings.Fields(key.during)
		}
		if key.compileID > 0 {
			l.numbers["compile_id"] = []int64{int64(key.compileID)}
		}
		b.labels[key] = l
	}
	return l
}

// sampleTypes adds the sample types, in the order of the events. The last type of the first event is the one that pprof
// shows by default.
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
				b.sampleType("cpu", "nanoseconds", scale{e, Period(hz)})
			}
		}
		if e == 0 {
			last := len(b.scales) - 1
			b.out.PeriodType, b.out.Period = b.out.SampleType[last], b.scales[last].each
			b.out.DefaultSampleType = b.out.PeriodType.Type
		}
	}
}

// Period returns the CPU time in ns that one sample represents if hertz samples are taken per second.
func Period(hertz int) int64 { return (1e9 + int64(hertz)/2) / int64(hertz) }

// sampleType adds one sample type.
func (b *pprofBuilder) sampleType(name, unit string, s scale) {
	b.out.SampleType = append(b.out.SampleType, &pprof.ValueType{Type: name, Unit: unit})
	b.scales = append(b.scales, s)
}

// clockRate reports whether samples of an event represent time on a CPU, and how many of them are taken per second of
// that time. The rate is 0 if it is unknown. The name of DTrace's probe contains the rate.
func clockRate(event string, frequency int) (hz int, ok bool) {
	e := sampler.ParseEvent(event)
	return cmp.Or(e.NamedFrequency(), frequency), e.ByClock()
}

// Names of mappings that are not files. The brackets keep pprof from looking for symbols in a file of that name.
const (
	codeCache  = "[code cache]"
	unresolved = "[unresolved]"
	kernel     = "[kernel]"
)

// mapCode extends the mapping of a process's code cache so that it contains a location.
func (b *pprofBuilder) mapCode(l *profile.Location) {
	if l.Module != "" || l.Source == profile.UnresolvedSource {
		return
	}
	b.mapAddress(l.PID, l.PC)
}

// mapAddress extends the mapping of a process's code cache so that it contains an address.
func (b *pprofBuilder) mapAddress(pid int, pc uint64) {
	const page = 0x1000
	m := b.mapping(mappingKey{pid, codeCache})
	lo := pc &^ (page - 1)
	if m.Limit == 0 || lo < m.Start {
		m.Start = lo
	}
	m.Limit = max(m.Limit, lo+page)
}

// mapping returns the mapping for a key, and creates it when the key is new. The mapping declares all functions as
// known, so that pprof does not look for them in the file.
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

// function returns the function with a name, and creates it when the name is new. The function has no system name,
// because pprof takes the "<init>" of a system name for the arguments of a C++ template and cuts it off.
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

// mappingAndLines returns the mapping and the lines of a location.
func (b *pprofBuilder) mappingAndLines(l *profile.Location) (*pprof.Mapping, []pprof.Line) {
	if len(l.Frames) > 0 {
		lines := make([]pprof.Line, len(l.Frames))
		for i, f := range l.Frames {
			lines[i] = pprof.Line{Function: b.function(f.Name(), names.SourcePath(f.Method, b.all.SourceFile(f.Method))),
				Line: int64(f.Line)}
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
		name = "[" + strings.Trim(key.file, "[]") + "]" // as pprof names code without a symbol
	}
	return b.mapping(key), []pprof.Line{{Function: b.function(name, "")}}
}

// location returns pprof's location for the mapping, the address and the lines of l. It creates the location if there
// is none yet.
func (b *pprofBuilder) location(l *profile.Location) *pprof.Location {
	m, lines := b.mappingAndLines(l)
	return b.locationOf(m, l.PC, lines)
}

// locationOf returns pprof's location for a mapping, an address and lines. It creates the location if there is none
// yet.
func (b *pprofBuilder) locationOf(m *pprof.Mapping, pc uint64, lines []pprof.Line) *pprof.Location {
	if b.series {
		pc = 0
	}
	var key []byte
	key = binary.AppendUvarint(key, m.ID)
	key = binary.AppendUvarint(key, pc)
	for _, line := range lines {
		key = binary.AppendUvarint(key, line.Function.ID)
		key = binary.AppendUvarint(key, uint64(line.Line))
	}
	loc := b.locations[string(key)]
	if loc == nil {
		loc = &pprof.Location{ID: uint64(len(b.out.Location) + 1), Mapping: m, Address: pc, Line: lines}
		b.locations[string(key)] = loc
		b.out.Location = append(b.out.Location, loc)
	}
	return loc
}

// add adds a location's samples.
func (b *pprofBuilder) add(trial string, l *profile.Location) {
	key := sampleKey{l.Instruction, b.location(l), l.Stack,
		labelKey{trial, l.Source, l.Thread, strings.Join(l.During, " "), l.PID, l.CompileID}}
	s := b.samples[key]
	if s == nil {
		s = b.sample(key, l)
		b.samples[key] = s
	}
	for i, scale := range b.scales {
		s.Value[i] += l.Counts[scale.event] * scale.each
	}
}

// sample returns the sample for a key. It creates the sample if none has these frames and labels.
func (b *pprofBuilder) sample(key sampleKey, l *profile.Location) *pprof.Sample {
	own := []*pprof.Location{key.location}
	if l.Instruction != "" {
		own = []*pprof.Location{b.instruction(l.Instruction), key.location}
	}
	s := &pprof.Sample{Location: b.callers.append(own, l.PID, l.Stack), Value: make([]int64, len(b.out.SampleType))}
	if !b.series {
		with := b.labelsOf(key.labelKey)
		s.Label, s.NumLabel = with.text, with.numbers
	} else {
		if l.Thread != "" {
			s.Location = append(s.Location, b.namedMark("["+l.Thread+"]"))
		}
		var frames []byte
		for _, location := range s.Location {
			frames = binary.AppendUvarint(frames, location.ID)
		}
		if same := b.byFrames[string(frames)]; same != nil {
			return same
		}
		b.byFrames[string(frames)] = s
	}
	b.out.Sample = append(b.out.Sample, s)
	return s
}
