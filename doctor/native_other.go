//go:build !linux

package doctor

import "context"

// checkNative returns no findings, because gasm's own sampler needs perf_event_open, which only Linux has.
func checkNative(context.Context, string) samplerResult { return samplerResult{} }
