package main

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"

	"github.com/spf13/pflag"

	"github.com/gasm-profiler/gasm/cmd/gasm/halfwritten"
	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/mca"
	"github.com/gasm-profiler/gasm/profile/calltree"
	"github.com/gasm-profiler/gasm/profile/choice"
	"github.com/gasm-profiler/gasm/profile/threads"
	"github.com/gasm-profiler/gasm/profile/windows"
	"github.com/gasm-profiler/gasm/report"
	"github.com/gasm-profiler/gasm/report/text/counts"
	"github.com/gasm-profiler/gasm/report/text/listing"
	"github.com/gasm-profiler/gasm/report/text/view"
)

// reportFlags holds the values of the flags that profile, attach and report share.
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
	skipNative      bool
	ascii           bool
	color           string
	pid             int
	jvm, thread     string
	mergeJVMs       bool
	windowEvent     string
	windowMethod    string
	sites           string
	jvmExpression   *regexp.Regexp // value of --jvm, compiled by check
	threads         threads.Choice // value of --thread, parsed by check
	window          windows.EventChoice
	format          string
	file            string
	saveLog         string
	instructions    int
	methods         []string // patterns; --save-log writes the methods that match one of them, or all if there are none
	sourcePaths     []string
	noPager         bool
	callers         int
	siteCallers     int
	idleThreads     bool
	what            string
	uncertainty     bool
	eachThread      bool
	tree            float64
	under, by       string
	underMethod     calltree.Pattern // value of --under, parsed by check
	byMethods       []calltree.Pattern
	mca             string
	model           *mca.Tool          // value of --mca, found by check; nil without the flag
	files           *halfwritten.Files // the files that the report and the log are written to
}

