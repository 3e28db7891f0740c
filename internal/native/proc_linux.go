package native

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/internal/foreign"
)

// ReadMaps returns the executable mappings of files and of the vDSO in a live process. The caller must have the right
// to trace the process: it must be root, or the process must belong to the same user and must not have made itself
// undumpable. ReadMaps returns an error if /proc/PID/maps can't be opened or parsed, if the list is too long, or if the
// kernel does not answer in time. Even with an error, it returns the mappings that it could read.
func ReadMaps(pid int) ([]Mapping, error) {
	return readMaps(pid, func(text io.Reader) ([]Mapping, error) { return ParseMaps(text, pid) })
}

// SignatureBits returns the bits of a return address that hold a signature (pointer authentication) and not a part of
// the address, for code of a live process. Only arm64 processors sign addresses; on others the result is 0.
// SignatureBits needs the same rights as ReadMaps, and returns the same errors.
func SignatureBits(pid int) (uint64, error) {
	if !signsAddresses(runtime.GOARCH) {
		return 0, nil
	}
	return readMaps(pid, func(text io.Reader) (uint64, error) { return parseSignatureBits(text, pid) })
}

// readMaps returns what the function parse returns for the text of /proc/PID/maps.
func readMaps[T any](pid int, parse func(text io.Reader) (T, error)) (T, error) {
	type result struct {
		value T
		err   error // value may be set as well
	}
	r, err := foreign.WithinLimit(mapsTime, func() (r result, err error) {
		f, err := os.Open(fmt.Sprintf("/proc/%d/maps", pid))
		if err != nil {
			return r, err
		}
		defer f.Close()
		text := &io.LimitedReader{R: f, N: maxMaps}
		if r.value, r.err = parse(text); text.N == 0 {
			r.err = fmt.Errorf("the list of process %d's mappings is too long for a JVM", pid)
		}
		return r, nil
	})
	return r.value, cmp.Or(err, r.err)
}

// Limits for the list of a process's mappings. maxMaps limits its size in bytes. A process has at most 65 530 mappings,
// unless vm.max_map_count was raised, but their paths may be long. mapsTime limits the time for reading the list. That
// may take a while, because the kernel waits until the process has finished changing its mappings.
const (
	maxMaps  = 1 << 24
	mapsTime = 2 * time.Second
)

// isFileOf reports whether an open file is the file of a mapping.
//
// It compares the device and the inode of both. On some file systems, stat and the kernel's maps have different numbers
// for the same file. On btrfs, stat returns a device number for each subvolume. On an overlay, the maps of older
// kernels have the numbers of the file in the lower layer. So if stat's numbers differ, isFileOf maps the file into
// this process, and compares the numbers in the two maps.
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

// mappedAs maps a page of a file for a moment, and returns that mapping as it appears in the kernel's maps.
func mappedAs(f *os.File) (Mapping, error) {
	page, err := unix.Mmap(int(f.Fd()), 0, os.Getpagesize(), unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		return Mapping{}, err
	}
	defer unix.Munmap(page)
	at := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(page))))
	return ownMapping(func(o *Mapping) bool { return o.Lo <= at && at < o.Hi })
}

// sameDevice reports whether a mapping's file is on the device with the given numbers.
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

// ReadVDSO returns the bytes of a vDSO, which form an ELF file. It reads the vDSO of this process, because the kernel
// maps the same one into all processes of the same kind (64-bit or 32-bit). It returns an error if the two vDSOs have
// different sizes, or if the other process seems to be of a different kind. The vDSO of a 32-bit process lies in the
// lowest 4 GB.
func ReadVDSO(m *Mapping) ([]byte, error) {
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
