//go:build !linux

package collect

// newDTraceProcess prepares DTrace. When gasm is killed, SIGPIPE ends DTrace, and the kernel releases
// what it holds.
func newDTraceProcess(run func(path string, args []string) *process, command []string) (*process, error) {
	return run(command[0], command[1:]), nil
}

// hasUprobes returns false, because only Linux has uprobes.
func (d *DTrace) hasUprobes() bool { return false }

// released returns false, because DTrace on macOS ends at once.
func (d *DTrace) released() bool { return false }
