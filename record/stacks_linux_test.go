package record

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/hotspot/probe"
	"github.com/gasm-profiler/gasm/hotspot/shared"
	"github.com/gasm-profiler/gasm/hotspot/stack"
	"github.com/gasm-profiler/gasm/internal/fix"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/sampler"
	"github.com/gasm-profiler/gasm/sampler/collect"
	"github.com/gasm-profiler/gasm/sampler/collect/failure"
)

func needWalks(t *testing.T) {
	t.Helper()
	if !stack.Supported() {
		t.Skip("stacks are not walked on this kind of processor")
	}
}

// TestPlanStacks checks how the choice, the sampler and the command decide whether there are stacks. If there are
// none, the user must learn why.
func TestPlanStacks(t *testing.T) {
	needWalks(t)
	java, jmh := []string{"java", "Main"}, []string{"java", "org.openjdk.jmh.Main"}
	const pointers = "no call stacks: perf can only follow frame pointers, which few JVMs keep: use --sampler native, or --stacks on"
	for _, c := range []struct {
		choice  StackChoice
		sampler Sampler
		command []string
		walk    bool
		note    string
		err     string
	}{
		{"", SamplerAuto, java, false, "", ""},
		{StacksOff, SamplerNative, java, false, "", ""},
		{StacksOff, SamplerPerf, java, false, "", ""},
		{StacksAuto, SamplerAuto, java, true, "", ""},
		{StacksAuto, SamplerNative, java, true, "", ""},
		{StacksAuto, SamplerNative, nil, true, "", ""},
		{StacksAuto, SamplerPerf, java, false, pointers, ""},
		{StacksAuto, SamplerAuto, jmh, false,
			"no call stacks: they are off for JMH, because each takes time of the benchmark: --stacks on records them (-prof gasm:stacks=on)", ""},
		{StacksWanted, SamplerAuto, jmh, true, "", ""},
		{StacksWanted, SamplerPerf, java, false, "", ""},
		{StacksOn, SamplerPerf, java, false, "", ""},
		{StacksOn, SamplerAuto, java, true, "", ""},
		{StacksOn, SamplerAuto, jmh, true, "", ""},
		{StacksOn, SamplerDTrace, java, false, "no call stacks: dtrace records none: use --sampler native",
			"--stacks on can't record call stacks: dtrace records none: use --sampler native, or use --stacks auto or --stacks off"},
	} {
		p := planStacks(c.choice, c.sampler, c.command)
		assert.Equal(t, c.walk, p.walk, "%+v", c)
		assert.Equal(t, c.sampler == SamplerPerf && (c.choice == StacksOn || c.choice == StacksWanted), p.chains, "%+v", c)
		assert.Equal(t, c.note, p.noteText(), "%+v", c)
		if c.err == "" {
			assert.NoError(t, p.err())
			assert.NoError(t, checkStacks(c.choice, c.sampler))
		} else {
			assert.EqualError(t, p.err(), c.err)
			assert.EqualError(t, checkStacks(c.choice, c.sampler), c.err)
			assert.NotEmpty(t, fix.Of(p.err()))
		}
	}
}

// A fakeSampling is a sampling that takes no samples, and that can only be stopped.
type fakeSampling struct {
	sampling
	ended []string
}

func (f *fakeSampling) Stop(context.Context) error { f.ended = append(f.ended, "stop"); return nil }
func (f *fakeSampling) discard()                   { f.ended = append(f.ended, "discard") }

