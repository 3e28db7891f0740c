//go:build !linux

package native

import (
	"errors"
	"fmt"
	"os"
)

// ReadMaps works on Linux alone. Elsewhere the error is [errors.ErrUnsupported].
func ReadMaps(pid int) ([]Mapping, error) {
	return nil, fmt.Errorf("reading the mappings of process %d: %w", pid, errors.ErrUnsupported)
}

// isFileOf can't tell here, because the mappings come from another machine.
func isFileOf(*os.File, *Mapping) bool { return true }

// readVDSO works on Linux alone.
func readVDSO(*Mapping) ([]byte, error) { return nil, errors.ErrUnsupported }
