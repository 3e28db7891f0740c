package main

import (
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gasm-profiler/gasm/jvm"
	"github.com/gasm-profiler/gasm/sampler"
)

// profileFlags are the flags that only profile has.
type profileFlags struct {
	output      string
	sampler     string
	frequency   int // 0 if not given
	events      []string
	eventList   string
	sudo        bool
	delay       time.Duration
	length      time.Duration
	windowStart string
	windowEnd   string
	methods     []string
	skipC1      bool
	code        string
	given       func(flag string) bool
	start, end  *regexp.Regexp
}

func (f *profileFlags) register(flags *pflag.FlagSet) {
	f.given = flags.Changed
	flags.StringVarP(&f.output, "output", "o", "", "keep the capture in the folder `DIR`")
	flags.StringVar(&f.sampler, "sampler", "auto", "`sampler` to use: auto (perf, else dtrace), perf or dtrace")
	flags.IntVar(&f.frequency, "frequency", 0, "samples of each event per second and CPU, in `Hz` (default: 1001, or 201 or 101 where that takes more than 0.6 % of the time)")
	flags.StringVar(&f.eventList, "event", "", "perf `event`s to sample, separated by commas (default: cycles, or cpu-clock where there is none)")
	flags.BoolVar(&f.sudo, "sudo", false, "run dtrace by sudo -n, so that gasm needs no root")
	flags.DurationVar(&f.delay, "delay", 0, "measure from this `time` after the start on, as 5s or 500ms")
	flags.DurationVar(&f.length, "length", 0, "measure for this `time`")
	flags.StringVar(&f.windowStart, "window-start", "", "measure from each line of output that matches `RE`")
	flags.StringArrayVar(&f.methods, "method", nil, "print only the code of methods that match `PATTERN`, as java.util.HashMap::*; more than once for more")
	flags.StringVar(&f.code, "code", codeAuto, "`how` code is had: print by HotSpot, copy from the JVM's memory, which costs the least, or auto: C1's copied")
	flags.BoolVar(&f.skipC1, "skip-c1", false, "print no code of methods that C1 compiled, which costs a warm-up the most")
	flags.StringVar(&f.windowEnd, "window-end", "", "measure until the next line of output that matches `RE`")
}

// maxFrequency is where sampling begins to take most of a processor, so that the
// command does not get on.
const maxFrequency = 20000

func (f *profileFlags) check() (err error) {
	f.events = splitEvents(f.eventList)
	switch {
	case f.sampler != "auto" && f.sampler != "perf" && f.sampler != "dtrace":
		return usage("--sampler is %q; it can be auto, perf or dtrace", f.sampler)
	case f.sampler == "dtrace" && len(f.events) > 0:
		return usage("--event names perf's events; dtrace samples by time alone")
	case f.sampler == "perf" && f.sudo:
		return usage("--sudo is for dtrace; perf needs no root where kernel.perf_event_paranoid allows it")
	case f.given("frequency") && (f.frequency <= 0 || f.frequency > maxFrequency):
		return usage("--frequency is %d; it is in Hz, from 1 to %d", f.frequency, maxFrequency)
	case f.delay < 0 || f.length < 0:
		return usage("--delay and --length can't be negative")
	case (f.delay > 0 || f.length > 0) && (f.windowStart != "" || f.windowEnd != ""):
		return usage("--delay/--length and --window-start/--window-end say two different windows; use one pair")
	}
	if err := checkEvents(f.events); err != nil {
		return err
	}
	if f.windowStart != "" {
		if f.start, err = regexp.Compile(f.windowStart); err != nil {
			return usage("--window-start: %v", err)
		}
	}
	if f.windowEnd != "" {
		if f.end, err = regexp.Compile(f.windowEnd); err != nil {
			return usage("--window-end: %v", err)
		}
	}
	return nil
}

// checkEvents refuses, beside what [checkEvent] does, two events that perf's
// samples go by one name of: "cycles:u" and "cycles:k".
func checkEvents(events []string) error {
	names := map[string]string{}
	for _, event := range events {
		if err := checkEvent(event); err != nil {
			return err
		}
		name := sampler.EventName(event)
		if other, ok := names[name]; ok {
			return usage("--event has %s and %s, whose samples both go by the name of %s; name one of them", other, event, name)
		}
		names[name] = event
	}
	return nil
}

