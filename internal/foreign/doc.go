// Package foreign reaches what belongs to another process: what /proc says of it, and the files, folders and sockets
// that it sees. The process may mean harm, and gasm may be root. Nothing else in gasm touches these things.
//
//	p, err := foreign.Open(4711)           // the process, and no later one with the same id
//	status, err := p.Status()
//	w, err := p.World(ctx)                 // its files, reached as its user
//	tmp, err := w.Tmp()                    // its /tmp, which may be of another mount namespace
//	folder, err := tmp.MakeFolder("gasm-jvm-5f3a")
//	err = folder.Create("settings", text)
//	file, err := folder.Open("events.log") // a regular file, and nothing else
//
// # What a process could do
//
// A process can replace anything in a folder that it may write to, at any moment: by a link to one of root's files, a
// named pipe that is opened for ever, a socket, a file of a terabyte without a block on disk. In a mount namespace of
// its own, which takes no rights, it can mount any folder of the machine over or below any name. It can exchange /tmp
// for another folder between two looks at the path. A program that does as root what the path says deletes, overwrites
// or gives away files of root's.
//
// # How it is reached
//
// These rules hold for every call of a [World]:
//
//   - As its user. The calls run on a thread that reaches files as the process's effective user (setfsuid(2)), with its
//     group and its supplementary groups, and no capabilities. So whatever a path leads to, gasm can do no more there than
//     the process itself. The root of a container without a user namespace has the user id 0: capabilities and groups go
//     there too.
//   - By descriptor. A lookup begins at a descriptor of the process's root folder, and ends there: openat2(2) with
//     RESOLVE_BENEATH, RESOLVE_NO_SYMLINKS and RESOLVE_NO_MAGICLINKS. A container's /tmp is often a mount of its own,
//     so that one is allowed to be one; below it no mount is passed (RESOLVE_NO_XDEV). What was opened once is used by
//     its descriptor. What a descriptor is of is checked when it is open, and not before.
//   - New files are created with O_EXCL and O_NOFOLLOW. They belong to the process's user from the beginning, because
//     that user creates them, so nothing is ever handed over.
//   - Files are removed one by one, by names that the caller knows. There is no function that removes a tree.
//   - What is read has a limit of size, and every call one of time. A file system that does not answer (FUSE, NFS) is
//     waited for no longer than that. The thread that hangs in the call stays behind; all later calls of this World fail
//     at once until it comes back.
//   - A socket is opened by O_PATH and looked at before it is connected to, and its other end must be the process.
//
// The process itself is told by a descriptor of /proc/PID, which never means another process, and by a pidfd where a
// signal is sent.
//
// # Why a thread, and not a process
//
// OpenSSH's way would be a child that becomes the other user. A thread is smaller: there is no protocol between the two
// that could be wrong, nothing to start, and descriptors need not be passed. And the other user has no power over it: the
// thread changes the user for files alone. Its real, its effective and its saved user stay root's, so that the other user
// can neither signal nor trace it, nor change how it is scheduled (kill(2), ptrace(2), sched_setaffinity(2)), whereas a child
// that has really become that user can be stopped and killed by it. A thread can't take back what it has given up either:
// its capabilities are gone from the permitted set as well, and it ends with its World.
//
// A socket's other end sees the effective user (SO_PEERCRED in unix(7)), and HotSpot before JDK 12 answers its own user
// alone. So each connection is made by one more thread, which has that effective user, and ends when it is connected.
//
// What must be kept in mind: the identity is the thread's alone, since Go locks it to its goroutine and starts no other
// thread from it; and the first thread of a process is never used, because what others may do to a process is decided by
// the first thread's user.
//
// # What the kernel must have
//
// openat2 is in Linux 5.6 and newer, pidfd_send_signal in 5.1, pidfd_open in 5.3. Where one is missing, or a seccomp
// filter refuses it, what needs it fails with an error that says so. gasm then samples all the same, and lacks events,
// probes, and the name and version of some JVMs. To become another user takes root (CAP_SETUID, CAP_SETGID), to reach the
// root folder of another user's process CAP_SYS_PTRACE.
package foreign
