//go:build !linux

package native

import (
	"errors"
	"fmt"
	"os"
)

// ReadMaps is for Linux alone: elsewhere the error is [errors.ErrUnsupported].
func ReadMaps(pid int) ([]Mapping, error) {
	return nil, fmt.Errorf("reading the mappings of process %d: %w", pid, errors.ErrUnsupported)
}

// isFileOf cannot tell: the mappings come from another machine.
func isFileOf(*os.File, *Mapping) bool { return true }

func readVDSO(*Mapping) ([]byte, error) { return nil, errors.ErrUnsupported }
