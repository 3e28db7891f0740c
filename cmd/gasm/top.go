package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/hotspot/attach"
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/internal/monotonic"
	"github.com/gasm-profiler/gasm/record"
	"github.com/gasm-profiler/gasm/sampler"
	"github.com/gasm-profiler/gasm/top"
	"github.com/gasm-profiler/gasm/top/live"
	"github.com/gasm-profiler/gasm/top/terminal"
	"github.com/gasm-profiler/gasm/top/view"
)

// topFlags holds the values of the flags of gasm top.
type topFlags struct {
	batch       bool
	number      int
	delay       float64
	rows        int
	width       int
	frequency   int
	eventList   string
	stacks      string
	sourcePaths []string
	intel       bool
	ascii       bool
	color       string
	first       string
	segment     time.Duration // for tests
}

// topFrequency is the default of --frequency, in samples per second and CPU. That is enough for a view of the last ten
// seconds.
const topFrequency = 199

func topCommand(s streams) *cobra.Command {
	var f topFlags
	cmd := &cobra.Command{
		Use:   "top [flags] [PID|NAME]",
		Short: "Show the hot code of running JVMs, live in a terminal",
		Long: `Show where the CPU time of a running JVM goes, or of all JVMs: its methods, its
inlined methods and lines, threads, callers, and the annotated code of a method,
drawn again each second. JVMs need no flag, and nothing is changed in them. ? lists
the keys. With --batch, and on a terminal with TERM=dumb, it prints text. Linux only.`,
		Example: `  gasm top
  gasm top 4711
  gasm top --source src/main/java org.acme.Server
  gasm top --batch -n 3 -d 5 4711`,
		DisableFlagsInUseLine: true,
		ValidArgsFunction:     completeJVMs(s),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage("top: name one JVM, or none for all")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return f.run(s, args) },
	}
	f.register(cmd.Flags())
	return cmd
}

func (f *topFlags) register(flags *pflag.FlagSet) {
	flags.BoolVarP(&f.batch, "batch", "b", false, "print text instead of drawing on the terminal")
	flags.IntVarP(&f.number, "iterations", "n", 0, "with --batch, print this `number` of times (0: until Ctrl-C)")
	flags.Float64VarP(&f.delay, "delay", "d", 5, "with --batch, print each time what the last `seconds` were spent on")
	flags.IntVar(&f.rows, "rows", 10, "with --batch, print this `number` of rows of each table")
	flags.IntVar(&f.width, "width", 0,
		"with --batch, write for this many `columns` (default: the terminal's, else $COLUMNS, else 100)")
	flags.StringVar(&f.first, "view", viewNames[view.Methods], "begin with this `view`: "+layout.Or(viewNames))
	flags.IntVar(&f.frequency, "frequency", topFrequency, "about how many samples are taken per second and CPU, in `Hz`")
	flags.StringVar(&f.eventList, "event", "",
		"sample this `event`, as perf names it (default: cycles:P, else cycles, else cpu-clock)")
	flags.StringVar(&f.stacks, "stacks", string(record.StacksAuto),
		"`whether` to record the call stack of each sample: auto (where it is possible), on, or off")
	flags.Lookup("stacks").NoOptDefVal = "on"
	flags.StringArrayVar(&f.sourcePaths, "source", nil,
		"show lines of source (Java, Kotlin, Scala …) from `PATH`, a folder or a jar or zip of sources; may be given several times")
	flags.BoolVar(&f.intel, "intel-syntax", false, "write Intel syntax instead of AT&T")
	flags.BoolVar(&f.ascii, "ascii", false, "draw with ASCII only (default in a locale without UTF-8)")
	flags.StringVar(&f.color, "color", "auto", "`when` to use colour: auto, always, never")
}

var viewNames = view.ViewNames()

// check returns an error if the value of a flag makes no sense.
func (f *topFlags) check() error {
	switch {
	case f.number < 0:
		return usage("--iterations is %d; it can't be negative", f.number)
	case !(f.delay >= 1 && f.delay <= 3600): // NaN fails both comparisons
		return usage("--delay is %g; it is a number of seconds from 1 to 3600", f.delay)
	case f.rows < 1 || f.rows > 1000:
		return usage("--rows is %d; it can be 1 to 1000", f.rows)
	case f.width != 0 && (f.width < leastWidth || f.width > mostWidth):
		return usage("--width is %d; it is a number of columns from %d to %d", f.width, leastWidth, mostWidth)
	case f.frequency <= 0 || f.frequency > maxFrequency:
		return usage("--frequency is %d; it is in Hz, from 1 to %d", f.frequency, maxFrequency)
	}
	return errors.Join(oneOf("stacks", f.stacks, choices["stacks"]...), oneOf("color", f.color, choices["color"]...),
		oneOf("view", f.first, viewNames...))
}

