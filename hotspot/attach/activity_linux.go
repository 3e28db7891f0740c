package attach

import (
	"context"
	"errors"
	"strconv"

	"github.com/gasm-profiler/gasm/internal/foreign"
)

// A Watch reads the performance data of a running JVM again and again. This costs the JVM nothing, because HotSpot
// keeps the data in a file that it has mapped into its memory.
type Watch struct {
	process *foreign.Process
	files   files
	file    *foreign.File
	text    []byte
}

// errNoPerfData means that a JVM has no performance data that this user can read.
var errNoPerfData = errors.New("the JVM has no performance data")

// StartWatch opens the performance data of a JVM. It returns an error if there are none, as with -XX:-UsePerfData.
func StartWatch(ctx context.Context, pid int) (*Watch, error) {
	p, err := foreign.Open(pid)
	if err != nil {
		return nil, err
	}
	status, err := p.Status()
	if err != nil {
		p.Close()
		return nil, err
	}
	w := &Watch{process: p, files: process{p}.enter(ctx, status)}
	if w.files.world != nil {
		w.files.eachPerfFolder(w.files.world.User().UID, func(folder *foreign.Folder) bool {
			w.file, _ = folder.Open(strconv.Itoa(w.files.ownPID)) // without the file, the next folder is tried
			return w.file != nil
		})
	}
	if w.file == nil {
		w.Close()
		return nil, errNoPerfData
	}
	w.text = make([]byte, min(w.file.Size(), maxPerfData))
	return w, nil
}

// Read returns the current numbers. The result known is false if the performance data contain none of them.
func (w *Watch) Read() (a Activity, known bool) {
	n, _ := w.file.ReadAt(w.text, 0) // if reading fails, the part that was read is used
	return parseActivity(w.text[:n])
}

// Close closes the file.
func (w *Watch) Close() {
	if w.file != nil {
		w.file.Close()
	}
	w.files.close()
	w.process.Close()
}
