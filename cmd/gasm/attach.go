package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/hotspot/attach"
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/internal/progress"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/record"
)

// attachFlags holds the values of the flags of gasm attach.
type attachFlags struct {
	recordFlags
	debugInfo bool
}

func attachCommand(s streams) *cobra.Command {
	var flags reportFlags
	var own attachFlags
	list := false
	cmd := &cobra.Command{
		Use:   "attach [flags] [PID|NAME ...]",
		Short: "Sample running JVMs, and report where their time goes",
		Long: `Sample running JVMs, which need no special flag, copy their hot code out of their
memory, and print the same report as profile. Sampling ends after --length, at
Ctrl-C, or when the JVMs have ended. Nothing is changed in the JVMs, except with
--events, --window-event, --probe..., --debug-info and, without call stacks,
--window-method. NAME is a part of the main class or of the jar's name. Without an argument, the running JVMs
are listed. Linux only.`,
		Example: `  gasm attach
  gasm attach --length 10s 4711
  gasm attach -o capture org.acme.Server
  gasm attach --list-probes 4711 'org.acme.Svc::*'`,
		DisableFlagsInUseLine: true,
		ValidArgsFunction:     completeJVMs(s),
		RunE: func(_ *cobra.Command, args []string) error {
			if mayNotEnd() {
				return runApart(s)
			}
			if apart == nil || seesOthers() { // otherwise the parent of this child has already called tellLeft
				tellLeft(s)
			}
			if list {
				return listProbes(s, args)
			}
			if len(args) == 0 {
				return listJVMs(s)
			}
			return own.attach(s, &flags, args)
		},
	}
	own.register(cmd.Flags())
	cmd.Flags().BoolVar(&list, "list-probes", false,
		"with a JVM and CLASS::METHOD as arguments, list the probes that --probe-sdt could add to the loaded classes for other tracers; changes nothing")
	cmd.Flags().BoolVar(&own.debugInfo, "debug-info", false,
		"switch DebugNonSafepoints on in the JVMs while they are sampled, so that what they compile from then on has exact lines; the only thing that gasm ever writes into the memory of a JVM")
	cmd.Flags().StringVar(&own.kinds, "events", "none",
		"`kinds` of events to record, as for profile; the JVM logs or records them while it is sampled; default stands for gc,safepoint")
	flags.register(cmd.Flags())
	return cmd
}

// tellLeft switches off events and probes that earlier gasm processes left on in JVMs when they were killed. It prints
// what it has switched off, what it could not switch off, and which flags those processes have left set.
func tellLeft(s streams) {
	ended, left := record.EndLeft(context.Background())
	for _, text := range slices.Concat(record.LeftDebugInfo(context.Background()), ended, left) {
		say(s.err, "gasm: %s", text)
	}
}

// anyOfOther reports whether at least one of the JVMs belongs to another user or to a container's root, so that gasm
// does not trust it.
func anyOfOther(jvms []attach.Process) bool {
	return slices.ContainsFunc(jvms, func(p attach.Process) bool { return p.OfOther })
}

// attach checks all flags and arguments, attaches, and reports.
func (f *attachFlags) attach(s streams, flags *reportFlags, args []string) error {
	if err := flags.check(); err != nil {
		return err
	}
	src, err := openSources(flags.sourcePaths)
	if err != nil {
		return err
	}
	if err := flags.checkOutput(s.out, false); err != nil {
		return err
	}
	o := record.AttachOptions{Gasm: version, Frequency: f.frequency, FixedFrequency: f.fixed, Stacks: f.stackChoice(),
		WallHertz: f.wall, Delay: f.delay, Length: f.length, DebugInfo: f.debugInfo}
	if o.Counters, err = f.counters(); err != nil {
		return err
	}
	if o.Events, err = f.events(flags.window); err != nil {
		return err
	}
	if o.Probes, err = f.probes.specs(); err != nil {
		return err
	}
	if o.WindowMethod, err = windowProbe(flags.windowMethod); err != nil {
		return err
	}
	if err := o.Check(); err != nil {
		return usage("%w", err)
	}
	if o.JVMs, err = attach.Choose(context.Background(), args); err != nil {
		return err
	}
	if apart == nil && anyOfOther(o.JVMs) {
		return runApart(s)
	}
	signals := catchSignals() // before there is anything to clean up
	defer signals.stop()
	if o.Folder, err = record.NewFolder(context.Background(), f.output); err != nil {
		return err
	}
	return runAttach(s, o, flags, src, signals)
}

