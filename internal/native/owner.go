package native

import (
	"os"

	"github.com/gasm-profiler/gasm/internal/foreign"
)

// An owner is the user that a process runs as. That user may have chosen the paths of the process's mappings. If known
// is false, the user is unknown.
type owner struct {
	known bool
	user  foreign.User
	// here is true if the process has the same root folder and mounts as gasm. Then a path leads to the same file for
	// both.
	here bool
}

// A notedOwner is the owner of a process, noted by a Resolver while the process ran.
type notedOwner struct {
	owner
	// looked is true if the owner was looked up after the process started its present program. Otherwise the owner is
	// that of the parent process, or it is from before the last exec.
	looked bool
}

// Note notes the user of a process while the process runs. If gasm runs as root, it opens the files of the process as
// that user after the process has ended. Add calls Note for the processes of its mappings. So callers need to call Note
// only for a process that may fork and end before one of its mappings is added.
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

// withSize returns f and its size in bytes. If there is an error, it closes f.
func withSize(f *os.File) (*os.File, int64, error) {
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}
