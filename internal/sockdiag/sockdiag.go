// Package sockdiag asks the kernel when a TCP connection of this machine last received data, with sock_diag(7) as in
// ss(8). That takes no privileges, and does not disturb the connection's own processes.
//
// The kernel measures time in ticks of 1 to 10 ms (CONFIG_HZ), so its answer is exact to a tick. The package works on
// Linux only.
package sockdiag

import "errors"

// ErrNoConnection means that no connection of this machine has the local port that was asked for.
var ErrNoConnection = errors.New("no TCP connection has this port")

// A Time is a moment in [Lo, Hi) on CLOCK_MONOTONIC, in ns. The range is about two of the kernel's ticks wide.
type Time struct {
	Lo, Hi int64
}

// Middle returns the most likely moment.
func (t Time) Middle() int64 { return t.Lo + (t.Hi-t.Lo)/2 }
