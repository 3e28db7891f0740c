//go:build !darwin

package xctrace

// uptimeToMono returns 0: on other systems than macOS, only tests run xctrace's reader.
func uptimeToMono() int64 { return 0 }