// TestStacksRefused checks that if the kernel refuses stacks, samples are taken without them, or the user learns why
// nothing is recorded.
func TestStacksRefused(t *testing.T) {
	needWalks(t)
	little := &failure.RefusedError{Reason: failure.ReasonLimit, Cause: "there is room for only 8 KiB of a call stack",
		Hint: "ulimit -l"}
	kernel := &failure.RefusedError{Reason: failure.ReasonUnsupportedEvent,
		Cause: "the kernel can't sample cpu-clock of a process (invalid argument)"}
	gone := &failure.RefusedError{Reason: failure.ReasonTargetGone, Cause: "process 1 has ended"}
	disk := errors.New("the disk is full")
	for _, c := range []struct {
		name          string
		choice        StackChoice
		with, without error // the errors of starting with and without stacks
		starts        int
		walk          bool
		note, err     string
	}{
		{"all is well", StacksAuto, nil, nil, 1, true, "", ""},
		{"all is well", StacksOn, nil, nil, 1, true, "", ""},
		{"off", StacksOff, errors.New("not called"), nil, 1, false, "", ""},
		{"little room", StacksAuto, little, nil, 2, false,
			"no call stacks: there is room for only 8 KiB of a call stack: ulimit -l", ""},
		{"refused", StacksAuto, kernel, nil, 2, false,
			"no call stacks: sampling works only without them: the kernel can't sample cpu-clock of a process (invalid argument)", ""},
		{"refused", StacksWanted, kernel, nil, 2, false,
			"no call stacks: sampling works only without them: the kernel can't sample cpu-clock of a process (invalid argument)", ""},
		{"refused", StacksOn, kernel, nil, 2, false, "",
			"--stacks on can't record call stacks: sampling works only without them: the kernel can't sample cpu-clock of a process (invalid argument): use --stacks auto or --stacks off"},
		{"all is refused", StacksAuto, kernel, kernel, 2, true, "", kernel.Error()},
		{"the process has ended", StacksAuto, gone, nil, 1, true, "", gone.Error()},
		{"another error", StacksAuto, disk, nil, 1, true, "", disk.Error()},
	} {
		p := planStacks(c.choice, SamplerNative, []string{"java"})
		starts, s := 0, &fakeSampling{}
		got, err := p.start(t.Context(), collect.Options{PID: 1}, 997, shared.NewJVMs(),
			func(o collect.Options, note string) (sampling, error) {
				starts++
				assert.Equal(t, 1, o.PID)
				assert.Equal(t, 997, o.Frequency)
				assert.Empty(t, note)
				err := c.without
				if o.Walk != nil {
					err = c.with
				}
				assert.Equal(t, c.choice == StacksAuto && o.Walk != nil, o.LeastStack > 0, c.name)
				if err != nil {
					return nil, err
				}
				return s, nil
			})
		assert.Equal(t, c.starts, starts, c.name)
		if c.err != "" {
			require.EqualError(t, err, c.err, c.name)
			if c.without == nil && c.starts == 2 {
				assert.Equal(t, []string{"stop", "discard"}, s.ended, c.name)
			}
			continue
		}
		require.NoError(t, err, c.name)
		assert.Same(t, s, got)
		assert.Empty(t, s.ended)
		assert.Equal(t, c.walk, p.walk, c.name)
		assert.Equal(t, c.note, p.noteText(), c.name)
	}
}

// TestWindowProbe checks whether the method of --window-method is found in the samples' stacks or is probed. It is
// found in stacks if there are any, and if they can distinguish the method from others.
func TestWindowProbe(t *testing.T) {
	needWalks(t)
	gasmtest.NeedNative(t)
	spec := func(text string) *probe.Spec {
		s, err := probe.ParseMethod(text, probe.Methods)
		require.NoError(t, err)
		s.Window = true
		return &s
	}
	other, method, overload := *spec("A::other"), spec("A::m"), spec("A::m(int)")
	other.Window = false
	for _, c := range []struct {
		choice StackChoice
		window *probe.Spec
		events []sampler.Event
		probed bool
	}{
		{StacksOff, nil, nil, false},
		{StacksOff, method, nil, true},
		{StacksOn, method, nil, false},
		{StacksWanted, method, nil, false},
		{StacksWanted, method, []sampler.Event{sampler.ParseEvent("nosuchevent")}, true},
		{StacksOn, overload, nil, true},
	} {
		p := planStacks(c.choice, SamplerNative, nil)
		want := []probe.Spec{other}
		if c.probed {
			want = append(want, *c.window)
		}
		assert.Equal(t, want, p.addWindow([]probe.Spec{other}, c.window, c.events, 99), "%+v", c)
	}
}

// TestLateJMH checks the note for a command that turns out to run JMH although its words do not show that.
func TestLateJMH(t *testing.T) {
	needWalks(t)
	check := func(want bool, choice StackChoice, trials bool) {
		t.Helper()
		p := planStacks(choice, SamplerNative, []string{"mvn", "verify"})
		assert.Equal(t, want, p.lateJMH(trials) != "")
	}
	check(true, StacksAuto, true)
	check(false, StacksAuto, false)
	check(false, StacksOn, true)
	check(false, StacksOff, true)
}
