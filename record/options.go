package record

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"time"

	"github.com/gasm-profiler/gasm/hotspot/probe"
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/record/windows"
	"github.com/gasm-profiler/gasm/sampler"
	"github.com/gasm-profiler/gasm/sampler/collect/xctrace"
)

// Options say what is recorded, and how. The zero values are the defaults, except where a field's comment says
// otherwise.
type Options struct {
	Gasm    string   // the version of gasm, for the capture's description
	Command []string // what is run; not empty
	Folder  *Folder  // of the capture; not nil

	// Stdin is the command's own. What the command prints to stdout goes to Stdout after gasm has looked at it. Where
	// windows begin or end with lines of stderr, what it prints there goes to Stderr in the same way. Otherwise Stderr
	// is the command's own.
	Stdin, Stdout, Stderr *os.File

	Sampler Sampler // not empty
	// Counters are the events that are sampled; none: cycles, or cpu-clock on a machine without that counter.
	Counters []sampler.Event
	// Frequency is how often each counter is sampled, per second and CPU. 0 leaves it to collect.ChooseRate.
	Frequency int
	// FixedFrequency is true if the frequency is exactly Frequency, and not drawn at random around it,
	// see [collect.Options].Drawn. DTrace's is never drawn.
	FixedFrequency bool
	Sudo           bool // run dtrace by sudo -n

	// Delay and Length limit the measurement to a time after the command's start.
	Delay, Length time.Duration
	// WindowStart and WindowEnd limit the measurement to the times between lines of the command's output that match.
	// Each may be nil.
	WindowStart, WindowEnd *regexp.Regexp
	// WindowFrom says on which streams these lines are looked for.
	WindowFrom WindowSource
	// WindowFile is the path of a file in which the program has written its windows when it has ended; "" for none. See
	// package windows.
	WindowFile string

	Code    CodeSource // not empty
	Methods []string   // patterns of the methods whose code is printed; none: all
	SkipC1  bool       // no code of what C1 compiled

	// Events are the events in the JVMs that are recorded beside the samples, such as pauses of the collector. See
	// ParseEventChoice.
	Events EventChoice

	// Probes say what is counted in the program's methods, by an agent in its JVMs.
	Probes []probe.Spec

	// Problem is called when a part of the capture is lost, while the rest goes on. Of several errors of a full disk,
	// it gets only the first one. It may be called from any goroutine, and may be nil.
	Problem func(error)
	// Message is called with a sentence for the user, for example on what the recording waits for. It
	// may be nil.
	Message func(text string)
	// Window is called when a window opens or closes while the command runs, from a goroutine of its own. It is not
	// called for JMH's windows, nor for a window that opens with the command. It may be nil.
	Window func(WindowChange)
	// Progress is called while perf script writes the samples' text at the end, with the number of bytes that were
	// written since the last call. It may be nil.
	Progress func(bytes int)
}

// Sampler says which sampler is used.
type Sampler string

// The samplers. SamplerAuto is the first of the others that works on this machine. SamplerNative is gasm itself.
const (
	SamplerAuto   Sampler = "auto"
	SamplerNative Sampler = "native"
	SamplerPerf   Sampler = "perf"
	SamplerDTrace Sampler = "dtrace"
	// SamplerXCTrace is Xcode's Instruments, on macOS.
	SamplerXCTrace Sampler = "xctrace"
)

var samplers = []Sampler{SamplerAuto, SamplerNative, SamplerPerf, SamplerDTrace, SamplerXCTrace}

// SamplerNames returns the samplers' names, as --sampler has them.
func SamplerNames() []string { return names(samplers) }

// names returns values as text.
func names[T ~string](values []T) []string {
	all := make([]string, len(values))
	for i, v := range values {
		all[i] = string(v)
	}
	return all
}

// WindowSource says which stream's lines begin and end windows.
type WindowSource = windows.Source

// The sources; "" means FromBoth.
const (
	FromStdout = windows.FromStdout
	FromStderr = windows.FromStderr
	FromBoth   = windows.FromBoth
)

// A WindowChange says that a window has opened or closed.
type WindowChange = windows.Change

// rules returns the options for windows.
func (o *Options) rules() windows.Rules {
	return windows.Rules{Delay: o.Delay, Length: o.Length, Start: o.WindowStart, End: o.WindowEnd, From: o.WindowFrom, File: o.WindowFile}
}

// Check returns an error for options that make no sense. It runs nothing.
func (o *Options) Check() error {
	sudo := o.Sudo && !o.Events.ByDTrace
	switch {
	case !slices.Contains(samplers, o.Sampler):
		return fmt.Errorf("--sampler is %q; it can be %s", o.Sampler, layout.Or(SamplerNames()))
	case o.Sampler == SamplerDTrace && len(o.Counters) > 0:
		return errors.New("--event names events of the kernel and the CPU; dtrace samples by time alone")
	case (o.Sampler == SamplerNative || o.Sampler == SamplerPerf) && sudo:
		return fmt.Errorf("--sudo is for dtrace; --sampler %s needs no root where kernel.perf_event_paranoid allows it", o.Sampler)
	case o.Sampler == SamplerXCTrace && sudo:
		return errors.New("--sudo is for dtrace; xctrace needs no root")
	}
	rules := o.rules()
	if err := rules.Check(); err != nil {
		return err
	}
	for _, m := range o.Methods {
		if err := printassembly.CheckPattern(m); err != nil {
			return fmt.Errorf("--method: %w", err)
		}
	}
	if err := o.Events.Check(); err != nil {
		return err
	}
	if o.Sampler == SamplerXCTrace {
		if err := xctrace.Check(o.Counters, o.Frequency); err != nil {
			return err
		}
	}
	return o.checkCode()
}
