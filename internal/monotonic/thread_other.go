//go:build !linux

package monotonic

import "time"

// ThreadCPU returns 0. It is only needed on Linux.
func ThreadCPU() time.Duration { return 0 }
