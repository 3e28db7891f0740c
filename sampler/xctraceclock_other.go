//go:build !darwin

package sampler

// uptimeToMono is 0 where tests alone run xctrace's reader.
func uptimeToMono() int64 { return 0 }
