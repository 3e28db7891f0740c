// Package foreign accesses what belongs to another process: its entries in /proc, and the files, folders and sockets
// that the process sees. The process may be hostile, and gasm may run as root. No other package of gasm accesses these
// things.
//
//	p, err := foreign.Open(4711)           // this process, never a later one with the same id
//	status, err := p.Status()
//	w, err := p.World(ctx)                 // its file system, accessed as its user
//	tmp, err := w.Tmp()                    // its /tmp, which may be in another mount namespace
//	folder, err := tmp.MakeFolder("gasm-jvm-5f3a")
//	err = folder.Create("settings", text)
//	file, err := folder.Open("events.log") // only a regular file is opened
//
// # What a hostile process can do
//
// If a process may write to a folder, it can replace anything there at any moment: with a link to one of root's files,
// a named pipe that blocks whoever opens it, a socket, or a sparse file of a terabyte. In a mount namespace of its own,
// which it can make without privileges, it can mount any folder of the machine over any name, or below that name. It
// can exchange /tmp for another folder between two lookups. A program that runs as root and simply follows such paths
// deletes, overwrites or gives away root's files.
//
// # Rules
//
// These rules hold for every call of a [World]:
//
//   - Files are accessed as the process's user. The calls run on a thread that has the process's effective user for
//     files (setfsuid(2)), its group and supplementary groups, and no capabilities. So wherever a path leads, gasm can
//     do no more there than the process itself. In a container without a user namespace, the container's root has the
//     user id 0, as the machine's root has. There it matters that the thread has also given up its capabilities and
//     groups.
//   - If gasm is not root, but has the capabilities to look at other users' processes, it can't become their users.
//     Then the calls run as gasm's own user, without capabilities, so they can read what all users may read, and what
//     only gasm's own user may read. They write nothing. So gasm as a service needs neither root nor the right to
//     become any user.
//   - Files are accessed by descriptor. A lookup begins at a descriptor of the process's root folder and can't leave
//     that folder: openat2(2) with RESOLVE_BENEATH, RESOLVE_NO_SYMLINKS and RESOLVE_NO_MAGICLINKS. In a container, /tmp
//     is often a mount point, so the way to /tmp may cross mount points; lookups below /tmp may not (RESOLVE_NO_XDEV).
//     After a file or folder was opened, it is used only through its descriptor. Checks are made on the open
//     descriptor, never before opening. If openat2 is missing or refused with ENOSYS, which systemd does in a service
//     with RestrictSUIDSGID or DynamicUser, the folders on the way are opened one by one, with O_NOFOLLOW and the same
//     checks.
//   - New files are created with O_EXCL and O_NOFOLLOW. They belong to the process's user from the beginning, because
//     that user creates them, so ownership is never changed.
//   - Any user can make a folder of any name in /tmp. So if a process is to load or write files in such a folder, the
//     folder must belong to the process's user alone, no matter who made it (OwnFolder). The check is made on the same
//     descriptor through which the folder is then used. And /tmp must be sticky if other users can write to it.
//     Otherwise they could replace the folder after the check, and the process, which finds the folder by its path,
//     would use theirs.
//   - Files are removed one by one, by names that the caller knows. There is no function that removes a tree.
//   - Reads have a limit for their size, and all calls have a limit for their time. If a file system does not answer
//     (FUSE, NFS), the caller gets an error when the time is over. The thread remains blocked in the call, and until
//     that call returns, all later calls of this World fail at once.
//   - A regular file is opened with O_PATH and checked before it is opened to be read or written, because opening a
//     device can have side effects, and a container's root can create a device node.
//   - A socket is opened with O_PATH and checked before connecting to it, and its other end must be the process.
//
// gasm trusts a process that belongs to gasm's own user. If gasm runs as root, the process must also have the same user
// namespace, mounts and root folder as gasm ([Process.Trusted]). gasm does not read the memory or the files of any
// other process if they come from a file system in user space, or from an overlay that the process's user may have
// mounted. To find such file systems, gasm uses only the kernel's lists of mounts. It does not call fstatfs(2), because
// on an overlay that call asks the server of the file system below, and a thread that waits for that server can't be
// killed.
//
// gasm refers to the process by a descriptor of /proc/PID, which never refers to another process. For signals, it uses
// a pidfd.
//
// # Why a thread and not a process
//
// Other programs, such as OpenSSH, use a child process that becomes the other user. A thread is simpler: there is no
// protocol, no program has to be started, and no descriptors have to be passed. And the other user has no power over
// the thread, because the thread changes only its user for files. Its real, effective and saved user remain root, so
// the other user can't signal it, trace it or change its scheduling (kill(2), ptrace(2), sched_setaffinity(2)). A child
// that has really become the other user could be stopped and killed by that user. The thread can't regain the
// capabilities that it has given up, because they are removed from the permitted set, too. It ends with its World.
//
// The other end of a socket sees the effective user (SO_PEERCRED in unix(7)), and HotSpot before JDK 12 answers only
// its own user. So each connection is made by a further thread, which has the process's user as its effective user and
// ends as soon as it has connected.
//
// Two things to know when changing this: First, no other thread gets the changed identity, because the goroutine is
// locked to its thread and Go starts no other threads from a locked thread. Second, the first thread of the gasm
// process never changes its identity, because the kernel decides by the user of a process's first thread what other
// processes may do to that process.
//
// # Requirements
//
// pidfd_send_signal needs Linux 5.1, and pidfd_open 5.3. If one of these system calls is missing, or a seccomp filter
// refuses it or refuses openat2 with another error than ENOSYS, the functions that need it return an error that says
// so. gasm then still takes samples, but records no events and no probes, and does not know the names and versions of
// some JVMs. To become another user, gasm must be root and have CAP_SETUID and CAP_SETGID. CAP_SYS_PTRACE is needed to
// enter the root folder of another user's process.
package foreign
