// Package jvmfolder has the folders in JVMs' /tmp that JVMs write into for gasm, and the notes with which another gasm
// finds them: a JVM that a gasm has told to log or record events, or that has its probes, goes on with that when this
// gasm is killed ([Note]).
package jvmfolder

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/event/hslog"
	"github.com/gasm-profiler/gasm/internal/foreign"
	"github.com/gasm-profiler/gasm/record/lockedfolder"
)

// A Folder is a folder in the /tmp that a JVM has, which may be in another mount namespace. It belongs to the JVM's
// user, who is not trusted (package foreign).
type Folder struct {
	Path string // as the JVM has it
	Name string // in /tmp

	tmp, dir *foreign.Folder
}

// The names of the files in a folder for events. The recording's name in the JVM is that of the folder, so each gasm
// ends its own recording.
const (
	LogFile       = "events.log"
	RecordingFile = "events.jfr"
	SettingsFile  = "gasm.jfc"
)

// head is what the names of folders for events begin with.
const head = "gasm-jvm-"

// ErrNotThere is the error for a file that the JVM has not written.
var ErrNotThere = errors.New("it is not there")

// NewPath makes up the path of a new folder for events, as the JVM has it.
func NewPath() string { return path.Join("/tmp", head+lockedfolder.SecretName()) }

// isFolder reports whether a path is one that NewPath makes.
func isFolder(folder string) bool {
	secret, ok := strings.CutPrefix(folder, "/tmp/"+head)
	return ok && len(secret) == lockedfolder.SecretLength && !strings.Contains(secret, "/")
}

// New makes a folder with a path of NewPath.
func New(w *foreign.World, jvmPath string) (*Folder, error) {
	tmp, err := w.Tmp()
	if err != nil {
		return nil, fmt.Errorf("its /tmp can't be used: %w", err)
	}
	f := &Folder{tmp: tmp, Name: path.Base(jvmPath), Path: jvmPath}
	if f.dir, err = tmp.MakeFolder(f.Name); err != nil {
		tmp.Close()
		return nil, fmt.Errorf("making a folder in its /tmp: %w", err)
	}
	return f, nil
}

// open opens a folder that another gasm has made.
func open(w *foreign.World, jvmPath string) (*Folder, error) {
	tmp, err := w.Tmp()
	if err != nil {
		return nil, err
	}
	f := &Folder{tmp: tmp, Name: path.Base(jvmPath), Path: jvmPath}
	if f.dir, err = tmp.Folder(f.Name); err != nil {
		tmp.Close()
		return nil, err
	}
	return f, nil
}

// Write writes a file for the JVM.
func (f *Folder) Write(name, text string) error { return f.dir.Create(name, []byte(text)) }

// Take copies a file of at most limit bytes out of the folder; see TakeFrom.
func (f *Folder) Take(name, to string, limit int64) error { return TakeFrom(f.dir, name, to, limit) }

// TakeFrom copies a file of at most limit bytes out of a JVM's folder. When the disk is full, the part that was copied
// stays. The error is ErrNotThere for a file that does not exist.
func TakeFrom(folder *foreign.Folder, name, to string, limit int64) error {
	in, err := folder.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return ErrNotThere
	}
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	if err := in.CopyTo(out, limit); err != nil {
		if info, _ := out.Stat(); info != nil && info.Size() == 0 {
			os.Remove(to)
		}
		return err
	}
	return out.Close()
}

// Remove removes the folder, with all that gasm and the JVM have written there.
func (f *Folder) Remove() {
	for _, name := range slices.Concat([]string{SettingsFile, RecordingFile, LogFile}, hslog.Rotated(LogFile)) {
		_ = f.dir.Remove(name)
	}
	_ = f.tmp.RemoveFolder(f.Name) // what the JVM's user has put there stays
	f.Close()
}

// Close ends the use of the folder, which stays.
func (f *Folder) Close() {
	f.dir.Close()
	f.tmp.Close()
}

// Enter opens a process, and enters its files. The caller closes both. The World ends with ctx.
func Enter(ctx context.Context, pid int) (*foreign.Process, *foreign.World, error) {
	p, err := foreign.Open(pid)
	if err != nil {
		return nil, nil, err
	}
	w, err := p.World(ctx)
	if err != nil {
		p.Close()
		return nil, nil, err
	}
	return p, w, nil
}
