package report

import (
	"io"

	"github.com/gasm-profiler/gasm/profile"
)

// A Format is a form in which a report can be written.
type Format struct {
	Name  string // as --format has it
	Write func(io.Writer, *profile.Profiles, Options) error
}

// Formats are all formats, the usual one first.
var Formats = []Format{
	{"text", WriteText},
	{"json", WriteJSON},
	{"pprof", WritePprof},
	{"html", WriteHTML},
}

// FormatNames are the names of Formats, in the same order.
func FormatNames() []string {
	names := make([]string, len(Formats))
	for i, f := range Formats {
		names[i] = f.Name
	}
	return names
}
