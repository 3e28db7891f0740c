package report

import (
	"math"

	"github.com/gasm-profiler/gasm/profile/history"
	"github.com/gasm-profiler/gasm/profile/vmwork"
	"github.com/gasm-profiler/gasm/profile/warmup"
	"github.com/gasm-profiler/gasm/report/amount"
	"github.com/gasm-profiler/gasm/report/schema"
)

const (
	jsonSpans      = 100 // the maximum number of spans of a JVM's time
	mostJSONSpans  = 10  // with more JVMs, there are no spans
	mostJSONInterp = 1000
)

// millisOf converts ns to ms, rounded to a µs.
func millisOf(nanos int64) float64 { return math.Round(float64(nanos)/1e3) / 1e3 }

// warmUp converts the times at which the JVMs became warm.
func (p jsonProfile) warmUp() []schema.Warmth {
	all := amount.Warmths(p.all, p.Profile)
	jvms := p.all.History.Of(p.PIDs)
	list := each(all, func(w *amount.JVMWarmth) schema.Warmth {
		out := schema.Warmth{PID: w.PID, Known: w.Known, Warm: w.Warm, AtOnce: w.AtOnce, Work: w.Work,
			Interpreted: w.Interpreted, C1: w.C1, JIT: w.JIT, JITUnknown: w.JITUnknown}
		if w.Warm && !w.AtOnce {
			after := millisOf(w.FromMonoNanos - w.OriginMonoNanos)
			out.AfterMillis = &after
		}
		if w.WindowMonoNanos > 0 {
			out.MeasuredFromMillis = millisOf(w.WindowMonoNanos - w.OriginMonoNanos)
		}
		return out
	})
	if len(list) > mostJSONSpans {
		return list
	}
	for i := range list {
		origin := all[i].OriginMonoNanos
		spans := p.all.History.Spans(&jvms[i], jsonSpans)
		list[i].Spans = each(spans, func(s *history.Span) schema.WarmthSpan {
			return schema.WarmthSpan{FromMillis: millisOf(s.FromMonoNanos - origin), ToMillis: millisOf(s.ToMonoNanos - origin),
				Interpreted: s.Counts[history.RanInterpreter], C1Profiled: s.Counts[history.RanC1Profiled],
				C1: s.Counts[history.RanC1], C2: s.Counts[history.RanC2],
				Compiled: s.Counts[history.RanCompiled], Stubs: s.Counts[history.RanStub], JIT: s.Counts[history.RanJIT],
				GC:      s.Counts[history.RanGC],
				Service: s.Counts[history.RanService], Native: s.Counts[history.RanNative], Unnamed: s.Counts[history.RanUnnamed]}
		})
	}
	return list
}

// jit converts the tables about the JIT compilers.
func (p jsonProfile) jit() *schema.JIT {
	j := p.JIT
	if j == nil {
		return nil
	}
	out := &schema.JIT{AllMethods: j.AllMethods, AllAgain: j.AllAgain, AllDeopts: j.AllDeopts}
	if top := p.TopCompiler(); top != "C2" {
		out.Top = top
	}
	out.Levels = each(j.Levels, func(l *warmup.Level) schema.JITLevel {
		return schema.JITLevel{Level: l.Level, Count: l.Count, OSR: l.OSR, InWindow: l.Inside, Failed: l.Failed,
			Discarded: l.Discarded, Timed: l.Timed,
			TotalMS: millisOf(l.Nanos), Bytes: l.Bytes}
	})
	out.Longest = each(j.Longest, p.jitCompilation)
	out.Methods = each(j.Methods, func(m *warmup.Method) schema.JITMethod {
		return schema.JITMethod{Method: m.Name, C1: m.C1, C2: m.C2, Unknown: m.Other, Failed: m.FailedAttempts,
			Timed: m.Timed, TotalMS: millisOf(m.Nanos),
			C1MS: millisOf(m.C1Nanos), C2MS: millisOf(m.C2Nanos), LongestMS: millisOf(m.LongestNanos)}
	})
	out.Again = each(j.Again, func(r *warmup.Repetition) schema.JITRepetition {
		versions := each(r.Versions, p.jitCompilation)
		for i := range versions {
			versions[i].Method = ""
		}
		return schema.JITRepetition{PID: r.PID, Method: r.Method, Level: r.Level, Compiler: r.Compiler, OSR: r.OSR,
			Count: r.Count, TotalMS: millisOf(r.Nanos), Versions: versions}
	})
	out.Deopts = each(j.Deopts, func(d *warmup.Deopt) schema.Deopt {
		return schema.Deopt{At: &schema.Frame{Method: d.Method, BCI: d.BCI, Line: d.Line, File: p.all.SourceFile(d.Method)},
			Instruction: d.Instruction, Reason: d.Reason, Action: d.Action,
			CompiledInto: d.Of, Levels: d.Levels, Count: d.Count, InWindow: d.Inside, Never: d.Never, Unknown: d.Unknown,
			After: each(d.After, func(a *warmup.After) schema.DeoptAfter {
				return schema.DeoptAfter{Level: a.Level, Count: a.Count, ShortestMS: millisOf(a.ShortestNanos),
					MedianMS: millisOf(a.MedianNanos), LongestMS: millisOf(a.LongestNanos)}
			})}
	})
	return out
}

func (p jsonProfile) jitCompilation(c *warmup.Compilation) schema.JITCompilation {
	origin := amount.Origin(p.all, c.PID)
	out := schema.JITCompilation{PID: c.PID, Method: c.Method, CompileID: c.ID, Level: c.Level, Compiler: c.Compiler,
		OSR: c.OSR, AtMillis: millisOf(c.MonoNanos - origin),
		MS: millisOf(c.Nanos), Bytes: c.Size, Inlined: c.Inlined, Failed: c.Failed, InWindow: c.Inside}
	if e := c.End; e != nil {
		out.End = &schema.JITEnd{AtMillis: millisOf(e.MonoNanos - origin), Reason: e.Reason, Trap: e.Trap, Action: e.Action}
	}
	return out
}

// library converts the work of HotSpot's library.
func (p jsonProfile) library() []schema.LibraryWork {
	return each(p.VM, func(s *vmwork.Share) schema.LibraryWork {
		return schema.LibraryWork{Work: string(s.Work), Counts: p.counts(s.Counts)}
	})
}

// interpreted converts the methods that were interpreted.
func (p jsonProfile) interpreted() []schema.Interpreted {
	list := p.Profile.Interpreted
	return each(list[:min(len(list), mostJSONInterp)], func(m *warmup.InterpretedMethod) schema.Interpreted {
		return schema.Interpreted{Method: m.Method, File: p.all.SourceFile(m.Method), Counts: p.counts(m.Counts),
			Lines: each(m.Lines, func(l *warmup.InterpretedLine) schema.LineTotal {
				return schema.LineTotal{Line: l.Line, Counts: p.counts(l.Counts)}
			})}
	})
}
