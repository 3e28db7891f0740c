package diff

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/diff/asm"
	"github.com/gasm-profiler/gasm/report/schema"
	"github.com/gasm-profiler/gasm/sampler"
)

// A Side is one of the two profiles that are compared.
type Side struct {
	Name    string // as the user wrote it
	Command []string
	JVMs    []string // "pid 25134, Workload, 17.0.15+6"
	Sampler string   // "perf, cpu-clock at 1001 Hz"
	// Selection has the flags of gasm profile that limited which code HotSpot printed, such as
	// "--skip-c1". It is "" if HotSpot printed all code.
	Selection string
	// Chosen has the flags of gasm report that chose the samples, such as "--thread app". It is ""
	// if all samples count.
	Chosen string
	Notes  []string
	Trials []TrialSide
}

// A TrialSide is one side's profile of a trial, which is a benchmark or a whole program. All its
// counts are of one event.
type TrialSide struct {
	Name string // the name of the benchmark; "" if the program is not a benchmark
	// Program and JDK are set if the program is not a benchmark. Each of them is "" if it is
	// unknown, or not the same for all JVMs.
	Program, JDK string

	Event   string  // the first event that was sampled
	Samples int64   // number of samples in the profile
	Seconds float64 // how long the trial was measured; 0 if unknown
	// NanosPerOp is the CPU time of one operation of the benchmark, in ns; 0 if unknown.
	NanosPerOp float64
	Operations float64 // 0 if unknown
	// Score is what JMH measured; nil if unknown.
	Score *capture.Score
	// If the side has several captures, Runs has the score of each capture, as time per operation
	// in ns.
	Runs []float64
	// If the side has several captures, CPURuns has the CPU time per operation of each capture, in
	// ns.
	CPURuns []float64
	// Forks has the number of samples of each JVM of a benchmark. It is nil if there is only one
	// JVM, or if the JVMs do not repeat the same work.
	Forks []int64
	// Slices has the samples over time, as in [schema.Profile]. It is nil if the trial is not a
	// benchmark, or if an older version of gasm made the report.
	Slices  []int64
	Methods []Item // native functions too
	Frames  []Item
	Regions []Region
	Calls   []Call // the tree of call stacks; nil if there are none
}

// An Item is a method or a frame with its samples.
type Item struct {
	Source, Name string
	Count        int64
	Forks        []int64 // in the order of TrialSide.Forks; nil if unknown
	Slices       []int64 // in the order of TrialSide.Slices
}

// A Region is a run of sampled instructions in one piece of code.
type Region struct {
	Source, Method string
	OSR            bool
	CompileID      int
	Lo, Hi         uint64 // [Lo, Hi) from the first to the last sampled instruction
	Count          int64
	Lines          []asm.Line // including some lines before Lo and after Hi; nil if the code is unknown
	// Unlisted is how many of the Count samples are on code that is not in Lines.
	Unlisted int64
}

// Empty reports whether no trial of the side has a sample.
func (s *Side) Empty() bool {
	return !slices.ContainsFunc(s.Trials, func(t TrialSide) bool { return t.Samples > 0 })
}

// FromReport returns the side of a report. If the user names a capture, gasm first makes a report
// of it, so a capture and its report lead to the same comparison.
func FromReport(name string, rep *schema.Report) *Side {
	c := rep.Capture
	about := capture.Description{Sampler: c.Sampler, Events: c.Events[:min(1, len(c.Events))], Frequency: c.Frequency}
	s := &Side{Name: name, Command: c.Command, Selection: c.Selection, Chosen: rep.Chosen, Notes: c.Notes,
		Sampler: about.SamplerText()}
	for _, p := range c.JVMs {
		j := capture.JVM{PID: p.PID, Main: p.Main, Version: p.Version}
		s.JVMs = append(s.JVMs, j.String())
	}
	for i := range rep.Profiles {
		p := &rep.Profiles[i]
		t := newTrialSide(p)
		if s := (*capture.Score)(p.Score); s != nil && s.Sound() {
			t.Score = s
		}
		if t.Operations = p.Operations; p.Operations > 0 {
			t.NanosPerOp = float64(t.Samples) * sampler.ParseEvent(t.Event).CPUNanos(c.Frequency) / p.Operations
		}
		s.Trials = append(s.Trials, t)
	}
	return s
}

