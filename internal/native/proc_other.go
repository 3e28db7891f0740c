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

// OpenMapped opens the regular file at the path of a mapping for reading, and returns its size in bytes. Whether it is
// the mapped file can't be checked, because the mappings come from another machine.
func OpenMapped(m *Mapping) (f *os.File, size int64, err error) { return regular.Open(m.Path) }

// ownedHere returns true: on this system, no processes of other users are looked at.
func ownedHere(*os.File) bool { return true }

// readVDSO returns an error: it works on Linux only.
func readVDSO(*Mapping) ([]byte, error) { return nil, errors.ErrUnsupported }
