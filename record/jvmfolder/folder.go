// Package jvmfolder manages the folders into which JVMs write for gasm ([Folder]). Each JVM has such a folder in its
// own /tmp.
//
// It also manages notes about these folders ([Note]). When a gasm process is killed, its JVMs go on logging or
// recording events, or counting for gasm's probes. The next gasm process finds the note and makes the JVM stop.
package jvmfolder

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"

	"github.com/gasm-profiler/gasm/event/hslog"
	"github.com/gasm-profiler/gasm/internal/foreign"
	"github.com/gasm-profiler/gasm/record/lockedfolder"
)

// A Folder is a folder in a JVM's /tmp, which may be in another mount namespace. The folder belongs to the JVM's user,
// whom gasm does not trust (see package foreign).
//
// The folder is inside an outer folder, whose name every user can see in /tmp:
//
//	/tmp/gasm-jvm-5f3a…/90c1…
//	     Name           secret
//
// A program that cleans up /tmp may remove both folders while the JVM still uses the path of its log or its recording.
// Then any user can create an outer folder of the same name. But other users don't know the inner name, because only
// the JVM's user could see it. So they can't create the inner folder and put links there, which would make the JVM
// overwrite files of its own user.
type Folder struct {
	Path string // as the JVM sees it
	Name string // of the outer folder in /tmp

	tmp, outer *foreign.Folder
	dir        *foreign.Folder // nil if it does not exist
}

// The names of the files in a folder for events. The JFR recording itself has the name of the outer folder, so that
// each gasm process stops only its own recording.
const (
	LogFile       = "events.log"
	RecordingFile = "events.jfr"
	DumpFile      = "dump.jfr" // what the JVM has recorded so far
	SettingsFile  = "gasm.jfc"
)

// head is the beginning of the names of folders for events.
const head = "gasm-jvm-"

// ErrNotThere is the error for a file that the JVM has not written.
var ErrNotThere = errors.New("it is not there")

// NewPath returns a random path for a new folder for events, as the JVM sees it. It does not make the folder.
func NewPath() string {
	return path.Join("/tmp", head+lockedfolder.SecretName(), lockedfolder.SecretName())
}

// RecordingName returns a random name for a recording that begins with the start of a JVM.
func RecordingName() string { return head + lockedfolder.SecretName() }

var recordingName = regexp.MustCompile(fmt.Sprintf(`^%s[0-9a-f]{%d}$`, head, lockedfolder.SecretLength))

// isRecording reports whether a name has the form of the names that RecordingName returns.
func isRecording(name string) bool { return recordingName.MatchString(name) }

// folderPath matches the paths that NewPath returns. Older releases of gasm had only the outer folder, so the inner
// name is optional.
var folderPath = regexp.MustCompile(fmt.Sprintf(`^/tmp/(%s[0-9a-f]{%[2]d})(?:/([0-9a-f]{%[2]d}))?$`, head,
	lockedfolder.SecretLength))

// isFolder reports whether a path has the form of the paths that NewPath returns, in this release or in an older one.
func isFolder(folder string) bool { return folderPath.MatchString(folder) }

// names returns the names of the outer and the inner folder in a path that isFolder accepts. In paths of older
// releases, the inner name is "".
func names(jvmPath string) (outer, inner string) {
	m := folderPath.FindStringSubmatch(jvmPath)
	return m[1], m[2]
}

// New makes the folder at a path that NewPath has returned. In the end, the caller must call Remove, or Close if the
// folder should stay.
func New(w *foreign.World, jvmPath string) (*Folder, error) {
	tmp, err := w.Tmp()
	if err != nil {
		return nil, fmt.Errorf("its /tmp can't be used: %w", err)
	}
	name, inner := names(jvmPath)
	f := &Folder{tmp: tmp, Name: name, Path: jvmPath}
	if f.outer, err = tmp.MakeFolder(name); err != nil {
		tmp.Close()
		return nil, fmt.Errorf("making a folder in its /tmp: %w", err)
	}
	if f.dir, err = f.outer.MakeFolder(inner); err != nil {
		f.Remove()
		return nil, fmt.Errorf("making a folder in its /tmp: %w", err)
	}
	return f, nil
}

// remove removes a folder that another gasm process has made, or has begun to make.
func remove(w *foreign.World, jvmPath string) {
	tmp, err := w.Tmp()
	if err != nil {
		return
	}
	name, inner := names(jvmPath)
	f := &Folder{tmp: tmp, Name: name, Path: jvmPath}
	if f.outer, err = tmp.OwnFolder(name); err != nil {
		tmp.Close()
		return
	}
	if inner == "" {
		removeFiles(f.outer)
	} else {
		f.dir, _ = f.outer.OwnFolder(inner) // nil if that gasm process was killed before it made the folder
	}
	f.Remove()
}

// Write writes a file for the JVM.
func (f *Folder) Write(name, text string) error { return f.dir.Create(name, []byte(text)) }

// Open opens a file for reading. If it does not exist, the error is ErrNotThere.
func (f *Folder) Open(name string) (*foreign.File, error) {
	file, err := f.dir.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotThere
	}
	return file, err
}

// RemoveFile removes a file, if it exists.
func (f *Folder) RemoveFile(name string) { _ = f.dir.Remove(name) }

// Take copies a file of at most limit bytes out of the folder; see TakeFrom.
func (f *Folder) Take(name, to string, limit int64) error { return TakeFrom(f.dir, name, to, limit) }

// TakeFrom copies a file of at most limit bytes out of a JVM's folder. If the disk gets full, the part that was copied
// remains. If the file does not exist, the error is ErrNotThere.
func TakeFrom(folder *foreign.Folder, name, to string, limit int64) error {
	in, err := (&Folder{dir: folder}).Open(name)
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

// Remove removes the folder, with everything that gasm and the JVM have written there.
func (f *Folder) Remove() {
	if f.dir != nil {
		removeFiles(f.dir)
		_ = f.outer.RemoveFolder(path.Base(f.Path)) // fails if the JVM's user has put other files there, which stay
	}
	_ = f.tmp.RemoveFolder(f.Name)
	f.Close()
}

func removeFiles(dir *foreign.Folder) {
	for _, name := range slices.Concat([]string{SettingsFile, RecordingFile, DumpFile, LogFile}, hslog.Rotated(LogFile)) {
		_ = dir.Remove(name)
	}
}

// Close closes the files of the folder that this process has open. The folder itself stays on the disk.
func (f *Folder) Close() {
	if f.dir != nil {
		f.dir.Close()
	}
	f.outer.Close()
	f.tmp.Close()
}

// Enter opens a process and a World, which gives access to the files that the process sees. The caller must close both.
// When ctx is done, the World can no longer be used.
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
