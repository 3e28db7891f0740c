//go:build !darwin

package xctrace

// uptimeToMono returns 0. On systems other than macOS, only tests read xctrace recordings.
func uptimeToMono() int64 { return 0 }
