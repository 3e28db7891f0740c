package foreign

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// Trusted reports whether gasm trusts the process as much as itself. If gasm runs as an ordinary user, it trusts all
// processes of that user. If gasm runs as root, it trusts root's processes, but only those with the same user
// namespace, mounts and root folder as gasm. The user id is not enough then, because the root of a container without a
// user namespace also has the user id 0.
//
// gasm needs to know this for three decisions: whether it reads memory and files from file systems that may never
// answer, as which user it opens a path, and whether it works in a separate process, which it can leave behind if that
// process hangs.
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

// MayTrace reports whether gasm has CAP_SYS_PTRACE, with which it can look at the memory of other users' processes even
// if it is not root.
func MayTrace() bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	return unix.Capget(&header, &data[0]) == nil && data[0].Effective&(1<<unix.CAP_SYS_PTRACE) != 0
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

// SharesFiles does the same as Process.SharesFiles for a process that is not open yet. It returns false if the process
// can't be opened.
func SharesFiles(pid int) bool {
	p, err := Open(pid)
	if err != nil {
		return false
	}
	defer p.Close()
	return p.SharesFiles()
}

// A folderID identifies an existing folder. After the folder was removed, another one may get the same folderID.
type folderID struct {
	major, minor uint32
	inode        uint64
}

// folderAt returns the identity of a folder. It uses AT_STATX_DONT_SYNC, so that a file system in user space or on a
// network does not have to ask its server.
func folderAt(at int, path string) (folderID, error) {
	var s unix.Statx_t
	err := unix.Statx(at, path, unix.AT_STATX_DONT_SYNC, unix.STATX_INO, &s)
	return folderID{s.Dev_major, s.Dev_minor, s.Ino}, err
}

// sharesNamespace reports whether the process is in the same namespace as gasm. If the kernel does not support this
// kind of namespace, sharesNamespace returns true.
func (p *Process) sharesNamespace(kind string) bool {
	var ours unix.Stat_t
	err := unix.Stat("/proc/self/ns/"+kind, &ours)
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	theirs, errTheirs := p.Namespace(kind)
	return err == nil && errTheirs == nil && ours.Dev == theirs.Dev && ours.Ino == theirs.Ino
}

// mountedByEqual reports whether the process's mount namespace belongs to gasm's user namespace. If so, only processes
// with capabilities in gasm's own user namespace can have mounted the file systems there. If the mount namespace
// belongs to another user namespace, the root of that user namespace can mount in it, and any user can be that root. It
// does not help to ask for the owner of the user namespace (NS_GET_OWNER_UID). Root owns the user namespaces that it
// makes for containers, but the root of the container can mount in them.
func (p *Process) mountedByEqual() bool {
	fd, err := p.openAt("ns/mnt", unix.O_RDONLY)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	owner, err := unix.IoctlRetInt(fd, unix.NS_GET_USERNS)
	if err != nil { // EPERM means that it belongs neither to gasm's user namespace nor to one below
		return false
	}
	defer unix.Close(owner)
	var theirs, ours unix.Stat_t
	return unix.Fstat(owner, &theirs) == nil && unix.Stat("/proc/self/ns/user", &ours) == nil &&
		theirs.Dev == ours.Dev && theirs.Ino == ours.Ino
}