func (f *reportFlags) register(flags *pflag.FlagSet) {
	f.files = new(halfwritten.Files)
	d := choice.DefaultOptions()
	f.hotThreshold = d.HotThreshold
	flags.Var((*share)(&f.hotThreshold), "hot-threshold",
		"annotate regions with at least this `share` of the profile, such as 0.05 or 5%")
	flags.IntVar(&f.regions, "regions", d.Regions,
		"annotate at least this `number` of regions: the hottest ones of the hottest methods (1: only those that --hot-threshold asks for)")
	flags.IntVar(&f.minSamples, "min-samples", d.MinSamples,
		"of regions below --hot-threshold, annotate only those with at least this `number` of samples (1: all that --regions asks for); nothing with fewer is called hottest")
	flags.StringVar(&f.sort, "sort", "self",
		"sort frames by `what`: self, or total (with what they called or, without call stacks, with what was inlined into them)")
	flags.StringVar(&f.comments, "comments", "folded",
		"`how` HotSpot's comments are shown: folded, full (as in perfasm), or none")
	flags.IntVar(&f.width, "width", 0,
		"write for a terminal of this many `columns` (default: the terminal's, else $COLUMNS; in files, names are not shortened)")
	flags.IntVar(&f.top, "top", 20, "show this `number` of rows in each table")
	flags.IntVar(&f.tooBig, "too-big-threshold", d.TooBigThreshold,
		"of regions with more `instructions` than this, annotate only the code around the hottest ones")
	flags.IntVar(&f.printMargin, "print-margin", d.PrintMargin, "show this many `instructions` around a region")
	flags.IntVar(&f.mergeMargin, "merge-margin", d.MergeMargin,
		"join hot instructions at most this many `bytes` apart into a region")
	flags.BoolVar(&f.mergeMethods, "merge-methods", false, "join all hot instructions of a method into one region")
	flags.StringVar(&f.showCounts, "show-counts", "percent",
		"`how` samples are shown: percent, raw, or norm (per operation)")
	flags.Float64Var(&f.ops, "ops", 0, "`number` of operations for norm (default: from JMH's scores)")
	flags.BoolVar(&f.intel, "intel-syntax", false, "write Intel syntax instead of AT&T")
	flags.BoolVar(&f.drawIntra, "draw-intra-jumps", true, "draw arrows for jumps within a region")
	flags.BoolVar(&f.drawInter, "draw-inter-jumps", false, "mark jumps that leave a region")
	flags.BoolVar(&f.skipAsm, "skip-asm", false, "leave out the annotated code")
	flags.BoolVar(&f.skipInterpreter, "skip-interpreter", false, "leave the interpreter out of the tables")
	flags.BoolVar(&f.skipStubs, "skip-vm-stubs", false, "leave stubs out of the tables")
	flags.BoolVar(&f.skipNative, "skip-native-code", false, "do not annotate native functions; the tables still have them")
	flags.BoolVar(&f.ascii, "ascii", false, "draw with ASCII only (default in a locale without UTF-8)")
	flags.StringVar(&f.color, "color", "auto", "`when` to use colour: auto, always, never")
	flags.IntVar(&f.pid, "pid", 0, "report only the JVM with this process `id`")
	flags.StringVar(&f.jvm, "jvm", "",
		"report only JVMs whose main class or jar matches `REGEX`, or whose process id it is")
	flags.StringVar(&f.thread, "thread", "",
		"report only `threads` of a kind, app, jit, gc or jvm, or whose names match a regular expression")
	flags.BoolVar(&f.mergeJVMs, "merge-jvms", false,
		"one report for all programs that the command started, not one for each main class and JDK")
	flags.StringVar(&f.windowEvent, "window-event", "",
		"count only samples that were taken during `EVENT`s: gc, safepoint, or an event of the program's own on the sample's thread, such as jfr:com.acme.Request; a ! before it selects all other samples")
	flags.StringVar(&f.windowMethod, "window-method", "",
		"count only samples whose thread was in `CLASS::METHOD`, or in what it calls; found in the call stacks (--stacks), or else in what an agent has recorded of its calls")
	flags.StringVar(&f.under, "under", "",
		"count only samples with `CLASS::METHOD` on their call stack, or inlined at the sample")
	flags.StringVar(&f.by, "by", "",
		"divide the samples between callers: a list of `METHODS`, such as 'A::x,B::y'; the innermost one counts")
	flags.BoolVar(&f.eachThread, "each-thread", false,
		"in the table of threads, have a row for each name, not for each kind")
	flags.BoolVar(&f.uncertainty, "uncertainty", true,
		"show in tables how far shares may be off, given the number of samples (±, 95 %)")
	flags.IntVar(&f.callers, "callers", 5, "show the callers of this `number` of the hottest frames (0: none)")
	flags.Var((*share)(&f.tree), "tree",
		"show the tree of calls, without those that have less than this `share` of the samples, for example --tree=5%")
	flags.Lookup("tree").NoOptDefVal = "1%"
	flags.StringVar(&f.mca, "mca", "",
		"ask `PROGRAM`, llvm-mca or osaca, how fast the hottest loops are, on this machine's processor or on another one, for example --mca=llvm-mca:znver3")
	flags.Lookup("mca").NoOptDefVal = mca.Auto
	flags.StringVar(&f.sites, "sites", string(event.SiteOwn),
		"name the places of locks, parks and allocations by this `frame` of the stack: own (the innermost one outside the JDK) or innermost")
	flags.IntVar(&f.siteCallers, "site-callers", 0,
		"show the callers of this `number` of places of each kind: locks, parks and allocations")
	flags.BoolVar(&f.idleThreads, "idle-threads", false,
		"with what was recorded by --wall, show threads that only waited for work in the queue of their pool, too")
	flags.StringVar(&f.what, "what", "samples",
		"with --format collapsed, `what` to count at each stack: samples, or wall (ns of what --wall recorded)")
	flags.StringVar(&f.format, "format", "text", "`format` of the report: "+layout.Or(report.FormatNames()))
	flags.IntVar(&f.instructions, "instructions", 12_000,
		"with --format html, include the whole code of the hottest methods, up to this `number` of instructions in total")
	flags.StringVar(&f.file, "report", "", "write the report to `FILE` instead of stdout")
	flags.StringVar(&f.saveLog, "save-log", "",
		"write all of the log, decoded and with the samples of each instruction, to `FILE`")
	flags.StringArrayVar(&f.sourcePaths, "source", nil,
		"show lines of source (Java, Kotlin, Scala …) from `PATH`, a folder or a jar or zip of sources; may be given several times")
	flags.BoolVar(&f.noPager, "no-pager", false, "do not show the report with $GASM_PAGER, $PAGER or less on a terminal")
}

