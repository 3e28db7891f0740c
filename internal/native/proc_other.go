//go:build !linux

package native

import (
	"errors"
	"fmt"
	"os"

	"github.com/gasm-profiler/gasm/internal/regular"
)

// ReadMaps returns an error that wraps [errors.ErrUnsupported]: it works on Linux only.
func ReadMaps(pid int) ([]Mapping, error) {
	return nil, fmt.Errorf("reading the mappings of process %d: %w", pid, errors.ErrUnsupported)
}

// SignatureBits returns an error that wraps [errors.ErrUnsupported]: it works on Linux only.
func SignatureBits(pid int) (uint64, error) {
	return 0, fmt.Errorf("reading the mappings of process %d: %w", pid, errors.ErrUnsupported)
}

// OpenMapped opens the regular file at the path of a mapping for reading, and returns its size in bytes. It can't check
// whether that is the file that was mapped, because the mappings come from another machine.
func OpenMapped(m *Mapping) (f *os.File, size int64, err error) { return regular.Open(m.Path) }

// openMapped does the same as OpenMapped, because the owners of processes matter only on Linux.
func openMapped(m *Mapping, noted owner) (*os.File, owner, error) {
	f, _, err := OpenMapped(m)
	return f, owner{known: true, here: true}, err
}

// ownerOf returns false, because the owner is unknown.
func ownerOf(int) (o owner, ok bool) { return owner{}, false }

// isTrusted returns true, because gasm does not look at other users' processes on this system.
func isTrusted(string) bool { return true }

// leadsTo returns true, because gasm does not look at other users' processes on this system.
func leadsTo(string, *os.File) bool { return true }

// ReadVDSO returns an error: it works on Linux only.
func ReadVDSO(*Mapping) ([]byte, error) { return nil, errors.ErrUnsupported }
