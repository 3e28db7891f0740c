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

// Options say which command is recorded, and how it is recorded. A field with its zero value has the default, unless
// its comment says otherwise.
type Options struct {
	Gasm    string   // the version of gasm, for the capture's description
	Command []string // the program and its arguments; not empty
	Folder  *Folder  // the capture's folder; not nil

	// The command uses Stdin directly. Its stdout passes through gasm, which looks for lines that open or close a
	// window, and then goes to Stdout. If windows begin or end with lines on stderr, its stderr passes through gasm to
	// Stderr in the same way. Otherwise the command uses Stderr directly.
	Stdin, Stdout, Stderr *os.File

	Sampler Sampler // not empty
	// Counters are the sampled events of the CPU and the kernel. If there are none, cycles is sampled, or cpu-clock on
	// a machine without that counter.
	Counters []sampler.Event
	// Frequency is how often each counter is sampled, per second and CPU. If it is 0, collect.ChooseRate chooses the
	// frequency.
	Frequency int
	// FixedFrequency is true if samples are taken exactly at Frequency. Otherwise the sampler draws a frequency near
	// Frequency at random (see [collect.Options].Drawn). DTrace always uses exactly Frequency.
	FixedFrequency bool
	// Stacks says whether samples get call stacks. SamplerNative records them, and SamplerPerf as far as it can follow
	// frame pointers.
	Stacks StackChoice
	Sudo   bool // run dtrace by sudo -n

	// Delay and Length limit the measurement to a window that opens when Delay has passed since the command's start,
	// and closes after Length. If Length is 0, the window closes when the command ends.
	Delay, Length time.Duration
	// WindowStart and WindowEnd limit the measurement to windows. A window opens with a line of the command's output
	// that matches WindowStart, and closes with a line that matches WindowEnd. Each may be nil.
	WindowStart, WindowEnd *regexp.Regexp
	// WindowFrom says on which of the command's output streams these lines are.
	WindowFrom WindowSource
	// WindowFile is the path of a file to which the program writes its windows; gasm reads the file after the program
	// has ended. "" means that there is no such file. See package windows.
	WindowFile string

	Code    CodeSource // not empty
	Methods []string   // patterns of the methods whose code is printed; if empty, all methods
	SkipC1  bool       // true if code compiled by C1 is not printed

	// Events says which events in the JVMs are recorded beside the samples, such as pauses of the garbage collector.
	// See ParseEventChoice.
	Events EventChoice

	// Probes say what gasm's agent counts in the program's methods.
	Probes []probe.Spec
	// WindowMethod is the method in which a thread has to be for its samples to count. If the samples get call stacks, the
	// report finds the method there. Otherwise gasm's agent records the method's calls. It may be nil.
	WindowMethod *probe.Spec

	// Problem is called with an error when a part of the capture is lost and the recording goes on. If the disk is
	// full, several errors may follow from that, and it is called only for the first of them. It may be called from any
	// goroutine, and may be nil.
	Problem func(error)
	// Message is called with a sentence for the user, for example about what the recording is waiting for. It may be
	// nil.
	Message func(text string)
	// Window is called from a goroutine of its own when a window opens or closes while the command runs. It is not
	// called for JMH's windows, nor when a window opens at the command's start. It may be nil.
	Window func(WindowChange)
	// Progress is called at the end, while the samples are written as text, which can take a long time with perf. bytes
	// is the number of bytes that were written since the last call. It may be nil.
	Progress func(bytes int)
}

// A Sampler is the name of a sampler.
type Sampler string

// The samplers. SamplerAuto stands for the first of the other samplers that works on this machine. With SamplerNative,
// gasm itself takes the samples, by perf_event_open.
const (
	SamplerAuto   Sampler = "auto"
	SamplerNative Sampler = "native"
	SamplerPerf   Sampler = "perf"
	SamplerDTrace Sampler = "dtrace"
	// SamplerXCTrace is Xcode's Instruments, on macOS.
	SamplerXCTrace Sampler = "xctrace"
)

var samplers = []Sampler{SamplerAuto, SamplerNative, SamplerPerf, SamplerDTrace, SamplerXCTrace}

// SamplerNames returns the values that --sampler accepts.
func SamplerNames() []string { return names(samplers) }

// names converts values of a string type to strings.
func names[T ~string](values []T) []string {
	all := make([]string, len(values))
	for i, v := range values {
		all[i] = string(v)
	}
	return all
}

// WindowSource says which stream's lines begin and end windows.
type WindowSource = windows.Source

// The values of a WindowSource. The value "" means FromBoth.
const (
	FromStdout = windows.FromStdout
	FromStderr = windows.FromStderr
	FromBoth   = windows.FromBoth
)

// A WindowChange says that a window has opened or closed.
type WindowChange = windows.Change

// rules returns the options that define windows.
func (o *Options) rules() windows.Rules {
	return windows.Rules{Delay: o.Delay, Length: o.Length, Start: o.WindowStart, End: o.WindowEnd, From: o.WindowFrom, File: o.WindowFile}
}

// Check returns an error if the options contradict each other or have values that are not valid. It does not run the
// command.
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
	if err := checkStacks(o.Stacks, o.Sampler); err != nil {
		return err
	}
	return o.checkCode()
}
