package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gasm-profiler/gasm/hotspot/probe"
	"github.com/gasm-profiler/gasm/hotspot/shared"
	"github.com/gasm-profiler/gasm/internal/fix"
	"github.com/gasm-profiler/gasm/record/windows"
	"github.com/gasm-profiler/gasm/sampler"
	"github.com/gasm-profiler/gasm/sampler/collect"
	"github.com/gasm-profiler/gasm/sampler/collect/failure"
)

// A StackChoice says whether samples get call stacks.
type StackChoice string

const (
	// StacksOff means no stacks. "" means the same.
	StacksOff StackChoice = "off"
	// StacksAuto means stacks where they can be had, but none for JMH's trials. If there are none, a note says why.
	StacksAuto StackChoice = "auto"
	// StacksOn requires stacks. If they are not available, nothing is recorded, and the error says why.
	StacksOn StackChoice = "on"
	// StacksWanted is as StacksAuto, but also for JMH's trials, and where the kernel's buffers have little room. It is
	// for reports that are about stacks, and that have something to say without them, too.
	StacksWanted StackChoice = "wanted"
)

// leastStack is the smallest copy of a stack, in bytes, with which StacksAuto records stacks. In a measurement with
// JRuby, 88 % of the stacks were whole with 16 KiB, and 44 % with 8 KiB.
const leastStack = 16 << 10

// useStacksOff is the fix for --stacks on where there are none.
const useStacksOff = "use --stacks auto or --stacks off"

// stackPlan is what is decided about the call stacks of a recording.
type stackPlan struct {
	choice StackChoice
	walk   bool     // gasm's own samples are to have stacks
	chains bool     // perf's samples are to have chains of return addresses
	note   fix.Note // why samples have no stacks although they were wanted; otherwise empty
}

// planStacks decides about the stacks before anything runs. command is the command that starts the JVMs, or nil if they
// run already.
func planStacks(choice StackChoice, s Sampler, command []string) stackPlan {
	p := stackPlan{choice: choice}
	supported := stacksSupported()
	switch {
	case choice == StacksOff || choice == "":
	case s == SamplerPerf && choice != StacksAuto:
		p.chains = true
	case s == SamplerPerf:
		p.note = fix.Note{Text: "perf can only follow frame pointers, which few JVMs keep", Fix: "use --sampler native, or --stacks on"}
	case supported != nil:
		p.note.Text = supported.Error()
	case s != SamplerAuto && s != SamplerNative:
		p.note = onlyNative(s)
	case choice == StacksAuto && windows.RunsJMH(command):
		p.note = fix.Note{Text: "they are off for JMH, because each takes time of the benchmark", Fix: "--stacks on records them (-prof gasm:stacks=on)"}
	default:
		p.walk = true
	}
	return p
}

// StackChoices returns the values that --stacks accepts.
func StackChoices() []string { return names([]StackChoice{StacksAuto, StacksOn, StacksOff}) }

// checkStacks returns an error if the choice is StacksOn, and there can be no stacks with the sampler.
func checkStacks(choice StackChoice, s Sampler) error {
	p := planStacks(choice, s, nil)
	return p.err()
}

// onlyNative returns the note for a sampler that records no stacks.
func onlyNative(s Sampler) fix.Note {
	return fix.Note{Text: fmt.Sprintf("%s records none", s), Fix: "use --sampler native"}
}

// err returns an error if stacks have to be recorded and can't.
func (p *stackPlan) err() error {
	if p.choice != StacksOn || p.walk || p.chains {
		return nil
	}
	todo := useStacksOff
	if p.note.Fix != "" {
		todo = p.note.Fix + ", or " + todo
	}
	return &fix.Error{Err: errors.New("--stacks on can't record call stacks: " + p.note.Text), Fix: todo}
}

// noteText returns the line of the report that says why there are no stacks, or "".
func (p *stackPlan) noteText() string {
	if p.note.Text == "" {
		return ""
	}
	return "no call stacks: " + p.note.String()
}

// usedOther notes that the sampler s is used, because gasm could not sample by itself.
func (p *stackPlan) usedOther(s Sampler) {
	if p.walk {
		p.walk, p.note = false, fix.Note{Text: onlyNative(s).Text} // another note says why gasm could not
	}
}

// A nativeStart starts native sampling with certain options. note is about the frequency.
type nativeStart func(o collect.Options, note string) (sampling, error)

// start starts native sampling, with stacks if they are planned. If stacks are refused, it samples without them, or
// returns an error if they have to be recorded. o has everything except Frequency and the options about stacks; asked
// is the frequency that the user asked for, or 0. It does not open those JVMs again that are in the set open.
func (p *stackPlan) start(ctx context.Context, o collect.Options, asked int, open *shared.JVMs, begin nativeStart) (sampling, error) {
	var refused *failure.RefusedError
	if p.walk {
		with := o
		var note string
		with.Frequency, note = frequency(asked, o.Events, true)
		setWalk(&with, open)
		with.LeastStack = p.leastStack()
		s, err := begin(with, note)
		if err == nil || !errors.As(err, &refused) || refused.Reason == failure.ReasonTargetGone {
			return s, err
		}
	}
	var note string
	o.Frequency, note = frequency(asked, o.Events, false)
	s, err := begin(o, note)
	if err != nil || refused == nil {
		return s, err // if sampling without stacks is refused, too, the reason has nothing to do with stacks
	}
	p.walk, p.note = false, fix.Note{Text: refused.Cause, Fix: refused.Hint}
	if refused.Reason != failure.ReasonLimit {
		p.note.Text = "sampling works only without them: " + refused.Cause
	}
	if err := p.err(); err != nil {
		_ = s.Stop(ctx) // its error does not matter
		s.discard()
		return nil, err
	}
	return s, nil
}

// addWindow adds the probe of a window to the probes of a recording, unless its report will find the method in the call
// stacks of the samples. Stacks do not say which one of a method's overloads was called. The events and the frequency
// are those of the recording; the frequency may be 0.
func (p *stackPlan) addWindow(probes []probe.Spec, window *probe.Spec, events []sampler.Event, hertz int) []probe.Spec {
	if window == nil || window.Arguments == nil && p.walk && (p.choice == StacksOn || p.try(events, hertz) == nil) {
		return probes
	}
	return probe.Merge(append(slices.Clone(probes), *window))
}

// try returns an error if samples can't get stacks.
func (p *stackPlan) try(events []sampler.Event, hertz int) error {
	return tryStacks(collect.Options{Events: events, Frequency: cmp.Or(hertz, collect.DefaultFrequency), LeastStack: p.leastStack()})
}

// leastStack returns the size of the smallest copy of a stack with which stacks are recorded, in bytes. 0 means any.
func (p *stackPlan) leastStack() int {
	if p.choice == StacksAuto {
		return leastStack
	}
	return 0
}

// lateJMH returns a note if a command turned out to run JMH after its samples got stacks.
func (p *stackPlan) lateJMH(trials bool) string {
	if !p.walk || p.choice != StacksAuto || !trials {
		return ""
	}
	return "the samples of JMH's trials have call stacks, which take time of the benchmarks, because the command does not show that it runs JMH: --stacks off leaves them out"
}

// frequency returns how often events are sampled, per second and CPU. If the user has asked for a frequency, that is
// the result. If asked is 0, the result is what this machine can afford. The note says why that is less than usual, or
// is "" if it is not less.
func frequency(asked int, events []sampler.Event, stacks bool) (hertz int, note string) {
	if asked != 0 {
		return asked, ""
	}
	rate := collect.ChooseRate(events, stacks)
	return rate.Hertz, rate.Note()
}
