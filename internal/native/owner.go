package native

import (
	"os"

	"github.com/gasm-profiler/gasm/internal/foreign"
)

// An owner is the user that a process runs as, who may have chosen the paths of the process's mappings. If known is
// false, the user is unknown.
type owner struct {
	known bool
	user  foreign.User
	here  bool // the process has gasm's root folder and mounts: a path leads to the same file for both
}

// A notedOwner is the owner of a process, noted by a Resolver while the process ran.
type notedOwner struct {
	owner
	// looked is true if the owner was looked up since the process has been running its present program. Otherwise the
	// owner is that of its parent, or of the program that it ran before.
	looked bool
}

// Note notes the user of a process while it runs. If gasm runs as root, it opens the process's files as that user when
// the process has ended. Add calls Note for the processes of its mappings. So a call is only needed for a process that
// may fork and end before any of its mappings is added.
func (r *Resolver) Note(pid int) {
	noted := r.owners[pid]
	if noted.looked {
		return
	}
	if now, ok := ownerOf(pid); ok {
		noted.owner = now
	}
	noted.looked = true
	r.owners[pid] = noted
}

// withSize returns f and its size in bytes. If it returns an error, it has closed f.
func withSize(f *os.File) (*os.File, int64, error) {
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}
