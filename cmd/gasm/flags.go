package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/javasource"
	"github.com/gasm-profiler/gasm/jvm"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/report"
)

// reportFlags are the flags of profile and report both.
type reportFlags struct {
	hotThreshold               float64
	top                        int
	tooBig                     int
	printMargin                int
	mergeMargin                int
	mergeMethods               bool
	showCounts                 string
	ops                        float64
	intel                      bool
	drawIntra                  bool
	drawInter                  bool
	skipAsm                    bool
	skipInterpreter            bool
	skipStubs                  bool
	ascii                      bool
	color                      string
	pid                        int
	format                     string
	file                       string
	saveLog                    string
	sourcePaths                []string
	sources                    *javasource.Finder // nil without
	sourcesAsked, sourcesFound bool               // a line of a method, and at least one
	noPager                    bool
}

func (f *reportFlags) register(flags *pflag.FlagSet) {
	d := profile.DefaultOptions()
	flags.Float64Var(&f.hotThreshold, "hot-threshold", d.HotThreshold, "annotate regions with at least this `share` of the profile")
	flags.IntVar(&f.top, "top", 20, "show this `number` of rows in each table")
	flags.IntVar(&f.tooBig, "too-big-threshold", d.TooBigThreshold, "do not annotate regions of more `instructions` than this")
	flags.IntVar(&f.printMargin, "print-margin", d.PrintMargin, "show this many `instructions` around a region")
	flags.IntVar(&f.mergeMargin, "merge-margin", d.MergeMargin, "join hot instructions at most this many `bytes` apart into a region")
	flags.BoolVar(&f.mergeMethods, "merge-methods", false, "join all hot instructions of a method into one region")
	flags.StringVar(&f.showCounts, "show-counts", "percent", "show samples as `percent`, raw, or norm (per operation)")
	flags.Float64Var(&f.ops, "ops", 0, "`number` of operations for norm (default: from JMH's scores)")
	flags.BoolVar(&f.intel, "intel-syntax", false, "write Intel syntax instead of AT&T")
	flags.BoolVar(&f.drawIntra, "draw-intra-jumps", true, "draw arrows for jumps within a region")
	flags.BoolVar(&f.drawInter, "draw-inter-jumps", false, "mark jumps that leave a region")
	flags.BoolVar(&f.skipAsm, "skip-asm", false, "leave out the annotated code")
	flags.BoolVar(&f.skipInterpreter, "skip-interpreter", false, "leave the interpreter out of the tables")
	flags.BoolVar(&f.skipStubs, "skip-vm-stubs", false, "leave stubs out of the tables")
	flags.BoolVar(&f.ascii, "ascii", false, "draw with ASCII only (default in a locale without UTF-8)")
	flags.StringVar(&f.color, "color", "auto", "`when` to use colour: auto, always, never")
	flags.IntVar(&f.pid, "pid", 0, "report only the JVM with this process `id`")
	flags.StringVar(&f.format, "format", "text", "`format` of the report: text, json or pprof")
	flags.StringVar(&f.file, "report", "", "write the report to `FILE` instead of stdout")
	flags.StringVar(&f.saveLog, "save-log", "", "write the whole log, decoded and with the samples of each instruction, to `FILE`")
	flags.StringArrayVar(&f.sourcePaths, "source", nil, "show lines of Java from `PATH`, a folder or a jar or zip of sources; more than once for more")
	flags.BoolVar(&f.noPager, "no-pager", false, "do not show the report by $GASM_PAGER, $PAGER or less on a terminal")
}

// check finds flags that make no sense, before anything runs.
func (f *reportFlags) check() error {
	oneOf := func(name, value string, allowed ...string) error {
		for _, a := range allowed {
			if value == a {
				return nil
			}
		}
		return usage("--%s is %q; it can be %s", name, value, strings.Join(allowed, " or "))
	}
	if !(f.hotThreshold >= 0 && f.hotThreshold <= 1) { // NaN is neither
		return usage("--hot-threshold is %g; it is a share from 0 to 1", f.hotThreshold)
	}
	if f.ops < 0 || math.IsNaN(f.ops) || math.IsInf(f.ops, 0) {
		return usage("--ops is %g; it is a number of operations", f.ops)
	}
	if f.ops > 0 && f.showCounts != "norm" {
		return usage("--ops is for --show-counts norm")
	}
	for name, n := range map[string]int{"top": f.top, "too-big-threshold": f.tooBig, "print-margin": f.printMargin, "merge-margin": f.mergeMargin, "pid": f.pid} {
		if n < 0 {
			return usage("--%s is %d; it can't be negative", name, n)
		}
	}
	if err := f.openSources(); err != nil {
		return err
	}
	return errors.Join(oneOf("show-counts", f.showCounts, "percent", "raw", "norm"),
		oneOf("color", f.color, "auto", "always", "never"), oneOf("format", f.format, "text", "json", "pprof"))
}

