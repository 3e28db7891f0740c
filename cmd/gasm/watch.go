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
	"github.com/spf13/pflag"

	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/push"
	"github.com/gasm-profiler/gasm/push/folder"
	"github.com/gasm-profiler/gasm/push/lines"
	"github.com/gasm-profiler/gasm/push/otlp"
	"github.com/gasm-profiler/gasm/push/pyroscope"
	"github.com/gasm-profiler/gasm/push/web"
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
	hot       bool
	share     string
	labels    []string
	events    string
	tenant    string
	token     string
	basic     string
	ca        string
	limit     int64
	budget    string
	config    string
	listen    []string
	tokenFile string
	jvms      []string // from the configuration file
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
		Short: "Profile running JVMs continuously, for servers, files or scripts",
		Long: `Profile all JVMs of the machine, or those named, as they come and go, until Ctrl-C
or SIGTERM. Every 15 s, each JVM that used CPU time becomes a profile with whole call
stacks, exact lines and labels, which goes to a Pyroscope server, to OpenTelemetry,
to files in pprof's format, or to the standard output as a line of JSON. JVMs need no
flag, and nothing is changed in them, unless you ask for --events. NAME is a part of the
main class or of the jar's name. Linux only.`,
		Example: `  gasm watch
  gasm watch --to pyroscope+https://pyroscope:4040 --label deployment.environment=prod
  gasm watch --to dir:/var/lib/gasm --dir-limit 2000 org.acme.Server
  gasm watch --events lock,alloc --to pyroscope+https://pyroscope:4040
  gasm watch --config /etc/gasm/watch.conf --budget 1% --listen unix:/run/gasm.sock`,
		DisableFlagsInUseLine: true,
		ValidArgsFunction:     completeJVMs(s),
		RunE: func(cmd *cobra.Command, args []string) error {
			w := watchRun{streams: s, given: cmd.Flags(), args: args, config: f.config}
			return w.run()
		},
	}
	f.register(cmd.Flags())
	return cmd
}

func (f *watchFlags) register(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.to, "to", nil,
		"send profiles to this `destination`: pyroscope+https://HOST[:PORT][/PREFIX], otlp+https://HOST[:PORT][/PREFIX], either with http in place of https, dir:PATH, or - for the standard output; may be given several times (default: -)")
	flags.DurationVar(&f.every, "every", 15*time.Second, "make a profile of each JVM in each such `time`, from 5s to 10m")
	flags.IntVar(&f.frequency, "frequency", watchFrequency,
		"about how many samples are taken per second and CPU, in `Hz`, at most 1001")
	flags.StringVar(&f.stacks, "stacks", string(record.StacksAuto),
		"`whether` to record the call stack of each sample: auto (where it is possible), on, or off")
	flags.Lookup("stacks").NoOptDefVal = "on"
	flags.BoolVar(&f.hot, "instructions", false,
		"let each hot instruction of compiled code be the innermost frame of its stacks")
	flags.StringVar(&f.share, "share", "100%",
		"watch only this `percentage` of the JVMs, drawn at random; a JVM stays drawn as long as it runs")
	flags.StringArrayVar(&f.labels, "label", nil,
		"give all profiles this `NAME=VALUE`, such as service.name=shop; may be given several times")
	flags.StringVar(&f.events, "events", "none",
		"make further profiles of these `kinds` of events: lock (waits for monitors), alloc (allocated bytes), lock,alloc, or none; each JVM records them with Flight Recorder as long as gasm runs")
	flags.StringVar(&f.tenant, "tenant", "", "the server's `tenant` (the header X-Scope-OrgID)")
	flags.StringVar(&f.token, "token-file", "",
		"send servers the bearer token in this `FILE`, which is read again for each profile")
	flags.StringVar(&f.basic, "basic-auth-file", "",
		"send servers the USER:PASSWORD in this `FILE`, which is read again for each profile")
	flags.StringVar(&f.ca, "ca-file", "", "trust the certificates in this `FILE` (PEM) instead of the system's")
	flags.Int64Var(&f.limit, "dir-limit", 1000,
		"keep at most this `size` in the folder of dir:PATH, in MB; the oldest files are removed")
	flags.StringVar(&f.budget, "budget", "",
		"use at most about this `percentage` of a processor, such as 1%: take fewer samples, or watch fewer JVMs, if it is exceeded (default: no limit)")
	flags.StringArrayVar(&f.listen, "listen", nil,
		"serve metrics and profiles on demand at this `address`: unix:/PATH, or tcp:HOST:PORT with --listen-token-file; may be given several times")
	flags.StringVar(&f.tokenFile, "listen-token-file", "",
		"clients of tcp:HOST:PORT must send the token in this `FILE`")
	flags.StringVar(&f.config, "config", "",
		"read more flags from this `FILE`, one NAME = VALUE per line, and again at SIGHUP; a jvm = NAME is an argument")
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

