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

// A repository is the folder in which Flight Recorder keeps what it records until the recording ends. A JVM that is
// killed leaves it behind.
type repository struct {
	parent, dir *foreign.Folder
	name        string // in parent
	shared      bool   // a recording of the user's is in it, too
}

// openRepository opens the repository at a path that the JVM has. It returns nil where that fails.
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

// These match the names that Flight Recorder makes (Repository and RepositoryChunk in jdk.jfr.internal): its folder
// 2026_11_23_21_04_11_4711, and in it 2026_11_23_21_04_12.jfr, which is a .part while JDK 11 writes it.
var (
	repositoryName = regexp.MustCompile(`^[0-9]{4}(_[0-9]{2}){5}_([0-9]+)(_[0-9]+)?$`)
	chunkName      = regexp.MustCompile(`^[0-9]{4}(_[0-9]{2}){5}(_[0-9]+)?\.(jfr|part)$`)
)

// isRepository reports whether a path is that of the repository of a JVM. ownPID is the process id that the JVM has
// itself.
func isRepository(dir string, ownPID int) bool {
	m := repositoryName.FindStringSubmatch(path.Base(dir))
	return m != nil && m[2] == strconv.Itoa(ownPID)
}

// maxChunks is how many chunks are taken from a JVM that was killed, the newest ones. Each has 12 MB.
const maxChunks = 60

// files returns the names of the chunks in the repository, the oldest first.
func (r *repository) files() (names []string) {
	if r == nil {
		return nil
	}
	all, _ := r.dir.Names() // a JVM that ends removes them
	for _, name := range all {
		if chunkName.MatchString(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names) // the names are times
	return names
}

// chunks returns the names of the chunks that have anything in them, the oldest first. Before JDK 14 the last chunk is
// empty, because a JVM kept in memory what it had not finished.
func (r *repository) chunks() (names []string) {
	for _, name := range r.files() {
		if info, err := r.dir.Stat(name); err == nil && info.Size > 0 && strings.HasSuffix(name, ".jfr") {
			names = append(names, name)
		}
	}
	return names[max(len(names)-maxChunks, 0):]
}

// takeChunks copies the chunks, the oldest first, up to a total of maxRecording bytes. It returns how many it has
// taken, and the errors of the others.
func (r *repository) takeChunks(to func(number int) string) (taken int, err error) {
	left := int64(maxRecording)
	var errs []error
	for _, chunk := range r.chunks() {
		path := to(taken)
		if err := jvmfolder.TakeFrom(r.dir, chunk, path, left); err != nil {
			errs = append(errs, err)
		}
		if info, err := os.Stat(path); err == nil { // or a part of it, when the disk is full
			left -= info.Size()
			taken++
		}
	}
	return taken, errors.Join(errs...)
}

// remove removes what a JVM that was killed has left, if the recording was for gasm alone.
func (r *repository) remove() {
	if r == nil || r.shared {
		return
	}
	for _, name := range r.files() {
		_ = r.dir.Remove(name)
	}
	_ = r.parent.RemoveFolder(r.name) // what else is in it is not Flight Recorder's
}

// maxRecording is an upper bound for the file of a recording, or for all of its chunks, in bytes. Flight Recorder keeps
// 250 MB, and one chunk more for a moment.
const maxRecording = 1 << 30
