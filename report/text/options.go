package text

import (
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile/calltree"
)

// Options are the choices that the text report offers.
type Options struct {
	layout.Look
	TableWidth  int // width of a table in characters; 0 for no limit, so that names are not shortened
	Counts      Counts
	Top         int // rows per table; 0 for all
	Sort        FrameSort
	Comments    Comments
	Threads     bool    // the table of threads has a row for each name of a thread, instead of each kind of thread
	Margins     bool    // show in tables how far shares may be off, given the number of samples
	Callers     int     // frames whose callers are shown; 0 for none
	SiteCallers int     // places of locks, parks and allocations whose callers are shown; 0 for none
	Idle        bool    // show idle threads, too; package waits says what these are
	Tree        float64 // share of the samples that a call needs to be in the tree of calls; 0 for no tree
	// TreeFrom is the method with which the tree of calls begins. If it is "", the tree begins with the threads.
	TreeFrom calltree.Pattern

	DrawIntraJumps bool // draw arrows for the jumps within a region
	DrawInterJumps bool // mark jumps that leave the lines shown

	// Source returns the line of source that a method (pkg.Class::method) has at a line number. It is nil if there are no
	// sources.
	Source func(method string, line int) SourceLine
	// NativeSource returns a line of a file from which native code was made. It is nil if Source is.
	NativeSource func(file string, line int) SourceLine
}

// Counts says how numbers of samples are written.
type Counts uint8

const (
	Percent Counts = iota // as percentages of the samples in the profile
	Raw                   // as numbers of samples
	Norm                  // per operation; as percentages if a profile's Operations are unknown
)

// FrameSort says how the table of frames is sorted.
type FrameSort uint8

const (
	BySelf  FrameSort = iota // by the samples in the method itself
	ByTotal                  // by the samples in the method and in everything that it called or that was inlined into it
)

// Comments says which of HotSpot's comments the report shows beside the instructions.
type Comments uint8

const (
	Folded Comments = iota // each inlining chain once, without what it has in common with the chain before
	Full                   // all, as HotSpot and perfasm print them
	None
)