// checkOutput finds a binary report that would go where text is read, before
// anything runs. shared tells that a command writes to the same stdout.
func (f *reportFlags) checkOutput(out *os.File, shared bool) error {
	switch {
	case f.format != "pprof" || f.file != "":
		return nil
	case shared:
		return usage("--format pprof is binary and would mix with the command's output; name a file for it: --report FILE")
	case term.IsTerminal(int(out.Fd())):
		return usage("--format pprof is binary, nothing for a terminal; use --report FILE or a redirection")
	}
	return nil
}

func (f *reportFlags) profileOptions() profile.Options {
	pprof := f.format == "pprof" // has places instead of annotated code
	o := profile.Options{HotThreshold: f.hotThreshold, PrintMargin: f.printMargin, MergeMargin: f.mergeMargin, MergeMethods: f.mergeMethods,
		TooBigThreshold: f.tooBig, SkipLines: f.skipAsm || pprof, SkipInterpreter: f.skipInterpreter, SkipStubs: f.skipStubs, Locations: pprof}
	if f.intel {
		o.Syntax = disasm.Intel
	}
	return o
}

// normalise gives the profiles the operations that --ops names. Where counts
// per operation are wanted and a profile has none, percents have to do.
func (f *reportFlags) normalise(ps []profile.Profile) (note string) {
	if f.showCounts != "norm" {
		return ""
	}
	for i := range ps {
		if f.ops > 0 {
			ps[i].Operations = f.ops
		}
		if ps[i].Operations == 0 {
			note = "counts per operation need --ops, for JMH's scores were not seen: percents are shown"
		}
	}
	if note != "" {
		f.showCounts = "percent"
	}
	return note
}

// fileWidth is for a report that goes to no terminal: names in its tables are
// not longer than that leaves room for. The JSON has them whole.
const fileWidth = 120

// reportOptions looks at where the report goes and at the environment.
func (f *reportFlags) reportOptions(out *os.File) report.Options {
	o := report.Options{ASCII: f.ascii || !utf8Locale(), Top: f.top, HotThreshold: f.hotThreshold,
		DrawIntraJumps: f.drawIntra, DrawInterJumps: f.drawInter}
	o.Counts = map[string]report.Counts{"raw": report.Raw, "norm": report.Norm}[f.showCounts]
	if f.sources != nil {
		o.Source = f.sourceLine
	}
	o.TableWidth = fileWidth
	terminal := f.file == "" && term.IsTerminal(int(out.Fd()))
	if terminal {
		if width, _, err := term.GetSize(int(out.Fd())); err == nil {
			o.Width, o.TableWidth = width, width
		}
	}
	// no-color.org: any value but the empty one switches colour off.
	o.Color = f.color == "always" || f.color == "auto" && terminal && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	return o
}

// utf8Locale tells whether the locale can show the box-drawing characters. An
// environment without any locale is a container or a CI more often than an old
// terminal; these take UTF-8.
func utf8Locale() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(os.Getenv(name)); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return true
}

// write writes the report where the flags say.
func (f *reportFlags) write(s streams, h report.Header, ps []profile.Profile) error {
	defer f.closeSources()
	out := s.out
	if f.file != "" {
		file, err := os.OpenFile(f.file, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
		if err != nil {
			return fmt.Errorf("writing the report: %w", err)
		}
		defer file.Close()
		out = file
	}
	writeAs := map[string]func(io.Writer, report.Header, []profile.Profile, report.Options) error{
		"text": report.WriteText, "json": report.WriteJSON, "pprof": report.WritePprof}[f.format]
	o := f.reportOptions(s.out)
	var err error
	if pager := f.pager(s.out); pager != "" {
		err = page(s, pager, func(w io.Writer) error { return writeAs(w, h, ps, o) })
	} else {
		err = writeAs(out, h, ps, o)
	}
	if err == nil && f.file != "" {
		err = out.Close()
	}
	if err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

// header describes a capture for the report.
func header(c *jvm.Capture) report.Header {
	h := report.Header{GasmVersion: version, Command: c.Command, Sampler: c.Sampler, Events: c.Events,
		Frequency: c.Frequency, Selection: c.Selection, Notes: c.Notes}
	for _, j := range c.JVMs {
		h.JVMs = append(h.JVMs, report.JVM{PID: j.PID, Main: j.Main, Version: j.Version, Fork: j.Fork})
	}
	return h
}
