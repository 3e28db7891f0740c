package foreign

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// Trusted reports whether gasm trusts the process with everything that gasm may do. An ordinary user trusts all of that
// user's processes. Root trusts root's processes, but only those with the same user namespace, mounts and root folder
// as gasm. In a container without a user namespace, the user id 0 is that of the container's root.
//
// Trust decides whether memory and files are read that may never answer, as whom a path is opened, and whether gasm
// works in a process of its own that it can leave behind.
func (p *Process) Trusted() bool {
	status, err := p.Status()
	switch {
	case err != nil || status.UID != os.Geteuid():
		return false
	case os.Geteuid() != 0:
		return true
	}
	return p.sharesNamespace("user") && p.SharesFiles()
}

// SharesFiles reports whether the process has the same mounts and root folder as gasm, so that a path leads to the same
// file for both.
func (p *Process) SharesFiles() bool {
	if !p.sharesNamespace("mnt") {
		return false
	}
	ours, err := folderAt(unix.AT_FDCWD, "/")
	if err != nil {
		return false
	}
	var theirs folderID
	err = p.at(func(at int) (err error) {
		theirs, err = folderAt(at, "root")
		return err
	})
	return err == nil && ours == theirs
}

// SharesFiles is Process.SharesFiles for a process that is not open yet.
func SharesFiles(pid int) bool {
	p, err := Open(pid)
	if err != nil {
		return false
	}
	defer p.Close()
	return p.SharesFiles()
}

// A folderID identifies a folder among those that exist.
type folderID struct {
	major, minor uint32
	inode        uint64
}

// folderAt returns the identity of a folder. It does not make a file system ask somebody else (AT_STATX_DONT_SYNC).
func folderAt(at int, path string) (folderID, error) {
	var s unix.Statx_t
	err := unix.Statx(at, path, unix.AT_STATX_DONT_SYNC, unix.STATX_INO, &s)
	return folderID{s.Dev_major, s.Dev_minor, s.Ino}, err
}

// sharesNamespace reports whether the process is in the same namespace as gasm. A kernel that has no namespaces of a
// kind has all processes in the same one.
func (p *Process) sharesNamespace(kind string) bool {
	var ours unix.Stat_t
	err := unix.Stat("/proc/self/ns/"+kind, &ours)
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	theirs, errTheirs := p.Namespace(kind)
	return err == nil && errTheirs == nil && ours.Dev == theirs.Dev && ours.Ino == theirs.Ino
}

// mountedByEqual reports whether only processes with gasm's own capabilities can have mounted what the process has
// mounted: its mount namespace belongs to gasm's user namespace. In a mount namespace that belongs to another user
// namespace, that one's root can mount, which may be any user. The user that owns a user namespace (NS_GET_OWNER_UID)
// says nothing: root makes user namespaces for containers, and the container's root mounts in them.
func (p *Process) mountedByEqual() bool {
	fd, err := p.openAt("ns/mnt", unix.O_RDONLY)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	owner, err := unix.IoctlRetInt(fd, unix.NS_GET_USERNS)
	if err != nil { // EPERM: it is not in gasm's user namespace or below
		return false
	}
	defer unix.Close(owner)
	var theirs, ours unix.Stat_t
	return unix.Fstat(owner, &theirs) == nil && unix.Stat("/proc/self/ns/user", &ours) == nil &&
		theirs.Dev == ours.Dev && theirs.Ino == ours.Ino
}