// run checks the flags, and shows the JVMs.
func (f *topFlags) run(s streams, args []string) error {
	if err := f.check(); err != nil {
		return err
	}
	if why := terminal.Usable(s.in, s.out); !f.batch && why != "" {
		if !layout.IsTerminal(s.out) {
			return fmt.Errorf("%s; --batch prints text", why)
		}
		f.batch = true
		if !isWatched() { // otherwise the gasm process that started this one has printed it
			say(s.err, "gasm: %s: printing text, as with --batch; Ctrl-C ends it", why)
		}
	}
	counters, err := sampler.ParseEvents(f.eventList)
	if err != nil {
		return usage("%w", err)
	}
	if len(counters) > 1 {
		return usage("top shows one event; --event names %d", len(counters))
	}
	src, err := openSources(f.sourcePaths)
	if err != nil {
		return err
	}
	defer src.close()
	switch {
	case !f.batch && mayWatch():
		return runWatched(s)
	case mayNotEnd():
		return runApart(s)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	defer stop()
	o := live.Options{Gasm: version, Activity: true, Counters: counters, Frequency: f.frequency,
		Stacks: record.StackChoice(f.stacks), Segment: f.segment}
	if len(args) == 0 {
		o.Wanted = func(*attach.Process) bool { return true }
	}
	if o.JVMs, err = f.choose(ctx, args); err != nil {
		return err
	}
	if f.batch && anyOfOther(o.JVMs) && !isWatched() && mayWatch() {
		return runApart(s)
	}
	t := &topView{flags: f, streams: s, sources: src, state: view.State{Several: o.Wanted != nil}}
	t.model = top.NewModel(max(10, int(f.delay+0.5)), map[bool]disasm.Syntax{true: disasm.Intel,
		false: disasm.ATT}[f.intel])
	if t.session, err = live.Start(ctx, t.model, o); err != nil {
		if ctx.Err() != nil {
			return &exitError{code: 130}
		}
		return err
	}
	defer t.session.Close()
	if f.batch {
		return t.print(ctx)
	}
	return t.show(ctx)
}

// choose returns the JVM that the argument names, or without an argument all JVMs that can be read.
func (f *topFlags) choose(ctx context.Context, args []string) ([]attach.Process, error) {
	if len(args) > 0 {
		return attach.Choose(ctx, args)
	}
	all, err := attach.List(ctx)
	if err != nil {
		return nil, err
	}
	var jvms []attach.Process
	var unreadable error
	for _, j := range all {
		if j.Unreadable == nil {
			jvms = append(jvms, j)
		} else {
			unreadable = j.Err()
		}
	}
	if len(jvms) == 0 && unreadable != nil {
		return nil, unreadable
	}
	if len(jvms) == 0 && f.batch {
		return nil, errors.New("no JVM runs here")
	}
	return jvms, nil
}

// A topView is a run of gasm top.
type topView struct {
	flags   *topFlags
	streams streams
	sources *sources
	known   int // the number that Model.SourceFiles returned when sources got its files last
	model   *top.Model
	session *live.Session
	state   view.State
	screen  *terminal.Screen
	picture *top.Picture
	said    chan string // messages from other goroutines
}

// tick does what is due each second.
func (t *topView) tick() {
	t.session.Step()
	t.model.Tick(monotonic.Nanos())
	if t.sources.finder == nil {
		return
	}
	trusted := map[int]bool{}
	for _, j := range t.session.Alive() {
		trusted[j.PID] = !j.OfOther || os.Geteuid() != 0
	}
	if files, classPath, n := t.model.SourceFiles(func(pid int) bool { return trusted[pid] }); n != t.known {
		t.known = n
		t.state.Source = t.sources.live(files, classPath)
	}
}

// maxAwaited is the maximum number of seconds that print waits with its first text for the code of the hottest method.
const maxAwaited = 3

// print prints text every few seconds.
func (t *topView) print(ctx context.Context) error {
	look := layout.LookOf(t.streams.out)
	o := view.TextOptions{Look: view.Look{Width: t.flags.width, ASCII: look.ASCII || t.flags.ascii}, Rows: t.flags.rows,
		Several: t.state.Several}
	if o.Width == 0 {
		o.Width = look.Width
	}
	if o.Width == 0 {
		o.Width = layout.RuleWidth
	}
	select {
	case <-ctx.Done():
	case <-time.After(top.Settle):
	}
	t.tick() // the first second begins
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	next := time.Now().Add(time.Duration(t.flags.delay * float64(time.Second)))
	awaited := 0
	for n := 0; t.flags.number == 0 || n < t.flags.number; {
		select {
		case <-ctx.Done():
			if t.flags.number == 0 {
				return nil
			}
			return &exitError{code: 130}
		case <-ticker.C:
		}
		t.tick()
		if failure := t.session.Failure(); failure != nil {
			say(t.streams.err, "gasm: %v", failure)
		}
		ended := len(t.session.Alive()) == 0 && !t.state.Several
		if time.Now().Before(next.Add(-100*time.Millisecond)) && !ended {
			continue
		}
		p := t.model.Picture(top.Last(int(t.flags.delay + 0.5)))
		if n == 0 && !ended && awaited < maxAwaited && p.Awaited() {
			awaited++
			next = time.Now()
			continue
		}
		next = next.Add(time.Duration(t.flags.delay * float64(time.Second)))
		n++
		o.Source = t.state.Source
		if err := view.Text(t.streams.out, p, o); err != nil {
			return err
		}
		if ended {
			say(t.streams.err, "gasm: the JVM has ended")
			return nil
		}
	}
	return nil
}

// message passes a message to the user from any goroutine.
func (t *topView) message(format string, args ...any) {
	select {
	case t.said <- fmt.Sprintf(format, args...):
	default: // drop it: there are more messages than anyone can read
	}
}
