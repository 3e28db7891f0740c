// Package timeline draws what JVMs did over time, for a page: samples as stacked bins, the windows behind them, and
// lanes of events below them.
package timeline

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/history"
	"github.com/gasm-profiler/gasm/profile/parts"
	"github.com/gasm-profiler/gasm/profile/windows"
	"github.com/gasm-profiler/gasm/report/amount"
	"github.com/gasm-profiler/gasm/report/page/show"
)

const (
	mostJVMs = 8  // the maximum number of JVMs that have a time line
	height   = 48 // in the units of the drawing
)

// doings lists what a JVM can be doing when it is sampled. A time line stacks these from the bottom up. Each of them
// has a class in the page's style sheet.
var doings = []struct {
	doings      []history.Doing
	class, name string
}{
	{[]history.Doing{history.RanC2, history.RanCompiled}, "c2", "code of C2"},
	{[]history.Doing{history.RanC1Profiled, history.RanC1}, "c1", "code of C1"},
	{[]history.Doing{history.RanInterpreter}, "interpreter", "interpreter"},
	{[]history.Doing{history.RanStub}, "stub", "stubs"},
	{[]history.Doing{history.RanNative, history.RanService, history.RanUnnamed}, "native",
		"native, kernel, other threads of the JVM"}, {[]history.Doing{history.RanJIT}, "jit", "JIT compilers' threads"},
	{[]history.Doing{history.RanGC}, "kernel", "garbage collector's threads"},
	{[]history.Doing{history.NotCounted}, "out", "not in this profile"},
}

// Draw returns drawings of the samples of a profile over time: one for each JVM, in which the windows are shaded.
// It returns "" if there is too little to draw. The HTML contains only numbers and escaped text.
func Draw(ps *profile.Profiles, p *profile.Profile) template.HTML {
	h := ps.History
	jvms := h.Of(p.PIDs)
	if h == nil || len(jvms) == 0 || h.Bins < 2 {
		return ""
	}
	slices.SortStableFunc(jvms, func(a, b history.JVM) int { return b.Samples() - a.Samples() })
	var out strings.Builder
	warmths := amount.Warmths(ps, p)
	for _, line := range amount.WarmthSummary(warmths) {
		fmt.Fprintf(&out, `<p class="warm">Warm-up: %s.</p>`, show.Append(nil, line))
	}
	for i := range jvms {
		if i == mostJVMs {
			fmt.Fprintf(&out, `<p class="note">%s with fewer samples are not drawn.</p>`, show.Count(len(jvms)-i, "JVM"))
			break
		}
		j := &jvms[i]
		name := fmt.Sprintf("pid %d", j.PID)
		for _, known := range ps.Capture.JVMs {
			if known.PID == j.PID {
				name = known.String()
			}
		}
		label := show.Append(nil, name)
		fmt.Fprintf(&out, `<figure class="tl"><figcaption>%s</figcaption>`, label)
		fmt.Fprintf(&out,
			`<svg viewBox="0 0 %d %d" preserveAspectRatio="none" role="img" aria-label="Samples over time: %s">`, h.Bins,
			height+len(j.Lanes)*laneHeight, label)
		drawWindows(&out, ps, p, h, j.PID)
		drawBins(&out, j)
		drawSlices(&out, p, h, j.PID, amount.Origin(ps, j.PID))
		drawWarm(&out, h, j.PID, warmths)
		drawLanes(&out, j)
		out.WriteString("</svg></figure>\n")
		drawAxis(&out, ps, h, j.PID)
	}
	out.WriteString(`<p class="legend">`)
	for _, d := range doings {
		fmt.Fprintf(&out, `<span class="key k-%s">%s</span> `, d.class, strings.ReplaceAll(d.name, "C2", p.TopCompiler()))
	}
	legend := laneLegend(jvms[:min(len(jvms), mostJVMs)])
	if windows := `<span class="key k-window">%s</span></p>`; p.Slices == nil {
		fmt.Fprintf(&out, windows, "window")
	} else {
		fmt.Fprintf(&out, windows, "window, with the slices of time by which gasm diff compares runs")
	}
	return template.HTML(out.String()) + legend
}

// drawAxis writes the times at both ends of a drawing, since a JVM's start or, if that is unknown, since the first
// sample. Other times on the page count from there, too.
func drawAxis(out *strings.Builder, ps *profile.Profiles, h *history.History, pid int) {
	since := "the first sample"
	if amount.StartKnown(ps, pid) {
		since = "its start"
	}
	from := float64(h.FromMonoNanos-amount.Origin(ps, pid)) / 1e9
	if -0.05 < from && from < 0 {
		from = 0 // not -0.0
	}
	to := from + float64(h.Bins)*float64(h.StepNanos)/1e9
	fmt.Fprintf(out, `<p class="axis"><span>%.1f s</span><span>%.1f s after %s</span></p>`, from, to, since)
}

