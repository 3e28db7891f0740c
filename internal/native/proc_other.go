//go:build !linux

package native

import (
	"errors"
	"fmt"
	"os"

	"github.com/gasm-profiler/gasm/internal/regular"
)

// ReadMaps works on Linux alone. Elsewhere the error is [errors.ErrUnsupported].
func ReadMaps(pid int) ([]Mapping, error) {
	return nil, fmt.Errorf("reading the mappings of process %d: %w", pid, errors.ErrUnsupported)
}

// OpenMapped opens the regular file at the path of a mapping for reading, and returns its size in bytes. Nobody knows whether
// it is the file that was mapped, because the mappings come from another machine.
func OpenMapped(m *Mapping) (f *os.File, size int64, err error) { return regular.Open(m.Path) }

// ownedHere does not ask: no other user's processes are looked at here.
func ownedHere(*os.File) bool { return true }

// readVDSO works on Linux alone.
func readVDSO(*Mapping) ([]byte, error) { return nil, errors.ErrUnsupported }
