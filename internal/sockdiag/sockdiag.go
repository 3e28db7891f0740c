// Package sockdiag asks the kernel when a TCP connection of this machine last received data. It uses sock_diag(7), as
// ss(8) does. It needs no privileges, and does not disturb the processes that use the connection.
//
// The kernel measures time in ticks of 1 to 10 ms (CONFIG_HZ), so its answer is exact to a tick. The package works on
// Linux only.
package sockdiag

import "errors"

// ErrNoConnection means that no open TCP connection of this machine has the requested local port.
var ErrNoConnection = errors.New("no TCP connection has this port")

// A Time is a moment that is not known exactly. It lies in the range [Lo, Hi), which is about two of the kernel's ticks
// wide. Lo and Hi are in ns on CLOCK_MONOTONIC.
type Time struct {
	Lo, Hi int64
}

// Middle returns the middle of the range, which is the best estimate of the moment.
func (t Time) Middle() int64 { return t.Lo + (t.Hi-t.Lo)/2 }
