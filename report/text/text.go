package text

import (
	"io"
	"slices"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/report/amount"
	"github.com/gasm-profiler/gasm/report/text/counts"
	"github.com/gasm-profiler/gasm/report/text/events"
	"github.com/gasm-profiler/gasm/report/text/view"
)

// Write writes the text report of all profiles, one after the other. The header shows the given version of gasm.
func Write(w io.Writer, ps *profile.Profiles, gasm string, o view.Options) error {
	d := &document{Page: layout.NewPage(w, o.Look), opts: o, ps: ps, about: &ps.Capture, notes: ps.Capture.Notes}
	unknown := func(p profile.Profile) bool { return p.Operations == 0 }
	if o.Counts == counts.Norm && slices.ContainsFunc(ps.Trials, unknown) {
		d.opts.Counts = counts.Percent
		d.notes = append(slices.Clone(d.notes),
			"counts per operation need --ops, because no JMH score was found; showing percentages")
	}
	d.header(gasm)
	switch {
	case d.single():
		d.profile(&ps.Trials[0])
	case len(ps.Trials) > 1:
		d.profiles()
	}
	return d.Flush()
}

// A document is a text report that is being written.
type document struct {
	*layout.Page
	opts  view.Options
	ps    *profile.Profiles
	about *capture.Description
	notes capture.Notes // of the capture and of the report itself
}

// single reports whether there is only one profile. If so, its summary continues the header of the capture.
func (d *document) single() bool { return len(d.ps.Trials) == 1 }

// profile writes all parts of the report about one profile.
func (d *document) profile(p *profile.Profile) {
	v := view.New(d.Page, d.opts, d.ps, p)
	d.summary(v)
	if v.Empty() {
		writeWhyEmpty(v)
		events.WriteWaits(v)
	} else {
		tables := rankings(v)
		fitNames(v, tables)
		overview{v}.write()
		writeHosts(v)
		writeHotRegions(v)
		writeLoops(v)
		writeCalls(v)
		writeNotInlined(v)
		for _, t := range tables {
			t.write()
		}
		events.Write(v)
		writeDelays(v)
		events.WriteWaits(v)
		events.WriteLocks(v)
		events.WriteParks(v)
		events.WriteAllocations(v)
		writeCompilations(v)
		d.warmUp(v)
		writeJIT(v, func(pid int) int64 { return amount.Origin(d.ps, pid) })
		if d.single() { // with several profiles, the table is before the first one
			d.jvmTable()
		}
		writeForks(v)
	}
	events.WriteProbes(v)
	writeAccount(v)
}
