//go:build !linux

package record

import (
	"context"
	"errors"

	"github.com/gasm-profiler/gasm/hotspot/shared"
	"github.com/gasm-profiler/gasm/internal/native"
	"github.com/gasm-profiler/gasm/sampler"
	"github.com/gasm-profiler/gasm/sampler/collect"
	"github.com/gasm-profiler/gasm/sampler/collect/failure"
)

// errNoNative says that native sampling needs perf_event_open, which only Linux has.
var errNoNative = &failure.MissingToolError{Tool: "native sampling", Cause: "only Linux has perf_event_open",
	Hint: "use dtrace"}

// startNative returns an error: native sampling works on Linux only.
func (r *Recording) startNative(context.Context, int) (sampling, error) { return nil, errNoNative }

// KeepKernelSymbols does nothing: other recordings than native ones do not read the kernel's symbols.
func KeepKernelSymbols() (release func()) { return func() {} }

// stacksSupported returns an error, because only native sampling records call stacks.
func stacksSupported() error { return errors.New("gasm records them on Linux only") }

// tryStacks returns an error, like stacksSupported.
func tryStacks(collect.Options) error { return stacksSupported() }

// setWalk does nothing. It is never called, because there is no native sampling.
func setWalk(*collect.Options, *shared.JVMs) {}

// attachNative returns an error: native sampling works on Linux only.
func (a *Attachment) attachNative(context.Context, collect.Options) (sampling, <-chan sampler.Sample, error) {
	return nil, nil, errNoNative
}

// The following functions are never called, because gasm reads the memory of a JVM on Linux only.

func checkMappingEvents() error { return errNoNative }

type mappingEvents struct{}

func (*mappingEvents) Stop() {}

func watchMappingEvents(int, func(native.Mapping)) (*mappingEvents, error) { return nil, errNoNative }
