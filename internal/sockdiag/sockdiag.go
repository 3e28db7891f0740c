// Package sockdiag asks the kernel when a TCP connection of this machine last received data, as ss(8) does by
// sock_diag(7). Nobody needs privileges for it, and the connection's own processes are not disturbed.
//
// The kernel counts time in its ticks, of 1 to 10 ms (CONFIG_HZ), so what it tells is right to a tick. Only Linux tells it.
package sockdiag

import "errors"

// ErrNoConnection is the error for a port that no connection of this machine has.
var ErrNoConnection = errors.New("no TCP connection has this port")

// A Time is some time in [Lo, Hi): CLOCK_MONOTONIC in ns. It is about two of the kernel's ticks wide.
type Time struct {
	Lo, Hi int64
}

// Middle is the likeliest time.
func (t Time) Middle() int64 { return t.Lo + (t.Hi-t.Lo)/2 }
