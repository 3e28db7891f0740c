package diff

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/report"
)

// A Side is one of the two profiles that are compared: what a capture and a
// JSON report both tell.
type Side struct {
	Name    string // as the user wrote it
	Command []string
	JVMs    []string // "pid 25134, Workload, 17.0.15+6"
	Sampler string   // "perf, cpu-clock at 1001 Hz"
	// Selection is what limits the code that HotSpot printed, as flags of gasm
	// profile; "" where it was all.
	Selection string
	Notes     []string
	Trials    []Trial
}

// A Trial is what one side has of a benchmark, or of a run without any.
type Trial struct {
	Name    string
	Event   string  // the first one that was sampled; all counts are of it
	Samples int64   // in the profile
	Seconds float64 // of the window, 0 when unknown
	// NanosPerOp is the CPU time of an operation of the benchmark, in ns; 0
	// when unknown.
	NanosPerOp float64
	// Forks are the samples of each JVM of a benchmark. Nil for one JVM, and
	// where JVMs are not each other's repetition.
	Forks []int64
	// Slices are the samples over time, as [profile.Profile] has them; nil where
	// the trial is no benchmark, or an older report does not tell.
	Slices  []int64
	Methods []Item // native functions too
	Frames  []Item
	Regions []Region
}

// An Item is a method or a frame with its samples.
type Item struct {
	Source, Name string
	Count        int64
	Forks        []int64 // in the order of Trial.Forks; nil when unknown
	Slices       []int64 // in the order of Trial.Slices
}

// A Region is a run of sampled code.
type Region struct {
	Source, Method string
	OSR            bool
	CompileID      int
	Lo, Hi         uint64 // of its sampled part
	Count          int64
	Lines          []Line // nil without code
	// Unlisted are samples of Count for which Lines has no code.
	Unlisted int64
}

// FromProfiles makes a side of what profile built. Counts by fork need
// [profile.Options.Locations].
func FromProfiles(name string, h report.Header, ps []profile.Profile) *Side {
	s := &Side{Name: name, Command: h.Command, Selection: h.Selection, Notes: h.Notes, Sampler: samplerText(h.Sampler, h.Events, h.Frequency)}
	for _, j := range h.JVMs {
		s.JVMs = append(s.JVMs, jvmText(j.PID, j.Main, j.Version))
	}
	for i := range ps {
		t := newTrial(&ps[i])
		t.setNanosPerOp(ps[i].Operations, h.Frequency)
		s.Trials = append(s.Trials, t)
	}
	return s
}

// setNanosPerOp is for a trial whose samples and event are set.
func (t *Trial) setNanosPerOp(operations float64, frequency int) {
	if operations > 0 {
		t.NanosPerOp = float64(t.Samples) * report.SampleNanos(t.Event, frequency) / operations
	}
}

func samplerText(tool string, events []string, frequency int) string {
	text := tool
	if len(events) > 0 {
		text += ", " + events[0]
	}
	if frequency > 0 {
		text += fmt.Sprintf(" at %d Hz", frequency)
	}
	return strings.TrimPrefix(text, ", ")
}

func jvmText(pid int, main, version string) string {
	parts := slices.DeleteFunc([]string{fmt.Sprintf("pid %d", pid), main, version}, func(s string) bool { return s == "" })
	return strings.Join(parts, ", ")
}

func newTrial(p *profile.Profile) Trial {
	t := Trial{Name: p.Trial, Seconds: p.WindowSeconds}
	if len(p.Events) == 0 {
		return t
	}
	t.Event, t.Samples = p.Events[0], p.Accounts[0].Profiled
	for _, m := range p.Methods {
		t.Methods = append(t.Methods, Item{Source: tier(m.Source), Name: m.Name, Count: m.Counts[0], Slices: firstEvent(m.Slices)})
	}
	for _, n := range p.Native {
		item := nativeItem(n.Module, n.Symbol, n.Counts[0])
		item.Slices = firstEvent(n.Slices)
		t.Methods = append(t.Methods, item)
	}
	for _, f := range p.Frames {
		t.Frames = append(t.Frames, Item{Name: f.Method, Count: f.Counts[0], Slices: firstEvent(f.Slices)})
	}
	t.Slices = firstEvent(p.Slices)
	t.Methods = mergeItems(t.Methods)
	if p.Trial != "" { // else JVMs of one run can be different programs
		t.addForks(p.PIDs, p.Locations)
	}
	for i := range p.Regions {
		t.Regions = append(t.Regions, newRegion(&p.Regions[i]))
	}
	t.Regions = mergeRegions(t.Regions)
	return t
}

