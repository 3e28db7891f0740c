package report

import (
	"io"
	"slices"

	"github.com/gasm-profiler/gasm/internal/arrows"
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile"
)

// Counts says how the text report writes numbers of samples.
type Counts uint8

const (
	Percent Counts = iota // of the samples in the profile
	Raw                   // as they are
	Norm                  // per operation, for profiles with Operations; percents where one has none
)

// FrameSort says by what the table of frames is sorted.
type FrameSort uint8

const (
	BySelf  FrameSort = iota // the samples in the method itself
	ByTotal                  // with those of all that was inlined into it
)

// Comments says how much of HotSpot's comments stands beside code.
type Comments uint8

const (
	Folded Comments = iota // an inlining chain once, and of the next one only what differs
	Full                   // all, as HotSpot and perfasm write them
	None
)

// Options are the choices that the text report offers. The other formats have all there is, and take only Gasm of them.
type Options struct {
	Gasm string // the version of gasm that makes the report
	layout.Look
	TableWidth int // columns that a table may take; 0 for no shortening of names
	Counts     Counts
	Top        int // rows per table; 0 for all
	Sort       FrameSort
	Comments   Comments
	Intel      bool // instructions are in Intel's syntax

	DrawIntraJumps bool // arrows for the jumps within a region
	DrawInterJumps bool // marks at jumps that leave the lines shown

	// Source finds the line of source that a method (pkg.Class::method) has at a line number. Nil when there are no sources.
	Source func(method string, line int) SourceLine
	// Place and FileLines are for the page; nil when there are no sources. Place gives the file that a line number of a method
	// stands for, and the line in it; the class's own file for line 0. FileLines gives all lines of a file; none without it.
	Place     func(method string, line int) (file string, at int)
	FileLines func(file string) []string
}

// A SourceLine is a line of source that code was made from.
type SourceLine struct {
	File   string // its name without folders; "" when unknown
	Number int    // in the file: another one than the method's for code of Kotlin's inline functions
	Text   string // "" when it was not found
}

// WriteText writes the text report, with one profile after the other.
func WriteText(w io.Writer, ps *profile.Profiles, o Options) error {
	r := &textReport{Page: layout.NewPage(w, o.Look), o: o, ps: ps, about: &ps.Capture, notes: ps.Capture.Notes,
		glyphs: arrows.Unicode, single: len(ps.Trials) == 1, trialsOf: trialsByJVM(ps.Capture.Trials)}
	if o.ASCII {
		r.glyphs = arrows.ASCII
	}
	unknown := func(p profile.Profile) bool { return p.Operations == 0 }
	if o.Counts == Norm && slices.ContainsFunc(ps.Trials, unknown) {
		r.o.Counts = Percent
		r.notes = append(slices.Clone(r.notes), "counts per operation need --ops, for JMH's scores were not seen: percents are shown")
	}
	r.capture(ps.Trials)
	switch {
	case r.single:
		r.p = &ps.Trials[0]
		r.trial()
	case len(ps.Trials) > 1:
		r.profiles()
	}
	return r.Flush()
}

// trial writes all that the report says about one profile.
func (r *textReport) trial() {
	r.summary()
	if r.empty() {
		r.nothing()
	} else {
		tables := []ranking{r.regionTable(), r.methodTable(), r.frameTable(), r.lineTable(), r.nativeTable(), r.sourceTable(), r.threadTable()}
		r.fitNames(tables)
		r.overview()
		r.hotRegions()
		for _, t := range tables {
			r.ranking(t)
		}
		r.eventTable()
		r.delayTable()
		r.lockTable()
		r.allocationTable()
		r.compilationTable()
		if r.single { // else it is above all profiles
			r.jvmTable()
		}
		r.forkTable()
	}
	r.probeTable()
	r.account()
}
