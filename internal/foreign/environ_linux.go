package foreign

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Indices of fields of /proc/PID/stat (see proc(5)): the addresses of the command line and of the environment.
// Indices are counted from the state, which is the third field and has index 0.
const (
	argStart = 48 - 3
	envStart = 50 - 3
	envEnd   = 51 - 3
)

// textFields maps the names of two files in /proc/PID to the fields of /proc/PID/stat that have the addresses of their
// texts.
var textFields = map[string]int{"cmdline": argStart, "environ": envStart}

// checkText returns an error if reading "cmdline" or "environ" in /proc/PID could block. The kernel copies these texts
// from the process's memory. Normally no file is mapped there, but the process may have moved a text into a mapped
// file. For other names, checkText returns nil.
func (p *Process) checkText(name string) error {
	field, ok := textFields[name]
	if !ok {
		return nil
	}
	at, err := p.addresses(field)
	if err != nil || at[0] == 0 {
		return err
	}
	_, err = p.ownMemory(at[0])
	if errors.Is(err, fs.ErrPermission) {
		// gasm may not see the mappings of another user's process, but the kernel shows its command line nevertheless.
		return nil
	}
	return err
}

// addresses returns fields of /proc/PID/stat that are addresses. An address is 0 for a kernel thread, for a process
// whose addresses gasm's user may not read, and before Linux 3.5.
func (p *Process) addresses(fields ...int) ([]uint64, error) {
	f, err := p.openProc("stat")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	stat, err := readAll(f, 1<<12)
	if err != nil {
		return nil, p.gone(err)
	}
	words := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	all := make([]uint64, len(fields))
	for i, field := range fields {
		if field < len(words) {
			all[i], _ = strconv.ParseUint(words[field], 10, 64) // the kernel writes only digits here
		}
	}
	return all, nil
}

// ownMemory returns the mapping that contains an address. If that is the mapping of a file, or if no mapping contains
// the address, the error is errInFile. If the process has ended, the mapping is empty.
func (p *Process) ownMemory(at uint64) (found region, err error) {
	regions, own := 0, false // if there are no regions, the process has ended
	err = p.regions(func(r region) bool {
		regions++
		if r.lo <= at && at < r.hi {
			found, own = r, r.device == noDevice
		}
		return r.hi <= at
	})
	if err == nil && regions > 0 && !own {
		err = errInFile
	}
	return found, err
}

// environment returns the content of /proc/PID/environ, but reads it from the process's memory. The kernel opens that
// file only for the process's user and for root with CAP_DAC_READ_SEARCH or CAP_DAC_OVERRIDE. For the memory,
// CAP_SYS_PTRACE is enough. The result is cut off after limit bytes, and where the mapping ends.
func (p *Process) environment(limit int64) ([]byte, error) {
	at, err := p.addresses(envStart, envEnd)
	if err != nil {
		return nil, err
	}
	lo, hi := at[0], at[1]
	switch {
	case lo == 0:
		return nil, fmt.Errorf("the environment of process %d: %w", p.pid, fs.ErrPermission)
	case hi <= lo:
		return nil, nil
	}
	memory, err := p.ownMemory(lo)
	if err != nil {
		return nil, err
	}
	if hi = min(hi, memory.hi); hi <= lo {
		return nil, ErrEnded
	}
	text := make([]byte, min(hi-lo, uint64(max(limit, 1))))
	local := []unix.Iovec{{Base: &text[0]}}
	local[0].SetLen(len(text))
	n, err := unix.ProcessVMReadv(p.pid, local, []unix.RemoteIovec{{Base: uintptr(lo), Len: len(text)}}, 0)
	switch {
	case p.Exited(): // a later process may have the id
		return nil, ErrEnded
	case err != nil:
		return nil, fmt.Errorf("the environment of process %d: %w", p.pid, err)
	}
	return text[:n], nil
}
