package record

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/fix"
	"github.com/gasm-profiler/gasm/internal/native"
	"github.com/gasm-profiler/gasm/internal/nativecode"
	"github.com/gasm-profiler/gasm/sampler"
	"github.com/gasm-profiler/gasm/sampler/collect"
	"github.com/gasm-profiler/gasm/sampler/collect/dtrace"
	"github.com/gasm-profiler/gasm/sampler/collect/failure"
	"github.com/gasm-profiler/gasm/sampler/collect/xctrace"
)

// A sampling is one run of a sampler, with its samples so far. Its exported methods are implemented by the types in
// package collect and in the packages below it.
type sampling interface {
	tool() Sampler
	Events() []sampler.Event
	Frequency() int // in samples per second and CPU
	// stream returns a channel that delivers the samples during the sampling, and is closed at the end. It returns nil
	// if the sampler has no samples before the end.
	stream() <-chan sampler.Sample
	Notes() []string // says what could not be sampled
	// Pause makes the sampler take no samples, or drop the samples that it takes, until Resume is called.
	Pause() error
	Resume() error
	// Stop ends the sampling. It may wait for more information about the samples, but only until ctx is done. If the
	// sampler itself ended too early, the error is a *failure.StoppedError, and the samples until then can still be
	// read.
	Stop(ctx context.Context) error
	// Lost returns the number of samples that the sampler has lost, or 0 if the sampler's text contains that number.
	Lost() int64
	// lostSoFar returns the number of lost samples that are known so far. It may be called during the recording.
	lostSoFar() int64
	// save writes the sampler's text to a new file at path, and a copy to tee. If that fails, the text can still be
	// read with open.
	save(ctx context.Context, path string, tee io.Writer) error
	open(context.Context) (io.ReadCloser, error)
	// resolver returns the sampler's own resolver, or nil if the sampler does not look up native functions. When Stop
	// has returned, the resolver has looked up the native functions of all samples.
	resolver() *native.Resolver
	// KernelCode returns the code of the kernel's hottest functions, or nil if it is not known. It is called after
	// Stop.
	KernelCode() []nativecode.Function
	discard() // removes the samples; called if the command did not run
	wait()    // waits until the sampler has ended completely
}

// startSampler starts the sampler that the options name. pid is the process that is held for the command. For
// SamplerAuto, startSampler tries one sampler after another.
func (r *Recording) startSampler(ctx context.Context, pid int) (sampling, error) {
	switch r.o.Sampler {
	case SamplerNative:
		return r.startNative(ctx, pid)
	case SamplerPerf:
		return r.startPerf(ctx, pid, "")
	case SamplerDTrace:
		return r.startDTrace(ctx, "")
	case SamplerXCTrace:
		return r.startXCTrace(ctx, "")
	}
	s, err := r.startNative(ctx, pid)
	if err == nil {
		return s, nil
	}
	if !mayTryOther(err) {
		return nil, err
	}
	if r.stacks.choice == StacksOn && r.stacks.walk {
		return nil, fmt.Errorf("call stacks (--stacks on) need gasm's own sampling: %w", err)
	}
	why := "gasm could not sample by itself: " + failure.WithoutTool(err)
	s, perfErr := r.startPerf(ctx, pid, why)
	if perfErr == nil {
		return s, nil
	}
	if errors.Is(perfErr, ErrNotRun) {
		return nil, perfErr
	}
	if len(r.o.Counters) > 0 || !mayTryOther(perfErr) {
		return nil, firstFailure(err, perfErr)
	}
	why += "; nor could perf be used: " + failure.WithoutTool(perfErr)
	s, dtraceErr := r.startDTrace(ctx, why)
	if dtraceErr == nil {
		return s, nil
	}
	if runtime.GOOS == "darwin" {
		s, xctraceErr := r.startXCTrace(ctx, "dtrace could not be used: "+failure.WithoutTool(dtraceErr))
		if xctraceErr == nil {
			return s, nil
		}
		return nil, fmt.Errorf("%w (nor can xctrace be used: %s)", dtraceErr, failure.WithoutTool(xctraceErr))
	}
	return nil, fmt.Errorf("%w (nor can perf be used: %s; nor dtrace: %s)", err, failure.WithoutTool(perfErr),
		failure.WithoutTool(dtraceErr))
}

