//go:build !linux

package record

import "errors"

func findDebugInfoFlag(int) (address uint64, on bool, err error) {
	return 0, false, errors.ErrUnsupported
}

func writeByte(int, uint64, byte) error { return errors.ErrUnsupported }

func readByte(int, uint64) (byte, error) { return 0, errors.ErrUnsupported }
