package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gasm-profiler/gasm/push"
	"github.com/gasm-profiler/gasm/push/folder"
	"github.com/gasm-profiler/gasm/push/lines"
	"github.com/gasm-profiler/gasm/push/pyroscope"
	"github.com/gasm-profiler/gasm/record"
	"github.com/gasm-profiler/gasm/watch"
	"github.com/gasm-profiler/gasm/watch/labels"
)

// watchFlags holds the values of the flags of gasm watch.
type watchFlags struct {
	to        []string
	every     time.Duration
	frequency int
	stacks    string
	share     string
	labels    []string
	tenant    string
	token     string
	basic     string
	ca        string
	limit     int64
}

// watchFrequency is the default of --frequency, in samples per second and CPU. It is low because a profiler that always
// runs should cost little, and many profiles are added up later.
const watchFrequency = 101

// Limits of flags of gasm watch.
const (
	leastEvery     = 5 * time.Second
	mostEvery      = 10 * time.Minute
	mostFrequency  = 1001 // for more, there is gasm attach
	mostLabels     = 12   // servers allow 30, and gasm adds its own
	mostFolderSize = 1 << 40 / 1_000_000
)

func watchCommand(s streams) *cobra.Command {
	var f watchFlags
	cmd := &cobra.Command{
		Use:   "watch [flags] [PID|NAME ...]",
		Short: "Profile running JVMs continuously, for Pyroscope, files or scripts",
		Long: `Profile all JVMs of the machine, or those named, as they come and go, until Ctrl-C
or SIGTERM. Every 15 s, each JVM that used CPU time becomes a profile with whole call
stacks, exact lines and labels, which goes to a Pyroscope server, to files in pprof's
format, or to the standard output as a line of JSON. JVMs need no flag, and nothing
is changed in them. NAME is a part of the main class or of the jar's name. Linux only.`,
		Example: `  gasm watch
  gasm watch --to pyroscope+https://pyroscope:4040 --label deployment.environment=prod
  gasm watch --to dir:/var/lib/gasm --dir-limit 2000 org.acme.Server`,
		DisableFlagsInUseLine: true,
		ValidArgsFunction:     completeJVMs(s),
		RunE:                  func(_ *cobra.Command, args []string) error { return f.run(s, args) },
	}
	f.register(cmd.Flags())
	return cmd
}

func (f *watchFlags) register(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.to, "to", nil,
		"send profiles to this `destination`: pyroscope+https://HOST[:PORT][/PREFIX], pyroscope+http://…, dir:PATH, or - for the standard output; may be given several times (default: -)")
	flags.DurationVar(&f.every, "every", 15*time.Second, "make a profile of each JVM in each such `time`, from 5s to 10m")
	flags.IntVar(&f.frequency, "frequency", watchFrequency,
		"about how many samples are taken per second and CPU, in `Hz`, at most 1001")
	flags.StringVar(&f.stacks, "stacks", string(record.StacksAuto),
		"`whether` to record the call stack of each sample: auto (where it is possible), on, or off")
	flags.Lookup("stacks").NoOptDefVal = "on"
	flags.StringVar(&f.share, "share", "100%",
		"watch only this `percentage` of the JVMs, drawn at random; a JVM stays drawn as long as it runs")
	flags.StringArrayVar(&f.labels, "label", nil,
		"give all profiles this `NAME=VALUE`, as service.name=shop; may be given several times")
	flags.StringVar(&f.tenant, "tenant", "", "Pyroscope's `tenant` (the header X-Scope-OrgID)")
	flags.StringVar(&f.token, "token-file", "",
		"send Pyroscope the bearer token in this `FILE`, which is read again for each profile")
	flags.StringVar(&f.basic, "basic-auth-file", "",
		"send Pyroscope the USER:PASSWORD in this `FILE`, which is read again for each profile")
	flags.StringVar(&f.ca, "ca-file", "", "trust the certificates in this `FILE` (PEM) instead of the system's")
	flags.Int64Var(&f.limit, "dir-limit", 1000,
		"keep at most this `size` in the folder of dir:PATH, in MB; the oldest files are removed")
}

