package report

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"math"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/event/rings"
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/code"
	"github.com/gasm-profiler/gasm/profile/delays"
	"github.com/gasm-profiler/gasm/profile/events"
	"github.com/gasm-profiler/gasm/profile/probes"
	"github.com/gasm-profiler/gasm/profile/tally"
	"github.com/gasm-profiler/gasm/profile/threads"
	"github.com/gasm-profiler/gasm/profile/warmup"
	"github.com/gasm-profiler/gasm/report/schema"
)

// WriteJSON writes the JSON report.
func WriteJSON(w io.Writer, ps *profile.Profiles, o Options) error {
	var compact bytes.Buffer
	enc := json.NewEncoder(&compact)
	enc.SetEscapeHTML(false) // names like <init> stay readable
	if err := enc.Encode(JSON(ps, o.Gasm)); err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	layoutJSON(out, layout.EscapeJSON(bytes.TrimSpace(compact.Bytes())), 0)
	out.WriteByte('\n')
	return out.Flush()
}

// JSON returns the JSON report as a value. gasm is the version of gasm that the report names.
func JSON(ps *profile.Profiles, gasm string) *schema.Report {
	about := &ps.Capture
	return &schema.Report{
		Schema: schema.Version,
		Gasm:   gasm,
		Capture: &schema.Capture{
			Command: list(about.Command), Sampler: about.Sampler, Events: list(about.Events), Frequency: about.Frequency,
			JVMs:     processes(ps),
			Attached: about.Attached, Code: about.Code, Selection: about.Selection, Notes: list(about.Notes),
		},
		Chosen:   ps.Chosen,
		Profiles: each(ps.Trials, func(p *profile.Profile) schema.Profile { return jsonProfile{p, ps}.profile() }),
	}
}

// processes returns all JVMs of the capture, with the number of samples that were taken in each of them.
func processes(ps *profile.Profiles) []schema.Process {
	all := each(ps.Capture.JVMs, func(j *capture.JVM) schema.Process {
		return schema.Process{PID: j.PID, Main: j.Main, Version: j.Version, Fork: j.Fork, Host: j.Host,
			SafepointsOnly: j.SafepointsOnly}
	})
	for i, taken := range ps.Taken {
		all[i].Taken = schema.Counts{Events: ps.Trials[0].Counters, Values: taken}
	}
	return all
}

// list returns a copy of s that is not nil, so that an empty list becomes [] rather than null.
func list[T any](s []T) []T { return append([]T{}, s...) }

// each converts a list. An empty list becomes [] rather than null.
func each[T, U any](s []T, convert func(*T) U) []U {
	out := make([]U, 0, len(s))
	for i := range s {
		out = append(out, convert(&s[i]))
	}
	return out
}

// A jsonProfile converts one profile to the types of the JSON report.
type jsonProfile struct {
	*profile.Profile
	all *profile.Profiles
}

// profile converts the whole profile.
func (p jsonProfile) profile() schema.Profile {
	return schema.Profile{
		Trial: p.Trial, Program: p.Program, JDK: p.JDK, PIDs: list(p.PIDs), WindowSeconds: p.WindowSeconds,
		Operations: p.Operations, Score: (*schema.Score)(p.Score),
		Account: schema.PerEvent[schema.Account]{Events: p.Counters, Values: each(p.Accounts, newAccount)},
		JVMs: each(p.Shares, func(s *profile.JVMShare) schema.Share {
			share := schema.Share{PID: s.PID, Counts: p.counts(s.Counts), Native: p.counts(s.Native)}
			if p.Threads != nil && s.Java != nil { // otherwise the kinds of the threads are unknown
				share.Java, share.JIT, share.GC = p.counts(s.Java), p.counts(s.JIT), p.counts(s.GC)
			}
			return share
		}),
		Hosts:   each(p.Hosts, p.host),
		Slices:  p.slices(p.Profile.Slices),
		Regions: each(p.Regions, p.region),
		Methods: each(p.Methods, func(m *profile.Method) schema.Method {
			return schema.Method{Source: m.Source, Name: m.Name, CompileID: m.CompileID, Blobs: m.Blobs,
				Counts: p.counts(m.Counts), PerJVM: p.perJVM(m.PerJVM), Slices: p.slices(m.Slices)}
		}),
		Frames: each(p.Frames, p.frames),
		Native: each(p.Native, func(n *profile.NativeFunction) schema.Native {
			return schema.Native{Module: n.Module, Symbol: n.Symbol,
				Counts: p.counts(n.Counts), PerJVM: p.perJVM(n.PerJVM), Slices: p.slices(n.Slices)}
		}),
		Sources: each(p.Sources, func(s *profile.Source) schema.Source {
			return schema.Source{Source: s.Source, Counts: p.counts(s.Counts)}
		}),
		Threads: each(p.Threads, func(k *threads.KindTotal) schema.ThreadKind {
			return schema.ThreadKind{Kind: k.Kind, Counts: p.counts(k.Counts),
				Threads: each(k.Threads, func(t *threads.Total) schema.Thread {
					return schema.Thread{Name: t.Name, Counts: p.counts(t.Counts)}
				})}
		}),
		Stacks: p.stacks(),
		By: each(p.By, func(b *profile.CallerTotal) schema.CallerTotal {
			return schema.CallerTotal{Method: b.Method, Counts: p.counts(b.Counts)}
		}),
		Events: each(p.Events, p.event),
		Probes: each(p.Probes, newProbe),
		Delays: each(p.Delays, p.delay),
		Sites:  p.siteRule(),

		SafepointsOnly:    p.guessed(p.Profile.SafepointsOnly),
		UnrecordedSeconds: float64(p.UnrecordedNanos) / 1e9,
		Locks:             p.waits(p.Locks),
		Parks:             p.waits(p.Parks),
		Allocations:       p.allocations(),
		Waits:             p.waitsTable(),
		Compilations:      each(p.Compilations, p.compilation),
		WarmUp:            p.warmUp(),
		JIT:               p.jit(),
		Calls:             p.calls(),
		Library:           p.library(),
		Interpreted:       p.interpreted(),
		Hottest:           each(p.Hottest, p.hotLine),
		Loops:             each(p.HotLoops, p.loop),
		Warnings:          list(p.Warnings),
	}
}

