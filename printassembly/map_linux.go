package printassembly

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// mapFile maps a part of a file into memory, whole pages, all of them there at
// once: to copy a log out of the page cache costs as much as to look for its line
// ends. It is nil where it can't be had. A file that becomes shorter while it is
// mapped faults; see faultError.
func mapFile(r io.ReaderAt, at int64, size int) []byte {
	f, ok := r.(*os.File)
	if !ok {
		return nil
	}
	data, err := unix.Mmap(int(f.Fd()), at, size, unix.PROT_READ, unix.MAP_SHARED|unix.MAP_POPULATE)
	if err != nil {
		return nil
	}
	return data
}

func unmapFile(data []byte) {
	if data != nil {
		_ = unix.Munmap(data) // a mapping of ours: it can't fail
	}
}
