//go:build !linux

package dtrace

import "os"

// narrowPipe returns false: the pipe may be large on systems other than Linux, because DTrace
// itself gathers records there before it prints them.
func narrowPipe(*os.File) bool { return false }

// widenPipe does nothing, because narrowPipe did nothing.
func widenPipe(*os.File) {}
