package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/diff"
	"github.com/gasm-profiler/gasm/internal/regular"
	"github.com/gasm-profiler/gasm/profile/choice"
	"github.com/gasm-profiler/gasm/report"
)

func diffCommand(s streams) *cobra.Command {
	var flags diffFlags
	cmd := &cobra.Command{
		Use:   "diff [flags] A B | --before A,... --after B,...",
		Short: "Compare two captures or JSON reports",
		Long: `Compare two profiles of a program, A before and B after: methods, frames and
regions whose share of the samples changed by more than noise, sorted by change,
and the machine code of the regions in which it differs. A and B are each a folder
that 'gasm profile -o DIR' kept, or a file that 'gasm report --format json' wrote.
A folder has more: the code of regions that a report leaves out (--hot-threshold).
With --before and --after each side can be several of them, which gives a better
estimate of noise. The exit code is 0 whether or not something changed, and 3 if
something became slower by more than --fail-above.`,
		Example: `  gasm diff before after
  gasm diff --min-change 0.05 before.json after
  gasm diff --jvm surefire --thread app before after
  gasm diff --under 'Users::find' before after
  gasm diff --format json --report diff.json before after
  gasm diff --format html --report diff.html before after
  gasm diff --fail-above 5 --format markdown --before a1,a2 --after b1,b2`,
		DisableFlagsInUseLine: true,
		Args:                  func(_ *cobra.Command, args []string) error { return flags.checkArguments(args) },
		RunE: func(_ *cobra.Command, args []string) error {
			sides := flags.sides(args)
			if err := errors.Join(flags.check(), flags.report.checkInputs(slices.Concat(sides[0], sides[1])),
				flags.checkOutput(s.out)); err != nil {
				return err
			}
			return runDiff(s, &flags, sides)
		},
	}
	flags.register(cmd.Flags())
	return cmd
}

// diffFlags holds the values of the flags of gasm diff. Some of these flags are also flags of gasm report.
type diffFlags struct {
	minChange     float64
	format        string
	before, after []string
	failAbove     float64
	given         func(flag string) bool
	report        reportFlags
}

func (f *diffFlags) register(flags *pflag.FlagSet) {
	var all pflag.FlagSet
	f.report.register(&all)
	for _, name := range []string{"hot-threshold", "top", "intel-syntax", "ascii", "color", "width", "report", "no-pager",
		"jvm", "thread", "window-event", "window-method", "under", "merge-jvms"} {
		flags.AddFlag(all.Lookup(name))
	}
	flags.Lookup("hot-threshold").Usage =
		"show the code of changed regions with at least this `share` of a side, such as 0.05 or 5%"
	flags.Lookup("no-pager").Usage = "do not show the comparison with $GASM_PAGER, $PAGER or less on a terminal"
	flags.Lookup("jvm").Usage = "compare only JVMs whose main class or jar matches `REGEX`"
	flags.Lookup("thread").Usage =
		"compare only samples of `threads` of a kind, app, jit, gc or jvm, or whose names match a regular expression"
	flags.Lookup("merge-jvms").Usage = "compare all programs of a command as one"
	flags.StringVar(&f.format, "format", "text", "`format` of the comparison: text, json, html or markdown")
	flags.Lookup("report").Usage = "write the comparison to `FILE` instead of stdout"
	f.minChange = 0.01
	f.given = flags.Changed
	flags.StringSliceVar(&f.before, "before", nil, "captures or JSON reports of the side before, separated by `commas`")
	flags.StringSliceVar(&f.after, "after", nil, "captures or JSON reports of the side after, separated by `commas`")
	flags.Float64Var(&f.failAbove, "fail-above", 0,
		"exit with code 3 if a benchmark takes more time per operation, or a method a larger share of a program, by more than this `percent` and the noise")
	flags.Var((*share)(&f.minChange), "min-change", "show no change below this `share` of the profile, such as 0.01 or 1%")
}

// checkArguments returns an error unless the arguments and flags name both sides of the comparison.
func (f *diffFlags) checkArguments(args []string) error {
	switch named := f.given("before") || f.given("after"); {
	case named && len(args) > 0:
		return usage("diff: --before and --after take no other arguments, got %d", len(args))
	case named && (len(f.before) == 0 || len(f.after) == 0):
		return usage("diff: --before and --after go together: each names at least one capture or JSON report")
	case !named && len(args) != 2:
		return usage("diff: name two captures or JSON reports, got %d (several of each side: --before A1,A2 --after B1,B2)",
			len(args))
	}
	return nil
}

// sides returns the captures and reports of both sides.
func (f *diffFlags) sides(args []string) [2][]string {
	if len(args) == 2 {
		return [2][]string{args[:1], args[1:]}
	}
	return [2][]string{f.before, f.after}
}

// choice returns the first flag that is set and that chooses samples, such as "--jvm". It returns "" if there is none.
func (f *diffFlags) choice() string {
	for _, c := range []struct{ name, value string }{{"jvm", f.report.jvm}, {"thread", f.report.thread},
		{"window-event", f.report.windowEvent},
		{"window-method", f.report.windowMethod}, {"under", f.report.under}} {
		if c.value != "" {
			return "--" + c.name
		}
	}
	if f.report.mergeJVMs {
		return "--merge-jvms"
	}
	return ""
}

