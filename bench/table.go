package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"

	"github.com/olekukonko/tablewriter/tw"

	"github.com/gasm-profiler/gasm/layout"
)

// width is how wide the table may be.
const width = 100

// A figure is one row of the table.
type figure struct {
	what   string
	values []float64 // one per round
	unit   unit
	goal   string // "" for a figure that only explains another one
}

// A unit says how a value is written.
type unit struct {
	format string
	scale  float64 // the value is multiplied by it
}

var (
	seconds   = unit{"%.2f s", 1}
	millis    = unit{"%.0f ms", 1e3}
	megabytes = unit{"%.0f MB", 1e-6}
	perSecond = unit{"%.0f MB/s", 1e-6}
	millions  = unit{"%.2f million/s", 1e-6}
	times     = unit{"%.2f x", 1}
	percent   = unit{"%+.2f %%", 100}
	bytesEach = unit{"%.1f bytes", 1}
)

func (u unit) text(v float64) string { return fmt.Sprintf(u.format, v*u.scale) }

// spread gives the lowest and the highest value, the unit left out.
func (f *figure) spread() string {
	if len(f.values) < 2 {
		return ""
	}
	low, _, _ := strings.Cut(f.unit.text(slices.Min(f.values)), " ")
	high, _, _ := strings.Cut(f.unit.text(slices.Max(f.values)), " ")
	return low + " to " + high
}

// median returns the middle value, the mean of the middle two where their
// number is even, and 0 for none.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	if n == 0 {
		return 0
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// ratios divides round by round.
func ratios(a, b []float64) []float64 {
	out := make([]float64, min(len(a), len(b)))
	for i := range out {
		out[i] = a[i] / b[i]
	}
	return out
}

// A section is what came of one measurement.
type section struct {
	name    string
	figures []figure
	err     error // what it lacks, or why it failed
}

func writeTable(w io.Writer, all []section) {
	header := []string{"", "", "median", "lowest to highest", "goal"}
	aligns := []tw.Align{tw.AlignLeft, tw.AlignLeft, tw.AlignRight, tw.AlignRight, tw.AlignLeft}
	var rows [][]string
	for _, s := range all {
		name := s.name
		for _, f := range s.figures {
			rows = append(rows, []string{name, f.what, f.unit.text(median(f.values)), f.spread(), f.goal})
			name = ""
		}
	}
	if len(rows) > 0 {
		for _, line := range layout.Table(header, rows, aligns) {
			fmt.Fprintln(w, line)
		}
	}
	for _, s := range all {
		if s.err == nil {
			continue
		}
		text := s.name + ": it failed, stderr says how"
		var lack *missingError
		if errors.As(s.err, &lack) {
			text = s.name + ": not measured: " + lack.what
		}
		for _, line := range layout.Wrap(text, width) {
			fmt.Fprintln(w, line)
		}
	}
}

// writeHead says what was measured, and where.
func writeHead(ctx context.Context, w io.Writer, s *setup) {
	version := "gasm"
	if r, err := run(ctx, []string{s.gasm, "version"}, nil); err == nil {
		version, _, _ = strings.Cut(r.stdout, "\n")
	}
	var jdks []string
	for _, j := range s.jdks {
		jdks = append(jdks, j.name)
	}
	small := ""
	if s.short {
		small = ", -short: the figures mean nothing"
	}
	text := fmt.Sprintf("%s; %s/%s, %s; %s; %s%s.", version, runtime.GOOS, runtime.GOARCH, layout.Plural(runtime.NumCPU(), "CPU"),
		strings.Join(jdks, ", "), layout.Plural(s.rounds, "round"), small)
	for _, line := range layout.Wrap(text, width) {
		fmt.Fprintln(w, line)
	}
	fmt.Fprintln(w)
}
