package report

import (
	"io"
	"slices"

	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/report/stacks"
	"github.com/gasm-profiler/gasm/report/text"
	"github.com/gasm-profiler/gasm/report/text/view"
)

// Options are the settings of a report. WriteText uses Gasm and all of view.Options. WriteHTML uses Gasm, the fields
// for the page, and Counts, Top and Idle of view.Options. The other formats use at most Gasm, Wall and Idle.
type Options struct {
	Gasm string // the version of gasm that makes the report
	view.Options
	// Wall makes WriteCollapsed write how threads spent wall-clock time, in place of samples.
	Wall bool

	// These fields are for the page. Intel is true if the instructions are in Intel's syntax. Place converts a line
	// number in a method's code to a source file and a line in that file. For line 0, it returns the file of the
	// method's class. FileLines returns all lines of a file, or nil if there is no such file. Both functions are nil if
	// there are no sources.
	Intel     bool
	Place     func(method string, line int) (file string, at int)
	FileLines func(file string) []string
	// NativeLines returns all lines of a file from which native code was made. It is nil if there are no sources.
	NativeLines func(file string) []string
}

// A Format is a form in which a report can be written.
type Format struct {
	Name  string // what --format calls it
	Write func(io.Writer, *profile.Profiles, Options) error
	// Locations is true if the format needs the profile's Locations and no annotated code.
	Locations bool
}

// Formats are all formats, the default one first.
var Formats = []Format{
	{Name: "text", Write: WriteText},
	{Name: "json", Write: WriteJSON},
	{Name: "pprof", Write: WritePprof, Locations: true},
	{Name: "html", Write: WriteHTML},
	{Name: "collapsed", Write: WriteCollapsed, Locations: true},
}

// FormatOf returns the format with the given name. It returns the zero Format for an unknown name. This is not an
// error, because gasm diff has formats of its own.
func FormatOf(name string) Format {
	if i := slices.Index(FormatNames(), name); i >= 0 {
		return Formats[i]
	}
	return Format{}
}

// FormatNames returns the names of Formats, in the same order.
func FormatNames() []string {
	names := make([]string, len(Formats))
	for i, f := range Formats {
		names[i] = f.Name
	}
	return names
}

// WriteText writes the text report: see package text.
func WriteText(w io.Writer, ps *profile.Profiles, o Options) error {
	return text.Write(w, ps, o.Gasm, o.Options)
}

// WritePprof writes the profiles as one profile in pprof's format; see stacks.WritePprof.
func WritePprof(w io.Writer, ps *profile.Profiles, o Options) error {
	return stacks.WritePprof(w, ps, o.Gasm, o.Idle)
}

// WriteCollapsed writes collapsed stacks: see stacks.WriteCollapsed and stacks.WriteCollapsedWaits.
func WriteCollapsed(w io.Writer, ps *profile.Profiles, o Options) error {
	if o.Wall {
		return stacks.WriteCollapsedWaits(w, ps, o.Idle)
	}
	return stacks.WriteCollapsed(w, ps)
}
