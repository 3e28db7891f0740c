package record

import (
	"github.com/gasm-profiler/gasm/record/folder"
	"github.com/gasm-profiler/gasm/record/lockedfolder"
)

// A Folder is where a capture is written to.
type Folder = folder.Capture

// A LeftFolder is a folder that a gasm could not remove before it ended.
type LeftFolder = folder.Left

// NewFolder makes the folder of a capture, and checks that it can be written to. It must be new or empty, so that no capture is
// overwritten; the empty name makes a temporary folder. NewFolder also removes what other runs of gasm have left and
// nobody needs.
func NewFolder(name string) (*Folder, error) {
	sweep()
	return folder.New(name)
}

// sweep removes what other runs of gasm have left and nobody needs. The notes of JVMs that run stay: gasm attach ends what
// these JVMs do.
func sweep() {
	eachEventNote(func(*eventNote) {})
	folder.Sweep()
}

// LeftFolders returns the user's folders that other runs of gasm have left: because a process could still start JVMs that log
// there, because something is still switched on in a JVM, or because gasm was killed. It leaves out the folders of a gasm
// that still runs.
func LeftFolders() []LeftFolder {
	left := folder.AllLeft()
	eachEventNote(func(n *eventNote) { left = append(left, LeftFolder{Path: n.dir, Why: n.left()}) })
	eachDebugInfoNote(func(n debugInfoNote, dir string, _ *lockedfolder.Lock) bool {
		left = append(left, LeftFolder{Path: dir, Why: "gasm was killed; " + n.left()})
		return false
	})
	return left
}
