package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gasm-profiler/gasm/jvm"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/report"
	"github.com/gasm-profiler/gasm/sampler"
)

func reportCommand(s streams) *cobra.Command {
	var flags reportFlags
	cmd := &cobra.Command{
		Use:   "report [flags] DIR | SAMPLES ASMLOG...",
		Short: "Report from a saved capture, or from a sampler's text and HotSpot's logs",
		Long: `Report from files: a folder that 'gasm profile -o DIR' kept, or the text of
'perf script --ns -F comm,pid,tid,time,event,ip,sym,dso' or of dtrace's probe,
and the logs that HotSpot wrote under -XX:+PrintAssembly -XX:+LogVMOutput (JMH's
perfasm and dtraceasm can save both).`,
		Example: `  gasm report capture
  gasm report --format json --report report.json capture
  gasm report samples.txt asm-4711.log`,
		DisableFlagsInUseLine: true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("report: name a capture folder, or a samples file and at least one assembly log")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if err := flags.check(); err != nil {
				return err
			}
			if err := flags.checkOutput(s.out, false); err != nil {
				return err
			}
			return runReport(s, &flags, args)
		},
	}
	flags.register(cmd.Flags())
	return cmd
}

// A source is a capture's files and what is known about them.
type source struct {
	capture *jvm.Capture
	samples string
	logs    []string
	// guessed tells that there is no capture.json: the clock is estimated.
	guessed bool
	symbols symbolizer // nil without
}

// findSource makes out what the arguments of report are.
func findSource(args []string) (*source, error) {
	info, err := os.Stat(args[0])
	if err != nil {
		return nil, fmt.Errorf("opening the capture: %w", err)
	}
	if !info.IsDir() {
		if len(args) == 1 {
			return nil, usage("report: %s is a file; behind the samples file name at least one assembly log", args[0])
		}
		return &source{capture: &jvm.Capture{}, samples: args[0], logs: args[1:], guessed: true}, nil
	}
	if len(args) > 1 {
		return nil, usage("report: %s is a folder; a capture folder stands alone", args[0])
	}
	src := &source{samples: filepath.Join(args[0], jvm.SamplesFile)}
	if src.logs = jvm.CollectLogs(args[0]); len(src.logs) == 0 {
		return nil, fmt.Errorf("%s is no capture: it has no %s", args[0], jvm.LogGlob)
	}
	src.capture, err = jvm.ReadCapture(args[0])
	if errors.Is(err, fs.ErrNotExist) {
		src.capture, src.guessed, err = &jvm.Capture{}, true, nil
	}
	if err == nil {
		var note string
		if src.symbols, note, err = loadSymbols(args[0]); note != "" {
			src.capture.Notes = append(src.capture.Notes, note)
		}
	}
	return src, err
}

func runReport(s streams, flags *reportFlags, args []string) error {
	src, err := findSource(args)
	if err != nil {
		return err
	}
	in, err := src.read(s, flags.pid, "reading the samples", flags.profileOptions())
	if err != nil {
		return err
	}
	defer in.close()
	return finish(s, flags, src.capture, in.joined)
}

// A reading is a source whose files are open, and what they give together.
type reading struct {
	joining
	*joined
	logs []*printassembly.Log
	file *os.File // the samples
}

// read joins a source's samples and logs. pid narrows it to one JVM, 0 does not.
// doing names the work for the progress display.
func (src *source) read(s streams, pid int, doing string, opts profile.Options) (_ *reading, err error) {
	in := &reading{}
	defer func() {
		if err != nil {
			in.close()
		}
	}()
	var warnings []error
	if in.logs, warnings, err = openLogs(src.logs); err != nil {
		return nil, err
	}
	for _, w := range warnings {
		say(s.err, "gasm: %v", w)
	}
	var size int64
	if in.file, size, err = openSamples(src.samples); err != nil {
		return nil, err
	}
	c := src.capture
	if src.guessed {
		c.JVMs = describe(in.logs, nil)
		if err = guessStarts(in.file, c); err != nil {
			return nil, err
		}
	}
	jvms, trials, err := narrow(pid, profileJVMs(in.logs, c.JVMs), profileTrials(c.Trials))
	if err != nil {
		return nil, err
	}
	bar := startProgress(s.err, doing, size)
	in.joining = joining{samples: bar.reader(in.file), name: src.samples, capture: c, jvms: jvms, trials: trials, symbols: src.symbols}
	in.joined, err = in.join(opts)
	bar.done()
	if err == nil && src.guessed && in.userOnly {
		c.Notes = append(c.Notes, "the samples are of user space only: what the kernel did for the program is not in them")
	}
	return in, err
}

func (in *reading) close() {
	closeLogs(in.logs)
	if in.file != nil {
		in.file.Close()
	}
}

// guessStarts takes each process's first sample for its start.
func guessStarts(samples io.ReadSeeker, c *jvm.Capture) error {
	first, err := firstSamples(samples, "samples")
	if err != nil {
		return fmt.Errorf("reading the samples: %w", err)
	}
	if _, err := samples.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("reading the samples again: %w", err)
	}
	for i := range c.JVMs {
		at, ok := first[c.JVMs[i].PID]
		if !ok {
			at = first[sampler.NoPID]
		}
		c.JVMs[i].StartMonoNanos = at
	}
	c.Notes = append(c.Notes, "no capture.json: each JVM's start is estimated from its first sample, and the whole run is reported")
	return nil
}

// header describes a capture and its samples.
func (j *joined) header(c *jvm.Capture) report.Header {
	h := header(c)
	if len(j.events) > 0 {
		h.Events = j.events // what was sampled counts, not what was asked for
	}
	h.Notes = append(h.Notes, j.notes()...)
	return h
}

// finish writes the report, and says on stderr when there is nothing in it.
func finish(s streams, flags *reportFlags, c *jvm.Capture, j *joined) error {
	h := j.header(c)
	if note := flags.normalise(j.profiles); note != "" {
		h.Notes = append(h.Notes, note)
	}
	h.Notes = append(h.Notes, flags.otherSources(h.JVMs)...)
	if err := flags.write(s, h, j.profiles); err != nil {
		return err
	}
	if flags.noSources() {
		say(s.err, "gasm: --source: none of the report's methods has its source in %s", strings.Join(flags.sourcePaths, ", "))
	}
	if flags.saveLog != "" {
		if err := flags.saveLogs(j.builder.CodeCounts()); err != nil {
			return err
		}
	}
	return nothingProfiled(j.profiles)
}

// nothingProfiled is the error of a report without a single sample: where they
// all went instead.
func nothingProfiled(ps []profile.Profile) error {
	var a profile.Account
	for _, p := range ps {
		for _, account := range p.Accounts {
			if account.Profiled > 0 {
				return nil
			}
			a = account
		}
	}
	switch {
	case a.Total == 0:
		return errors.New("no samples at all: the sampler saw nothing of the command")
	case a.OtherProcess == a.Total-a.Lost:
		return fmt.Errorf("all %d samples are of other processes, none of the JVMs whose logs these are: "+
			"samples and logs must be of the same run", a.OtherProcess)
	case a.OutsideWindow > 0:
		return fmt.Errorf("no sample is in the measurement window; %d are outside of it", a.OutsideWindow)
	}
	return errors.New("no sample is in the profile")
}