// drawWarm draws a line at the moment at which a JVM became warm.
func drawWarm(out *strings.Builder, h *history.History, pid int, warmths []amount.JVMWarmth) {
	for i := range warmths {
		if w := &warmths[i]; w.PID == pid && w.Warm && !w.AtOnce {
			x := float64(w.FromMonoNanos-h.FromMonoNanos) / float64(h.StepNanos)
			fmt.Fprintf(out,
				`<path class="slice warm" style="stroke-dasharray:none;stroke-width:2px" d="M%.2f 0v%d"><title>%s</title></path>`,
				x, height, show.Append(nil, w.Sentence()))
		}
	}
}

// drawSlices draws the areas that a user clicks to see only the samples of one slice of time.
func drawSlices(out *strings.Builder, p *profile.Profile, h *history.History, pid int, origin int64) {
	if p.Parts == nil || len(p.Parts.Slices) < 2 {
		return
	}
	place := func(mono int64) float64 {
		return min(max(float64(mono-h.FromMonoNanos)/float64(h.StepNanos), 0), float64(h.Bins))
	}
	for i, s := range p.Parts.Slices {
		if from, to := place(s.FromMonoNanos), place(s.ToMonoNanos); s.PID == pid && s.FromMonoNanos >= 0 {
			fmt.Fprintf(out,
				`<rect class="pick" data-slice="%d" x="%.2f" y="0" width="%.2f" height="%d"><title>%s</title></rect>`, i, from,
				to-from, height, SliceName(s, origin))
		}
	}
}

// SliceName returns the name of a slice of time: "2–4.50 s", in seconds since the JVM's start. The parameter from is
// that start in ns.
func SliceName(s parts.TimeSlice, from int64) string {
	if s.FromMonoNanos < 0 {
		return "without a time"
	}
	seconds := func(mono int64) string { return strings.TrimSuffix(fmt.Sprintf("%.2f", float64(mono-from)/1e9), ".00") }
	return seconds(s.FromMonoNanos) + "–" + seconds(s.ToMonoNanos) + " s"
}

// drawWindows shades the times whose samples are in the profile, and marks the slices of a benchmark.
func drawWindows(out *strings.Builder, ps *profile.Profiles, p *profile.Profile, h *history.History, pid int) {
	place := func(mono int64) float64 {
		return min(max(float64(mono-h.FromMonoNanos)/float64(h.StepNanos), 0), float64(h.Bins))
	}
	ofJVM := windowsOf(ps, p, pid)
	var whole int64
	for _, w := range ofJVM {
		from, to := place(w.FromMonoNanos), place(w.ToMonoNanos)
		fmt.Fprintf(out, `<rect class="win" x="%.2f" y="0" width="%.2f" height="%d"/>`, from, to-from, height)
		whole += max(w.ToMonoNanos-w.FromMonoNanos, 0)
	}
	if p.Slices == nil || whole < windows.SlicesPerJVM {
		return
	}
	var before int64 // the time in the windows before w
	slice := int64(1)
	for _, w := range ofJVM {
		for ; slice < windows.SlicesPerJVM &&
			slice*whole/windows.SlicesPerJVM < before+w.ToMonoNanos-w.FromMonoNanos; slice++ {
			fmt.Fprintf(out, `<path class="slice" d="M%.2f 0v%d"/>`,
				place(w.FromMonoNanos+slice*whole/windows.SlicesPerJVM-before), height)
		}
		before += max(w.ToMonoNanos-w.FromMonoNanos, 0)
	}
}

// windowsOf returns the windows of a JVM, the earliest first. It returns at most 1000 of them.
func windowsOf(ps *profile.Profiles, p *profile.Profile, pid int) []capture.Window {
	const most = 1000
	var all []capture.Window
	for _, t := range ps.Capture.Trials {
		if t.Name != p.Trial {
			continue
		}
		for _, w := range t.Windows {
			if w.PID == pid && len(all) < most {
				all = append(all, w)
			}
		}
	}
	slices.SortFunc(all, func(a, b capture.Window) int { return cmp.Compare(a.FromMonoNanos, b.FromMonoNanos) })
	return all
}

// drawBins draws the samples of each bin (a short interval of time) as a stack, by what the JVM was doing.
func drawBins(out *strings.Builder, j *history.JVM) {
	var most int64 = 1
	for _, bin := range j.Bins {
		var sum int64
		for _, n := range bin {
			sum += n
		}
		most = max(most, sum)
	}
	base := make([]int64, len(j.Bins))
	for _, d := range doings {
		path := ""
		for i, bin := range j.Bins {
			var n int64
			for _, doing := range d.doings {
				n += bin[doing]
			}
			if n == 0 {
				continue
			}
			y := float64(height) * (1 - float64(base[i]+n)/float64(most))
			path += fmt.Sprintf("M%d %.1fh1v%.1fh-1z", i, y, float64(height)*float64(n)/float64(most))
			base[i] += n
		}
		if path != "" {
			fmt.Fprintf(out, `<path class="f-%s" d="%s"/>`, d.class, path)
		}
	}
}
