package view

import (
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile/calltree"
	"github.com/gasm-profiler/gasm/report/text/counts"
	"github.com/gasm-profiler/gasm/report/text/listing"
)

// Options are the choices that the text report offers.
type Options struct {
	layout.Look
	TableWidth  int // width of a table in characters; 0 for no limit, so that names are not shortened
	Counts      counts.Unit
	Top         int // rows per table; 0 for all
	Sort        FrameSort
	Threads     bool    // the table of threads has a row for each name of a thread, instead of each kind of thread
	Margins     bool    // show in tables how inaccurate shares may be, because there are only so many samples
	Callers     int     // frames whose callers are shown; 0 for none
	SiteCallers int     // places of locks, parks and allocations whose callers are shown; 0 for none
	Idle        bool    // show idle threads, too; package waits says what these are
	Tree        float64 // share of the samples that a call needs to be in the tree of calls; 0 for no tree
	// TreeFrom is the method with which the tree of calls begins. If it is "", the tree begins with the threads.
	TreeFrom calltree.Pattern
	Code     listing.Options // of the annotated code
}

// FrameSort says how the table of frames is sorted.
type FrameSort uint8

const (
	BySelf  FrameSort = iota // by the samples in the method itself
	ByTotal                  // by the samples in the method and in everything that it called or that was inlined into it
)
