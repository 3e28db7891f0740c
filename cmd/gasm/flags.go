package main

import (
	"cmp"
	"errors"
	"math"
	"os"
	"regexp"

	"github.com/spf13/pflag"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/report"
	"github.com/gasm-profiler/gasm/report/text"
)

// reportFlags are the values of the flags that profile and report share.
type reportFlags struct {
	hotThreshold    float64
	regions         int
	minSamples      int
	top             int
	sort            string
	comments        string
	width           int
	tooBig          int
	printMargin     int
	mergeMargin     int
	mergeMethods    bool
	showCounts      string
	ops             float64
	intel           bool
	drawIntra       bool
	drawInter       bool
	skipAsm         bool
	skipInterpreter bool
	skipStubs       bool
	ascii           bool
	color           string
	pid             int
	jvm, thread     string
	mergeJVMs       bool
	windowEvent     string
	windowMethod    string
	jvmExpression   *regexp.Regexp  // of jvm, once it is checked
	threads         profile.Threads // of thread, once it is checked
	window          profile.WindowEvent
	format          string
	file            string
	saveLog         string
	instructions    int
	methods         []string // patterns of those whose code saveLog has; none: all
	sourcePaths     []string
	noPager         bool
}

func (f *reportFlags) register(flags *pflag.FlagSet) {
	d := profile.DefaultOptions()
	f.hotThreshold = d.HotThreshold
	flags.Var((*share)(&f.hotThreshold), "hot-threshold", "annotate regions with at least this `share` of the profile, as 0.05 or 5%")
	flags.IntVar(&f.regions, "regions", d.Regions, "annotate this `number` of regions at least: the hottest ones of the hottest methods (1: no more than --hot-threshold asks for)")
	flags.IntVar(&f.minSamples, "min-samples", d.MinSamples, "of regions that are less hot than --hot-threshold, annotate those with at least this `number` of samples (1: all that --regions asks for)")
	flags.StringVar(&f.sort, "sort", "self", "sort frames by `what`: self, or total (with what was inlined into them)")
	flags.StringVar(&f.comments, "comments", "folded", "`how` much of HotSpot's comments is shown: folded, full, as perfasm has them, or none")
	flags.IntVar(&f.width, "width", 0, "write for a terminal of this many `columns` (default: the terminal's, else $COLUMNS; names are whole in files)")
	flags.IntVar(&f.top, "top", 20, "show this `number` of rows in each table")
	flags.IntVar(&f.tooBig, "too-big-threshold", d.TooBigThreshold, "of regions of more `instructions` than this, annotate only what is around the hottest ones")
	flags.IntVar(&f.printMargin, "print-margin", d.PrintMargin, "show this many `instructions` around a region")
	flags.IntVar(&f.mergeMargin, "merge-margin", d.MergeMargin, "join hot instructions at most this many `bytes` apart into a region")
	flags.BoolVar(&f.mergeMethods, "merge-methods", false, "join all hot instructions of a method into one region")
	flags.StringVar(&f.showCounts, "show-counts", "percent", "`how` samples are shown: percent, raw, or norm (per operation)")
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
	flags.StringVar(&f.jvm, "jvm", "", "report only JVMs whose main class or jar matches `REGEX`, or whose process id it is")
	flags.StringVar(&f.thread, "thread", "", "report only `threads` of a kind, app, jit, gc or jvm, or whose names match a regular expression")
	flags.BoolVar(&f.mergeJVMs, "merge-jvms", false, "one report for all programs that the command started, not one for each main class and JDK")
	flags.StringVar(&f.windowEvent, "window-event", "", "count only samples that were taken during `EVENT`s: gc, safepoint, or jfr:com.acme.Request for one of the program's own, on its thread; with ! in front for all others")
	flags.StringVar(&f.windowMethod, "window-method", "", "count only samples whose thread was in `CLASS::METHOD`, or in what it calls; profile and attach have an agent tell of its calls")
	flags.StringVar(&f.format, "format", "text", "`format` of the report: "+layout.Or(report.FormatNames()))
	flags.IntVar(&f.instructions, "instructions", 12_000, "with --format html, have the code of the hottest methods, whole, up to this `number` of instructions in all")
	flags.StringVar(&f.file, "report", "", "write the report to `FILE` instead of stdout")
	flags.StringVar(&f.saveLog, "save-log", "", "write the whole log, decoded and with the samples of each instruction, to `FILE`")
	flags.StringArrayVar(&f.sourcePaths, "source", nil, "show lines of source (Java, Kotlin, Scala …) from `PATH`, a folder or a jar or zip of sources; more than once for more")
	flags.BoolVar(&f.noPager, "no-pager", false, "do not show the report by $GASM_PAGER, $PAGER or less on a terminal")
}

