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
	// StacksAuto means stacks where possible, but none for JMH's trials. If there are no stacks, a note says why.
	StacksAuto StackChoice = "auto"
	// StacksOn requires stacks. If there can be none, nothing is recorded, and the error says why.
	StacksOn StackChoice = "on"
	// StacksWanted is like StacksAuto, but also records stacks for JMH's trials, and accepts kernel buffers with little
	// room. It is for reports that are about stacks, but are also useful without them.
	StacksWanted StackChoice = "wanted"
)

// leastStack is the least size, in bytes, of the copy of a stack in a sample. If the kernel's buffers have room only
// for smaller copies, StacksAuto records no stacks. In a measurement with JRuby, 88 % of the stacks fit into 16 KiB,
// but only 44 % into 8 KiB.
const leastStack = 16 << 10

// useStacksOff is the advice for a user whose --stacks on is not possible.
const useStacksOff = "use --stacks auto or --stacks off"

// A stackPlan says whether and how a recording gets call stacks.
type stackPlan struct {
	choice StackChoice
	walk   bool     // gasm's own samples should have stacks
	chains bool     // perf's samples should have chains of return addresses
	note   fix.Note // why samples have no stacks although the user wanted them; otherwise empty
}

// planStacks decides about the stacks of a recording before anything runs. command is the command that starts the JVMs,
// or nil for JVMs that already run.
func planStacks(choice StackChoice, s Sampler, command []string) stackPlan {
	p := stackPlan{choice: choice}
	supported := stacksSupported()
	switch {
	case choice == StacksOff || choice == "":
	case s == SamplerPerf && choice != StacksAuto:
		p.chains = true
	case s == SamplerPerf:
		p.note = fix.Note{Text: "perf can only follow frame pointers, which few JVMs keep",
			Fix: "use --sampler native, or --stacks on"}
	case supported != nil:
		p.note.Text = supported.Error()
	case s != SamplerAuto && s != SamplerNative:
		p.note = onlyNative(s)
	case choice == StacksAuto && windows.RunsJMH(command):
		p.note = fix.Note{Text: "they are off for JMH, because each takes time of the benchmark",
			Fix: "--stacks on records them (-prof gasm:stacks=on)"}
	default:
		p.walk = true
	}
	return p
}

// StackChoices returns the values that --stacks accepts.
func StackChoices() []string { return names([]StackChoice{StacksAuto, StacksOn, StacksOff}) }

// checkStacks returns an error if the choice is StacksOn, but the sampler can't record stacks.
func checkStacks(choice StackChoice, s Sampler) error {
	p := planStacks(choice, s, nil)
	return p.err()
}

// onlyNative returns the note for a sampler that records no stacks.
func onlyNative(s Sampler) fix.Note {
	return fix.Note{Text: fmt.Sprintf("%s records none", s), Fix: "use --sampler native"}
}

// err returns an error if the user requires stacks, but there can be none.
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

// noteText returns the line of the report that says why there are no stacks. It returns "" if there is nothing to say.
func (p *stackPlan) noteText() string {
	if p.note.Text == "" {
		return ""
	}
	return "no call stacks: " + p.note.String()
}

// usedOther notes that the sampler s is used, because gasm's own sampling failed.
func (p *stackPlan) usedOther(s Sampler) {
	if p.walk {
		p.walk, p.note = false, fix.Note{Text: onlyNative(s).Text} // another note says why gasm's own sampling failed
	}
}

// A nativeStart starts native sampling with the given options. note is a note about the frequency.
type nativeStart func(o collect.Options, note string) (sampling, error)

// start starts native sampling, with stacks if the plan has stacks. If sampling with stacks is refused, it samples
// without stacks, or returns an error if the user requires stacks. It sets Frequency and the options about stacks in o.
// asked is the frequency that the user asked for, or 0. open is the set of JVMs that gasm has open, which the walker of
// stacks shares.
func (p *stackPlan) start(ctx context.Context, o collect.Options, asked int, open *shared.JVMs,
	begin nativeStart) (sampling, error) {
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

// addWindow returns the probes of a recording. It adds a probe for the method of a window, unless the report will find
// the method in the samples' call stacks. If the window names the types of the method's arguments, addWindow always
// adds the probe, because stacks do not show which of several overloads was called. events and hertz are those of the
// recording; hertz may be 0.
func (p *stackPlan) addWindow(probes []probe.Spec, window *probe.Spec, events []sampler.Event, hertz int) []probe.Spec {
	if window == nil || window.Arguments == nil && p.walk && (p.choice == StacksOn || p.try(events, hertz) == nil) {
		return probes
	}
	return probe.Merge(append(slices.Clone(probes), *window))
}

// try returns an error if samples with these events can't have call stacks.
func (p *stackPlan) try(events []sampler.Event, hertz int) error {
	return tryStacks(collect.Options{Events: events, Frequency: cmp.Or(hertz, collect.DefaultFrequency),
		LeastStack: p.leastStack()})
}

// leastStack returns the least size, in bytes, of the copy of a stack in a sample. If the kernel's buffers have room
// only for smaller copies, no stacks are recorded. 0 means that any size is enough.
func (p *stackPlan) leastStack() int {
	if p.choice == StacksAuto {
		return leastStack
	}
	return 0
}

// lateJMH returns a note if the samples have stacks, but the command turned out to run JMH.
func (p *stackPlan) lateJMH(trials bool) string {
	if !p.walk || p.choice != StacksAuto || !trials {
		return ""
	}
	return "the samples of JMH's trials have call stacks, which take time of the benchmarks, because the command does not show that it runs JMH: --stacks off leaves them out"
}

// frequency returns how often events are sampled, per second and CPU. asked is the frequency that the user asked for.
// If it is 0, frequency returns one that costs little on this machine, and if that is lower than usual, the note says
// why.
func frequency(asked int, events []sampler.Event, stacks bool) (hertz int, note string) {
	if asked != 0 {
		return asked, ""
	}
	rate := collect.ChooseRate(events, stacks)
	return rate.Hertz, rate.Note()
}