// firstEvent takes the counts of the event that is compared.
func firstEvent(counts []profile.Counts) []int64 {
	var first []int64
	for _, c := range counts {
		first = append(first, c[0])
	}
	return first
}

// tier is the Source column without the mark of on-stack replacement: when a
// JVM goes over from such code to the method's usual one differs from run to
// run, and their loops are the same.
func tier(source string) string { return strings.TrimSuffix(source, ", osr") }

// mergeItems adds up items with the same key.
func mergeItems(items []Item) []Item {
	at := map[itemKey]int{}
	var merged []Item
	for _, item := range items {
		i, ok := at[item.key()]
		if !ok {
			at[item.key()] = len(merged)
			merged = append(merged, item)
			continue
		}
		m := &merged[i]
		m.Count += item.Count
		for f, n := range item.Forks {
			m.addFork(f, len(item.Forks), n)
		}
		m.Slices = addSlices(m.Slices, item.Slices)
	}
	return merged
}

// addSlices adds counts over time; either can be unknown.
func addSlices(a, b []int64) []int64 {
	if len(a) != len(b) {
		return nil
	}
	sum := slices.Clone(a)
	for i, n := range b {
		sum[i] += n
	}
	return sum
}

func nativeItem(module, symbol string, count int64) Item {
	return Item{Source: module, Name: cmp.Or(symbol, "(no symbol)"), Count: count}
}

// addForks splits the counts by process.
func (t *Trial) addForks(pids []int, locations []profile.Location) {
	if len(pids) < 2 || len(locations) == 0 {
		return
	}
	t.Forks = make([]int64, len(pids))
	methods, frames := index(t.Methods), index(t.Frames)
	for _, l := range locations {
		fork, n := slices.Index(pids, l.PID), l.Counts[0]
		if fork < 0 {
			continue
		}
		t.Forks[fork] += n
		methods[locationKey(&l)].addFork(fork, len(pids), n)
		if len(l.Frames) > 0 {
			frames[itemKey{"", l.Frames[0].Method}].addFork(fork, len(pids), n)
		}
	}
}

// locationKey is the key of the method or native function at a location.
func locationKey(l *profile.Location) itemKey {
	m := Item{Source: tier(l.Source), Name: l.Name}
	if l.Module != "" {
		m = nativeItem(l.Module, l.Name, 0)
	}
	return m.key()
}

type itemKey struct{ source, name string }

func (i *Item) key() itemKey { return itemKey{i.Source, i.Name} }

// addFork counts samples of one of several forks; on nil it does nothing.
func (i *Item) addFork(fork, of int, n int64) {
	if i == nil {
		return
	}
	if i.Forks == nil {
		i.Forks = make([]int64, of)
	}
	i.Forks[fork] += n
}

// index finds items by their key.
func index(items []Item) map[itemKey]*Item {
	m := make(map[itemKey]*Item, len(items))
	for i := range items {
		m[items[i].key()] = &items[i]
	}
	return m
}

func newRegion(r *profile.Region) Region {
	out := Region{Source: tier(r.Source), Method: r.Method, OSR: r.OSR, CompileID: r.CompileID, Lo: r.Lo, Hi: r.Hi, Count: r.Counts[0]}
	lines := make([]rawLine, 0, len(r.Lines))
	for i := range r.Lines {
		l := &r.Lines[i]
		lines = append(lines, rawLine{addr: l.Lo, text: l.Text, target: l.TargetName, comments: l.Comments,
			count: l.Counts[0], frame: frameText(l.Frames)})
	}
	out.Lines = normalise(lines)
	return out
}

// frameText is the innermost frame of an inlining chain with its line.
func frameText(frames []printassembly.Frame) string {
	switch {
	case len(frames) == 0:
		return ""
	case frames[0].Line == 0:
		return frames[0].Method
	}
	return fmt.Sprintf("%s line %d", frames[0].Method, frames[0].Line)
}