func (p jsonProfile) hotLine(h *profile.HotLine) schema.HotLine {
	return schema.HotLine{Source: h.Source, Method: h.Method, CompileID: h.CompileID, Addr: schema.Address(h.Lo),
		Text:   h.Text,
		Counts: p.counts(h.Counts), Frames: each(h.Frames, p.frame), FramesOfNext: len(h.Frames) > 0 && !h.OwnFrames,
		Loop: max(h.Loop, 0), Depth: h.Depth, LoopUnknown: h.Loop < 0}
}

func (p jsonProfile) event(t *events.Total) schema.Event {
	ms := func(nanos int64) float64 { return float64(nanos) / 1e6 }
	return schema.Event{Kind: string(t.Kind), Name: t.Name, Tool: t.Tool, Count: t.Count, TotalMS: ms(t.Nanos),
		LongestMS: ms(t.LongestNanos),
		WaitMS:    ms(t.WaitNanos), LongestWaitMS: ms(t.LongestWaitNanos), Samples: p.counts(t.Counts)}
}

func (p jsonProfile) delay(d *delays.Delay) schema.Delay {
	return schema.Delay{Source: d.Source, Name: d.Method, CompileID: d.CompileID, Counts: p.counts(d.Counts),
		Lines: each(d.Lines, func(l *delays.Line) schema.DelayLine {
			return schema.DelayLine{Addr: schema.Address(l.Lo), Text: l.Text, Counts: p.counts(l.Counts),
				Frames: each(l.Frames, p.frame)}
		})}
}

// counts converts counts to an object that names their events.
func (p jsonProfile) counts(c tally.Counts) schema.Counts {
	return schema.Counts{Events: p.Counters, Values: c}
}

// perJVM returns the counts of each JVM for the report. It returns nil if there is only one JVM, because its counts are
// those of the profile.
func (p jsonProfile) perJVM(perJVM []tally.Counts) schema.PerJVM {
	if len(perJVM) < 2 {
		return nil
	}
	return each(perJVM, func(c *tally.Counts) schema.Counts { return p.counts(*c) })
}

// slices converts counts over time to one list for each event. It returns no lists for a profile without slices of
// time.
func (p jsonProfile) slices(over []tally.Counts) schema.Slices {
	if over == nil {
		return schema.Slices{}
	}
	s := schema.Slices{Events: p.Counters}
	for e := range p.Counters {
		s.Values = append(s.Values, each(over, func(c *tally.Counts) int64 { return (*c)[e] }))
	}
	return s
}

func (p jsonProfile) region(r *profile.Region) schema.Region {
	lines := r.Lines
	if r.TooBig > 0 { // without this, a reader would think that these lines are the whole region
		lines = nil
	}
	return schema.Region{
		Source: r.Source, Method: r.Method, CompileID: r.CompileID, OSR: r.OSR, Native: r.Native, PIDs: list(r.PIDs),
		Lo: schema.Address(r.Lo), Hi: schema.Address(r.Hi), Counts: p.counts(r.Counts), SafepointsOnly: r.SafepointsOnly,
		Moved: r.Moved, TooBig: r.TooBig,
		Deoptimized: deoptimized(r.Profiled),
		Lines: each(lines, func(l *code.Line) schema.Line {
			return schema.Line{
				Addr: schema.Address(l.Lo), Section: l.Section, Text: l.Text, Target: l.TargetName, Counts: p.counts(l.Counts),
				Frames:   each(l.Frames, p.frame),
				Comments: list(l.Comments), JITProfile: jitProfile(l.Note), Call: callText(l),
			}
		}),
	}
}

