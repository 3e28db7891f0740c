package record

import (
	"context"

	"github.com/gasm-profiler/gasm/record/debuginfo"
	"github.com/gasm-profiler/gasm/record/folder"
	"github.com/gasm-profiler/gasm/record/jvmfolder"
)

// A Folder is where a capture is written to.
type Folder = folder.Capture

// A LeftFolder is a folder that a gasm could not remove before it ended.
type LeftFolder = folder.Left

// NewFolder makes the folder of a capture, and checks that it can be written to. It must be new or empty, so that no
// capture is overwritten; the empty name makes a temporary folder. NewFolder also removes what other runs of gasm have
// left and nobody needs.
func NewFolder(ctx context.Context, name string) (*Folder, error) {
	sweep(ctx)
	return folder.New(name)
}

// sweep removes what other runs of gasm have left and nobody needs. The notes of JVMs that run stay: gasm attach ends
// what these JVMs do.
func sweep(ctx context.Context) {
	jvmfolder.EachLeft(ctx, func(*jvmfolder.Note) {})
	folder.Sweep()
}

// LeftFolders returns the user's folders that other runs of gasm have left: because a process could still start JVMs
// that log there, because something is still switched on in a JVM, or because gasm was killed. It leaves out the
// folders of a gasm that still runs.
func LeftFolders(ctx context.Context) []LeftFolder {
	left := folder.AllLeft()
	jvmfolder.EachLeft(ctx, func(n *jvmfolder.Note) { left = append(left, LeftFolder{Path: n.Dir, Why: n.Left()}) })
	debuginfo.EachLeft(ctx, func(dir, text string) {
		left = append(left, LeftFolder{Path: dir, Why: "gasm was killed; " + text})
	})
	return left
}

// LeftDebugInfo returns, for each JVM in which a gasm that was killed has left a flag on, a text that says what puts it
// back.
func LeftDebugInfo(ctx context.Context) (left []string) {
	debuginfo.EachLeft(ctx, func(_, text string) { left = append(left, text) })
	return left
}
