package report

import (
	"cmp"
	"io"

	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/report/amount"
	"github.com/gasm-profiler/gasm/report/names"
	"github.com/gasm-profiler/gasm/report/page"
	"github.com/gasm-profiler/gasm/report/text/counts"
)

// WriteHTML writes the report as a page for a browser. The page shows code only for profiles with listings, which
// choice.Options must have asked for.
func WriteHTML(w io.Writer, ps *profile.Profiles, o Options) error {
	in := page.Input{Profiles: ps, Report: JSON(ps, o.Gasm), Place: o.Place, FileLines: o.FileLines,
		NativeLines: o.NativeLines, Top: o.Top, Idle: o.Idle, Intel: o.Intel, Command: names.Command(ps.Capture.Command),
		Unit: [...]string{counts.Percent: "percent", counts.Raw: "raw", counts.Norm: "norm"}[o.Counts]}
	in.PerOperation = func(p *profile.Profile, event int) (float64, int, string, bool) {
		if p.Operations == 0 {
			return 0, 0, "", false
		}
		s := amount.PerOperation(p, event, ps.Capture.Frequency)
		return s.Factor, s.Decimals, s.Unit, true
	}
	for i := range ps.Trials {
		p := &ps.Trials[i]
		in.Names = append(in.Names, cmp.Or(names.Program(ps.Name(p)), "a program of unknown name"))
	}
	return page.Write(w, in)
}
