package foreign

import (
	"bytes"
	"cmp"
	"context"
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

	"github.com/gasm-profiler/gasm/internal/fix"
)

// maxMaps is an upper bound for the list of a process's mappings, in bytes: it may have 65 530 of them (vm.max_map_count).
const maxMaps = 1 << 24

// errManyMaps is the error of a longer list. Paths of the longest kind make one of 260 MB.
var errManyMaps = errors.New("the list of what it has mapped is longer than that of any JVM")

// A region is a line of proc(5)'s maps.
type region struct {
	lo, hi uint64 // [lo, hi)
	device string // "fe:00"; "00:00" for memory without a file
	path   string // "" likewise
}

// regions reads the mappings of the process, until see returns false. The kernel answers without looking at the memory.
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

// parseRegion reads a line: "7f4027ac7000-7f4027c1d000 r-xp 00026000 fe:00 326269    /usr/lib/x86_64-linux-gnu/libc.so.6".
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

// noDevice is that of memory without a file.
const noDevice = "00:00"

// CheckMemory returns an error if reading the process's memory could wait for ever. That is so where it is mapped from a
// file system in user space (FUSE), whose user answers as it likes, and is not this process's own: whoever waits there can't
// even be killed. A process that maps such a file later is not noticed.
func (p *Process) CheckMemory() error {
	status, err := p.Status()
	if err != nil || status.UID == os.Geteuid() {
		return err
	}
	kinds := p.mountedKinds()
	unknown := map[string]region{} // by the device
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

// isUserSpace reports whether a kind of file system, as mountinfo has it, is one in user space.
func isUserSpace(kind string) bool { return strings.HasPrefix(kind, "fuse") }

func refuseUserSpace(r region) error {
	return &fix.Error{Err: fmt.Errorf("it has mapped %s from a file system in user space (FUSE), which may never answer", r.path),
		Fix: "run gasm as its user, or the JVM from another file system"}
}

// maxMounts is how much is read of a list of mounts, in bytes: a namespace may have 100 000 of them (fs.mount-max).
const maxMounts = 1 << 25

// mountedKinds are the kinds of the file systems that the process and this one have mounted, by their devices as maps has
// them ("00:2d"; mountinfo has "0:45").
func (p *Process) mountedKinds() map[string]string {
	kinds := map[string]string{}
	own, _ := os.ReadFile("/proc/self/mountinfo")
	theirs, _ := p.Read("mountinfo", maxMounts) // of one that has ended there is nothing to be read
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

// deviceName is the name that maps has for a device.
func deviceName(major, minor uint32) string { return fmt.Sprintf("%02x:%02x", major, minor) }

// kernelDevices are those of file systems that the kernel has for itself, and nobody mounts: of shared memory, of huge pages
// of each size, and of libaio's rings.
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

// ringDevice is the device of libaio's rings. Only a mapping of one has it.
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
	_ = self.regions(func(r region) bool { // without it, whoever uses libaio is asked about
		if r.lo == uint64(ring) {
			device = []string{r.device}
		}
		return device == nil
	})
	return device
}

// statTime is how long a file system may take to say what it is.
const statTime = time.Second

// fileSystem returns the kind of the file system of an open file, as statfs(2) has it. One in user space that does not let
// this user in, as is the rule for root, is not even asked (fuse_statfs in the kernel's fs/fuse/inode.c).
func fileSystem(fd int) (kind int64, err error) {
	var s unix.Statfs_t
	err = unix.Fstatfs(fd, &s)
	return int64(s.Type), err
}

// ErrUserSpace is the error of a file of another user's process that is of a file system in user space.
var ErrUserSpace = errors.New("it is of a file system in user space (FUSE), which may never answer")

// checkFileSystem checks that a mapping is not of a file system in user space. It is for one that nobody has mounted any
// more, or not here.
func (p *Process) checkFileSystem(r region) error {
	kind, err := Within(context.Background(), statTime, func() (int64, error) {
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
		return &fix.Error{Err: fmt.Errorf("it has mapped %s from a file system that can't be found out about (%w), and may never answer", r.path, err), Fix: "run gasm as its user"}
	case kind == unix.FUSE_SUPER_MAGIC:
		return refuseUserSpace(r)
	}
	return nil
}

// errInFile is the error of a command line or an environment that is not in memory without a file.
var errInFile = errors.New("it is not in memory of the process's own, and reading it could wait for ever")

// The fields of proc(5)'s stat that say where the command line and the environment begin, counted from the state on, which is
// the third field.
var textFields = map[string]int{"cmdline": 48 - 3, "environ": 50 - 3}

// checkText checks that a text of the process which the kernel reads out of its memory is in memory without a file, as it
// is in every process that has not done something to it.
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
	if err != nil || at == 0 { // hidden from this user, who can't read the text either; or a thread of the kernel's
		return nil
	}
	regions, own := 0, false // one that has ended has no regions
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
	case errors.Is(err, fs.ErrPermission): // another user's, whose text the kernel shows all the same
		return nil
	}
	return err
}
