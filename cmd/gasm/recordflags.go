package main

import (
	"slices"
	"strconv"
	"time"

	"github.com/spf13/pflag"

	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/profile/windows"
	"github.com/gasm-profiler/gasm/record"
	"github.com/gasm-profiler/gasm/sampler"
)

// recordFlags holds the values of the flags that profile and attach share.
type recordFlags struct {
	output        string
	frequency     int
	fixed         bool // sample at exactly this frequency, not at a random one near it
	stacks        string
	wall          int // how often per second threads are looked at for --wall; 0 without --wall
	eventList     string
	delay, length time.Duration
	kinds, from   string // which kinds of events to record, and from which source
	probes        probeFlags
	given         func(flag string) bool
}

func (f *recordFlags) register(flags *pflag.FlagSet) {
	f.given = flags.Changed
	flags.StringVarP(&f.output, "output", "o", "", "keep the capture in the folder `DIR`")
	flags.IntVar(&f.frequency, "frequency", 0,
		"about how many samples of each event are taken per second and CPU, in `Hz` (default: 1001, or 501, 301, 201 or 101 if more would take over 1 % of the time)")
	flags.BoolVar(&f.fixed, "fixed-frequency", false,
		"sample at exactly the frequency of --frequency; without this flag, gasm takes a random frequency near it, so that no program runs in step with the samples")
	flags.StringVar(&f.stacks, "stacks", string(record.StacksAuto),
		"`whether` to record the call stack of each sample, without an option or an agent in the JVM: auto (where it is possible, but not in JMH's benchmarks), on, or off (x86-64 and aarch64; with --sampler perf only where the JVM keeps frame pointers)")
	flags.Lookup("stacks").NoOptDefVal = "on"
	flags.IntVar(&f.wall, "wall", 0,
		"record where threads wait, too: look at each thread this often, in `Hz`, without a signal or a stop (20 if the number is left out)")
	flags.Lookup("wall").NoOptDefVal = strconv.Itoa(record.DefaultWallHertz)
	flags.StringVar(&f.eventList, "event", "",
		"`event`s to sample as perf names them, separated by commas (default: cycles:P, else cycles, else cpu-clock)")
	flags.StringVar(&f.from, "events-from", string(record.EventsAuto),
		"`where` events come from: log (HotSpot's -Xlog), jfr (Flight Recorder), usdt (HotSpot's probes), dtrace (the same, with DTrace), or auto: the cheapest source that has them")
	flags.DurationVar(&f.delay, "delay", 0, "begin to measure this `time` after the start, such as 5s or 500ms")
	flags.DurationVar(&f.length, "length", 0, "measure for this `time`")
	f.probes.register(flags)
}

// maxFrequency is the highest frequency, in Hz. At higher ones sampling takes most of a
// processor, so that the command hardly proceeds.
const maxFrequency = 20000

// defaultKinds is a value of --events. It stands for the kinds of events that gasm records by default if the command is
// java itself.
const defaultKinds = "default"

// counters returns the events that the sampler counts (--event). It also checks --frequency.
func (f *recordFlags) counters() ([]sampler.Event, error) {
	if f.given("frequency") && (f.frequency <= 0 || f.frequency > maxFrequency) {
		return nil, usage("--frequency is %d; it is in Hz, from 1 to %d", f.frequency, maxFrequency)
	}
	if f.given("wall") && f.wall <= 0 {
		return nil, usage("--wall is %d; it is in Hz, for example --wall or --wall=%d", f.wall, record.DefaultWallHertz)
	}
	if err := oneOf("stacks", f.stacks, choices["stacks"]...); err != nil {
		return nil, err
	}
	events, err := sampler.ParseEvents(f.eventList)
	if err != nil {
		return nil, usage("%w", err)
	}
	return events, nil
}

// joinStacks joins --stacks and the value after it into one word, such as --stacks=off. Without that, the value would
// be taken for an argument of the command, because --stacks alone stands for --stacks=on.
func joinStacks(args []string) []string {
	var joined []string
	for i := 0; i < len(args); i++ {
		switch {
		case args[i] == "--":
			return append(joined, args[i:]...)
		case args[i] == "--stacks" && i+1 < len(args) && slices.Contains(choices["stacks"], args[i+1]):
			joined = append(joined, "--stacks="+args[i+1])
			i++
		default:
			joined = append(joined, args[i])
		}
	}
	return joined
}

// stackChoice returns the value of --stacks, which says whether samples get call stacks. If the user has not set
// --stacks, but another flag that is about call stacks, stackChoice returns StacksWanted.
func (f *recordFlags) stackChoice() record.StackChoice {
	if !f.given("stacks") && (f.given("tree") || f.given("under") || f.given("by")) {
		return record.StacksWanted // these flags are about call stacks
	}
	return record.StackChoice(f.stacks)
}

// events returns which JVM events are recorded along with the samples. If --window-event is set, it adds the kind of
// events that this flag needs.
func (f *recordFlags) events(window windows.EventChoice) (record.EventChoice, error) {
	from := record.EventSource(f.from)
	c, err := record.ParseEventChoice(f.kinds, from)
	if err != nil {
		return c, usage("%w", err)
	}
	c.Asked = f.given("events") && f.kinds != defaultKinds
	kind := window.Kind()
	if kind == "" {
		return c, nil
	}
	c.Asked = true // the windows are made of events of this kind
	if name := window.Name(); kind == event.Own && name != "" {
		c.Own = []string{name}
	} else if f.given("events") && !c.Has(kind) {
		return c, usage("--window-event %s needs --events %s", window, kind)
	}
	if err := c.Add(kind, from); err != nil {
		return c, usage("%w", err)
	}
	return c, nil
}