// newTrialSide returns the side of a profile, with the counts of its first event.
func newTrialSide(p *schema.Profile) TrialSide {
	t := TrialSide{Name: p.Trial, Program: p.Program, JDK: p.JDK, Seconds: p.WindowSeconds}
	if len(p.Account.Events) == 0 {
		return t
	}
	event := p.Account.Events[0]
	t.Event, t.Samples = event, p.Account.Of(event).Profiled
	// Only the JVMs of a benchmark repeat the same work. The JVMs of any other command may run
	// different programs, so their counts are not compared with each other.
	if p.Trial != "" && len(p.JVMs) > 1 {
		for _, j := range p.JVMs {
			t.Forks = append(t.Forks, j.Counts.Of(event))
		}
	}
	t.Slices = p.Slices.Of(event)
	t.Calls = callsOf(p.Stacks, event)
	item := func(source, name string, c schema.Counts, perJVM schema.PerJVM, over schema.Slices) Item {
		i := Item{Source: source, Name: name, Count: c.Of(event), Slices: over.Of(event)}
		for _, c := range perJVM {
			i.Forks = append(i.Forks, c.Of(event))
		}
		return i
	}
	for _, m := range p.Methods {
		t.Methods = append(t.Methods, item(withoutOSR(m.Source), m.Name, m.Counts, m.PerJVM, m.Slices))
	}
	for _, n := range p.Native {
		t.Methods = append(t.Methods, item(n.Module, cmp.Or(n.Symbol, "(no symbol)"), n.Counts, n.PerJVM, n.Slices))
	}
	for _, f := range p.Frames {
		t.Frames = append(t.Frames, item("", f.Method, f.Counts, f.PerJVM, f.Slices))
	}
	t.Methods, t.Frames = mergeItems(t.Methods), mergeItems(t.Frames)
	for i := range p.Regions {
		t.Regions = append(t.Regions, newRegion(&p.Regions[i], event))
	}
	t.Regions = mergeRegions(t.Regions)
	return t
}

// withoutOSR returns "c2, level 4" for "c2, level 4, osr". With it, the samples of a method's OSR compilation and of
// its usual compilation are added up. Both have the same loops, and the time at which the JVM changes from one to the
// other differs from run to run.
func withoutOSR(source string) string { return strings.TrimSuffix(source, ", osr") }

// mergeItems adds up the items that have the same key.
func mergeItems(items []Item) []Item {
	at := map[itemKey]int{} // indexes into merged
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
		m.Forks = addEach(m.Forks, item.Forks)
		m.Slices = addEach(m.Slices, item.Slices)
	}
	return merged
}

// addEach adds up the counts of two items, by fork or by slice. If one item's counts are unknown,
// it returns nil.
func addEach(a, b []int64) []int64 {
	if len(a) != len(b) {
		return nil
	}
	sum := slices.Clone(a)
	for i, n := range b {
		sum[i] += n
	}
	return sum
}

// An itemKey identifies an item. The same method or frame has the same key on both sides.
type itemKey struct{ source, name string }

func (i *Item) key() itemKey { return itemKey{i.Source, i.Name} }

// byKey maps items by their keys.
func byKey(items []Item) map[itemKey]*Item {
	m := make(map[itemKey]*Item, len(items))
	for i := range items {
		m[items[i].key()] = &items[i]
	}
	return m
}

func newRegion(r *schema.Region, event string) Region {
	out := Region{Source: withoutOSR(r.Source), Method: r.Method, OSR: r.OSR, CompileID: r.CompileID,
		Lo: uint64(r.Lo), Hi: uint64(r.Hi), Count: r.Counts.Of(event)}
	lines := make([]asm.Raw, 0, len(r.Lines))
	for i := range r.Lines {
		l := &r.Lines[i]
		lines = append(lines, asm.Raw{Addr: uint64(l.Addr), Text: l.Text, Target: l.Target, Comments: l.Comments,
			Count: l.Counts.Of(event), Frame: frameText(l.Frames)})
	}
	out.Lines = asm.Normalise(lines)
	return out
}

// frameText returns the innermost frame of an inlining chain: its method and its line.
func frameText(frames []schema.Frame) string {
	switch {
	case len(frames) == 0:
		return ""
	case frames[0].Line == 0:
		return frames[0].Method
	}
	return fmt.Sprintf("%s line %d", frames[0].Method, frames[0].Line)
}
