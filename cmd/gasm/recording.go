package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/gasm-profiler/gasm/jvm"
	"github.com/gasm-profiler/gasm/sampler"
)

// A recording is a sampler at work or ended.
type recording interface {
	tool() string
	Event() string   // as one asks the sampler for it
	Frequency() int  // per second and CPU
	Notes() []string // what could not be had
	Stop() error     // a *sampler.StoppedError keeps the samples until then
	// Lost is how many samples the sampler dropped, where its text does not tell.
	Lost() int64
	// save writes the sampler's text. When that fails, open still reads it.
	save(path string, bar *progress) error
	open() (io.ReadCloser, error)
	discard() // what it recorded, when the command did not run
	wait()    // until nothing of it is left
}

// startSampler starts the sampler that the flags name beside a held process;
// auto takes perf, or dtrace where perf can't be had.
func (r *run) startSampler(pid int) (recording, error) {
	if r.own.sampler == "dtrace" {
		return r.startDTrace("")
	}
	hertz, note := r.frequency(r.own.events)
	perf, err := sampler.StartPerf(context.Background(), sampler.Options{
		Events: r.own.events, Frequency: hertz, PID: pid, Dir: r.dir})
	if err == nil {
		return &perfRecording{perf, note}, nil
	}
	if r.own.sampler == "perf" || len(r.own.events) > 0 || !mayTryDTrace(err) {
		return nil, err
	}
	rec, second := r.startDTrace("perf could not be used: " + withoutTool(err))
	if second != nil {
		return nil, fmt.Errorf("%w (nor can dtrace be used: %s)", err, withoutTool(second))
	}
	return rec, nil
}

// frequency is how often to sample the events: as the user says, or else as this
// machine can afford. The note says why that is less than usual, if it is.
func (r *run) frequency(events []string) (hertz int, note string) {
	if r.own.frequency != 0 {
		return r.own.frequency, ""
	}
	rate := sampler.ChooseRate(events)
	return rate.Hertz, rate.Note()
}

// mayTryDTrace tells errors that are perf's own from those that any sampler
// would have.
func mayTryDTrace(err error) bool {
	var missing *sampler.MissingToolError
	var refused *sampler.RefusedError
	return errors.As(err, &missing) || errors.As(err, &refused) && refused.Reason != sampler.ReasonTargetGone
}

// withoutTool is perf's or dtrace's error without its name in front.
func withoutTool(err error) string {
	var missing *sampler.MissingToolError
	var refused *sampler.RefusedError
	cause, hint := err.Error(), ""
	switch {
	case errors.As(err, &missing):
		cause, hint = missing.Cause, missing.Hint
	case errors.As(err, &refused):
		cause, hint = refused.Cause, refused.Hint
	}
	if hint != "" {
		cause += "; " + hint
	}
	return cause
}

// startDTrace starts DTrace; whyNotPerf is for the report's notes.
func (r *run) startDTrace(whyNotPerf string) (recording, error) {
	hertz, note := r.frequency([]string{"cpu-clock"}) // profile-N is the same timer on Linux
	d, err := sampler.StartDTrace(context.Background(), sampler.DTraceOptions{
		Frequency: hertz, Sudo: r.own.sudo, Dir: r.dir})
	if err != nil {
		return nil, err
	}
	return &dtraceRecording{d, []string{note, whyNotPerf}}, nil
}

// A perfRecording is perf.data; its text is made at the end.
type perfRecording struct {
	*sampler.Perf
	note string // of the frequency; may be ""
}

func (p *perfRecording) tool() string { return "perf" }

func (p *perfRecording) Notes() []string { return said(append(p.Perf.Notes(), p.note)) }

func (p *perfRecording) Lost() int64 { return 0 } // perf's text has it

func (p *perfRecording) save(path string, bar *progress) error {
	// Under its own name it is whole.
	part := path + ".part"
	f, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("writing the samples: %w", err)
	}
	err = p.WriteText(context.Background(), bar.writer(f))
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(part, path)
	}
	if err != nil {
		os.Remove(part) // perf's own data is whole
		return fmt.Errorf("writing the samples: %w", err)
	}
	os.Remove(p.DataFile()) // all of it that gasm uses is in the text now
	return nil
}

func (p *perfRecording) open() (io.ReadCloser, error) {
	pipeOut, pipeIn := io.Pipe()
	go func() { pipeIn.CloseWithError(p.WriteText(context.Background(), pipeIn)) }()
	return pipeOut, nil
}

func (p *perfRecording) discard() { os.Remove(p.DataFile()) }

func (p *perfRecording) wait() {}

// A dtraceRecording is DTrace's text, which is there as soon as it is stopped.
type dtraceRecording struct {
	*sampler.DTrace
	notes []string // of the frequency, and why it is not perf; may be ""
}

func (d *dtraceRecording) tool() string { return "dtrace" }

func (d *dtraceRecording) Notes() []string { return said(append(d.DTrace.Notes(), d.notes...)) }

// said leaves out empty notes.
func said(notes []string) []string {
	return slices.DeleteFunc(notes, func(note string) bool { return note == "" })
}

func (d *dtraceRecording) save(path string, _ *progress) error {
	if err := os.Rename(d.TextFile(), path); err != nil {
		return fmt.Errorf("naming the samples: %w", err)
	}
	return nil
}

func (d *dtraceRecording) open() (io.ReadCloser, error) { return os.Open(d.TextFile()) }

func (d *dtraceRecording) discard() { os.Remove(d.TextFile()) }

func (d *dtraceRecording) wait() { d.Wait() }

// samples saves the sampler's text in the capture and opens it. Where that
// can't be written it is read straight from the sampler, whose data stays.
func (r *run) samples() (io.ReadCloser, error) {
	path := filepath.Join(r.dir, jvm.SamplesFile)
	bar := startProgress(r.err, "perf script", -1)
	defer bar.done()
	err := r.recording.save(path, bar)
	if err == nil {
		return os.Open(path)
	}
	r.fault(err)
	return r.recording.open()
}
