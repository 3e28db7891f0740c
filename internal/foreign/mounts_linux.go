package foreign

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// mounts has the file systems that are mounted for gasm and for a process, by device. A device is written as in
// /proc/PID/maps: "00:2d".
//
// A file system in user space (FUSE) may never answer, and a thread that waits for it can't be killed. Any user can
// mount such a file system in a user namespace, and then an overlay over it. The overlay then looks like a file system
// of the kernel, and even statfs(2) and stat(2) on the overlay are passed on to the file system below. So gasm reads
// the lists of mounts (mountinfo) instead. The kernel makes these without asking any other process.
type mounts struct {
	trusted map[string]string // kinds of the file systems that root or gasm's own user has mounted: "ext4"
	others  map[string]string // kinds of the file systems that the process's own user may have mounted
	devices map[uint64]string // device of each mount, by the mount's id
}

// maxMounts is the maximum number of bytes of a list of mounts that are read. By default, a namespace may have 100 000
// mounts (fs.mount-max).
const maxMounts = 1 << 25

// mountsOf returns the file systems that are mounted for gasm and for the process p. p may be nil, for a file of gasm's
// own file system.
//
// A container's image is an overlay. If root has started the container, the overlay is also mounted in the namespace
// where the container runtime runs. That is gasm's own namespace or, if gasm itself runs in a container, the namespace
// of the machine's first process. Otherwise the overlay is only in the container's own list of mounts. gasm trusts that
// list if only root can mount in the container.
func mountsOf(p *Process) *mounts {
	m := &mounts{map[string]string{}, map[string]string{}, map[uint64]string{}}
	own, _ := os.ReadFile("/proc/self/mountinfo")
	m.add(own, m.trusted)
	if first, err := Open(1); err == nil {
		if !first.sharesNamespace("mnt") && first.mountedByEqual() {
			m.addOf(first, m.trusted)
		}
		first.Close()
	}
	switch {
	case p == nil:
	case p.mountedByEqual():
		m.addOf(p, m.trusted)
	default:
		m.addOf(p, m.others)
	}
	return m
}

// addOf adds the mounts of a process to the map kinds. If the process has ended, it adds nothing.
func (m *mounts) addOf(p *Process, kinds map[string]string) {
	text, _ := p.Read("mountinfo", maxMounts)
	m.add(text, kinds)
}

// add adds the mounts in the text of a mountinfo file to the maps kinds and m.devices. A line has the id of the mount,
// its device and, after " - ", its kind: "26 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw".
func (m *mounts) add(text []byte, kinds map[string]string) {
	for line := range bytes.Lines(text) {
		before, after, _ := strings.Cut(string(line), " - ")
		fields, kind := strings.Fields(before), strings.Fields(after)
		if len(fields) < 3 || len(kind) == 0 {
			continue
		}
		major, minor, _ := strings.Cut(fields[2], ":")
		id, errID := strconv.ParseUint(fields[0], 10, 64)
		high, errHigh := strconv.ParseUint(major, 10, 32)
		low, errLow := strconv.ParseUint(minor, 10, 32)
		if errID != nil || errHigh != nil || errLow != nil {
			continue
		}
		device := deviceName(uint32(high), uint32(low))
		kinds[device] = kind[0]
		m.devices[id] = device
	}
}

// deviceName returns the name that a device has in /proc/PID/maps: "00:2d".
func deviceName(major, minor uint32) string { return fmt.Sprintf("%02x:%02x", major, minor) }

// ErrUserSpace means that a file of another user's process is in a file system that may never answer.
var ErrUserSpace = errors.New("it is in a file system in user space (FUSE), which may never answer")

// errOverlay means that a file is in a file system that was mounted on top of others, such as an overlay, perhaps by
// the process's user.
var errOverlay = fmt.Errorf("%w, or in an overlay of such file systems", ErrUserSpace)

// errNotMounted means that a file's file system is in no list of mounts, so its kind is unknown.
var errNotMounted = fmt.Errorf("%w, or in one that can't be found out about", ErrUserSpace)

// isUserSpace reports whether a kind of file system runs in user space. kind is as in mountinfo: "fuse.sshfs".
func isUserSpace(kind string) bool { return strings.HasPrefix(kind, "fuse") }

// layers are the kinds of file systems that are mounted on top of another one. The one below may be in user space
// (FUSE). Any user may mount an overlay in a user namespace (FS_USERNS_MOUNT in the kernel). On some distributions any
// user may mount the other kinds, too.
var layers = map[string]bool{"overlay": true, "overlayfs": true, "aufs": true, "shiftfs": true, "ecryptfs": true}

// check returns an error that wraps [ErrUserSpace] if the file system with this device may never answer. If the file
// system is in no list, the error is errNotMounted.
func (m *mounts) check(device string) error {
	if kind, ok := m.trusted[device]; ok {
		if isUserSpace(kind) {
			return ErrUserSpace
		}
		return nil
	}
	switch kind, ok := m.others[device]; {
	case !ok:
		return errNotMounted
	case isUserSpace(kind):
		return ErrUserSpace
	case layers[kind]:
		return errOverlay
	}
	return nil
}

// checkFile does the same as check for the file system of an open file, which may have been opened with O_PATH.
func (m *mounts) checkFile(fd int) error {
	id, err := mountID(fd)
	if err != nil {
		return err
	}
	device, ok := m.devices[id]
	if !ok {
		return errNotMounted
	}
	return m.check(device)
}

// mountID returns the id of the mount through which a file was opened. It is the first number of the mount's line in
// mountinfo.
func mountID(fd int) (uint64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", fd))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "mnt_id:"); ok {
			return strconv.ParseUint(strings.TrimSpace(value), 10, 64)
		}
	}
	return 0, errors.New("the kernel does not say where the file is mounted (mnt_id, since Linux 3.15)")
}
