//go:build !linux

package dtrace

import "github.com/gasm-profiler/gasm/sampler/collect/external"

// newProcess prepares to run DTrace. Unlike on Linux, nothing is needed for the case that gasm is killed: SIGPIPE then
// ends DTrace, and the kernel releases DTrace's probes.
func newProcess(run func(path string, args []string) *external.Process, command []string) (*external.Process, error) {
	return run(command[0], command[1:]), nil
}

// hasUprobes returns false, because only Linux has uprobes.
func (d *Tracer) hasUprobes() bool { return false }

// released returns false, because DTrace on macOS ends at once.
func (d *Tracer) released() bool { return false }
