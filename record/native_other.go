//go:build !linux

package record

import (
	"context"

	"github.com/gasm-profiler/gasm/internal/native"
	"github.com/gasm-profiler/gasm/sampler"
	"github.com/gasm-profiler/gasm/sampler/collect"
	"github.com/gasm-profiler/gasm/sampler/collect/failure"
)

// errNoNative says that perf_event_open is Linux's.
var errNoNative = &failure.MissingToolError{Tool: "native sampling", Cause: "only Linux has perf_event_open", Hint: "use dtrace"}

// startNative fails.
func (r *Recording) startNative(context.Context, int) (sampling, error) { return nil, errNoNative }

// attachNative fails.
func attachNative(context.Context, collect.Options, string) (sampling, <-chan sampler.Sample, error) {
	return nil, nil, errNoNative
}

// What follows is never called: only Linux lets gasm read the memory of a JVM.

func checkMappingEvents() error { return errNoNative }

type mappingEvents struct{}

func (*mappingEvents) Stop() {}

func watchMappingEvents(int, func(native.Mapping)) (*mappingEvents, error) { return nil, errNoNative }