// check is called before anything runs. It returns an error if the value of a flag makes no sense. It also parses the
// values of the flags that choose samples.
func (f *reportFlags) check() error {
	if !(f.hotThreshold >= 0 && f.hotThreshold <= 1) { // NaN fails both comparisons
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
	if !(f.tree >= 0 && f.tree <= 1) {
		return usage("--tree is %g; it is a share from 0 to 1", f.tree)
	}
	for _, m := range f.methods {
		if err := report.CheckPattern(m); err != nil {
			return usage("--method: %v", err)
		}
	}
	for _, number := range []struct {
		flag  string
		value int
	}{
		{"regions", f.regions}, {"min-samples", f.minSamples}, {"top", f.top}, {"too-big-threshold", f.tooBig},
		{"print-margin", f.printMargin}, {"merge-margin", f.mergeMargin}, {"instructions", f.instructions}, {"pid", f.pid},
		{"callers", f.callers},
		{"site-callers", f.siteCallers},
	} {
		if number.value < 0 {
			return usage("--%s is %d; it can't be negative", number.flag, number.value)
		}
		if limit, ok := choice.Limits[number.flag]; ok && number.value > limit {
			return usage("--%s is %d; it can be %d at most", number.flag, number.value, limit)
		}
	}
	return errors.Join(f.checkChoice(), f.findModel(), oneOf("show-counts", f.showCounts, choices["show-counts"]...),
		oneOf("sort", f.sort, choices["sort"]...), oneOf("comments", f.comments, choices["comments"]...),
		oneOf("color", f.color, choices["color"]...), oneOf("format", f.format, choices["format"]...),
		oneOf("sites", f.sites, choices["sites"]...), f.checkWhat())
}

// checkWhat returns an error if the value of --what is unknown or does not fit the format.
func (f *reportFlags) checkWhat() error {
	if err := oneOf("what", f.what, choices["what"]...); err != nil || f.what == "samples" || f.format == "collapsed" {
		return err
	}
	return usage("--what %s is for --format collapsed; pprof has both, and the page and the text show both", f.what)
}

// checkChoice parses --by and the flags that choose samples: --jvm, --thread, --window-event and --under.
func (f *reportFlags) checkChoice() (err error) {
	if f.jvmExpression, err = compile("jvm", f.jvm); err != nil {
		return err
	}
	if f.threads, err = threads.ParseChoice(f.thread); err != nil {
		return usage("--thread: %v", err)
	}
	if f.window, err = windows.ParseEventChoice(f.windowEvent); err != nil {
		return usage("--window-event: %v", err)
	}
	if f.under != "" {
		if f.underMethod, err = calltree.ParsePattern(f.under); err != nil {
			return usage("--under: %v", err)
		}
	}
	if f.byMethods, err = calltree.ParsePatterns(f.by); err != nil {
		return usage("--by: %v", err)
	}
	return nil
}

// findModel finds the program that --mca names.
func (f *reportFlags) findModel() (err error) {
	if f.mca == "" {
		return nil
	}
	if f.skipAsm || report.FormatOf(f.format).Locations {
		return usage("--mca is about loops, which this report does not have")
	}
	var wrong *mca.ChoiceError
	if f.model, err = mca.Find(f.mca); errors.As(err, &wrong) {
		return usage("--mca: %v", err)
	} else if err != nil {
		return fmt.Errorf("--mca: %w", err)
	}
	if f.intel && f.model.OSACA() {
		return usage("--mca=osaca is not for --intel-syntax")
	}
	return nil
}

func oneOf(name, value string, allowed ...string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	return usage("--%s is %q; it can be %s", name, value, layout.Or(allowed))
}

// profileOptions returns the options of the profile that the flags ask for.
func (f *reportFlags) profileOptions() choice.Options {
	locations := report.FormatOf(f.format).Locations // such a format has locations instead of annotated code
	html := f.format == "html"                       // the page has the code of whole methods instead of regions
	o := choice.Options{HotThreshold: f.hotThreshold, Regions: f.regions, MinSamples: f.minSamples,
		PrintMargin: f.printMargin, MergeMargin: f.mergeMargin, MergeMethods: f.mergeMethods,
		TooBigThreshold: f.tooBig, SkipLines: f.skipAsm || locations || html, History: !locations, Parts: html,
		SkipInterpreter: f.skipInterpreter, SkipStubs: f.skipStubs, SkipNative: f.skipNative,
		Locations: locations, Stacks: true, Under: f.underMethod, By: f.byMethods, Syntax: f.syntax(), PID: f.pid,
		JVM:     f.jvmExpression,
		Threads: f.threads, WindowEvent: f.window, WindowMethod: f.windowMethod, Sites: event.SiteRule(f.sites),
		MergeJVMs: f.mergeJVMs, Operations: f.ops}
	if html && !f.skipAsm {
		o.Listings = f.instructions
	}
	o.Hottest = !locations && !f.skipAsm
	return o
}

func (f *reportFlags) syntax() disasm.Syntax {
	if f.intel {
		return disasm.Intel
	}
	return disasm.ATT
}

// leastWidth and mostWidth limit --width, in columns.
const leastWidth, mostWidth = 40, 10_000

// reportOptions returns the options of a report from the flags and the environment. If no flag sets the colours or the
// width, they depend on out, the stream that gets the report. If the report goes to a file (--report), method names are
// not shortened.
func (f *reportFlags) reportOptions(out *os.File) report.Options {
	o := report.Options{Gasm: version, Intel: f.intel, Options: view.Options{
		Look: layout.LookOf(out), Top: f.top,
		Counts: map[string]counts.Unit{"raw": counts.Raw, "norm": counts.Norm}[f.showCounts], // otherwise percentages
		Code: listing.Options{DrawIntraJumps: f.drawIntra, DrawInterJumps: f.drawInter,
			Comments: map[string]listing.Comments{"full": listing.Full, "none": listing.None}[f.comments]}}} // otherwise folded
	o.Threads, o.Margins, o.Callers, o.SiteCallers, o.Idle, o.Tree, o.TreeFrom =
		f.eachThread, f.uncertainty, f.callers, f.siteCallers, f.idleThreads, f.tree, f.underMethod
	o.Wall = f.what == "wall"
	if f.sort == "total" {
		o.Sort = view.ByTotal
	}
	if f.file != "" { // a file needs neither colours nor a width
		o.Color, o.Width = false, 0
	}
	o.Width = cmp.Or(f.width, o.Width)
	o.ASCII = o.ASCII || f.ascii
	o.Color = f.color == "always" || f.color == "auto" && o.Color
	o.TableWidth = o.Width
	return o
}
