package jvmevents

import (
	"errors"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/internal/foreign"
	"github.com/gasm-profiler/gasm/record/jvmfolder"
)

// A repository is the folder in which a JVM's Flight Recorder keeps the chunks of its recordings until the recordings
// end. A JVM that is killed leaves the folder behind.
type repository struct {
	parent, dir *foreign.Folder
	name        string // in parent
	shared      bool   // it also has the chunks of a recording that the user started
}

// openRepository opens the repository at the path dir, as the JVM sees it. It returns nil if that fails.
func openRepository(w *foreign.World, dir string, shared bool) *repository {
	parent, err := w.Folder(path.Dir(dir))
	if err != nil {
		return nil
	}
	r := &repository{parent: parent, name: path.Base(dir), shared: shared}
	if r.dir, err = parent.Folder(r.name); err != nil {
		parent.Close()
		return nil
	}
	return r
}

func (r *repository) close() {
	if r != nil {
		r.dir.Close()
		r.parent.Close()
	}
}

// Patterns for the names that Flight Recorder makes (Repository and RepositoryChunk in jdk.jfr.internal). The
// repository of process 4711 has a name like 2026_11_23_21_04_11_4711, and a chunk has a name like
// 2026_11_23_21_04_12.jfr. With JDK 11, the name of a chunk that is still being written ends in .part.
var (
	repositoryName = regexp.MustCompile(`^[0-9]{4}(_[0-9]{2}){5}_([0-9]+)(_[0-9]+)?$`)
	chunkName      = regexp.MustCompile(`^[0-9]{4}(_[0-9]{2}){5}(_[0-9]+)?\.(jfr|part)$`)
)

// isRepository reports whether the last name in a path is that of a JVM's repository. ownPID is the JVM's id in its own
// PID namespace.
func isRepository(dir string, ownPID int) bool {
	m := repositoryName.FindStringSubmatch(path.Base(dir))
	return m != nil && m[2] == strconv.Itoa(ownPID)
}

// maxChunks is the maximum number of chunks of a killed JVM that are taken. If there are more, only the newest ones are
// taken. A chunk has about 12 MB.
const maxChunks = 60

// files returns the names of the chunks in the repository, the oldest first.
func (r *repository) files() (names []string) {
	if r == nil {
		return nil
	}
	all, _ := r.dir.Names() // if this fails, the JVM has removed the folder
	for _, name := range all {
		if chunkName.MatchString(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names) // the names are times
	return names
}

// chunks returns the names of the complete chunks that are not empty, at most the last maxChunks, the oldest first.
// Before JDK 14, the last chunk of a killed JVM is empty, because the JVM kept its content in memory until the chunk
// was complete.
func (r *repository) chunks() (names []string) {
	for _, name := range r.files() {
		if info, err := r.dir.Stat(name); err == nil && info.Size > 0 && strings.HasSuffix(name, ".jfr") {
			names = append(names, name)
		}
	}
	return names[max(len(names)-maxChunks, 0):]
}

// takeChunks copies the chunks, the oldest first, up to a total of maxRecording bytes. It copies the first chunk to
// the path to(0), the next one to to(1), and so on. It returns the number of copies, and the errors for chunks that
// could not be copied.
func (r *repository) takeChunks(to func(number int) string) (taken int, err error) {
	left := int64(maxRecording)
	var errs []error
	for _, chunk := range r.chunks() {
		path := to(taken)
		if err := jvmfolder.TakeFrom(r.dir, chunk, path, left); err != nil {
			errs = append(errs, err)
		}
		if info, err := os.Stat(path); err == nil { // if the disk is full, the file has only a part of the chunk
			left -= info.Size()
			taken++
		}
	}
	return taken, errors.Join(errs...)
}

// remove removes the repository that a killed JVM has left behind, unless it also has chunks of a recording that the
// user started.
func (r *repository) remove() {
	if r == nil || r.shared {
		return
	}
	for _, name := range r.files() {
		_ = r.dir.Remove(name)
	}
	_ = r.parent.RemoveFolder(r.name) // this fails if the folder has other files, which are not Flight Recorder's
}

// maxRecording is the maximum size of a recording in bytes, as one file or as several chunks. Flight Recorder keeps 250
// MB, and one more chunk for a short time.
const maxRecording = 1 << 30
