package report

import (
	"cmp"
	"io"

	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/report/page"
)

// WriteHTML writes the report as a page for a browser. The profiles have the code that it shows where profile.Options asked
// for listings.
func WriteHTML(w io.Writer, ps *profile.Profiles, o Options) error {
	in := page.Input{Profiles: ps, Report: JSON(ps, o.Gasm), Place: o.Place, FileLines: o.FileLines, Top: o.Top, Intel: o.Intel, Command: commandLine(ps.Capture.Command),
		Unit: [...]string{Percent: "percent", Raw: "raw", Norm: "norm"}[o.Counts]}
	in.PerOperation = func(p *profile.Profile, event int) (float64, int, string, bool) {
		if p.Operations == 0 {
			return 0, 0, "", false
		}
		n := perOperation(p, event, ps.Capture.Frequency)
		return n.factor, n.decimals, n.unit, true
	}
	for i := range ps.Trials {
		p := &ps.Trials[i]
		in.Names = append(in.Names, cmp.Or(knownAs(ps.Name(p)), "one program of an unknown name"))
	}
	return page.Write(w, in)
}
