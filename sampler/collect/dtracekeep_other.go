//go:build !linux

package collect

// newDTraceProcess prepares DTrace. When gasm is killed, SIGPIPE ends it, and the kernel takes back what it holds.
func newDTraceProcess(run func(path string, args []string) *process, command []string) (*process, error) {
	return run(command[0], command[1:]), nil
}

// hasUprobes is false: these are Linux's.
func (d *DTrace) hasUprobes() bool { return false }

// released is false: macOS's DTrace ends at once.
func (d *DTrace) released() bool { return false }
