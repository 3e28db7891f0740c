package foreign

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// maxMaps is an upper bound for the list of a process's mappings, in bytes; a longer list is an error. A process may
// have 65 530 mappings (vm.max_map_count).
const maxMaps = 1 << 24

// errManyMaps is the error of a longer list. With paths of the greatest length, a list has 260 MB.
var errManyMaps = errors.New("the list of its mappings is too long for a JVM")

// A region is a line of proc(5)'s maps.
type region struct {
	lo, hi uint64 // [lo, hi)
	device string // "fe:00"; "00:00" for memory without a file
	path   string // "" for memory without a file
}

// regions calls see with the mappings of the process, until see returns false. The kernel answers without accessing the
// memory itself.
func (p *Process) regions(see func(r region) (more bool)) error {
	f, err := p.openProc("maps")
	if err != nil {
		return err
	}
	defer f.Close()
	text, err := readAll(f, maxMaps)
	if err != nil {
		return p.gone(err)
	}
	if len(text) == maxMaps {
		return errManyMaps
	}
	for line := range bytes.Lines(text) {
		if r, ok := parseRegion(string(line)); ok && !see(r) {
			break
		}
	}
	return nil
}

// parseRegion parses a line: "7f4027ac7000-7f4027c1d000 r-xp 00026000 fe:00 326269
// /usr/lib/x86_64-linux-gnu/libc.so.6".
func parseRegion(line string) (r region, ok bool) {
	fields := strings.Fields(line)
	if len(fields) < 5 {
		return r, false
	}
	lo, hi, _ := strings.Cut(fields[0], "-")
	var errLo, errHi error
	r.lo, errLo = strconv.ParseUint(lo, 16, 64)
	r.hi, errHi = strconv.ParseUint(hi, 16, 64)
	r.device = fields[3]
	if len(fields) > 5 {
		r.path = strings.Join(fields[5:], " ")
	}
	return r, errLo == nil && errHi == nil
}

// noDevice is the device of memory without a file.
const noDevice = "00:00"

