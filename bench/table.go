package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/internal/layout"
)

// tableWidth is the width at which text around the table is wrapped.
const tableWidth = 100

// A figure is one row of the table.
type figure struct {
	what   string
	values []float64 // one per round
	unit   unit
	goal   string // "" for a figure that has no goal and only explains another one
}

// A unit says how a value is printed.
type unit struct {
	format string
	scale  float64 // factor for the value
}

// The units of the table. Each scale converts from seconds, bytes, a number per second, or a ratio.
var (
	inSeconds      = unit{"%.2f s", 1}
	inMillis       = unit{"%.0f ms", 1e3}
	inMB           = unit{"%.0f MB", 1e-6}
	inMBPerSecond  = unit{"%.0f MB/s", 1e-6}
	inMillionsPerS = unit{"%.2f million/s", 1e-6}
	asRatio        = unit{"%.2f x", 1}
	inPercent      = unit{"%+.2f %%", 100}
	inNanos        = unit{"%.0f ns", 1e9}
	inBytes        = unit{"%.1f bytes", 1}
	inShare        = unit{"%.2f %%", 100}
	inNumber       = unit{"%.1f", 1}
)

func (u unit) text(v float64) string { return fmt.Sprintf(u.format, v*u.scale) }

// spread returns the lowest and the highest value without their unit: "44 to 62". It returns "" for fewer than two
// values.
func (f *figure) spread() string {
	if len(f.values) < 2 {
		return ""
	}
	low, _, _ := strings.Cut(f.unit.text(slices.Min(f.values)), " ")
	high, _, _ := strings.Cut(f.unit.text(slices.Max(f.values)), " ")
	return low + " to " + high
}

// median returns the middle value. For an even number of values, it returns the mean of the two middle values. It
// returns 0 if there are no values.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	if n == 0 {
		return 0
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// ratios returns a divided by b for each round.
func ratios(a, b []float64) []float64 {
	out := make([]float64, min(len(a), len(b)))
	for i := range out {
		out[i] = a[i] / b[i]
	}
	return out
}

// A section is the result of one measurement.
type section struct {
	name    string
	figures []figure
	err     error // why the measurement failed, or a *missingError with what this machine does not have
}

// writeTable writes the figures of all sections. Below them, it writes which measurements failed or were not made, and
// why.
func writeTable(w io.Writer, all []section) {
	header := []string{"", "", "median", "lowest to highest", "goal"}
	aligns := []layout.Align{layout.Left, layout.Left, layout.Right, layout.Right, layout.Left}
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
		text := s.name + ": it failed; stderr has the error"
		var lack *missingError
		if errors.As(s.err, &lack) {
			text = s.name + ": not measured: " + lack.what
		}
		for _, line := range layout.Wrap(text, tableWidth) {
			fmt.Fprintln(w, line)
		}
	}
}

// writeHead writes what was measured, and on which machine.
func writeHead(ctx context.Context, w io.Writer, s *setup) {
	version := "gasm"
	if r, err := run(ctx, []string{s.gasm, "version"}, nil); err == nil {
		version, _, _ = strings.Cut(r.stdout, "\n")
	}
	parts := []string{version, fmt.Sprintf("%s/%s, %s", runtime.GOOS, runtime.GOARCH,
		layout.Plural(runtime.NumCPU(), "CPU"))}
	var jdks []string
	for _, j := range s.jdks {
		jdks = append(jdks, "JDK "+j.version)
	}
	if len(jdks) > 0 {
		parts = append(parts, strings.Join(jdks, ", "))
	}
	rounds := layout.Plural(s.rounds, "round")
	if s.short {
		rounds += ", -short: the figures mean nothing"
	}
	for _, line := range layout.Wrap(strings.Join(append(parts, rounds), "; ")+".", tableWidth) {
		fmt.Fprintln(w, line)
	}
	fmt.Fprintln(w)
}
