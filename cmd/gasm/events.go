package main

import (
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/report"
)

// eventsFlags are the values of the flags of events.
type eventsFlags struct {
	format     string
	pid        int
	recordings []string
}

func eventsCommand(s streams) *cobra.Command {
	var flags eventsFlags
	cmd := &cobra.Command{
		Use:   "events [flags] DIR",
		Short: "List the events of a saved capture: pauses, compilations, locks, the program's own",
		Long: `List what happened in the JVMs of a capture that 'gasm profile -o DIR' kept, by
the time of its start: pauses of the garbage collector, safepoints, and with
--events of profile compilations, locks, allocations, the program's own events.
jsonl has a line of JSON for each event, with times of CLOCK_MONOTONIC; perfetto is
a trace that ui.perfetto.dev and chrome://tracing show.`,
		Example: `  gasm events capture
  gasm events --format perfetto capture > trace.json`,
		DisableFlagsInUseLine: true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("events: name one capture folder")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if err := oneOf("format", flags.format, report.EventFormatNames()...); err != nil {
				return err
			}
			return runEvents(s, &flags, args[0])
		},
	}
	cmd.Flags().StringVar(&flags.format, "format", "text", "`format` of the list: "+layout.Or(report.EventFormatNames()))
	cmd.Flags().IntVar(&flags.pid, "pid", 0, "list only the events of the JVM with this process `id`")
	registerRecordings(cmd.Flags(), &flags.recordings)
	return cmd
}

// runEvents lists the events of a capture.
func runEvents(s streams, flags *eventsFlags, dir string) error {
	c, err := openArguments([]string{dir})
	if err != nil {
		return err
	}
	defer c.Close()
	chosen := profile.Options{PID: flags.pid}
	if err := addRecordings(c, flags.recordings, chosen.Chooses); err != nil {
		return err
	}
	events, notes := c.ReadEvents()
	calls, more := c.ReadCalls()
	notes = append(notes, more...)
	if events = append(events, calls...); len(calls) > 0 {
		event.Sort(events)
	}
	if flags.pid != 0 {
		events = slices.DeleteFunc(events, func(e event.Event) bool { return e.PID != flags.pid })
	}
	for _, note := range slices.Concat(notes, whyNoEvents(c, len(events))) {
		say(s.err, "gasm: %s", note)
	}
	format := report.EventFormats[slices.Index(report.EventFormatNames(), flags.format)]
	return (&reportFlags{noPager: true}).write(s, func(w io.Writer) error { return format.Write(w, events, layout.LookOf(s.out)) })
}

// whyNoEvents says why a capture has no events, as far as it knows.
func whyNoEvents(c *capture.Capture, n int) []string {
	if n > 0 {
		return nil
	}
	for _, j := range c.JVMs {
		if j.EventLog != "" || j.USDT != "" || len(j.Recordings) > 0 {
			return nil // there were none
		}
	}
	return []string{"nothing logged events in this capture: gasm profile records them of JVMs of JDK 9 and newer, unless with --events none"}
}
