//go:build !linux

package printassembly

import "io"

func mapFile(io.ReaderAt, int64, int) []byte { return nil }

func unmapFile([]byte) {}
