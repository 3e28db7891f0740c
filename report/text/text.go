package text

import (
	"io"
	"slices"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/report/amount"
)

// Write writes the text report of all profiles, one after the other. The header shows the given version of gasm.
func Write(w io.Writer, ps *profile.Profiles, gasm string, o Options) error {
	d := &document{Page: layout.NewPage(w, o.Look), opts: o, ps: ps, about: &ps.Capture, notes: ps.Capture.Notes}
	unknown := func(p profile.Profile) bool { return p.Operations == 0 }
	if o.Counts == Norm && slices.ContainsFunc(ps.Trials, unknown) {
		d.opts.Counts = Percent
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
	opts  Options
	ps    *profile.Profiles
	about *capture.Description
	notes capture.Notes // of the capture and of the report itself
}

// single reports whether there is only one profile. If so, its summary continues the header of the capture.
func (d *document) single() bool { return len(d.ps.Trials) == 1 }

// profile writes all parts of the report about one profile.
func (d *document) profile(p *profile.Profile) {
	v := d.view(p)
	d.summary(v)
	if v.empty() {
		writeWhyEmpty(v)
		writeWaitingThreads(v)
	} else {
		tables := rankings(v)
		fitNames(v, tables)
		overview{v}.write()
		writeHotRegions(v)
		writeLoops(v)
		writeCalls(v)
		writeNotInlined(v)
		for _, t := range tables {
			t.write()
		}
		writeEvents(v)
		writeDelays(v)
		writeWaitingThreads(v)
		writeLocks(v)
		writeParks(v)
		writeAllocations(v)
		writeCompilations(v)
		d.warmUp(v)
		writeJIT(v, func(pid int) int64 { return amount.Origin(d.ps, pid) })
		if d.single() { // with several profiles, the table is before the first one
			d.jvmTable()
		}
		writeForks(v)
	}
	writeProbes(v)
	writeAccount(v)
}
