//go:build !linux

package doctor

import "context"

// checkNative returns no findings: only Linux has perf_event_open.
func checkNative(context.Context, string) samplerResult { return samplerResult{} }