// checkOutput returns an error if an HTML page would be written to a terminal.
func (f *diffFlags) checkOutput(out *os.File) error {
	r := f.report
	r.format = f.format
	return r.checkOutput(out, false)
}

func (f *diffFlags) check() error {
	if !(f.failAbove >= 0 && f.failAbove <= maxPercent) { // NaN fails both comparisons
		return usage("--fail-above is %g; it is a percentage from 0 to %d", f.failAbove, maxPercent)
	}
	if !(f.minChange > 0 && f.minChange <= 1) { // NaN fails both comparisons
		return usage("--min-change is %g; it is a share above 0 and up to 1", f.minChange)
	}
	if err := oneOf("format", f.format, "text", "json", "html", "markdown"); err != nil {
		return err
	}
	return f.report.check()
}

// profileOptions returns the options for the profile of a capture. They ask for the code of every region that is hot
// enough to be shown as changed.
func (f *diffFlags) profileOptions() choice.Options {
	o := f.report.profileOptions()
	o.HotThreshold = min(f.minChange, o.HotThreshold)
	o.Regions = 1 // code of at most one region that is not hot; diff itself chooses which regions it shows
	o.MergeMargin, o.TooBigThreshold = diff.MergeMargin, 2000
	o.SkipLines, o.Listings, o.Hottest, o.History = false, 0, false, false // as for a JSON report
	return o
}

// maxPercent is the highest value of --fail-above.
const maxPercent = 1_000_000

func runDiff(s streams, flags *diffFlags, paths [2][]string) error {
	var sides [2]*diff.Side
	for i := range paths {
		var parts []*diff.Side
		for _, path := range paths[i] {
			side, err := loadSide(s, flags, path)
			if err != nil {
				return err
			}
			parts = append(parts, side)
		}
		var err error
		if sides[i], err = diff.Join(parts); err != nil {
			return err
		}
	}
	result := diff.Compare(sides[0], sides[1], diff.Options{MinChange: flags.minChange,
		HotThreshold: flags.report.hotThreshold})
	if len(result.Trials) == 0 {
		return fmt.Errorf("%s and %s have no trial in common: A has %d others, B has %d; diff compares trials and programs with the same name, "+
			"or if each side has only one", sides[0].Name, sides[1].Name, len(result.UnpairedA), len(result.UnpairedB))
	}
	if flags.given("fail-above") {
		result.Gate = result.Judge(flags.failAbove)
	}
	if err := flags.write(s, result); err != nil {
		return fmt.Errorf("writing the comparison: %w", err)
	}
	if result.Gate != nil && result.Gate.Failed > 0 {
		return &exitError{3, result.Gate.Err()}
	}
	return nil
}

// loadSide reads a capture folder or a JSON report.
func loadSide(s streams, flags *diffFlags, path string) (*diff.Side, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s does not exist; diff takes capture folders and JSON reports", path)
	case err != nil:
		return nil, fmt.Errorf("opening %s: %w", path, err)
	}
	var side *diff.Side
	if info.IsDir() {
		side, err = captureSide(s, flags, path)
	} else if choice := flags.choice(); choice != "" {
		return nil,
			usage("%s is for captures, but %s is a report, whose samples are fixed; 'gasm report --format json' has this flag too", choice, path)
	} else {
		side, err = jsonSide(path)
	}
	if err == nil && side.Empty() {
		chosen := ""
		if side.Chosen != "" {
			chosen = " (" + side.Chosen + ")"
		}
		err =
			fmt.Errorf("%s has no samples in its profile%s, so there is nothing to compare; 'gasm report' shows where they went",
				path, chosen)
	}
	return side, err
}

func jsonSide(path string) (*diff.Side, error) {
	file, _, err := regular.Open(path)
	if err != nil {
		return nil, fmt.Errorf("opening the report: %w", err)
	}
	defer file.Close()
	return diff.ReadJSON(file, path)
}

// captureSide makes one side of the comparison from a capture. It makes the capture's JSON report, and uses that.
func captureSide(s streams, flags *diffFlags, dir string) (*diff.Side, error) {
	c, err := capture.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("%w; diff takes capture folders and JSON reports", err)
	}
	defer c.Close()
	ps, err := profileOf(s, c, "reading the samples of "+dir, flags.profileOptions())
	if err != nil {
		return nil, err
	}
	return diff.FromReport(dir, report.JSON(ps, version)), nil
}

// write writes the comparison. The flags say in which format, and to which file.
func (f *diffFlags) write(s streams, r *diff.Result) error {
	write := func(w io.Writer) error { return r.WriteJSON(w, version) }
	switch f.format {
	case "html":
		write = func(w io.Writer) error { return r.WriteHTML(w, version) }
	case "markdown":
		write = func(w io.Writer) error { return r.WriteMarkdown(w, version) }
	case "text":
		o := f.report.reportOptions(s.out)
		look := o.Look
		look.Width = o.TableWidth
		write = func(w io.Writer) error {
			return r.WriteText(w, diff.TextOptions{Gasm: version, Look: look, Top: o.Top})
		}
	}
	return f.report.write(s, write)
}
