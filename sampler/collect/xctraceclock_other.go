//go:build !darwin

package collect

// uptimeToMono is 0 where tests alone run xctrace's reader.
func uptimeToMono() int64 { return 0 }
