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

// Options say which command is recorded, and how. If a field is not set (has its zero value), the default applies,
// unless the field's comment says otherwise.
type Options struct {
	Gasm    string   // the version of gasm, for the capture's description
	Command []string // the program and its arguments; not empty
	Folder  *Folder  // the capture's folder; not nil

	// The command uses Stdin directly. Its stdout passes through gasm, which looks for lines that open or close a
	// window (see WindowStart), and continues to Stdout. If such lines may be on stderr, the command's stderr passes
	// through gasm to Stderr in the same way. Otherwise the command uses Stderr directly.
	Stdin, Stdout, Stderr *os.File

	Sampler Sampler // not empty
	// Counters are the events of the CPU and the kernel that are sampled. If there are none, cycles is sampled, or
	// cpu-clock on a machine that can't count cycles.
	Counters []sampler.Event
	// Frequency is how often each counter is sampled, per second and CPU. If it is 0, collect.ChooseRate chooses the
	// frequency.
	Frequency int
	// FixedFrequency is true if the sampler must sample exactly at Frequency. Otherwise the sampler chooses a random
	// frequency near it. So a program with a regular rhythm is not always sampled at the same point of that rhythm.
	// DTrace always samples exactly at Frequency.
	FixedFrequency bool
	// Stacks says whether samples get call stacks. SamplerNative records stacks. SamplerPerf records them as far as it
	// can follow frame pointers.
	Stacks StackChoice
	Sudo   bool // run dtrace under sudo -n

	// Delay and Length limit the measurement to one window. It opens Delay after the command's start, and closes Length
	// later. If Length is 0, it closes when the command ends.
	Delay, Length time.Duration
	// WindowStart and WindowEnd limit the measurement to windows. A window opens with a line of the command's output
	// that matches WindowStart, and closes with a line that matches WindowEnd. Each may be nil.
	WindowStart, WindowEnd *regexp.Regexp
	// WindowFrom says on which of the command's output streams these lines are.
	WindowFrom WindowSource
	// WindowFile is the path of a file in which the program notes the times of its windows. gasm reads the file when
	// the program has ended. "" means that there is no such file. See package windows.
	WindowFile string

	Code    CodeSource // not empty
	Methods []string   // patterns of the methods whose code is printed; if empty, all methods
	SkipC1  bool       // true if code compiled by C1 is not printed

	// WallHertz is how often per second gasm looks at each thread of the JVMs, to record how the thread spends its
	// time, running or waiting (--wall). If it is 0, gasm does not record that.
	WallHertz int

	// Events says which events in the JVMs are recorded in addition to the samples, such as garbage collections. See
	// ParseEventChoice.
	Events EventChoice

	// Probes are the methods of the program that gasm's agent probes, and what it counts in each.
	Probes []probe.Spec
	// WindowMethod limits the measurement to samples of a thread while it executes this method. If samples have call
	// stacks, the report looks for the method there. Otherwise gasm's agent records the method's calls. WindowMethod
	// may be nil.
	WindowMethod *probe.Spec

	// Problem is called with an error when a part of the capture is lost, but the recording continues. A full disk may
	// cause several errors; Problem is called only for the first of these. It may be called from any goroutine, and may
	// be nil.
	Problem func(error)
	// Message is called with a sentence for the user, for example about what the recording is waiting for. It may be
	// nil.
	Message func(text string)
	// Window is called from a goroutine of its own when a window opens or closes while the command runs. It is not
	// called for JMH's windows, nor for a window that opens with the command's start. It may be nil.
	Window func(WindowChange)
	// Progress is called at the end, while the samples are written as text. With perf this can take long. bytes is the
	// number of bytes that were written since the last call. Progress may be nil.
	Progress func(bytes int)
}

// A Sampler is the name of a sampler.
type Sampler string

// The samplers. SamplerAuto means the first of the other samplers that works on this machine. SamplerNative means that
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

// A WindowSource says on which output streams gasm looks for lines that begin and end windows.
type WindowSource = windows.Source

// The values of a WindowSource. "" means FromBoth.
const (
	FromStdout = windows.FromStdout
	FromStderr = windows.FromStderr
	FromBoth   = windows.FromBoth
)

// A WindowChange says that a window has opened or has closed.
type WindowChange = windows.Change

// rules returns the options that define windows.
func (o *Options) rules() windows.Rules {
	return windows.Rules{Delay: o.Delay, Length: o.Length, Start: o.WindowStart, End: o.WindowEnd, From: o.WindowFrom,
		File: o.WindowFile}
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
		return fmt.Errorf("--sudo is for dtrace; --sampler %s needs no root where kernel.perf_event_paranoid allows it",
			o.Sampler)
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
	if err := checkWall(o.WallHertz); err != nil {
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