// firstFailure returns the error for a machine on which neither gasm itself nor perf can sample the events that the
// user named. Usually that is perf's error, because perf knows more events.
func firstFailure(native, perf error) error {
	var first, second *failure.RefusedError
	if !errors.As(perf, &second) {
		return fmt.Errorf("%w (nor can perf be used: %s)", native, failure.WithoutTool(perf))
	}
	if errors.As(native, &first) && first.Reason == second.Reason && first.Reason != failure.ReasonUnknownEvent {
		return native // both have failed for the same reason
	}
	return perf
}

// startPerf starts perf. whyNotNative is a note for the capture that says why gasm does not sample by itself. It may be
// "".
func (r *Recording) startPerf(ctx context.Context, pid int, whyNotNative string) (sampling, error) {
	hertz, note := frequency(r.o.Frequency, r.o.Counters, r.stacks.chains)
	perf, err := collect.StartPerf(r.untilStopped(ctx), collect.Options{
		Events: r.o.Counters, Frequency: hertz, Drawn: !r.o.FixedFrequency, PID: pid, Dir: r.o.Folder.Path,
		Slow: r.o.Message, Pauses: r.rules.Reopen(), Chains: r.stacks.chains})
	if err != nil && r.StoppedBy() != 0 {
		return nil, ErrNotRun
	}
	if err != nil {
		return nil, err
	}
	s := &perfSampling{Perf: perf, notes: []string{note, whyNotNative}}
	if r.stacks.chains {
		s.names, s.progress = native.NewResolver(), r.o.Progress
	}
	return s, nil
}

// mayTryOther reports whether another sampler may work although one has failed with err.
func mayTryOther(err error) bool {
	var missing *failure.MissingToolError
	var refused *failure.RefusedError
	return errors.As(err, &missing) || errors.As(err, &refused) && refused.Reason != failure.ReasonTargetGone
}

// startDTrace starts DTrace. whyNotOther is a note for the capture that says why no other sampler is used. It may be
// "".
func (r *Recording) startDTrace(ctx context.Context, whyNotOther string) (sampling, error) {
	// DTrace's probe profile-N fires by the same kind of timer as the event cpu-clock.
	hertz, note := frequency(r.o.Frequency, []sampler.Event{sampler.ParseEvent("cpu-clock")}, false)
	d, err := dtrace.Start(ctx, dtrace.Options{
		Frequency: hertz, Sudo: r.o.Sudo, Dir: r.o.Folder.Path, Slow: r.o.Message})
	if err != nil {
		return nil, err
	}
	return &dtraceSampling{d, []string{note, whyNotOther}}, nil
}

// A perfSampling is a run of perf. The samples are in a perf.data file. At the end, perf script converts them to text.
type perfSampling struct {
	*collect.Perf
	notes []string // about the frequency, and why gasm does not sample by itself; each may be ""
	// names is nil if perf records no stacks. If perf records stacks, its text has addresses in files, not in memory,
	// so gasm can't look up the native functions. Then perf names the functions, and the Resolver gets no mappings.
	names    *native.Resolver
	progress func(bytes int) // Options.Progress if perf records stacks
}

func (p *perfSampling) KernelCode() []nativecode.Function { return nil }

func (p *perfSampling) tool() Sampler { return SamplerPerf }

func (p *perfSampling) Notes() []string { return append(fix.Texts(p.Perf.Notes()), p.notes...) }

func (p *perfSampling) Stop(context.Context) error { return p.Perf.Stop() }

func (p *perfSampling) Lost() int64 { return 0 } // perf's text has the number of lost samples

func (p *perfSampling) lostSoFar() int64 { return 0 }

func (p *perfSampling) save(ctx context.Context, path string, tee io.Writer) error {
	var err error
	if p.names == nil {
		err = saveText(ctx, p, path, tee)
	} else {
		err = p.saveStacks(ctx, path)
	}
	if err != nil {
		return err // perf's own data is complete
	}
	os.Remove(p.DataFile()) // the text has everything that gasm uses
	return nil
}

// saveStacks saves perf's text at path, and the call stacks in the same folder.
func (p *perfSampling) saveStacks(ctx context.Context, path string) error {
	name := filepath.Join(filepath.Dir(path), capture.StacksFile)
	stacks, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("writing the call stacks: %w", err)
	}
	err = saveText(ctx, stackedText{p.Perf, stacks}, path, &progressWriter{io.Discard, p.progress})
	if closeErr := stacks.Close(); err == nil && closeErr != nil {
		err = fmt.Errorf("writing the call stacks: %w", closeErr)
	}
	if err != nil {
		os.Remove(name)
	}
	return err
}

// A stackedText writes perf's text with the IDs of call stacks.
type stackedText struct {
	perf   *collect.Perf
	stacks io.Writer
}

