//go:build !darwin

package xctrace

// uptimeToMono returns 0. xctrace is for macOS only, so on other systems only tests read its recordings.
func uptimeToMono() int64 { return 0 }
