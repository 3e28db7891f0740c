package report

import (
	"io"
	"slices"

	"github.com/gasm-profiler/gasm/profile"
)

// A Format is a form in which a report can be written.
type Format struct {
	Name  string // as --format has it
	Write func(io.Writer, *profile.Profiles, Options) error
	// Locations tells that it is made of the profile's Locations, in place of annotated code.
	Locations bool
}

// Formats are all formats, the usual one first.
var Formats = []Format{
	{Name: "text", Write: WriteText},
	{Name: "json", Write: WriteJSON},
	{Name: "pprof", Write: WritePprof, Locations: true},
	{Name: "html", Write: WriteHTML},
	{Name: "collapsed", Write: WriteCollapsed, Locations: true},
}

// FormatOf is the format of a name; the zero Format if it is none of FormatNames, as diff has some.
func FormatOf(name string) Format {
	if i := slices.Index(FormatNames(), name); i >= 0 {
		return Formats[i]
	}
	return Format{}
}

// FormatNames are the names of Formats, in the same order.
func FormatNames() []string {
	names := make([]string, len(Formats))
	for i, f := range Formats {
		names[i] = f.Name
	}
	return names
}
