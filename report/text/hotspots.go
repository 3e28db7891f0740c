package text

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/code"
	"github.com/gasm-profiler/gasm/profile/tally"
	"github.com/gasm-profiler/gasm/report/amount"
	"github.com/gasm-profiler/gasm/report/names"
	"github.com/gasm-profiler/gasm/report/text/listing"
	"github.com/gasm-profiler/gasm/report/text/view"
)

// A hotspot is a region or a native function with a heading of its own in the annotated code. A native function whose
// code is not known has only the heading there.
type hotspot struct {
	source, name string
	counts       tally.Counts
	region       *profile.Region // nil for a native function
}

// hotspots returns the hot regions and the hot native functions, the hottest one first. It returns nil if the user
// wants no code.
func hotspots(p *profile.Profile) []hotspot {
	var regions []profile.Region
	for i := range p.Regions {
		if p.Regions[i].Hot {
			regions = append(regions, p.Regions[i])
		}
	}
	if len(regions) == 0 && len(p.Regions) > 0 {
		return nil
	}
	type function struct{ module, name string }
	shown := map[function]bool{} // native functions that have a region in the report
	for i := range regions {
		shown[function{regions[i].Source, hotspotName(&regions[i])}] = regions[i].Native
	}
	var all []hotspot
	inOrder(regions, p.Native, func(reg *profile.Region) tally.Counts { return reg.Counts },
		func(reg *profile.Region, n *profile.NativeFunction) {
			switch {
			case n == nil:
				all = append(all, hotspot{reg.Source, hotspotName(reg), reg.Counts, reg})
			case p.IsHot(n.Counts) && !shown[function{n.Module, symbol(n)}]:
				all = append(all, hotspot{n.Module, symbol(n), n.Counts, nil})
			}
		})
	return all
}

// hotspotName returns the name that the tables have for the code of a region.
func hotspotName(reg *profile.Region) string {
	if reg.Native && strings.HasSuffix(reg.Method, noSymbol) {
		return noSymbol
	}
	return reg.Method
}

// writeHotRegions writes the annotated code of the hot regions.
func writeHotRegions(v *view.View) {
	hot := hotspots(v.Profile)
	if len(hot) == 0 && len(v.Profile.Regions) > 0 {
		return // with --skip-asm
	}
	v.Line("%s", v.Paint(layout.Bold, fmt.Sprintf("Hottest code regions (>%.2f%% \"%s\" events):",
		100*v.Profile.HotThreshold,
		strings.Join(v.Profile.Counters, `" or "`))))
	v.Line(" %s", v.Explain())
	v.Line(" A slow instruction's samples may appear on the next one (skid).")
	above := 0
	for above < len(hot) && v.Profile.IsHot(hot[above].counts) {
		above++
	}
	switch {
	case len(v.Profile.Regions) == 0:
		v.Line(" No sample fell into compiled code, stubs or the interpreter.")
	case above == 0:
		v.Line(" No region is that hot. These are the hottest ones whose code is known.")
	case above < len(hot):
		v.Line(" Regions above this threshold come first, then others of the hottest methods.")
	}
	if n := v.Profile.TooFew; n > 0 {
		v.Paragraph(" ", fmt.Sprintf("Left out, because they have too few samples: %s (--min-samples 1 shows all).",
			layout.Plural(n, "region")))
	}
	v.Line("")
	for i := range hot {
		writeHotspot(v, i+1, &hot[i])
	}
}

// writeHotspot writes one hotspot, with its number in the report.
func writeHotspot(v *view.View, number int, h *hotspot) {
	v.Rule(fmt.Sprintf("Hottest Region %d", number))
	if h.region == nil {
		v.Line("%s", h.source+", "+v.HeadingName(h.name, layout.ShortMiddle, layout.Width(h.source)+2))
		v.Line("")
		if h.source == "kernel" {
			v.Line("    (the kernel's code, which only root can read, from /proc/kcore)")
		} else {
			v.Line("    (native code, which is not in HotSpot's log)")
		}
	} else {
		writeRegion(v, h.region)
	}
	v.EndRule()
	v.Line("%s  %s", v.Cells(h.counts), fmt.Sprintf("<total for region %d>", number))
	v.Line("")
}

// writeRegion writes the heading of a region and its code.
func writeRegion(v *view.View, reg *profile.Region) {
	tail := view.CompileID(reg.CompileID) + view.Moved(reg.Moved) + v.InJVMs(reg.PIDs) + safepointsOnly(v, reg)
	short := layout.ShortMethod
	if reg.Native {
		short = layout.ShortMiddle
	}
	v.Line("%s", reg.Source+", "+v.HeadingName(reg.Method, short, layout.Width(reg.Source)+2+layout.Width(tail))+tail)
	if reg.TooBig > 0 && len(reg.Lines) > 0 {
		writeTooBig(v, reg)
	}
	if said := names.Dispatch(reg.Method); said != "" {
		v.Paragraph("", said)
	}
	v.Line("")
	switch {
	case len(reg.Lines) > 0:
		listing.Write(v.Page, v.Profile, v.Format, reg, v.Options.Code)
	case reg.TooBig > 0:
		v.Line("    (%s: more than --too-big-threshold allows)", layout.Plural(reg.TooBig, "instruction"))
	default:
		v.Line("    (the log does not have its code)")
	}
}

// safepointsOnly returns a note about the lines of a region, for its heading. If the code was compiled without
// DebugNonSafepoints, the note says that lines are guesses, because HotSpot recorded them at safepoints only. If the
// JVM was started without this flag, but the code was compiled after it was switched on, the note says that there are
// no guesses. Otherwise safepointsOnly returns "".
func safepointsOnly(v *view.View, reg *profile.Region) string {
	sparse := func(pid int) bool {
		j := v.JVM(pid)
		return j.SafepointsOnly || j.DetailedFromMillis > 0
	}
	switch {
	case reg.Native:
		return ""
	case reg.SafepointsOnly:
		return " (~: a guess, because HotSpot kept lines at safepoints only)"
	case slices.ContainsFunc(reg.PIDs, sparse) && slices.ContainsFunc(reg.Lines,
		func(l code.Line) bool { return l.OwnFrames }):
		return " (no guesses: compiled with DebugNonSafepoints)"
	}
	return ""
}

// writeTooBig writes a note that says how many instructions of a region are left out.
func writeTooBig(v *view.View, reg *profile.Region) {
	left, counts := 0, v.Zero()
	for _, gap := range reg.Gaps {
		left += gap.Instructions
		counts.Add(gap.Counts)
	}
	v.Paragraph("note: ",
		fmt.Sprintf("%s has %d instructions in this region: the %d around the hottest ones are shown, %d with %s of the samples are left out "+
			"(--too-big-threshold %d shows all)", reg.Method, reg.TooBig, len(reg.Lines), left, amount.ShareOf(counts[0],
			v.Profile.Accounts[0].Profiled), reg.TooBig))
}
