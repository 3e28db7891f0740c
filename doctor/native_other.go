//go:build !linux

package doctor

import "context"

// checkNative finds nothing: perf_event_open is Linux's.
func checkNative(context.Context, string) samplerResult { return samplerResult{} }
