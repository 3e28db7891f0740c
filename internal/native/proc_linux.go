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

// ReadMaps returns the executable mappings of files and of the vDSO in a live process. It takes the right to trace the
// process, which the same user has unless the process has made itself undumpable. The error is that of [ParseMaps], or
// of opening /proc/PID/maps, or says that the list is too long or that the kernel did not answer in time. The mappings
// that could be read are returned as well.
func ReadMaps(pid int) ([]Mapping, error) {
	type result struct {
		mappings []Mapping
		err      error // does not exclude mappings
	}
	r, err := foreign.WithinLimit(mapsTime, func() (r result, err error) {
		f, err := os.Open(fmt.Sprintf("/proc/%d/maps", pid))
		if err != nil {
			return r, err
		}
		defer f.Close()
		text := &io.LimitedReader{R: f, N: maxMaps}
		if r.mappings, r.err = ParseMaps(text, pid); text.N == 0 {
			r.err = fmt.Errorf("the list of process %d's mappings is too long for a JVM", pid)
		}
		return r, nil
	})
	return r.mappings, cmp.Or(err, r.err)
}

// Upper bounds for the list of a process's mappings: its size in bytes, and the time for the kernel to write it. A
// process has at most 65 530 mappings (vm.max_map_count), but their paths have any length. The kernel waits while the
// process changes its mappings.
const (
	maxMaps  = 1 << 24
	mapsTime = 2 * time.Second
)

// isFileOf reports whether an open file is the mapped one.
//
// The kernel's maps and stat disagree on some file systems. On btrfs, stat has a device for each subvolume. On an
// overlay, the maps of older kernels have the file below it. So if they differ, the file is mapped here, and its device
// and inode are taken from the maps, like those of the mapping.
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

// mappedAs maps a page of a file, and returns that mapping as it is in the kernel's maps.
func mappedAs(f *os.File) (Mapping, error) {
	page, err := unix.Mmap(int(f.Fd()), 0, os.Getpagesize(), unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		return Mapping{}, err
	}
	defer unix.Munmap(page)
	at := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(page))))
	return ownMapping(func(o *Mapping) bool { return o.Lo <= at && at < o.Hi })
}

// sameDevice reports whether the file of a mapping is on this device.
func sameDevice(m *Mapping, major, minor uint32) bool {
	return m.DevMajor == major && m.DevMinor == minor
}

// ownMapping returns the first mapping of this process for which wanted returns true.
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

// readVDSO returns the bytes of a vDSO, which form an ELF file. It reads this process's own vDSO: the kernel maps the
// same one into all 64-bit processes, and another one into 32-bit processes. So the mapping must have the same size,
// and must not belong to a 32-bit process.
func readVDSO(m *Mapping) ([]byte, error) {
	ours, err := ownMapping(func(o *Mapping) bool { return o.Path == VDSO })
	if err != nil {
		return nil, err
	}
	if m.FileOffset != 0 || ours.Hi-ours.Lo != m.Hi-m.Lo || ours.Hi>>32 == 0 != (m.Hi>>32 == 0) {
		return nil, errors.New("it differs from that of this process")
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
