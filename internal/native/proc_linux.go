package native

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/internal/foreign"
)

// ReadMaps returns the executable mappings of files and of the vDSO that a live process has.
// It needs the right to trace the process. The same user has it, unless the process gave it
// up. Errors are those of [ParseMaps], or of opening /proc/PID/maps, or of a process whose
// list is too long, or is not to be had in time. What was read of a long one is returned.
func ReadMaps(pid int) ([]Mapping, error) {
	type result struct {
		mappings []Mapping
		err      error // with what could be read
	}
	r, err := foreign.WithinLimit(mapsTime, func() (r result, err error) {
		f, err := os.Open(fmt.Sprintf("/proc/%d/maps", pid))
		if err != nil {
			return r, err
		}
		defer f.Close()
		text := &io.LimitedReader{R: f, N: maxMaps}
		if r.mappings, r.err = ParseMaps(text, pid); text.N == 0 {
			r.err = fmt.Errorf("the list of what process %d has mapped is longer than that of any JVM", pid)
		}
		return r, nil
	})
	return r.mappings, cmp.Or(err, r.err)
}

// Upper bounds for the list of a process's mappings: its size in bytes, and the time until the kernel has made it. A process
// has 65 530 of them at most (vm.max_map_count), but paths of any length. The kernel waits while the process changes them.
const (
	maxMaps  = 1 << 24
	mapsTime = 2 * time.Second
)

// isFileOf tells whether an open file is the one that was mapped.
//
// The kernel's maps and stat do not agree on every file system. On btrfs, stat gives each
// subvolume a device of its own. On an overlay, the maps of older kernels have the file
// below it. So where they differ, the file is mapped here, and its device and inode are
// taken from the maps, as those of the mapping were.
func isFileOf(f *os.File, m *Mapping) bool {
	if m.Inode == 0 {
		return true
	}
	if info, err := f.Stat(); err == nil {
		stat, ok := info.Sys().(*syscall.Stat_t)
		if ok && stat.Ino == m.Inode && sameDevice(m, unix.Major(stat.Dev), unix.Minor(stat.Dev)) {
			return true
		}
	}
	as, err := mappedAs(f)
	return err == nil && as.Inode == m.Inode && sameDevice(m, as.DevMajor, as.DevMinor)
}

// mappedAs maps a page of a file, and gives that mapping as the kernel's maps have it.
func mappedAs(f *os.File) (Mapping, error) {
	page, err := unix.Mmap(int(f.Fd()), 0, os.Getpagesize(), unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		return Mapping{}, err
	}
	defer unix.Munmap(page)
	at := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(page))))
	return ownMapping(func(o *Mapping) bool { return o.Lo <= at && at < o.Hi })
}

// sameDevice compares the device of a mapping's file.
func sameDevice(m *Mapping, major, minor uint32) bool {
	return m.DevMajor == major && m.DevMinor == minor
}

// ownMapping gives the first mapping of this process that is wanted.
func ownMapping(wanted func(m *Mapping) bool) (Mapping, error) {
	f, err := os.Open("/proc/self/maps")
	if err != nil {
		return Mapping{}, err
	}
	defer f.Close()
	var found *Mapping
	err = scanMaps(f, "/proc/self/maps", func(m Mapping, _ bool) {
		if found == nil && wanted(&m) {
			found = &m
		}
	})
	if found == nil && err == nil {
		err = errors.New("no such mapping in /proc/self/maps")
	}
	if err != nil {
		return Mapping{}, err
	}
	return *found, nil
}

// readVDSO gives the bytes of a vDSO, which form an ELF file. It reads this process's own:
// the kernel gives the same one to all processes of 64 bits, and another one to those of
// 32 bits. So the mapping must be of the same size, and must not be that of a process of 32
// bits.
func readVDSO(m *Mapping) ([]byte, error) {
	ours, err := ownMapping(func(o *Mapping) bool { return o.Path == VDSO })
	if err != nil {
		return nil, err
	}
	if m.FileOffset != 0 || ours.Hi-ours.Lo != m.Hi-m.Lo || ours.Hi>>32 == 0 != (m.Hi>>32 == 0) {
		return nil, errors.New("it is not like the one of this process")
	}
	mem, err := os.Open("/proc/self/mem")
	if err != nil {
		return nil, err
	}
	defer mem.Close()
	data := make([]byte, ours.Hi-ours.Lo)
	if _, err := mem.ReadAt(data, int64(ours.Lo)); err != nil {
		return nil, err
	}
	return data, nil
}
