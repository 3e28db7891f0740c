package native

import (
	"os"

	"github.com/gasm-profiler/gasm/internal/foreign"
)

// An owner says who may have chosen the paths of a process's mappings.
type owner struct {
	known bool
	user  foreign.User
	here  bool // the process has gasm's root folder and mounts: a path leads to the same file for both
}

// A notedOwner is an owner that was noted while a process ran.
type notedOwner struct {
	owner
	looked bool // since the process runs its present program; otherwise the owner is that of its parent or last program
}

// Note notes the user of a process, as whom root opens the files of the process once that has ended. Add does that for
// the processes of its mappings. So Note is only needed for a process that may soon have children and end.
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

// withSize returns an open file with its size.
func withSize(f *os.File) (*os.File, int64, error) {
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}
