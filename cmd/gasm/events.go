package main

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/internal/progress"
	"github.com/gasm-profiler/gasm/profile/choice"
	"github.com/gasm-profiler/gasm/report"
)

// eventsFlags holds the values of the flags of gasm events: --jfr, and some of the flags in reportFlags.
type eventsFlags struct {
	recordings []string
	report     reportFlags
}

func eventsCommand(s streams) *cobra.Command {
	var flags eventsFlags
	cmd := &cobra.Command{
		Use:   "events [flags] DIR",
		Short: "List the events of a saved capture: pauses, compilations, locks, the program's own",
		Long: `List what happened in the JVMs of a capture that 'gasm profile -o DIR' kept, in
the order of the start: pauses of the garbage collector and safepoints, and if
profile had --events, also compilations, locks, allocations and the program's own
events. jsonl has a line of JSON for each event, with times of CLOCK_MONOTONIC;
perfetto is a trace for ui.perfetto.dev, which also has the samples, with their
call stacks.`,
		Example: `  gasm events capture
  gasm events --format perfetto --report capture.pftrace capture`,
		DisableFlagsInUseLine: true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("events: name one capture folder")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if err := errors.Join(oneOf("format", flags.report.format, report.EventFormatNames()...),
				oneOf("sites", flags.report.sites, event.SiteRules...), flags.report.checkInputs(args)); err != nil {
				return err
			}
			if err := flags.report.checkOutput(s.out, false); err != nil {
				return err
			}
			return runEvents(s, &flags, args[0])
		},
	}
	flags.register(cmd.Flags())
	return cmd
}

func (f *eventsFlags) register(flags *pflag.FlagSet) {
	var all pflag.FlagSet
	f.report.register(&all)
	for name, usage := range map[string]string{
		"format":   "`format` of the list: " + layout.Or(report.EventFormatNames()),
		"report":   "write the list to `FILE` instead of stdout",
		"no-pager": "do not show the list with $GASM_PAGER, $PAGER or less on a terminal",
		"sites":    "in the text, name places by this `frame` of the stack: own (the innermost one outside the JDK) or innermost",
		"pid":      "list only the events of the JVM with this process `id`",
	} {
		flags.AddFlag(all.Lookup(name))
		flags.Lookup(name).Usage = usage
	}
	registerRecordings(flags, &f.recordings)
}

// runEvents lists the events of a capture.
func runEvents(s streams, flags *eventsFlags, dir string) error {
	c, err := openArguments([]string{dir})
	if err != nil {
		return err
	}
	defer c.Close()
	chosen := choice.Options{PID: flags.report.pid}
	if err := addRecordings(c, flags.recordings, chosen.Chooses); err != nil {
		return err
	}
	events, notes := c.ReadEvents()
	calls, more := c.ReadCalls()
	notes = append(notes, more...)
	if events = append(events, calls...); len(calls) > 0 {
		event.Sort(events)
	}
	if pid := flags.report.pid; pid != 0 {
		events = slices.DeleteFunc(events, func(e event.Event) bool { return e.PID != pid })
	}
	say := func(note string) { say(s.err, "gasm: %s", note) }
	format := report.EventFormats[slices.Index(report.EventFormatNames(), flags.report.format)]
	if !format.Samples {
		notes = append(notes, whyNoEvents(c, len(events))...)
	}
	for _, note := range notes {
		say(note)
	}
	chosen.Stacks = true
	o := report.EventOptions{Look: flags.report.reportOptions(s.out).Look, Sites: event.SiteRule(flags.report.sites),
		Capture: c, Samples: chosen, Note: say}
	if format.Samples {
		bar := progress.New(s.err, "reading the samples", c.SamplesSize())
		defer bar.Done()
		c.Progress = bar.Add
	}
	if err := flags.report.write(s, func(w io.Writer) error { return format.Write(w, events, o) }); err != nil {
		return fmt.Errorf("writing the events: %w", err)
	}
	return nil
}

// whyNoEvents returns a message that says why a capture has no events. It returns nil if the capture has events (n is
// their number), or if events were recorded but none happened.
func whyNoEvents(c *capture.Capture, n int) []string {
	if n > 0 {
		return nil
	}
	for _, j := range c.JVMs {
		if j.EventLog != "" || j.USDT != "" || len(j.Recordings) > 0 {
			return nil // events were recorded, but none happened
		}
	}
	return []string{"no events were recorded in this capture: by default, gasm profile records them only if the command is java itself, of JDK 9 or newer; with --events default it also does so for scripts, as gasm attach does for running JVMs"}
}
