//go:build !linux

package record

import (
	"context"
	"errors"
	"os"
)

func findDebugInfoFlag(context.Context, int) (address uint64, on bool, err error) {
	return 0, false, errors.ErrUnsupported
}

func openMemory(int) (*os.File, error) { return nil, errors.ErrUnsupported }

func writeByte(*os.File, uint64, byte) error { return errors.ErrUnsupported }

func readByte(int, uint64) (byte, error) { return 0, errors.ErrUnsupported }