func (s stackedText) WriteText(ctx context.Context, text io.Writer) error {
	return s.perf.WriteStacks(ctx, text, s.stacks)
}

// A textWriter is a sampler that can write the text of its samples only when it has ended.
type textWriter interface {
	WriteText(context.Context, io.Writer) error
}

// saveText writes a sampler's text to a new file at path, and a copy to tee. The file's name ends in ".part" until the
// file is complete.
func saveText(ctx context.Context, p textWriter, path string, tee io.Writer) error {
	part := path + ".part"
	f, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("writing the samples: %w", err)
	}
	err = p.WriteText(ctx, io.MultiWriter(f, tee))
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(part, path)
	}
	if err != nil {
		os.Remove(part)
		return fmt.Errorf("writing the samples: %w", err)
	}
	return nil
}

// openText returns a reader of a sampler's text. The text is written while it is read.
func openText(ctx context.Context, p textWriter) (io.ReadCloser, error) {
	pipeOut, pipeIn := io.Pipe()
	go func() { pipeIn.CloseWithError(p.WriteText(ctx, pipeIn)) }()
	return pipeOut, nil
}

func (p *perfSampling) open(ctx context.Context) (io.ReadCloser, error) { return openText(ctx, p) }

func (p *perfSampling) resolver() *native.Resolver { return p.names }

func (p *perfSampling) discard() { os.Remove(p.DataFile()) }

func (p *perfSampling) stream() <-chan sampler.Sample { return nil }

func (p *perfSampling) wait() {}

// A dtraceSampling is a run of DTrace. The text is complete as soon as DTrace has been stopped.
type dtraceSampling struct {
	*dtrace.Tracer
	notes []string // about the frequency, and why no other sampler is used; each may be ""
}

func (d *dtraceSampling) tool() Sampler { return SamplerDTrace }

func (d *dtraceSampling) Notes() []string { return append(fix.Texts(d.Tracer.Notes()), d.notes...) }

func (d *dtraceSampling) lostSoFar() int64 { return 0 }

func (d *dtraceSampling) Stop(context.Context) error { return d.Tracer.Stop() }

func (d *dtraceSampling) save(_ context.Context, path string, tee io.Writer) error {
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

func (d *dtraceSampling) open(context.Context) (io.ReadCloser, error) { return os.Open(d.TextFile()) }

func (d *dtraceSampling) KernelCode() []nativecode.Function { return nil }

func (d *dtraceSampling) resolver() *native.Resolver { return nil }

func (d *dtraceSampling) discard() { os.Remove(d.TextFile()) }

func (d *dtraceSampling) stream() <-chan sampler.Sample { return nil }

func (d *dtraceSampling) wait() { d.Wait() }

// startXCTrace starts xctrace. whyNotOther is a note for the capture that says why no other sampler is used. It may be
// "".
func (r *Recording) startXCTrace(ctx context.Context, whyNotOther string) (sampling, error) {
	x, err := xctrace.Start(ctx, xctrace.Options{Events: r.o.Counters, Dir: r.o.Folder.Path, Slow: r.o.Message})
	if err != nil {
		return nil, err
	}
	return &xctraceSampling{x, whyNotOther}, nil
}

// An xctraceSampling is a run of xctrace. The samples are in an Instruments recording, which xctrace converts to text
// at the end.
type xctraceSampling struct {
	*xctrace.Recording
	note string // why no other sampler is used; may be ""
}

func (x *xctraceSampling) tool() Sampler { return SamplerXCTrace }

func (x *xctraceSampling) Notes() []string { return append(fix.Texts(x.Recording.Notes()), x.note) }

func (x *xctraceSampling) Stop(context.Context) error { return x.Recording.Stop() }

func (x *xctraceSampling) Lost() int64 { return 0 } // the text has the number of lost samples

func (x *xctraceSampling) lostSoFar() int64 { return 0 }

func (x *xctraceSampling) save(ctx context.Context, path string, tee io.Writer) error {
	if err := saveText(ctx, x, path, tee); err != nil {
		return err // the recording is complete
	}
	x.Discard() // the text has everything that gasm uses
	return nil
}

func (x *xctraceSampling) open(ctx context.Context) (io.ReadCloser, error) { return openText(ctx, x) }

func (x *xctraceSampling) KernelCode() []nativecode.Function { return nil }

func (x *xctraceSampling) resolver() *native.Resolver { return nil }

func (x *xctraceSampling) discard() { x.Discard() }

func (x *xctraceSampling) stream() <-chan sampler.Sample { return nil }

func (x *xctraceSampling) wait() {}