// checkEvent refuses what perf takes and gasm would misunderstand: groups, and
// terms by which an event goes by another name or frequency than gasm's.
func checkEvent(event string) error {
	if strings.ContainsAny(event, "{}") {
		return usage("--event has a group in braces (%s); name its events, separated by commas", event)
	}
	_, terms, _ := strings.Cut(event, "/")
	for term := range strings.SplitSeq(terms, ",") {
		switch name, _, _ := strings.Cut(term, "="); name {
		case "freq", "period":
			return usage("--event %s: gasm samples all events at one frequency; say it by --frequency", event)
		case "name":
			return usage("--event %s: name the event as perf list does, without name=", event)
		}
	}
	return nil
}

// splitEvents splits a list of events at its commas. Those within the slashes of
// a PMU's event belong to it: "cpu/event=0x3c,umask=0x1/u,cycles".
func splitEvents(list string) (events []string) {
	pmu, start := false, 0
	for i, c := range list + "," {
		switch {
		case c == '/':
			pmu = !pmu
		case c == ',' && (!pmu || i == len(list)):
			if event := strings.TrimSpace(list[start:i]); event != "" {
				events = append(events, event)
			}
			start = i + 1
		}
	}
	return events
}

func profileCommand(s streams) *cobra.Command {
	var flags reportFlags
	var own profileFlags
	cmd := &cobra.Command{
		Use:   "profile [flags] -- COMMAND [ARG ...]",
		Short: "Run a command, sample its JVMs, and report where their time went",
		Long: `Run a command unchanged, with HotSpot's PrintAssembly switched on in every JVM
that it starts, sample program counters beside it, and print annotated assembly,
hot methods and hot native functions when it ends. JMH benchmarks are measured
in their measurement iterations only, one profile per trial.`,
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
			if err := own.check(); err != nil {
				return err
			}
			if err := own.checkSelection(args); err != nil {
				return err
			}
			if err := flags.checkOutput(s.out, true); err != nil {
				return err
			}
			return runProfile(s, &own, &flags, args)
		},
	}
	cmd.Flags().SetInterspersed(false)
	own.register(cmd.Flags())
	flags.register(cmd.Flags())
	return cmd
}

// trials says when and in which JVMs the command is measured. The first rule
// that applies counts: --delay and --length, the lines that the user named,
// JMH's own lines, the whole run.
func (r *run) trials(jvms []jvm.JVM) (trials []jvm.Trial, note string) {
	whole := jvm.Span{FromMonoNanos: r.started, ToMonoNanos: r.ended}
	if r.own.delay > 0 || r.own.length > 0 {
		span := jvm.Span{FromMonoNanos: r.started + int64(r.own.delay), ToMonoNanos: r.ended}
		if r.own.length > 0 {
			span.ToMonoNanos = min(r.ended, span.FromMonoNanos+int64(r.own.length))
		}
		if span.FromMonoNanos >= r.ended {
			span.FromMonoNanos = r.ended
			note = "the command ended before --delay was over: the window is empty"
		}
		return []jvm.Trial{jvm.WholeTrial(jvms, []jvm.Span{span})}, note
	}
	if r.own.start != nil || r.own.end != nil {
		spans := r.watch.Spans()
		for i := range spans {
			spans[i].FromMonoNanos = max(spans[i].FromMonoNanos, r.started)
			if spans[i].ToMonoNanos == 0 {
				spans[i].ToMonoNanos = r.ended
				if r.own.end != nil {
					note = "no line of output matched --window-end: the window goes on to the end of the run"
				}
			}
		}
		if len(spans) == 0 {
			note = "no line of output matched --window-start: the whole run is measured"
			spans = []jvm.Span{whole}
			if r.own.start == nil {
				note = "no line of output matched --window-end: the window goes on to the end of the run"
			}
		}
		return []jvm.Trial{jvm.WholeTrial(jvms, spans)}, note
	}
	trials = r.watch.JMHTrials(jvms, r.ended)
	if lost := r.watch.LostForks(); len(lost) > 0 {
		note = strings.Join(lost, ", ") + ": not in the profile, for HotSpot's log of it is missing"
	}
	if len(trials) > 0 {
		return trials, note
	}
	for _, j := range jvms {
		if j.ForkOfJMH() {
			note = "JMH ran here, but no measured iterations were seen on its stdout (has it -o, or was it stopped?): " +
				"the whole run is measured, JMH's host and warm-up too"
		}
	}
	return []jvm.Trial{jvm.WholeTrial(jvms, []jvm.Span{whole})}, note
}
