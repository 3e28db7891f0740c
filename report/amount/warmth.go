package amount

import (
	"fmt"
	"slices"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/history"
)

// A JVMWarmth says when a JVM of a profile became warm. Its times are on the samples' clock.
type JVMWarmth struct {
	PID int
	history.Warmth
	// OriginMonoNanos is the time from which reports count this JVM's times: the JVM's start or, if that is unknown, its
	// first sample.
	OriginMonoNanos int64
	// WindowMonoNanos is when the first window of the JVM began. It is 0 if there are no windows, or if the JVM was
	// measured from its first sample on.
	WindowMonoNanos int64
}

// Warmths returns when the JVMs of a profile became warm, in the order of their process ids. It returns nil if the
// profiles have no history.
func Warmths(ps *profile.Profiles, p *profile.Profile) (list []JVMWarmth) {
	jvms := ps.History.Of(p.PIDs)
	windows := windowsOf(ps, p, jvms)
	for i := range jvms {
		j := &jvms[i]
		window := windows[j.PID]
		w := JVMWarmth{PID: j.PID, Warmth: ps.History.Warmth(j, window.ToMonoNanos), OriginMonoNanos: Origin(ps, j.PID)}
		if spans := ps.History.Spans(j, len(j.All)); len(spans) > 0 && window.FromMonoNanos > spans[0].ToMonoNanos {
			w.WindowMonoNanos = window.FromMonoNanos
		}
		list = append(list, w)
	}
	return list
}

// Origin returns the time on the samples' clock from which reports count the times of a JVM: its start or, if that is
// unknown, the first sample of the history. It is 0 if there is neither.
func Origin(ps *profile.Profiles, pid int) int64 {
	if start := startOf(ps, pid); start > 0 {
		return start
	}
	if ps.History != nil {
		return ps.History.FromMonoNanos
	}
	return 0
}

// StartKnown reports whether it is known when a JVM started.
func StartKnown(ps *profile.Profiles, pid int) bool { return startOf(ps, pid) > 0 }

// startOf returns when a JVM started, on the samples' clock, or 0 if that is unknown.
func startOf(ps *profile.Profiles, pid int) int64 {
	i := slices.IndexFunc(ps.Capture.JVMs, func(j capture.JVM) bool { return j.PID == pid })
	if i < 0 {
		return 0
	}
	return ps.Capture.JVMs[i].StartMonoNanos
}

// windowsOf returns, by process id, the span from the first to the last window of each JVM. It uses the trials that
// have the same name as the trial of p. The span of a JVM without a window is zero. windowsOf goes through the trials
// only once, because a capture may have very many trials of one name, each with windows in other JVMs.
func windowsOf(ps *profile.Profiles, p *profile.Profile, jvms []history.JVM) map[int]capture.Span {
	all := map[int]capture.Span{}
	for i := range jvms {
		all[jvms[i].PID] = capture.Span{}
	}
	for _, t := range ps.Capture.Trials {
		if t.Name != p.Trial {
			continue
		}
		for _, w := range t.Windows {
			span, ok := all[w.PID]
			switch {
			case !ok:
				continue
			case span == capture.Span{}:
				span = w.Span
			}
			all[w.PID] = capture.Span{FromMonoNanos: min(span.FromMonoNanos, w.FromMonoNanos),
				ToMonoNanos: max(span.ToMonoNanos, w.ToMonoNanos)}
		}
	}
	return all
}

// early reports whether the JVM was measured before it was warm.
func (w *JVMWarmth) early() bool {
	return w.Known && w.WindowMonoNanos > 0 && (!w.Warm || w.WindowMonoNanos < w.FromMonoNanos)
}

// after returns the time from the JVM's start until it became warm: "14.1 s".
func (w *JVMWarmth) after() string { return seconds(w.FromMonoNanos - w.OriginMonoNanos) }

func seconds(nanos int64) string { return fmt.Sprintf("%.1f s", float64(max(nanos, 0))/1e9) }

// portion returns a number of samples as a percentage of the work.
func (w *JVMWarmth) portion(n int64) string {
	return fmt.Sprintf("%.1f%%", 100*float64(n)/float64(max(w.Work, 1)))
}

// mix returns the percentages of the kinds of work: "2.0% interpreted, 1.1% C1, 0.4% JIT".
func (w *JVMWarmth) mix() string {
	jit := w.portion(w.JIT) + " JIT"
	if w.JITUnknown {
		jit = "JIT unknown"
	}
	return fmt.Sprintf("%s interpreted, %s C1, %s", w.portion(w.Interpreted), w.portion(w.C1), jit)
}

// Sentence returns a sentence that says when the JVM became warm.
func (w *JVMWarmth) Sentence() string {
	samples := layout.Plural(int(w.Work), "sample")
	switch {
	case !w.Known && w.Work >= history.LeastWarm:
		return "unknown: it is not known which compiler made much of the code"
	case !w.Known:
		return fmt.Sprintf("unknown: %s of Java code and JIT compilers, %d are needed", samples, history.LeastWarm)
	case w.AtOnce:
		return fmt.Sprintf("warm from the first sample on: %s (%s)", w.mix(), samples)
	case w.Warm:
		return fmt.Sprintf("warm after %s: from then on %s (%s)", w.after(), w.mix(), samples)
	}
	return fmt.Sprintf("not warm by the end: %s (the last %s)", w.mix(), samples)
}

// WarmthSummary returns one or more lines that say when the JVMs of a profile became warm. It returns nil if nothing
// is known.
func WarmthSummary(all []JVMWarmth) []string {
	switch len(all) {
	case 0:
		return nil
	case 1:
		lines := []string{all[0].Sentence()}
		if w := &all[0]; w.early() {
			lines = append(lines, "measured from "+seconds(w.WindowMonoNanos-w.OriginMonoNanos)+" on, before it was warm")
		}
		return lines
	}
	var warm, atOnce, cold, few, unknown, early int
	var first, last *JVMWarmth
	least := func(w *JVMWarmth) int64 { return w.FromMonoNanos - w.OriginMonoNanos }
	for i := range all {
		w := &all[i]
		switch {
		case !w.Known && w.Work < history.LeastWarm:
			few++
		case !w.Known:
			unknown++
		case !w.Warm:
			cold++
		case w.AtOnce:
			atOnce++
		default:
			warm++
			if first == nil || least(w) < least(first) {
				first = w
			}
			if last == nil || least(w) > least(last) {
				last = w
			}
		}
		if w.early() {
			early++
		}
	}
	var lines []string
	if warm > 0 {
		text := fmt.Sprintf("%d of %d JVMs warm after ", warm, len(all))
		if first.after() == last.after() {
			text += last.after()
		} else {
			text += fmt.Sprintf("%s to %s", first.after(), last.after())
		}
		lines = append(lines, text+"; the last one from then on "+last.mix())
	}
	if atOnce > 0 {
		lines = append(lines, "warm from the first sample on: "+layout.Plural(atOnce, "JVM"))
	}
	if cold > 0 {
		lines = append(lines, "not warm by the end: "+layout.Plural(cold, "JVM"))
	}
	if few > 0 {
		lines = append(lines, fmt.Sprintf("unknown, with fewer than %d samples of Java code and JIT compilers: %s",
			history.LeastWarm, layout.Plural(few, "JVM")))
	}
	if unknown > 0 {
		lines = append(lines, "unknown, because much of the code is of an unknown compiler: "+layout.Plural(unknown, "JVM"))
	}
	if early > 0 {
		lines = append(lines, "measured before it was warm: "+layout.Plural(early, "JVM"))
	}
	return lines
}