// CheckMemory returns an error if reading the process's memory could block for ever. That is the case if a part of it
// is mapped from a file system in user space (FUSE) of another user, who decides when to answer. A thread that waits
// there can't even be killed. CheckMemory can't exclude that the process maps such a file later.
func (p *Process) CheckMemory() error {
	status, err := p.Status()
	if err != nil || status.UID == os.Geteuid() {
		return err
	}
	kinds := p.mountedKinds()
	unknown := map[string]region{} // a mapping for each device with an unknown file system
	var found error
	err = p.regions(func(r region) bool {
		kind, mounted := kinds[r.device]
		switch {
		case isUserSpace(kind):
			found = refuseUserSpace(r)
		case !mounted && r.device != noDevice && strings.HasPrefix(r.device, "00:") && strings.HasPrefix(r.path, "/"):
			unknown[r.device] = r
		}
		return found == nil
	})
	if found != nil || err != nil {
		return cmp.Or(found, err)
	}
	for device, r := range unknown {
		if !slices.Contains(kernelDevices(), device) {
			if err := p.checkFileSystem(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// isUserSpace reports whether a kind of file system, as mountinfo names it, is one in user space.
func isUserSpace(kind string) bool { return strings.HasPrefix(kind, "fuse") }

func refuseUserSpace(r region) error {
	return fmt.Errorf("it has mapped %s from a file system in user space (FUSE), which may never answer: "+
		"run gasm as its user, or the JVM from another file system", r.path)
}

// maxMounts bounds how much of a list of mounts is read, in bytes. A namespace may have 100 000 mounts (fs.mount-max).
const maxMounts = 1 << 25

// mountedKinds returns the kinds of the file systems that the process and gasm have mounted, by device. Devices have
// the form of maps, "00:2d", where mountinfo has "0:45".
func (p *Process) mountedKinds() map[string]string {
	kinds := map[string]string{}
	own, _ := os.ReadFile("/proc/self/mountinfo")
	theirs, _ := p.Read("mountinfo", maxMounts) // if the process has ended, there are none
	for _, text := range [][]byte{own, theirs} {
		for line := range bytes.Lines(text) {
			before, after, _ := strings.Cut(string(line), " - ")
			fields, kind := strings.Fields(before), strings.Fields(after)
			if len(fields) < 3 || len(kind) == 0 {
				continue
			}
			var major, minor uint32
			if _, err := fmt.Sscanf(fields[2], "%d:%d", &major, &minor); err == nil {
				kinds[deviceName(major, minor)] = kind[0]
			}
		}
	}
	return kinds
}

// deviceName returns a device as maps names it.
func deviceName(major, minor uint32) string { return fmt.Sprintf("%02x:%02x", major, minor) }

// kernelDevices returns the devices of the file systems that the kernel has for its own use and nobody mounts: those of
// shared memory, of huge pages of each size, and of libaio's rings.
var kernelDevices = sync.OnceValue(func() (devices []string) {
	kinds := []int{0}
	sizes, _ := filepath.Glob("/sys/kernel/mm/hugepages/hugepages-*kB")
	for _, path := range sizes {
		var size uint64
		if _, err := fmt.Sscanf(filepath.Base(path), "hugepages-%dkB", &size); err == nil {
			kinds = append(kinds, unix.MFD_HUGETLB|(bits.Len64(size<<10)-1)<<unix.MFD_HUGE_SHIFT)
		}
	}
	for _, kind := range kinds {
		fd, err := unix.MemfdCreate("gasm", unix.MFD_CLOEXEC|kind)
		if err != nil {
			continue
		}
		var s unix.Stat_t
		if unix.Fstat(fd, &s) == nil {
			devices = append(devices, deviceName(unix.Major(s.Dev), unix.Minor(s.Dev)))
		}
		unix.Close(fd)
	}
	return append(devices, ringDevice()...)
})

// ringDevice returns the device of libaio's rings. It can only be seen in a mapping of such a ring.
func ringDevice() (device []string) {
	var ring uintptr
	if _, _, errno := unix.RawSyscall(unix.SYS_IO_SETUP, 1, uintptr(unsafe.Pointer(&ring)), 0); errno != 0 {
		return nil
	}
	defer unix.RawSyscall(unix.SYS_IO_DESTROY, ring, 0, 0)
	self, err := Open(os.Getpid())
	if err != nil {
		return nil
	}
	defer self.Close()
	_ = self.regions(func(r region) bool { // if this fails, the file system of such mappings is checked
		if r.lo == uint64(ring) {
			device = []string{r.device}
		}
		return device == nil
	})
	return device
}

// statTime bounds the time for asking a file system what it is.
const statTime = time.Second

// fileSystem returns the kind of the file system of an open file (statfs(2)). The kernel does not ask a file system in
// user space that excludes this user, as it usually excludes root (fuse_statfs in the kernel's fs/fuse/inode.c).
func fileSystem(fd int) (kind int64, err error) {
	var s unix.Statfs_t
	err = unix.Fstatfs(fd, &s)
	return int64(s.Type), err
}

// ErrUserSpace means that a file of another user's process is in a file system in user space.
var ErrUserSpace = errors.New("it is in a file system in user space (FUSE), which may never answer")

// checkFileSystem returns an error if a mapping is from a file system in user space. It is used if the file system is
// not in a list of mounts, because it was unmounted or is mounted elsewhere.
func (p *Process) checkFileSystem(r region) error {
	kind, err := WithinLimit(statTime, func() (int64, error) {
		at, err := p.openAt(fmt.Sprintf("map_files/%x-%x", r.lo, r.hi), unix.O_PATH)
		if err != nil {
			return 0, err
		}
		defer unix.Close(at)
		return fileSystem(at)
	})
	switch {
	case err != nil && p.Ended():
		return ErrEnded
	case err != nil:
		return fmt.Errorf("it has mapped %s from a file system that can't be found out about (%w), and may never answer: run gasm as its user", r.path, err)
	case kind == unix.FUSE_SUPER_MAGIC:
		return refuseUserSpace(r)
	}
	return nil
}

// errInFile means that a command line or an environment lies in a mapped file.
var errInFile = errors.New("it lies in a file that the process has mapped, and reading it could block for ever")

// textFields are the fields of proc(5)'s stat with the addresses of the command line and the environment. They are
// counted from the state, which is the third field.
var textFields = map[string]int{"cmdline": 48 - 3, "environ": 50 - 3}

// checkText checks a text of the process that the kernel reads from its memory. The text must be in memory without a
// file, where it is in every process that has not tampered with it.
func (p *Process) checkText(name string) error {
	field, ok := textFields[name]
	if !ok {
		return nil
	}
	f, err := p.openProc("stat")
	if err != nil {
		return err
	}
	defer f.Close()
	stat, err := readAll(f, 1<<12)
	if err != nil {
		return p.gone(err)
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) <= field {
		return nil // before Linux 3.5
	}
	at, err := strconv.ParseUint(fields[field], 10, 64)
	if err != nil || at == 0 { // a kernel thread; or hidden from this user, who can't read the text either
		return nil
	}
	regions, own := 0, false // no regions: it has ended
	err = p.regions(func(r region) bool {
		regions++
		if r.lo <= at && at < r.hi {
			own = r.device == noDevice
		}
		return r.hi <= at
	})
	switch {
	case err == nil && regions > 0 && !own:
		return errInFile
	case errors.Is(err, fs.ErrPermission): // it is another user's process, whose text the kernel shows nevertheless
		return nil
	}
	return err
}