// check finds values that make no sense, before anything runs.
func (f *reportFlags) check() error {
	if !(f.hotThreshold >= 0 && f.hotThreshold <= 1) { // NaN is neither
		return usage("--hot-threshold is %g; it is a share from 0 to 1", f.hotThreshold)
	}
	if f.ops < 0 || math.IsNaN(f.ops) || math.IsInf(f.ops, 0) {
		return usage("--ops is %g; it is a number of operations", f.ops)
	}
	if f.ops > 0 && f.showCounts != "norm" {
		return usage("--ops is for --show-counts norm")
	}
	if f.width != 0 && (f.width < leastWidth || f.width > mostWidth) {
		return usage("--width is %d; it is a number of columns from %d to %d", f.width, leastWidth, mostWidth)
	}
	for _, m := range f.methods {
		if err := report.CheckPattern(m); err != nil {
			return usage("--method: %v", err)
		}
	}
	for name, n := range map[string]int{"top": f.top, "regions": f.regions, "min-samples": f.minSamples, "too-big-threshold": f.tooBig, "print-margin": f.printMargin, "instructions": f.instructions, "merge-margin": f.mergeMargin, "pid": f.pid} {
		if n < 0 {
			return usage("--%s is %d; it can't be negative", name, n)
		}
		if limit, ok := profile.Limits[name]; ok && n > limit {
			return usage("--%s is %d; it can be %d at most", name, n, limit)
		}
	}
	return errors.Join(f.checkChoice(), oneOf("show-counts", f.showCounts, choices["show-counts"]...),
		oneOf("sort", f.sort, choices["sort"]...), oneOf("comments", f.comments, choices["comments"]...),
		oneOf("color", f.color, choices["color"]...), oneOf("format", f.format, choices["format"]...))
}

// checkChoice reads which samples are chosen.
func (f *reportFlags) checkChoice() (err error) {
	if f.jvmExpression, err = compile("jvm", f.jvm); err != nil {
		return err
	}
	if f.threads, err = profile.ParseThreads(f.thread); err != nil {
		return usage("--thread: %v", err)
	}
	if f.window, err = profile.ParseWindowEvent(f.windowEvent); err != nil {
		return usage("--window-event: %v", err)
	}
	return nil
}

func oneOf(name, value string, allowed ...string) error {
	for _, a := range allowed {
		if value == a {
			return nil
		}
	}
	return usage("--%s is %q; it can be %s", name, value, layout.Or(allowed))
}

// profileOptions are what the flags mean for the profile.
func (f *reportFlags) profileOptions() profile.Options {
	locations := report.FormatOf(f.format).Locations // in place of annotated code
	html := f.format == "html"                       // it has whole methods
	o := profile.Options{HotThreshold: f.hotThreshold, Regions: f.regions, MinSamples: f.minSamples, PrintMargin: f.printMargin, MergeMargin: f.mergeMargin, MergeMethods: f.mergeMethods,
		TooBigThreshold: f.tooBig, SkipLines: f.skipAsm || locations || html, History: html, Parts: html, SkipInterpreter: f.skipInterpreter, SkipStubs: f.skipStubs,
		Locations: locations, Syntax: f.syntax(), PID: f.pid, JVM: f.jvmExpression,
		Threads: f.threads, WindowEvent: f.window, WindowMethod: f.windowMethod, MergeJVMs: f.mergeJVMs, Operations: f.ops}
	if html && !f.skipAsm {
		o.Listings = f.instructions
	}
	o.Hottest = (html || f.format == "json") && !f.skipAsm
	return o
}

func (f *reportFlags) syntax() disasm.Syntax {
	if f.intel {
		return disasm.Intel
	}
	return disasm.ATT
}

// A terminal may have so many columns.
const leastWidth, mostWidth = 40, 10_000

// reportOptions are what the flags mean for a report that goes to out, in this
// environment. In a file names are whole.
func (f *reportFlags) reportOptions(out *os.File) report.Options {
	o := report.Options{Gasm: version, Intel: f.intel, Options: text.Options{Look: layout.LookOf(out), Top: f.top, DrawIntraJumps: f.drawIntra, DrawInterJumps: f.drawInter,
		Counts:   map[string]text.Counts{"raw": text.Raw, "norm": text.Norm}[f.showCounts],
		Comments: map[string]text.Comments{"full": text.Full, "none": text.None}[f.comments]}}
	if f.sort == "total" {
		o.Sort = text.ByTotal
	}
	if f.file != "" { // where neither colours nor a width are wanted
		o.Color, o.Width = false, 0
	}
	o.Width = cmp.Or(f.width, o.Width)
	o.ASCII = o.ASCII || f.ascii
	o.Color = f.color == "always" || f.color == "auto" && o.Color
	o.TableWidth = o.Width
	return o
}