func (p jsonProfile) frame(f *printassembly.Frame) schema.Frame {
	out := schema.Frame{Method: f.Method, BCI: f.BCI, Line: f.Line, File: cmp.Or(f.File, p.all.SourceFile(f.Method))}
	if f.Guess == printassembly.GuessedAll {
		out.Certain = new(bool)
	}
	if f.Guess != printassembly.Certain {
		out.LineCertain = new(bool)
	}
	return out
}

func (p jsonProfile) frames(f *profile.FrameTotal) schema.Frames {
	return schema.Frames{
		WithCallees: p.present(f.WithCallees),
		Method:      f.Method, File: p.all.SourceFile(f.Method), Counts: p.counts(f.Counts), Total: p.counts(f.Total),
		PerJVM: p.perJVM(f.PerJVM), Slices: p.slices(f.Slices),
		Lines: each(f.Lines, func(l *profile.LineTotal) schema.LineTotal {
			return schema.LineTotal{Line: l.Line, Counts: p.counts(l.Counts), Guessed: p.guessed(l.Guessed)}
		}),
		Guessed: p.guessed(f.Guessed),
	}
}

// present converts counts that may be missing. If c is nil, the result is the zero Counts, which the report leaves out.
func (p jsonProfile) present(c tally.Counts) schema.Counts {
	if c == nil {
		return schema.Counts{}
	}
	return p.counts(c)
}

// guessed converts counts of guessed samples. It returns nil if there are none.
func (p jsonProfile) guessed(c tally.Counts) *schema.Counts {
	if c == nil {
		return nil
	}
	counts := p.counts(c)
	return &counts
}

func (p jsonProfile) compilation(c *warmup.Version) schema.Compilation {
	out := schema.Compilation{Method: c.Method, Source: c.Source, CompileID: c.CompileID, Tier: c.Level, OSR: c.OSR,
		PID: c.PID, MadeMillis: c.MadeMillis, MadeByMillis: c.MadeByMillis, MadeInWindow: c.MadeInside,
		MadeBefore: c.MadeBefore(), Moved: c.Moved, Counts: p.counts(c.Counts), Share: p.shares(c.Counts)}
	if c.OSR {
		out.OSRBCI = &c.OSRBCI
	}
	if c.Ended != nil {
		out.Left = &schema.CompilationEnd{Millis: c.Ended.UptimeMillis, InWindow: c.EndedInside, Reason: c.Ended.Reason,
			Trap: c.Ended.Trap}
	}
	return out
}

// shares returns counts as shares of the profile, rounded to a millionth.
func (p jsonProfile) shares(c tally.Counts) schema.PerEvent[float64] {
	shares := schema.PerEvent[float64]{Events: p.Counters}
	for e, n := range c {
		share := 0.0
		if all := p.Accounts[e].Profiled; all > 0 {
			share = math.Round(1e6*float64(n)/float64(all)) / 1e6
		}
		shares.Values = append(shares.Values, share)
	}
	return shares
}

func newAccount(a *profile.Account) schema.Account {
	return schema.Account{
		Total: a.Total, OutsideWindow: a.OutsideWindow, OtherProcess: a.Others(), OtherJVM: a.OtherJVM,
		OtherTrial:  a.OtherTrial,
		OtherThread: a.OtherThread, OutsideMethod: a.OutsideMethod, NotUnder: a.NotUnder, Printing: a.Printing, Lost: a.Lost,
		Profiled: a.Profiled,
		Compiled: a.Compiled, Stub: a.Stub, Interpreter: a.Interpreter, Native: a.Native, Kernel: a.Kernel,
		Unresolved: a.Unresolved,
		StackWhole: a.Whole, StackCut: a.Cut, StackFrozen: a.Frozen, StackUnwalked: a.Unwalked,
	}
}

func newProbe(p *probes.Probe) schema.Probe {
	out := schema.Probe{Kind: string(p.Kind), Method: p.Method, Descriptor: p.Descriptor,
		Entries: p.Entries, Returns: p.Returns, Exceptions: p.Throws, TotalMS: float64(p.Nanos) / 1e6, MaxNS: p.MaxNanos,
		P50: p.Percentile(0.5), P90: p.Percentile(0.9), P99: p.Percentile(0.99),
		Threads: each(p.Threads, func(t *probes.Thread) schema.ProbeThread {
			return schema.ProbeThread{PID: t.PID, TID: t.TID, Name: t.Name,
				Entries: t.Entries, Returns: t.Returns, Exceptions: t.Throws, TotalMS: float64(t.Nanos) / 1e6, MaxNS: t.MaxNanos}
		})}
	for i, n := range p.Histogram {
		if n > 0 {
			lo, hi := rings.BucketRange(i)
			out.Distribution = append(out.Distribution, schema.ProbeBucket{FromNS: lo, ToNS: hi, Count: n})
		}
	}
	return out
}