// runAttach records running JVMs and reports on them.
func runAttach(s streams, o record.AttachOptions, flags *reportFlags, src *sources, signals *signalWatch) error {
	line := progress.NewLine(s.err)
	defer line.Done()
	o.Problem = func(err error) {
		line.Done()
		say(s.err, "gasm: %v", err)
	}
	o.Window = func(c record.WindowChange) {
		line.Done()
		say(s.err, "gasm: %s", windowText(c))
	}
	o.Message = func(text string) {
		line.Done()
		say(s.err, "gasm: %s", text)
	}
	o.Progress = func(p record.AttachProgress) (again bool) { return line.Show(attachLine(&o, p)) }
	ctx, rec := context.Background(), record.NewAttachment(o)
	return signals.during(rec, s, o.Folder, flags.files, func() error {
		if err := rec.Run(ctx); err != nil {
			if sig := rec.StoppedBy(); sig != 0 {
				return &exitError{128 + int(sig), err}
			}
			return err
		}
		line.Done()
		err := reportOn(s, func() (*capture.Capture, error) { return rec.Finish(ctx) }, flags, src,
			progress.New(s.err, "", -1))
		whole := err == nil && len(rec.Problems()) == 0
		signals.finish(func() { cleanUp(s, o.Folder, whole, errors.Is(err, profile.ErrAsleep)) })
		switch sig := rec.CutShort(); {
		case sig != 0:
			return &exitError{128 + int(sig), err}
		case !whole:
			return &exitError{1, err}
		}
		return nil
	})
}

// attachLine returns the line that shows on a terminal how far the sampling has come.
func attachLine(o *record.AttachOptions, p record.AttachProgress) string {
	var jvms []string
	for i := range o.JVMs {
		jvms = append(jvms, o.JVMs[i].String())
	}
	text := "sampling pid " + strings.Join(jvms, ", ")
	if p.Elapsed > 0 {
		text += fmt.Sprintf(", %d s, %s, %s", int(p.Elapsed/time.Second), layout.Plural(int(p.Samples), "sample"),
			layout.Plural(p.Methods, "method"))
	}
	if o.Length > 0 {
		return text + fmt.Sprintf(", for %s", o.Delay+o.Length)
	}
	return text + "; Ctrl-C ends it and shows the report"
}

// listJVMs prints a table of the running JVMs, and a note for each one that can't be read.
func listJVMs(s streams) error {
	jvms, err := attach.List(context.Background())
	if err != nil {
		return err
	}
	page := layout.NewPage(s.out, layout.LookOf(s.out))
	if len(jvms) == 0 {
		page.Line("No JVM runs here.")
		return page.Flush()
	}
	rows := make([][]string, len(jvms))
	for i := range jvms {
		j := &jvms[i]
		readable := "yes"
		if j.Unreadable != nil {
			readable = "no"
		}
		rows[i] = []string{strconv.Itoa(j.PID), orUnknown(j.Main), orUnknown(j.Version), j.User, readable}
	}
	for _, line := range layout.Table([]string{"PID", "MAIN", "VERSION", "USER", "READABLE"}, rows,
		[]layout.Align{layout.Right, layout.Left, layout.Left, layout.Left, layout.Left}) {
		page.Line("%s", line)
	}
	for i := range jvms {
		if err := jvms[i].Err(); err != nil {
			page.Paragraph("note: ", err.Error())
		}
	}
	return page.Flush()
}

func orUnknown(text string) string {
	if text == "" {
		return "?"
	}
	return text
}
