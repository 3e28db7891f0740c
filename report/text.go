package report

import (
	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/arrows"
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile"
)

// A textReport is a text report on its way out.
type textReport struct {
	*layout.Page
	o      Options
	ps     *profile.Profiles
	about  *capture.Description
	notes  capture.Notes // of the capture, and of the report itself
	glyphs arrows.Glyphs
	single bool             // there is one profile, so its lines join those of the capture
	p      *profile.Profile // the one that is being written
	room   map[nameKey]int  // how many columns names have in its tables; nil for no limit
	// trialsOf are the trials that the capture has of each JVM, by process id.
	trialsOf map[int][]string
}

// empty tells whether no sample of any event is in the profile.
func (r *textReport) empty() bool {
	for _, a := range r.p.Accounts {
		if a.Profiled > 0 {
			return false
		}
	}
	return true
}

// heat is the style for samples of each event: by the largest share that they are.
func (r *textReport) heat(counts profile.Counts) layout.Style {
	hottest := share(0)
	for e, n := range counts {
		hottest = max(hottest, shareOf(n, r.p.Accounts[e].Profiled))
	}
	switch {
	case hottest >= 500:
		return layout.BoldRed
	case hottest >= 150:
		return layout.Red
	case hottest >= 50:
		return layout.Magenta
	default:
		return layout.Plain
	}
}
