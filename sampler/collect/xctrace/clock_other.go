//go:build !darwin

package xctrace

// uptimeToMono returns 0. On systems other than macOS, only tests read recordings of xctrace.
func uptimeToMono() int64 { return 0 }
