//go:build !linux

package dtrace

import "os"

// narrowPipe does nothing and returns false. Only DTrace for Linux wakes up for each record; DTrace for macOS gathers
// records before it prints them.
func narrowPipe(*os.File) bool { return false }

// widenPipe does nothing, because narrowPipe has not changed the pipe.
func widenPipe(*os.File) {}