// check returns an error if the value of a flag makes no sense.
func (f *watchFlags) check() error {
	switch {
	case f.every < leastEvery || f.every > mostEvery || f.every%time.Second != 0:
		return usage("--every is %s; it can be 5s to 10m, in whole seconds", f.every)
	case f.frequency <= 0 || f.frequency > mostFrequency:
		return usage("--frequency is %d; it is in Hz, from 1 to %d", f.frequency, mostFrequency)
	case f.limit <= 0 || f.limit > mostFolderSize:
		return usage("--dir-limit is %d; it is in MB, from 1 to %d", f.limit, mostFolderSize)
	case len(f.labels) > mostLabels:
		return usage("--label is given %d times; servers take few labels, so %d is the limit", len(f.labels), mostLabels)
	}
	return oneOf("stacks", f.stacks, choices["stacks"]...)
}

// shareOf converts a share such as "10%" to a number such as 0.1.
func shareOf(text string) (share float64, ok bool) {
	number, percent := strings.CutSuffix(text, "%")
	share, err := strconv.ParseFloat(number, 64)
	share /= 100
	return share, percent && err == nil && share > 0 && share <= 1 // NaN fails both comparisons
}

// run checks the flags, and watches the JVMs.
func (f *watchFlags) run(s streams, args []string) error {
	if err := f.check(); err != nil {
		return err
	}
	o := watch.Options{Gasm: version, Words: args, Every: f.every, Frequency: f.frequency,
		Stacks: record.StackChoice(f.stacks),
		Say:    func(text string) { say(s.err, "gasm: %s", text) }}
	var ok bool
	if o.Share, ok = shareOf(f.share); !ok {
		return usage("--share is %q; it is a percentage of the JVMs, as 10%%", f.share)
	}
	for _, text := range f.labels {
		l, ok := labels.Parse(text)
		if !ok {
			return usage("--label is %q; it has the form NAME=VALUE, with a name of letters, digits, _ and dots", text)
		}
		o.Labels = append(o.Labels, l)
	}
	for _, word := range args {
		if word == "" {
			return usage("the name of a JVM is empty")
		}
	}
	if mayWatch() { // now or later, JVMs of other users may run
		return runApart(s)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	defer stop()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var err error
	if o.To, err = f.destinations(s, cancel); err != nil {
		return err
	}
	signal.Ignore(syscall.SIGPIPE) // a write to a closed pipe returns an error instead, and gasm ends as usual
	if err := watch.Run(ctx, o); err != nil {
		return err
	}
	if cause := context.Cause(ctx); errors.Is(cause, errOutput) {
		return cause
	}
	return nil
}

// errOutput is the cause of the end if the standard output can't be written to.
var errOutput = errors.New("writing to the standard output")

// destinations opens the destinations of --to. It calls cancel later if the standard output can't be written to.
func (f *watchFlags) destinations(s streams, cancel context.CancelCauseFunc) (all []push.Destination, err error) {
	names := f.to
	if len(names) == 0 {
		names = []string{"-"}
	}
	server := false
	for _, name := range names {
		var d push.Destination
		switch kind, rest, _ := strings.Cut(name, ":"); {
		case name == "-":
			d = lines.New(s.out, func(err error) { cancel(fmt.Errorf("%w: %w", errOutput, err)) })
		case kind == "dir" && rest != "":
			d, err = folder.Open(rest, f.limit*1_000_000)
		case strings.HasPrefix(kind, "pyroscope+"):
			server = true
			d, err = pyroscope.New(pyroscope.Options{URL: strings.TrimPrefix(name, "pyroscope+"), Tenant: f.tenant,
				TokenFile: f.token, BasicFile: f.basic, CAFile: f.ca, Gasm: version})
		default:
			return nil, usage("--to is %q; it can be pyroscope+https://HOST, pyroscope+http://HOST, dir:PATH or -", name)
		}
		if err != nil {
			return nil, fmt.Errorf("--to %s: %w", kindOf(name), err)
		}
		all = append(all, d)
	}
	if !server && f.tenant+f.token+f.basic+f.ca != "" {
		return nil, usage("--tenant, --token-file, --basic-auth-file and --ca-file are for --to pyroscope+https://HOST")
	}
	return all, nil
}

// kindOf returns a destination for messages, without the part of a URL that may contain a password.
func kindOf(name string) string {
	kind, _, _ := strings.Cut(name, ":")
	if kind == "dir" {
		return name
	}
	return kind
}
