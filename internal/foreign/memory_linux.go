package foreign

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/internal/fix"
)

// maxMaps is the maximum number of bytes of /proc/PID/maps that are read. If there are more, the error is errManyMaps.
// By default, the kernel allows 65 530 mappings for a process (vm.max_map_count).
const maxMaps = 1 << 24

// errManyMaps means that a list of mappings is longer than maxMaps. A process that maps files with the longest possible
// paths can make a list of 260 MB.
var errManyMaps = errors.New("the list of its mappings is too long for a JVM")

// A region is a mapping of a process: a line of /proc/PID/maps.
type region struct {
	lo, hi uint64 // [lo, hi)
	device string // "fe:00"; "00:00" for memory without a file
	path   string // "" for memory without a file
}

// regions calls see(r) for each mapping of the process, in the order of their addresses, until see returns false. It
// can't block, because the kernel lists the mappings without accessing the memory itself.
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

// CheckMemory returns an error if reading the process's memory could block for ever. That is the case if a part of the
// memory is mapped from a file system in user space (FUSE) of another user, who decides when to answer, or from an
// overlay that may lie over such a file system. A thread that waits there can't even be killed. CheckMemory can't
// prevent the process from mapping such a file later.
func (p *Process) CheckMemory() error {
	if p.Trusted() {
		return nil
	}
	mounted := mountsOf(p)
	var found error
	err := p.regions(func(r region) bool {
		found = mounted.checkRegion(r)
		return found == nil
	})
	return cmp.Or(found, err)
}

// checkRegion returns an error if the memory of a mapping comes from a file system that may never answer. The error
// says what the user can do.
func (m *mounts) checkRegion(r region) error {
	if r.device == noDevice || !strings.HasPrefix(r.path, "/") { // "anon_inode:[io_uring]" is the kernel's own
		return nil
	}
	switch err := m.check(r.device); {
	case err == nil:
	case !errors.Is(err, errNotMounted):
		what := "a file system in user space (FUSE)"
		if errors.Is(err, errOverlay) {
			what = "an overlay that its user may have mounted over a file system in user space (FUSE)"
		}
		return &fix.Error{Err: fmt.Errorf("it has mapped %s from %s, which may never answer", r.path, what),
			Fix: "run gasm as its user, or the JVM from another file system"}
	case !strings.HasPrefix(r.device, "00:"): // a disk, which only root can mount
	case !slices.Contains(kernelDevices(), r.device):
		return &fix.Error{Err: fmt.Errorf("it has mapped %s from a file system that can't be found out about "+
			"(it is not mounted any more, or elsewhere), and may never answer", r.path), Fix: "run gasm as its user"}
	}
	return nil
}

// kernelDevices returns the devices of the kernel's internal file systems. Nobody can mount these, so no list of mounts
// has them. There is one such device for shared memory, one for each size of huge pages, and one for libaio's rings.
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

// ringDevice returns the device of libaio's rings, or nil if it is unknown. The device can only be seen in a mapping of
// such a ring, so ringDevice makes a ring and looks for it in gasm's own mappings.
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
	_ = self.regions(func(r region) bool { // after an error, device is nil
		if r.lo == uint64(ring) {
			device = []string{r.device}
		}
		return device == nil
	})
	return device
}

// errInFile means that a command line or an environment lies in a mapped file.
var errInFile = errors.New("it lies in a file that the process has mapped, and reading it could block for ever")
