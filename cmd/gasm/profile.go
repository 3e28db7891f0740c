package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/progress"
	"github.com/gasm-profiler/gasm/profile/windows"
	"github.com/gasm-profiler/gasm/record"
)

// profileFlags holds the values of the flags that only profile has, and of those that it
// shares with attach.
type profileFlags struct {
	recordFlags
	options                record.Options
	sampler, code          string
	windowStart, windowEnd string
	windowFrom             string
	recordOnly             bool
}

func (f *profileFlags) register(flags *pflag.FlagSet) {
	f.recordFlags.register(flags)
	o := &f.options
	flags.StringVar(&f.sampler, "sampler", string(record.SamplerAuto),
		"`sampler` to use: auto (the first that works), native (gasm itself), perf, dtrace or, on macOS, xctrace")
	flags.BoolVar(&o.Sudo, "sudo", false, "run dtrace with sudo -n, so that gasm itself need not be root")
	flags.StringVar(&f.windowStart, "window-start", "", "measure from each line of output that matches `RE`")
	flags.StringArrayVar(&o.Methods, "method", nil,
		"print only the code of methods that match `PATTERN`, such as java.util.HashMap::*; may be given several times")
	flags.StringVar(&f.code, "code", string(record.CodeAuto),
		"`how` gasm gets the code: copy reads it out of the JVM's memory, which costs very little; print has HotSpot print it; auto copies if that is possible")
	flags.StringVar(&f.kinds, "events", defaultKinds,
		"`kinds` of events to record, separated by commas: gc, safepoint, compile, inlining, lock, alloc, park, sleep, class, thread, jni, jfr (the program's own), usdt:PROVIDER:NAME; or none; default stands for gc,safepoint if the command is java itself")
	flags.BoolVar(&o.SkipC1, "skip-c1", false,
		"leave out the code of methods that C1 compiled: printing that code slows a warm-up the most")
	flags.StringVar(&f.windowEnd, "window-end", "", "measure until the next line of output that matches `RE`")
	flags.StringVar(&o.WindowFile, "window-file", "",
		"measure in the windows that the program has written to `FILE` by its end")
	flags.BoolVar(&f.recordOnly, "record-only", false,
		"keep the capture (-o) and make no report; the exit code is the command's own")
	flags.StringVar(&f.windowFrom, "window-from", "", "look for such lines on `stdout, stderr or both` (default: both)")
}

// recordOptions returns the options for recording a command. It checks the flags, before anything runs.
func (f *profileFlags) recordOptions(s streams, command []string, window windows.EventChoice) (o record.Options,
	err error) {
	o = f.options
	if o.Counters, err = f.counters(); err != nil {
		return o, err
	}
	if o.Events, err = f.events(window); err != nil {
		return o, err
	}
	o.Stacks, o.WallHertz = f.stackChoice(), f.wall
	o.Frequency, o.FixedFrequency, o.Delay, o.Length = f.frequency, f.fixed, f.delay, f.length
	if o.WindowStart, err = compile("window-start", f.windowStart); err != nil {
		return o, err
	}
	if o.WindowEnd, err = compile("window-end", f.windowEnd); err != nil {
		return o, err
	}
	o.Gasm, o.Command, o.Sampler, o.Code = version, command, record.Sampler(f.sampler), record.CodeSource(f.code)
	o.Stdin, o.Stdout, o.Stderr = s.in, s.out, s.err
	o.WindowFrom = record.WindowSource(f.windowFrom)
	if err := o.Check(); err != nil {
		return o, usage("%w", err)
	}
	if f.recordOnly && f.output == "" {
		return o, usage("--record-only only keeps the capture, so say where: -o DIR")
	}
	return o, nil
}

// compile compiles the regular expression of a flag. It returns nil for an empty one.
func compile(flag, expression string) (*regexp.Regexp, error) {
	if expression == "" {
		return nil, nil
	}
	re, err := regexp.Compile(expression)
	if err != nil {
		return nil, usage("--%s: %v", flag, err)
	}
	return re, nil
}

