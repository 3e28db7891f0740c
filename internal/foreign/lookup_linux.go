package foreign

import (
	"errors"
	"io/fs"
	"strings"

	"golang.org/x/sys/unix"
)

// noLinks and noMounts are values of openat2's field resolve. With noLinks, a lookup does not follow symbolic links and
// does not leave the folder in which it begins. With noMounts, which is used below /tmp, it does not cross mount points
// either.
const (
	noLinks  = unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS
	noMounts = noLinks | unix.RESOLVE_NO_XDEV
)

// lookups is the maximum number of attempts to look up a path. The kernel gives up an attempt (EAGAIN) if something is
// renamed or mounted in the meantime.
const lookups = 8

// errLink means that the last element of a path, or an earlier one, is a symbolic link.
var errLink = errors.New("it is a link or is reached through one, and gasm does not follow links")

// openAt opens a file and returns a descriptor. name is relative to an open folder, whose descriptor is given. The
// parameter shown is the path that the process sees, for error messages.
func openAt(folder int, name, shown string, flags int, mode uint32, resolve uint64) (int, error) {
	how := unix.OpenHow{Flags: uint64(flags | unix.O_CLOEXEC), Mode: uint64(mode), Resolve: resolve}
	var fd int
	var err error
	for range lookups {
		fd, err = unix.Openat2(folder, name, &how)
		if !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if errors.Is(err, unix.ENOSYS) {
		fd, err = stepwise(folder, name, flags, mode, resolve)
	}
	switch {
	case err == nil:
		return fd, nil
	case errors.Is(err, unix.EXDEV):
		err = errors.New("it is a mount point or leads out of its folder, and gasm follows neither")
	case errors.Is(err, unix.ENOTDIR):
		err = errors.New("it is not a folder, and gasm does not follow links")
	case errors.Is(err, unix.ELOOP):
		err = errLink
	}
	return -1, &fs.PathError{Op: "open", Path: shown, Err: err}
}

// stepwise opens a file as openat2 does with noLinks or noMounts. It is for a process that may not call openat2:
// systemd refuses that call to services with RestrictSUIDSGID=yes or DynamicUser=yes, because a seccomp filter can't
// see the call's flags. stepwise opens the folders on the way one by one. It follows no link, because of O_NOFOLLOW,
// and it never goes up, because it accepts no "..". So it can't leave the first folder.
func stepwise(folder int, name string, flags int, mode uint32, resolve uint64) (int, error) {
	mount, err := uint64(0), error(nil)
	if resolve&unix.RESOLVE_NO_XDEV != 0 {
		if mount, err = mountID(folder); err != nil {
			return -1, err
		}
	}
	names := strings.Split(name, "/")
	at := folder
	for i, element := range names {
		how, permissions := unix.O_PATH|unix.O_DIRECTORY, uint32(0)
		if i == len(names)-1 {
			how, permissions = flags, mode
		}
		fd, err := step(at, element, how, permissions)
		if at != folder {
			unix.Close(at)
		}
		if err != nil {
			return -1, err
		}
		if at = fd; resolve&unix.RESOLVE_NO_XDEV == 0 {
			continue
		}
		if now, err := mountID(at); err != nil || now != mount {
			unix.Close(at)
			return -1, unix.EXDEV
		}
	}
	return at, nil
}

// step opens a file in a folder. name must not be a path.
func step(folder int, name string, flags int, mode uint32) (int, error) {
	if name == ".." {
		return -1, unix.EXDEV
	}
	for {
		fd, err := unix.Openat(folder, name, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC, mode)
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}
