//go:build !linux

package debuginfo

import (
	"context"
	"errors"
	"os"

	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
)

func findFlag(context.Context, int) (address uint64, on bool, err error) {
	return 0, false, errors.ErrUnsupported
}

func flagOf(context.Context, *vmstructs.VM) (vmstructs.Flag, error) {
	return vmstructs.Flag{}, errors.ErrUnsupported
}

func openMemory(int) (*os.File, error) { return nil, errors.ErrUnsupported }

func writeByte(context.Context, *os.File, uint64, byte) error { return errors.ErrUnsupported }

func readByte(context.Context, int, uint64) (byte, error) { return 0, errors.ErrUnsupported }