// watchedKinds returns the kinds of events in the value of --events.
func watchedKinds(list string) (kinds []event.Kind, err error) {
	if list == "none" {
		return nil, nil
	}
	for word := range strings.SplitSeq(list, ",") {
		kind := event.Kind(strings.TrimSpace(word))
		if kind != event.Lock && kind != event.Alloc {
			return nil, usage("--events is %q; it can be lock, alloc, lock,alloc or none", list)
		}
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	return slices.Compact(kinds), nil
}

// shareOf converts a share such as "10%" to a number such as 0.1.
func shareOf(text string) (share float64, ok bool) {
	number, percent := strings.CutSuffix(text, "%")
	share, err := strconv.ParseFloat(number, 64)
	share /= 100
	return share, percent && err == nil && share > 0 && share <= 1 // NaN fails both comparisons
}

// options returns what the flags and the arguments ask for.
func (f *watchFlags) options(s streams, args []string, cancel context.CancelCauseFunc) (o watch.Options, err error) {
	if err := f.check(); err != nil {
		return o, err
	}
	o = watch.Options{Gasm: version, Words: slices.Concat(args, f.jvms), Every: f.every, Frequency: f.frequency,
		Stacks: record.StackChoice(f.stacks), Instructions: f.hot,
		Say: func(text string) { say(s.err, "gasm: %s", text) }}
	var ok bool
	if o.Share, ok = shareOf(f.share); !ok {
		return o, usage("--share is %q; it is a percentage of the JVMs, such as 10%%", f.share)
	}
	if f.budget != "" {
		if o.Budget, ok = shareOf(f.budget); !ok {
			return o, usage("--budget is %q; it is a percentage of a processor, such as 1%%", f.budget)
		}
	}
	for _, text := range f.labels {
		l, ok := labels.Parse(text)
		if !ok {
			return o, usage("--label is %q; it has the form NAME=VALUE, with a name of letters, digits, _ and dots", text)
		}
		o.Labels = append(o.Labels, l)
	}
	if o.Events, err = watchedKinds(f.events); err != nil {
		return o, err
	}
	if slices.Contains(o.Words, "") {
		return o, usage("the name of a JVM is empty")
	}
	if len(f.jvms) == 0 { // a service goes on, because its file may change
		o.PIDs = pidsOf(args)
	}
	o.To, err = f.targets(s, cancel)
	return o, err
}

// pidsOf converts words to process ids. It returns nil if one of the words is not a number.
func pidsOf(words []string) (pids []int) {
	for _, word := range words {
		pid, err := strconv.Atoi(word)
		if err != nil {
			return nil
		}
		pids = append(pids, pid)
	}
	return pids
}

// errOutput is the cause with which gasm watch ends if it can't write to the standard output.
var errOutput = errors.New("writing to the standard output")

// targets returns the destinations of --to. They call the function cancel later if the standard output can't be written
// to.
func (f *watchFlags) targets(s streams, cancel context.CancelCauseFunc) (all []watch.Target, err error) {
	names := f.to
	if len(names) == 0 {
		names = []string{"-"}
	}
	server := false
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return nil, usage("--to %s is given twice: its profiles would be there twice", kindOf(name))
		}
		o := f.server(name)
		var open func() (push.Destination, error)
		switch kind, rest, _ := strings.Cut(name, ":"); {
		case name == "-":
			open = func() (push.Destination, error) {
				return lines.New(s.out, func(err error) { cancel(fmt.Errorf("%w: %w", errOutput, err)) }), nil
			}
		case kind == "dir" && rest != "":
			open = func() (push.Destination, error) { return folder.Open(rest, f.limit*1_000_000) }
		case strings.HasPrefix(kind, "pyroscope+"):
			server = true
			open = func() (push.Destination, error) { return pyroscope.New(o) }
		case strings.HasPrefix(kind, "otlp+"):
			server = true
			open = func() (push.Destination, error) {
				return otlp.New(o, func(text string) { say(s.err, "gasm: %s", text) })
			}
		default:
			if strings.Contains(name, "@") { // it may contain a password
				name = kind + ":…"
			}
			return nil, usage("--to is %q; it can be pyroscope+https://HOST, otlp+https://HOST, either with http, dir:PATH or -", name)
		}
		all = append(all, watch.Target{Key: fmt.Sprintf("%s %d %+v", name, f.limit, o),
			Open: func() (push.Destination, error) {
				d, err := open()
				if err != nil {
					return nil, fmt.Errorf("--to %s: %w", kindOf(name), err)
				}
				return d, nil
			}})
	}
	if !server && f.tenant+f.token+f.basic+f.ca != "" {
		return nil, usage("--tenant, --token-file, --basic-auth-file and --ca-file are for --to pyroscope+… and otlp+…")
	}
	return all, nil
}

// server returns the options for a server.
func (f *watchFlags) server(name string) web.Options {
	_, url, _ := strings.Cut(name, "+")
	return web.Options{URL: url, Tenant: f.tenant, TokenFile: f.token, BasicFile: f.basic, CAFile: f.ca, Gasm: version}
}

// kindOf returns the text that stands for a destination in messages. If the destination is a URL, the text is only the
// part before the first colon, because the rest may contain a password.
func kindOf(name string) string {
	kind, _, _ := strings.Cut(name, ":")
	if kind == "dir" {
		return name
	}
	return kind
}
