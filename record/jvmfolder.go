package record

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/event/hslog"
	"github.com/gasm-profiler/gasm/internal/foreign"
	"github.com/gasm-profiler/gasm/record/lockedfolder"
)

// A jvmFolder is a folder in the /tmp that a JVM has, which may be of another mount namespace. It is the JVM's user's, who
// is not trusted (package foreign).
type jvmFolder struct {
	tmp, dir *foreign.Folder
	name     string // in tmp
	path     string // as the JVM has it
}

// jvmFolderHead is what the names of such folders begin with.
const jvmFolderHead = "gasm-jvm-"

// errNotThere is a file that the JVM has not written.
var errNotThere = errors.New("it is not there")

// jvmFolderPath makes up the path of a new folder, as the JVM has it.
func jvmFolderPath() string { return path.Join("/tmp", jvmFolderHead+lockedfolder.SecretName()) }

// isJVMFolder reports whether a path is one of jvmFolderPath.
func isJVMFolder(folder string) bool {
	secret, ok := strings.CutPrefix(folder, "/tmp/"+jvmFolderHead)
	return ok && len(secret) == lockedfolder.SecretLength && !strings.Contains(secret, "/")
}

// newJVMFolder makes a folder of a path of jvmFolderPath.
func newJVMFolder(w *foreign.World, jvmPath string) (*jvmFolder, error) {
	tmp, err := w.Tmp()
	if err != nil {
		return nil, fmt.Errorf("its /tmp can't be used: %w", err)
	}
	f := &jvmFolder{tmp: tmp, name: path.Base(jvmPath), path: jvmPath}
	if f.dir, err = tmp.MakeFolder(f.name); err != nil {
		tmp.Close()
		return nil, fmt.Errorf("making a folder in its /tmp: %w", err)
	}
	return f, nil
}

// openJVMFolder opens a folder that a gasm which was killed has made.
func openJVMFolder(w *foreign.World, jvmPath string) (*jvmFolder, error) {
	tmp, err := w.Tmp()
	if err != nil {
		return nil, err
	}
	f := &jvmFolder{tmp: tmp, name: path.Base(jvmPath), path: jvmPath}
	if f.dir, err = tmp.Folder(f.name); err != nil {
		tmp.Close()
		return nil, err
	}
	return f, nil
}

// write writes a file for the JVM.
func (f *jvmFolder) write(name, text string) error { return f.dir.Create(name, []byte(text)) }

// What a JVM may write for gasm, in bytes: into the file of a recording, or all of its chunks, and into each log. Flight
// Recorder keeps 250 MB, and a chunk more for a moment; HotSpot begins another log at 20 MB, unless a single event is larger.
const (
	maxRecording = 1 << 30
)

// take copies a file of at most limit bytes out of the folder.
func (f *jvmFolder) take(name, to string, limit int64) error { return takeFrom(f.dir, name, to, limit) }

// takeFrom copies a file out of a JVM's folder. When the disk is full, what there is room for stays.
func takeFrom(folder *foreign.Folder, name, to string, limit int64) error {
	in, err := folder.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return errNotThere
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

// remove removes the folder, with all that gasm and the JVM have written there.
func (f *jvmFolder) remove() {
	for _, name := range slices.Concat([]string{toldSettings, toldRecording, toldLog}, hslog.Rotated(toldLog)) {
		_ = f.dir.Remove(name)
	}
	_ = f.tmp.RemoveFolder(f.name) // what the JVM's user has put there stays
	f.close()
}

func (f *jvmFolder) close() {
	f.dir.Close()
	f.tmp.Close()
}

// A jvmRepository is the folder in which Flight Recorder keeps what it records, until it ends. A JVM that is killed leaves
// it.
type jvmRepository struct {
	parent, dir *foreign.Folder
	name        string // in parent
	own         bool   // a recording of the user's is in it, too
}

// openJVMRepository opens the repository at a path that the JVM has; nil where that can't be.
func openJVMRepository(w *foreign.World, dir string, own bool) *jvmRepository {
	parent, err := w.Folder(path.Dir(dir))
	if err != nil {
		return nil
	}
	r := &jvmRepository{parent: parent, name: path.Base(dir), own: own}
	if r.dir, err = parent.Folder(r.name); err != nil {
		parent.Close()
		return nil
	}
	return r
}

func (r *jvmRepository) close() {
	if r != nil {
		r.dir.Close()
		r.parent.Close()
	}
}

// Names that Flight Recorder makes: its folder 2026_11_23_21_04_11_4711, and in it 2026_11_23_21_04_12.jfr, or .part while
// JDK 11 writes it (RepositoryChunk and Repository in jdk.jfr.internal).
var (
	repositoryName = regexp.MustCompile(`^[0-9]{4}(_[0-9]{2}){5}_([0-9]+)(_[0-9]+)?$`)
	chunkName      = regexp.MustCompile(`^[0-9]{4}(_[0-9]{2}){5}(_[0-9]+)?\.(jfr|part)$`)
)

// isRepository reports whether a path is that of the repository of the JVM with an id of its own.
func isRepository(dir string, ownPID int) bool {
	m := repositoryName.FindStringSubmatch(path.Base(dir))
	return m != nil && m[2] == strconv.Itoa(ownPID)
}

// maxChunks is how many chunks are taken of a JVM that was killed, the newest ones: each has 12 MB.
const maxChunks = 60

// files are the chunks in the repository.
func (r *jvmRepository) files() (names []string) {
	if r == nil {
		return nil
	}
	all, _ := r.dir.Names() // a JVM that ends removes them
	for _, name := range all {
		if chunkName.MatchString(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names) // they have times
	return names
}

// chunks are the parts of the recording that are there, the oldest first. Before JDK 14 the last one is empty, since a JVM
// kept in memory what it had not finished.
func (r *jvmRepository) chunks() (names []string) {
	for _, name := range r.files() {
		if info, err := r.dir.Stat(name); err == nil && info.Size > 0 && strings.HasSuffix(name, ".jfr") {
			names = append(names, name)
		}
	}
	return names[max(len(names)-maxChunks, 0):]
}

// takeChunks copies the chunks, the oldest first, as long as there is room for them. It returns how many it has taken, and the
// errors of the others.
func (r *jvmRepository) takeChunks(to func(number int) string) (taken int, err error) {
	left := int64(maxRecording)
	var errs []error
	for _, chunk := range r.chunks() {
		path := to(taken)
		if err := takeFrom(r.dir, chunk, path, left); err != nil {
			errs = append(errs, err)
		}
		if info, err := os.Stat(path); err == nil { // or a part of it, when the disk is full
			left -= info.Size()
			taken++
		}
	}
	return taken, errors.Join(errs...)
}

// remove removes what a JVM that was killed has left, if it was for gasm alone.
func (r *jvmRepository) remove() {
	if r == nil || r.own {
		return
	}
	for _, name := range r.files() {
		_ = r.dir.Remove(name)
	}
	_ = r.parent.RemoveFolder(r.name) // what else is in it is not Flight Recorder's
}

// openChunk finds the file that a JVM's Flight Recorder writes into, with JDK 11 a .part; "" when it does not record.
func (t *toldJVM) openChunk() string {
	for _, file := range t.process.OpenFiles() {
		if chunkName.MatchString(path.Base(file)) && isRepository(path.Dir(file), t.ownPID) {
			return file
		}
	}
	return ""
}

// enter opens a process, and enters its files.
func enter(ctx context.Context, pid int) (*foreign.Process, *foreign.World, error) {
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
