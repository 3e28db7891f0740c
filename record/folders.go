package record

import (
	"context"

	"github.com/gasm-profiler/gasm/record/debuginfo"
	"github.com/gasm-profiler/gasm/record/folder"
	"github.com/gasm-profiler/gasm/record/jvmfolder"
)

// A Folder is the folder to which a capture is written.
type Folder = folder.Capture

// A LeftFolder is a folder that an earlier run of gasm has left behind.
type LeftFolder = folder.Left

// NewFolder makes the folder of a capture, and checks that files can be written to it. The folder must be new or empty,
// so that no capture is overwritten. If name is "", NewFolder makes a temporary folder. NewFolder also removes folders
// that other runs of gasm have left behind, if nobody needs them any more.
func NewFolder(ctx context.Context, name string) (*Folder, error) {
	sweep(ctx)
	return folder.New(name)
}

// sweep removes files and folders that other runs of gasm have left behind and that nobody needs any more. It keeps
// notes about JVMs that still run, because gasm attach needs them to switch off what gasm has left switched on in these
// JVMs.
func sweep(ctx context.Context) {
	jvmfolder.EachLeft(ctx, func(*jvmfolder.Note) {})
	folder.Sweep()
}

// LeftFolders returns the user's folders that other runs of gasm have left behind, and why. There are three reasons: a
// process may still start JVMs that log to the folder, something is still switched on in a JVM, or gasm was killed.
// LeftFolders leaves out folders of gasm processes that still run.
func LeftFolders(ctx context.Context) []LeftFolder {
	left := folder.AllLeft()
	jvmfolder.EachLeft(ctx, func(n *jvmfolder.Note) { left = append(left, LeftFolder{Path: n.Dir, Why: n.Left()}) })
	debuginfo.EachLeft(ctx, func(dir, text string) {
		left = append(left, LeftFolder{Path: dir, Why: "gasm was killed; " + text})
	})
	return left
}

// LeftDebugInfo returns a text for each JVM in which a killed gasm process has left the flag DebugNonSafepoints
// switched on. The text says how to reset the flag.
func LeftDebugInfo(ctx context.Context) (left []string) {
	debuginfo.EachLeft(ctx, func(_, text string) { left = append(left, text) })
	return left
}
