package choice

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/profile/calltree"
	"github.com/gasm-profiler/gasm/profile/threads"
	"github.com/gasm-profiler/gasm/profile/windows"
	"github.com/gasm-profiler/gasm/sampler"
)

// Chooses reports whether the options choose a JVM. If the option JVM is set, it must match part of the JVM's main
// class or jar, or all of its process id.
func (o *Options) Chooses(j *capture.JVM) bool {
	if o.PID != 0 && j.PID != o.PID {
		return false
	}
	if o.JVM == nil || o.JVM.MatchString(j.Main) {
		return true
	}
	pid := strconv.Itoa(j.PID)
	return o.JVM.FindString(pid) == pid
}

// narrows reports whether the options may leave out JVMs.
func (o *Options) narrows() bool { return o.PID != 0 || o.JVM != nil }

// Chosen returns the flags that leave out some of the measured samples, for example "--pid 4711 --thread app". It
// returns "" if no samples are left out.
func (o *Options) Chosen() string {
	var flags []string
	if o.PID != 0 {
		flags = append(flags, fmt.Sprintf("--pid %d", o.PID))
	}
	if o.JVM != nil {
		flags = append(flags, "--jvm "+o.JVM.String())
	}
	if o.Threads.Text() != "" {
		flags = append(flags, "--thread "+o.Threads.Text())
	}
	if o.WindowEvent != (windows.EventChoice{}) {
		flags = append(flags, "--window-event "+o.WindowEvent.String())
	}
	if o.WindowMethod != "" {
		flags = append(flags, "--window-method "+o.WindowMethod)
	}
	if o.Under != "" {
		flags = append(flags, "--under "+string(o.Under))
	}
	return strings.Join(flags, " ")
}

// Choose returns a Config with the JVMs that the options choose, and with what is measured in them.
func Choose(c *capture.Capture, o *Options) (Config, error) {
	jvms, measured := c.JVMs, windows.Measurements(c.JVMs, c.Trials)
	if o.narrows() {
		jvms = slices.DeleteFunc(slices.Clone(jvms), func(j capture.JVM) bool { return !o.Chooses(&j) })
		if len(jvms) == 0 {
			return Config{}, noSuchJVM(c.JVMs, o)
		}
		measured = windows.Narrow(measured, jvms)
	}
	switch whole := &measured[0]; { // there is always at least one measurement
	case len(measured) > 1 || whole.Name != "":
	case o.MergeJVMs:
		whole.NameProgram(whole.ByProgram(c.JVMs))
	default:
		measured = whole.ByProgram(c.JVMs)
	}
	return Config{JVMs: jvms, Others: c.JVMs, Measured: measured, Counters: orderedCounters(c.Events), Threads: o.Threads,
			Code: c.Code, NativeCode: c.NativeCode(), Sites: o.Sites, Locations: o.Locations, Parts: o.Parts,
			History: o.History},
		nil
}

// orderedCounters returns the names of several counters in the order in which they were asked for. For a single counter
// it returns nil. The name of that counter comes from the samples, because the sampler may have replaced the counter
// with another one.
func orderedCounters(asked []string) []string {
	if len(asked) < 2 {
		return nil
	}
	names := make([]string, len(asked))
	for i, e := range asked {
		names[i] = sampler.ParseEvent(e).Name
	}
	return names
}

// Narrow narrows the windows to the times of events, or to the calls of a method, if the options ask for that. If the
// capture does not have the times of the calls, Narrow chooses the samples that have the method on their call stacks
// instead. It returns notes about calls that the probes have missed.
func (c *Config) Narrow(o *Options, probes []capture.Probes) (notes []string, err error) {
	c.ChosenEvents = o.WindowEvent.Chosen(c.Measured)
	if c.EventWindows, err = o.WindowEvent.Narrow(c.Measured, c.Events); err != nil {
		return nil, err
	}
	c.MethodWindows, notes, err = windows.NewInsideMethod(o.WindowMethod, probes)
	if !errors.Is(err, windows.ErrNoWindow) || c.Stacks == nil {
		return notes, err
	}
	pattern, err := calltree.ParseWindowPattern(o.WindowMethod)
	if err != nil {
		return nil, fmt.Errorf("--window-method: the capture has no such window, only call stacks: %w", err)
	}
	c.Inside = calltree.NewUnder(pattern, c.Stacks)
	return nil, nil
}

// AddStacks reads the call stacks of a capture, if the options ask for them. It returns notes about stacks that are
// missing.
func (c *Config) AddStacks(o *Options, from *capture.Capture) (notes []string) {
	needed := o.Under != "" || len(o.By) > 0
	if !o.Stacks && !needed && o.WindowMethod == "" {
		return nil
	}
	tree, notes := from.ReadStacks()
	if tree != nil {
		c.Stacks, c.Chains = calltree.NewStacks(tree), from.HasChains()
	} else if needed {
		notes =
			append(notes, "this capture has no call stacks: --under and --by know only the methods that were inlined at a sample, and not their callers")
	}
	if o.Under != "" {
		c.Under = calltree.NewUnder(o.Under, c.Stacks)
	}
	return notes
}

// maxNamed is the maximum number of JVMs, threads or events that an error lists.
const maxNamed = 10

// noSuchJVM returns the error for options that choose none of the JVMs.
func noSuchJVM(jvms []capture.JVM, o *Options) error {
	var names []string
	for i, j := range jvms {
		if i == maxNamed {
			names = append(names, fmt.Sprintf("%d more", len(jvms)-i))
			break
		}
		name := strconv.Itoa(j.PID)
		if j.Main != "" {
			name += " " + j.Main
		}
		names = append(names, name)
	}
	chosen := *o
	chosen.Threads, chosen.WindowEvent, chosen.WindowMethod, chosen.Under = threads.Choice{}, windows.EventChoice{}, "", ""
	return fmt.Errorf("%s: no such JVM in this capture; it has %s", chosen.Chosen(), strings.Join(names, ", "))
}
