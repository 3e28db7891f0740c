package report

import (
	"bufio"
	"io"

	"github.com/gasm-profiler/gasm/profile"
)

// Header is what the report says about the capture.
type Header struct {
	GasmVersion string
	Command     []string
	Sampler     string   // "perf", "dtrace"
	Events      []string // as sampled: "cpu-clock"
	Frequency   int      // Hz; 0 when unknown
	JVMs        []JVM
	Selection   string   // what limits the code that HotSpot printed, as flags: "--skip-c1"; "" for all
	Notes       []string // what the sampler said, and where times were estimated
}

// A JVM is one of the processes that the command became.
type JVM struct {
	PID     int
	Main    string // main class, "" when unknown
	Version string // "17.0.15+6", "" when unknown
	Fork    int    // JMH's number of the fork, 0 for none
}

// Counts says how the text report writes numbers of samples.
type Counts uint8

const (
	Percent Counts = iota // of the samples in the profile
	Raw                   // as they are
	Norm                  // per operation: for profiles with Operations
)

// Options are the choices that the text report offers. The JSON report has all there is, and ignores most of them.
type Options struct {
	ASCII        bool // no other characters in what gasm itself draws
	Color        bool // ANSI colours
	Width        int  // columns of the terminal; 0 for no terminal
	TableWidth   int  // columns that a table may take; 0 for no shortening of names
	Counts       Counts
	Top          int     // rows per table; 0 for all
	HotThreshold float64 // what profile took for Region.Hot, as a fraction; for the heading

	DrawIntraJumps bool // arrows for the jumps within a region
	DrawInterJumps bool // marks at jumps that leave the lines shown

	// Source finds the line of Java that a method (pkg.Class::method) has at a line number; "" for none. Nil when there are
	// no sources.
	Source func(method string, line int) string
}

// WriteText writes the text report of ps, one profile per trial.
func WriteText(w io.Writer, h Header, ps []profile.Profile, o Options) error {
	r := &textReport{out: bufio.NewWriter(w), header: h, Options: o, glyphs: unicodeGlyphs, single: len(ps) == 1}
	if o.ASCII {
		r.glyphs = asciiGlyphs
	}
	r.capture(ps)
	for i := range ps {
		r.p = &ps[i]
		if !r.single {
			r.trialHeading(i+1, len(ps))
		}
		r.trial()
	}
	return r.out.Flush()
}

// trial writes all that the report says about one profile.
func (r *textReport) trial() {
	r.summary()
	if r.empty() {
		r.nothing()
	} else {
		r.hotRegions()
		r.regionTable()
		r.methodTable()
		r.frameTable()
		r.nativeTable()
		r.sourceTable()
		r.threadTable()
		r.forkTable()
	}
	r.account()
}
