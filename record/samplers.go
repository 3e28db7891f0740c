package record

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/sampler"
)

// A sampling is a sampler at work, or what it left.
type sampling interface {
	tool() Sampler
	Events() []sampler.Event
	Frequency() int  // per second and CPU
	Notes() []string // what could not be had
	// Stop ends the sampling. After a *sampler.StoppedError there are the samples
	// until then.
	Stop() error
	// Lost is how many samples the sampler dropped, where its text does not tell.
	Lost() int64
	// save writes the sampler's text to a file, and to tee as well. When that fails,
	// open still reads the text.
	save(path string, tee io.Writer) error
	open() (io.ReadCloser, error)
	discard() // removes what was recorded, when the command did not run
	wait()    // until nothing of the sampler is left
}

// startSampler starts the sampler that the options name beside a held process.
func (r *Recording) startSampler(pid int) (sampling, error) {
	if r.o.Sampler == SamplerDTrace {
		return r.startDTrace("")
	}
	hertz, note := r.frequency(r.o.Events)
	perf, err := sampler.StartPerf(r.stopped, sampler.Options{
		Events: r.o.Events, Frequency: hertz, PID: pid, Dir: r.o.Folder.Path, Slow: r.o.Message})
	if err == nil {
		return &perfSampling{perf, note}, nil
	}
	if r.StoppedBy() != 0 {
		return nil, ErrNotRun
	}
	if r.o.Sampler == SamplerPerf || len(r.o.Events) > 0 || !mayTryDTrace(err) {
		return nil, err
	}
	dtrace, second := r.startDTrace("perf could not be used: " + withoutTool(err))
	if second != nil {
		return nil, fmt.Errorf("%w (nor can dtrace be used: %s)", err, withoutTool(second))
	}
	return dtrace, nil
}

// frequency is how often the events are sampled: as the user says, or else as this
// machine can afford. The note says why that is less than usual, if it is.
func (r *Recording) frequency(events []sampler.Event) (hertz int, note string) {
	if r.o.Frequency != 0 {
		return r.o.Frequency, ""
	}
	rate := sampler.ChooseRate(events)
	return rate.Hertz, rate.Note()
}

// mayTryDTrace tells errors that are perf's own from those that any sampler would
// have.
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

// startDTrace starts DTrace; whyNotPerf is for the capture's notes.
func (r *Recording) startDTrace(whyNotPerf string) (sampling, error) {
	hertz, note := r.frequency([]sampler.Event{sampler.ParseEvent("cpu-clock")}) // profile-N is the same timer on Linux
	d, err := sampler.StartDTrace(context.Background(), sampler.DTraceOptions{
		Frequency: hertz, Sudo: r.o.Sudo, Dir: r.o.Folder.Path, Slow: r.o.Message})
	if err != nil {
		return nil, err
	}
	return &dtraceSampling{d, []string{note, whyNotPerf}}, nil
}

// A perfSampling is perf.data; its text is made at the end, by perf script.
type perfSampling struct {
	*sampler.Perf
	note string // of the frequency; may be ""
}

func (p *perfSampling) tool() Sampler { return SamplerPerf }

func (p *perfSampling) Notes() []string { return append(p.Perf.Notes(), p.note) }

func (p *perfSampling) Lost() int64 { return 0 } // perf's text has it

// save writes the text under another name first, so that under its own one it is
// complete.
func (p *perfSampling) save(path string, tee io.Writer) error {
	part := path + ".part"
	f, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("writing the samples: %w", err)
	}
	err = p.WriteText(context.Background(), io.MultiWriter(f, tee))
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(part, path)
	}
	if err != nil {
		os.Remove(part) // perf's own data is complete
		return fmt.Errorf("writing the samples: %w", err)
	}
	os.Remove(p.DataFile()) // all of it that gasm uses is in the text now
	return nil
}

func (p *perfSampling) open() (io.ReadCloser, error) {
	pipeOut, pipeIn := io.Pipe()
	go func() { pipeIn.CloseWithError(p.WriteText(context.Background(), pipeIn)) }()
	return pipeOut, nil
}

func (p *perfSampling) discard() { os.Remove(p.DataFile()) }

func (p *perfSampling) wait() {}

// A dtraceSampling is DTrace's text, which is there as soon as it is stopped.
type dtraceSampling struct {
	*sampler.DTrace
	notes []string // of the frequency, and why it is not perf; may be ""
}

func (d *dtraceSampling) tool() Sampler { return SamplerDTrace }

func (d *dtraceSampling) Notes() []string { return append(d.DTrace.Notes(), d.notes...) }

func (d *dtraceSampling) save(path string, tee io.Writer) error {
	if err := os.Rename(d.TextFile(), path); err != nil {
		return fmt.Errorf("naming the samples: %w", err)
	}
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("reading the samples: %w", err)
	}
	defer f.Close()
	if _, err := io.Copy(tee, f); err != nil {
		return fmt.Errorf("reading the samples: %w", err)
	}
	return nil
}

func (d *dtraceSampling) open() (io.ReadCloser, error) { return os.Open(d.TextFile()) }

func (d *dtraceSampling) discard() { os.Remove(d.TextFile()) }

func (d *dtraceSampling) wait() { d.Wait() }

// saveSamples writes the sampler's text into the capture. The native functions that
// samples are in are found at the same time, while perf script is still writing.
func (r *Recording) saveSamples() error {
	pipeOut, pipeIn := io.Pipe()
	named := make(chan struct{})
	go func() {
		defer close(named)
		r.nameFunctions(pipeOut)
		// Nothing may be left in the pipe, or its writer would wait for ever.
		_, _ = io.Copy(io.Discard, pipeOut)
	}()
	err := r.sampling.save(r.path(capture.SamplesFile), &progressWriter{pipeIn, r.o.Progress})
	pipeIn.Close()
	<-named
	return err
}

// nameFunctions looks up each sample's function in the files that were mapped at its
// address, so that the resolver's table has them all.
func (r *Recording) nameFunctions(text io.Reader) {
	samples := sampler.NewReader(text, capture.SamplesFile)
	for samples.Scan() {
		if s, ok := samples.Record().(*sampler.Sample); ok && !s.Kernel() {
			r.resolver.Resolve(s.PID, s.PC, s.Symbol)
		}
	}
}

// A progressWriter tells how much is written through it.
type progressWriter struct {
	io.Writer
	count func(bytes int)
}

func (p *progressWriter) Write(text []byte) (int, error) {
	if p.count != nil {
		p.count(len(text))
	}
	return p.Writer.Write(text)
}