func profileCommand(s streams) *cobra.Command {
	var flags reportFlags
	var own profileFlags
	cmd := &cobra.Command{
		Use:   "profile [flags] -- COMMAND [ARG ...]",
		Short: "Run a command, sample its JVMs, and report where their time went",
		Long: `Run a command unchanged, sample the program counters of every JVM that it starts,
read the JVMs' code out of their memory, and print annotated assembly, hot methods
and hot native functions when the command ends. JMH benchmarks are measured in
their measurement iterations only, with one profile per trial. Any other command
has one profile for each main class and JDK.`,
		Example: `  gasm profile -- java -jar benchmarks.jar -f 2 MyBenchmark
  gasm profile --delay 10s --length 30s -- java -jar server.jar
  gasm profile --method 'java.util.HashMap::*' -- java -jar app.jar
  gasm profile -o capture --format json --report report.json -- mvn -q test`,
		DisableFlagsInUseLine: true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("profile: name a command to run: gasm profile -- java -jar app.jar")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if err := flags.check(); err != nil {
				return err
			}
			src, err := openSources(flags.sourcePaths)
			if err != nil {
				return err
			}
			o, err := own.recordOptions(s, args, flags.window)
			if err != nil {
				return err
			}
			if o.Probes, err = own.probes.specs(); err != nil {
				return err
			}
			if o.WindowMethod, err = windowProbe(flags.windowMethod); err != nil {
				return err
			}
			flags.methods = o.Methods
			if err := flags.checkOutput(s.out, true); err != nil {
				return err
			}
			signals := catchSignals() // before there is anything to clean up
			defer signals.stop()
			if o.Folder, err = record.NewFolder(context.Background(), own.output); err != nil {
				return err
			}
			return runProfile(s, o, &flags, src, signals, own.recordOnly)
		},
	}
	cmd.Flags().SetInterspersed(false)
	own.register(cmd.Flags())
	flags.register(cmd.Flags())
	return cmd
}

// runProfile records the command and, unless only the recording is wanted, reports on it.
func runProfile(s streams, o record.Options, flags *reportFlags, src *sources, signals *signalWatch,
	recordOnly bool) error {
	bar := progress.New(s.err, "perf script", -1)
	o.Progress = bar.Add
	o.Problem = func(err error) { say(s.err, "gasm: %v", err) }
	o.Message = func(text string) { say(s.err, "gasm: %s", text) }
	o.Window = func(c record.WindowChange) {
		text := windowText(c)
		if !c.Open && !c.More {
			text += "; Ctrl-C ends the command and shows the report"
		}
		say(s.err, "gasm: %s", text)
	}
	ctx, rec := context.Background(), record.New(o)
	finish := func() (*capture.Capture, error) { return rec.Finish(ctx) }
	return signals.during(rec, s, o.Folder, flags.files, func() error {
		if err := rec.Run(ctx); err != nil {
			if sig := rec.StoppedBy(); sig != 0 {
				return &exitError{128 + int(sig), err}
			}
			return err
		}
		var err error
		if recordOnly {
			err = finishOnly(finish, bar)
		} else {
			err = reportOn(s, finish, flags, src, bar)
		}
		whole := err == nil && len(rec.Problems()) == 0
		signals.finish(func() { cleanUp(s, o.Folder, whole, errors.Is(err, record.ErrNoJVM)) })
		rec.Wait() // the report is already written, so the user need not wait for the sampler's end
		switch code := rec.ExitCode(); {
		case rec.Interrupted():
			return &exitError{130, err}
		case code != 0:
			return &exitError{code, err}
		case recordOnly && err != nil: // the exit code is the command's, so only say what went wrong
			say(s.err, "gasm: %v", err)
		case !whole && !recordOnly:
			return &exitError{1, err}
		}
		return nil
	})
}

// finishOnly completes a capture without making a report.
func finishOnly(finish func() (*capture.Capture, error), bar *progress.Bar) error {
	c, err := finish()
	bar.Done()
	if err == nil {
		c.Close()
	}
	return err
}

// windowText returns a message about a window that has opened or closed.
func windowText(c record.WindowChange) string {
	switch {
	case c.More:
		return "there are more windows; they are measured, but no longer announced"
	case c.Open:
		return fmt.Sprintf("window opened after %.1f s", c.After.Seconds())
	}
	return fmt.Sprintf("window closed after %.1f s", c.After.Seconds())
}

// reportOn makes the report of what was recorded. finish completes the capture.
func reportOn(s streams, finish func() (*capture.Capture, error), flags *reportFlags, src *sources,
	bar *progress.Bar) error {
	c, err := finish()
	bar.Done()
	if err != nil {
		return err
	}
	defer c.Close()
	ps, err := profileOf(s, c, "reading the samples", flags.profileOptions())
	if err != nil {
		return err
	}
	if flags.format == "text" && flags.file == "" && !c.Attached {
		say(s.out, "") // separates the report from the command's output
	}
	return writeReport(s, flags, src, ps)
}

// cleanUp removes the capture if empty is true, which means that it has nothing worth keeping. It also removes a
// temporary capture if whole is true, which means that its report was made without a problem. Otherwise it keeps the
// capture. If whole is false, it then says where the capture is.
func cleanUp(s streams, folder *record.Folder, whole, empty bool) {
	if empty || whole && folder.Temporary {
		if err := folder.Remove(); err != nil {
			say(s.err, "gasm: removing the temporary capture: %v", err)
		}
	} else if path := folder.Keep(); !whole {
		say(s.err, "gasm: the capture is kept in %s", path)
	}
	if text := folder.InUse(); text != "" {
		say(s.err, "gasm: %s", text)
	}
}
