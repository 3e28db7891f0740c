package record

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/hotspot/shared"
	"github.com/gasm-profiler/gasm/hotspot/stack"
	"github.com/gasm-profiler/gasm/internal/fix"
	"github.com/gasm-profiler/gasm/internal/native"
	"github.com/gasm-profiler/gasm/sampler"
	"github.com/gasm-profiler/gasm/sampler/collect"
	"github.com/gasm-profiler/gasm/sampler/collect/failure"
)

// startNative starts sampling the held process pid by perf_event_open. gasm does this without any other program.
func (r *Recording) startNative(ctx context.Context, pid int) (sampling, error) {
	o := collect.Options{
		Events: r.o.Counters, Drawn: !r.o.FixedFrequency, PID: pid, Dir: r.o.Folder.Path,
		Mapped: func(m native.Mapping) { r.code.mapped(ctx, m) }, Pauses: r.rules.Reopen()}
	return r.stacks.start(ctx, o, r.o.Frequency, r.open, func(o collect.Options, note string) (sampling, error) {
		n, err := collect.StartNative(o)
		if err != nil {
			return nil, err
		}
		return &nativeSampling{n, note}, nil
	})
}

// streamPause is the time between two readings of new samples. It must be short, because gasm must copy the code of a
// sampled method before HotSpot replaces it or ends. But each reading takes 0.3 ms of CPU time. With a busy JVM, gasm
// used 1.8 % of a CPU with pauses of 25 ms, and 1.1 % with this pause.
const streamPause = 50 * time.Millisecond

// streamed is the size, in samples, of the queue between the sampler and the code that copies methods. The queue is
// usually empty; it fills only if the system does not let this process run.
const streamed = 1 << 16

// longStream is like streamed, for a recording with long pauses, as those of gasm watch. There is room for the samples
// of 16 pauses, or of 16 seconds, in which all processors are busy.
func longStream(hertz int, pause time.Duration) int {
	samples := 16 * max(pause.Seconds(), 1) * float64(hertz*runtime.NumCPU())
	return min(1<<10+int(samples), streamed)
}

// attachNative starts sampling running processes by perf_event_open. gasm does this without any other program. The
// channel delivers the samples during the recording, and is closed at the end.
func (a *Attachment) attachNative(ctx context.Context, o collect.Options) (sampling, <-chan sampler.Sample, error) {
	s, err := a.stacks.start(ctx, o, a.o.Frequency, a.open, func(o collect.Options, note string) (sampling, error) {
		n, err := collect.AttachNative(ctx, o)
		if err != nil {
			return nil, withoutOther(err)
		}
		return &nativeSampling{n, note}, nil
	})
	if err != nil {
		return nil, nil, err
	}
	if n, ok := s.(*nativeSampling); ok && a.o.Pause > 0 {
		return s, n.Subscribe(longStream(n.Frequency(), a.o.Pause), a.o.Pause).C, nil
	}
	return s, s.stream(), nil
}

// KeepKernelSymbols has recordings that follow one another share the kernel's symbols, until the caller calls release.
func KeepKernelSymbols() (release func()) { return collect.KeepKernelSymbols() }

// stacksSupported returns an error if gasm can't walk call stacks on this kind of machine.
func stacksSupported() error {
	if !stack.Supported() {
		return fmt.Errorf("gasm walks them on x86-64 and aarch64 only, and not on %s", runtime.GOARCH)
	}
	return nil
}

// setWalk sets the options that make native sampling find call stacks. The parameter open is the set of JVMs that gasm
// has open, which the walker shares.
func setWalk(o *collect.Options, open *shared.JVMs) {
	w := stack.NewWalker(open)
	o.Walk, o.Caller, o.GiveUp = w.Walk, w.Caller, w.GiveUp
}

// tryStacks returns an error if samples with these options can't have call stacks.
func tryStacks(o collect.Options) error { return collect.TryStacks(o) }

// withoutOther changes the hint in an error of native sampling if the hint is to try another sampler, because gasm
// attach has no other sampler.
func withoutOther(err error) error {
	var refused *failure.RefusedError
	if errors.As(err, &refused) && refused.Reason == failure.ReasonUnknownEvent {
		refused.Hint = "gasm attach can't use perf, which knows more names: gasm profile --sampler perf can"
	}
	return err
}

// A nativeSampling is a run of gasm's own sampling, for gasm attach and for --sampler native. The text is complete as
// soon as the sampling is stopped.
type nativeSampling struct {
	*collect.Native
	note string // about the frequency; may be ""
}

func (n *nativeSampling) tool() Sampler { return SamplerNative }

func (n *nativeSampling) Notes() []string { return append(fix.Texts(n.Native.Notes()), n.note) }

func (n *nativeSampling) Lost() int64 { return 0 } // the sampler's text has the number of lost samples

func (n *nativeSampling) lostSoFar() int64 { return n.LostSoFar() }

func (n *nativeSampling) save(_ context.Context, path string, _ io.Writer) error {
	if stacks := n.StacksFile(); stacks != "" {
		// The samples are useful even without their stacks. Description.Stacks says whether the file with stacks is
		// there.
		if err := os.Rename(stacks, filepath.Join(filepath.Dir(path), capture.StacksFile)); err != nil {
			return fmt.Errorf("naming the call stacks: %w", err)
		}
	}
	if err := os.Rename(n.TextFile(), path); err != nil {
		return fmt.Errorf("naming the samples: %w", err)
	}
	return nil
}

func (n *nativeSampling) open(context.Context) (io.ReadCloser, error) { return os.Open(n.TextFile()) }

func (n *nativeSampling) resolver() *native.Resolver { return n.Resolver() }

func (n *nativeSampling) discard() {
	os.Remove(n.TextFile())
	if stacks := n.StacksFile(); stacks != "" {
		os.Remove(stacks)
	}
}

func (n *nativeSampling) stream() <-chan sampler.Sample { return n.Subscribe(streamed, streamPause).C }

func (n *nativeSampling) wait() {}

// checkMappingEvents returns nil if the kernel reports which files processes map. Otherwise it returns an error that
// says why not.
func checkMappingEvents() error {
	w, err := collect.WatchMappings(os.Getpid(), func(native.Mapping) {})
	if err != nil {
		return fmt.Errorf("the kernel does not report which programs start: %w", err)
	}
	w.Stop()
	return nil
}

// A mappingEvents reports each file that a process or its children map as code.
type mappingEvents = collect.MappingWatch

func watchMappingEvents(pid int, mapped func(native.Mapping)) (*mappingEvents, error) {
	return collect.WatchMappings(pid, mapped)
}
