//go:build !linux

package dtrace

import "os"

// narrowPipe returns false, because the pipe need not be small: on systems other than Linux, DTrace
// itself gathers records before it prints them.
func narrowPipe(*os.File) bool { return false }

// widenPipe does nothing, because narrowPipe did nothing.
func widenPipe(*os.File) {}
