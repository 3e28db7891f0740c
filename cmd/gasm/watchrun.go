package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/internal/sdnotify"
	"github.com/gasm-profiler/gasm/watch"
	"github.com/gasm-profiler/gasm/watch/config"
	"github.com/gasm-profiler/gasm/watch/serve"
)

// A watchRun is a run of gasm watch. Its flags come from the command line and from the configuration file, which is
// read again at SIGHUP.
type watchRun struct {
	streams
	given  *pflag.FlagSet // of the command line
	args   []string
	config string // the path of the configuration file, or ""
}

// flags returns the values of all flags. Those of the command line take precedence over those of the file.
func (r *watchRun) flags() (*watchFlags, error) {
	f := &watchFlags{}
	all := pflag.NewFlagSet("", pflag.ContinueOnError)
	f.register(all)
	if r.config != "" {
		settings, err := config.Read(r.config)
		if err != nil {
			return nil, fmt.Errorf("--config %w", err)
		}
		for _, s := range settings {
			if err := f.set(all, s); err != nil {
				return nil, fmt.Errorf("--config %s:%d: %w", r.config, s.Line, err)
			}
		}
	}
	var err error
	r.given.Visit(func(given *pflag.Flag) {
		values := []string{given.Value.String()}
		if list, ok := given.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, value := range values {
			if all.Lookup(given.Name) != nil { // --help is not among them
				err = errors.Join(err, all.Set(given.Name, value))
			}
		}
	})
	return f, err
}

// set sets the flag that a setting of the configuration file names.
func (f *watchFlags) set(all *pflag.FlagSet, s config.Setting) error {
	if s.Name == "jvm" {
		f.jvms = append(f.jvms, s.Value)
		return nil
	}
	if s.Name == "config" || all.Lookup(s.Name) == nil {
		names := []string{"jvm"}
		all.VisitAll(func(flag *pflag.Flag) {
			if flag.Name != "config" {
				names = append(names, flag.Name)
			}
		})
		slices.Sort(names)
		return fmt.Errorf("there is no setting %s; it can be %s", s.Name, layout.Or(names))
	}
	return all.Set(s.Name, s.Value)
}

// run watches JVMs until a signal ends it.
func (r *watchRun) run() error {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	f, err := r.flags()
	if err != nil {
		return err
	}
	o, err := f.options(r.streams, r.args, cancel)
	if err != nil {
		return err
	}
	if err := watch.CheckRunning(r.args); err != nil {
		return err
	}
	if mayWatch() { // now or later, JVMs of other users may run
		return runLate(r.streams)
	}
	takeLittle()
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT}
	if r.config == "" {
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(ctx, ends...)
	defer stop()
	again := make(chan os.Signal, 1)
	if r.config != "" {
		signal.Notify(again, syscall.SIGHUP)
		defer signal.Stop(again)
	}
	signal.Ignore(syscall.SIGPIPE) // a write to a closed pipe returns an error instead, and gasm ends as usual
	systemd := sdnotify.New()
	o.Beat = systemd.Beat()
	context.AfterFunc(ctx, systemd.Stopping) // the last profiles may take some seconds
	tellLeft(r.streams)                      // a killed gasm may have left JVMs recording
	w, err := watch.New(o)
	if err != nil {
		return err
	}
	server, err := f.serve(w)
	if err != nil {
		return err
	}
	defer server.Close()
	f.sayMissing(o.Say)
	go r.reload(ctx, again, w, f, systemd, cancel)
	if err := w.Run(ctx); err != nil {
		return err
	}
	if cause := context.Cause(ctx); errors.Is(cause, errOutput) {
		return cause
	}
	return nil
}

// takeLittle changes Go's settings so that gasm watch takes less CPU time, unless the user has set them. It limits how
// many threads run Go code at a time, to one for each eight processors of the machine: gasm watch has little to do at a
// time, and with few threads Go spends less CPU time on waking up others, a seventh of all with 20 JVMs on two
// processors. Garbage is collected half as often, which takes more memory.
func takeLittle() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(min(runtime.GOMAXPROCS(0), max(1, runtime.NumCPU()/8))) // less if a cgroup limits it
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(collectSeldom)
	}
}

// serve opens the addresses of --listen, and answers requests there.
func (f *watchFlags) serve(w *watch.Watcher) (*serve.Server, error) {
	if f.tokenFile != "" && !slices.ContainsFunc(f.listen, func(a string) bool { return strings.HasPrefix(a, "tcp:") }) {
		return nil, usage("--listen-token-file is for --listen tcp:HOST:PORT")
	}
	s := serve.New(serve.Options{Gasm: version, Status: w.Status, Record: recordOnDemand})
	for _, address := range f.listen {
		l, err := serve.Listen(address, f.tokenFile)
		if err != nil {
			s.Close()
			return nil, fmt.Errorf("--listen %s: %w", address, err)
		}
		s.Serve(l)
	}
	return s, nil
}

// reload reads the configuration file again at each signal. If there is a mistake in the file, the old configuration
// stays in force.
func (r *watchRun) reload(ctx context.Context, again <-chan os.Signal, w *watch.Watcher, old *watchFlags,
	systemd *sdnotify.Notifier, cancel context.CancelCauseFunc) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-again:
		}
		if err := r.changeTo(w, old, systemd, cancel); err != nil {
			say(r.err, "gasm: %v; the old configuration stays in force", err)
			systemd.Ready()
		}
	}
}

func (r *watchRun) changeTo(w *watch.Watcher, old *watchFlags, systemd *sdnotify.Notifier,
	cancel context.CancelCauseFunc) error {
	systemd.Reloading()
	f, err := r.flags()
	if err != nil {
		return err
	}
	if !slices.Equal(f.listen, old.listen) || f.tokenFile != old.tokenFile {
		return errors.New("--listen and --listen-token-file can't change while gasm runs: start it again")
	}
	o, err := f.options(r.streams, r.args, cancel)
	if err != nil {
		return err
	}
	o.Beat = systemd.Beat()
	if err := w.Change(o); err != nil {
		return err
	}
	f.sayMissing(o.Say)
	return nil
}

// sayMissing reports each setting of the configuration file such as "jvm = 4711" if there is no process with that id.
// That is not an error, because a service must start all the same.
func (f *watchFlags) sayMissing(say func(text string)) {
	for _, word := range f.jvms {
		if err := watch.CheckRunning([]string{word}); err != nil {
			say(fmt.Sprintf("jvm = %s: %v", word, err))
		}
	}
}
