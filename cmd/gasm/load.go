package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/jvm"
	"github.com/gasm-profiler/gasm/layout"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/sampler"
)

// openLogs indexes assembly logs. A log that can't be read is a warning, not
// the end, as long as there is another one.
func openLogs(paths []string) (logs []*printassembly.Log, warnings []error, err error) {
	for _, path := range paths {
		log, err := printassembly.Open(path)
		if err != nil {
			warnings = append(warnings, err)
			continue
		}
		logs = append(logs, log)
	}
	if len(logs) == 0 {
		return nil, nil, errors.Join(warnings...)
	}
	return logs, warnings, nil
}

func closeLogs(logs []*printassembly.Log) {
	for _, l := range logs {
		l.Close()
	}
}

// describe gives what the capture says about the JVMs of some logs. The clock
// translates their start; without one it is left open.
func describe(logs []*printassembly.Log, clock *jvm.Clock) []jvm.JVM {
	jvms := make([]jvm.JVM, len(logs))
	for i, l := range logs {
		jvms[i] = jvm.JVM{PID: l.PID, Main: mainClass(l.Command), Version: l.VMVersion, Log: filepath.Base(l.Name())}
		if clock != nil && l.StartWallMillis > 0 {
			jvms[i].StartMonoNanos = clock.Mono(l.StartWallMillis * 1e6)
		}
	}
	slices.SortStableFunc(jvms, func(a, b jvm.JVM) int { return int(a.StartMonoNanos/1e6 - b.StartMonoNanos/1e6) })
	return jvms
}

// mainClass is the first word of sun.java.command, a jar without its folder.
func mainClass(command string) string {
	main, _, _ := strings.Cut(command, " ")
	if strings.HasSuffix(main, ".jar") {
		return filepath.Base(main)
	}
	return main
}

// A joined is what samples and logs give together.
type joined struct {
	builder  *profile.Builder
	profiles []profile.Profile
	events   []string
	userOnly bool
	badLines int64
	firstBad sampler.SyntaxError // of badLines, when there are any
	samples  int64
}

// A joining is what is to be joined.
type joining struct {
	samples io.Reader
	name    string // of the samples, for messages
	capture *jvm.Capture
	jvms    []profile.JVM
	trials  []profile.Trial
	symbols symbolizer // nil where there is none
}

// join reads all samples and gives one profile per trial. Several events keep
// the order in which they were asked for.
func (in *joining) join(opts profile.Options) (*joined, error) {
	var ordered []string
	if events := in.capture.Events; len(events) > 1 {
		for _, e := range events {
			ordered = append(ordered, sampler.EventName(e))
		}
	}
	b := profile.NewBuilder(in.jvms, in.trials, ordered...)
	r := sampler.NewReader(in.samples, in.name)
	j := joined{builder: b}
	for r.Scan() {
		switch rec := r.Record().(type) {
		case *sampler.Sample:
			j.samples++
			in.symbols.name(rec)
			b.Add(rec)
		case *sampler.Lost:
			b.Lost(rec.Count)
		case *sampler.SyntaxError:
			if j.badLines++; j.badLines == 1 {
				j.firstBad = *rec
			}
		}
	}
	if r.Err() != nil {
		return nil, fmt.Errorf("reading the samples: %w", r.Err())
	}
	if j.samples == 0 && j.badLines > 0 {
		return nil, fmt.Errorf("%s holds no samples: line %d is neither perf script's text nor dtrace's (%s); gasm reads what "+
			"'perf script --ns -F comm,pid,tid,time,event,ip,sym,dso' and dtrace's profile probe print", in.name, j.firstBad.Line, &j.firstBad)
	}
	b.Lost(in.capture.Lost)
	j.userOnly = r.UserOnly()
	j.profiles = b.Build(opts)
	if len(j.profiles) > 0 {
		j.events = j.profiles[0].Events
	}
	return &j, nil
}

// notes says what the samples taught about themselves.
func (j *joined) notes() []string {
	var notes []string
	if j.badLines > 0 {
		notes = append(notes, fmt.Sprintf("%s of the samples could not be read, the first: %v", layout.Plural(int(j.badLines), "line"), &j.firstBad))
	}
	return notes
}

// firstSamples gives the time of each process's first sample, for files that
// come without a clock: that is when the process started, give or take the
// sampling interval.
func firstSamples(samples io.Reader, name string) (map[int]int64, error) {
	first := map[int]int64{}
	r := sampler.NewReader(samples, name)
	for r.Scan() {
		if s, ok := r.Record().(*sampler.Sample); ok {
			if at, seen := first[s.PID]; !seen || s.MonoNanos < at {
				first[s.PID] = s.MonoNanos
			}
		}
	}
	return first, r.Err()
}

// narrow keeps one process of the JVMs and trials, for --pid.
func narrow(pid int, jvms []profile.JVM, trials []profile.Trial) ([]profile.JVM, []profile.Trial, error) {
	if pid == 0 {
		return jvms, trials, nil
	}
	kept := slices.DeleteFunc(slices.Clone(jvms), func(j profile.JVM) bool { return j.PID != pid })
	if len(kept) == 0 {
		var pids []string
		for _, j := range jvms {
			pids = append(pids, fmt.Sprint(j.PID))
		}
		return nil, nil, fmt.Errorf("--pid %d: no such JVM in this capture; it has %s", pid, strings.Join(pids, ", "))
	}
	var narrowed []profile.Trial
	for _, t := range trials {
		if slices.Contains(t.PIDs, pid) {
			t.PIDs, t.Operations = []int{pid}, 0 // what one fork did is not known
			t.Windows = slices.DeleteFunc(slices.Clone(t.Windows), func(w profile.Window) bool { return w.PID != pid })
			narrowed = append(narrowed, t)
		}
	}
	return kept, narrowed, nil
}

// profileJVMs pairs logs with what is known of their processes.
func profileJVMs(logs []*printassembly.Log, jvms []jvm.JVM) []profile.JVM {
	var out []profile.JVM
	for _, j := range jvms {
		for _, l := range logs {
			if filepath.Base(l.Name()) == j.Log {
				out = append(out, profile.JVM{PID: j.PID, Log: l, StartMonoNanos: j.StartMonoNanos})
			}
		}
	}
	return out
}

func profileTrials(trials []jvm.Trial) []profile.Trial {
	var out []profile.Trial
	for i := range trials {
		t := profile.Trial{Name: trials[i].Name, PIDs: trials[i].PIDs(), Operations: trials[i].Operations}
		for _, w := range trials[i].Windows {
			t.Windows = append(t.Windows, profile.Window{PID: w.PID, FromMonoNanos: w.FromMonoNanos, ToMonoNanos: w.ToMonoNanos})
		}
		out = append(out, t)
	}
	return out
}

// openSamples opens a samples file, and says what is wrong with an empty one.
func openSamples(path string) (*os.File, int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, fmt.Errorf("opening the samples: %w", err)
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = fmt.Errorf("%s is a folder; the samples are a file", path)
	}
	if err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is a pipe or a device; the samples are read more than once: save them as a file", path)
	}
	if err == nil && info.Size() == 0 {
		err = fmt.Errorf("%s is empty: the sampler wrote nothing into it", path)
	}
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}
