//go:build !linux

package record

import "github.com/gasm-profiler/gasm/sampler"

// startNative fails: perf_event_open is Linux's.
func (r *Recording) startNative(int) (sampling, error) {
	return nil, &sampler.MissingToolError{Tool: "native sampling", Cause: "only Linux has perf_event_open", Hint: "use dtrace"}
}
