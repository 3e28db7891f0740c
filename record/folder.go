package record

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/gasm-profiler/gasm/record/lockedfolder"
)

// A Folder is where a capture is written. Only its owner may read it, because a
// capture has the program's command line and class names in it.
type Folder struct {
	Path string
	// Temporary tells that the user named no folder, so that it is gasm's to remove.
	Temporary bool

	lock *lockedfolder.Lock // of a temporary folder, until it is kept
	logs *logFolder         // nil before there is one
	// gathered tells that the logs are here.
	gathered atomic.Bool
	// users are the processes for which some of the logs' folder had to stay.
	users []lockedfolder.Process
}

// NewFolder makes the folder of a capture, and finds out whether it can be written.
// It must be new or empty, so that no capture is overwritten; the empty name makes a
// temporary one. What other runs of gasm have left, and nobody needs, is removed.
func NewFolder(name string) (*Folder, error) {
	sweep()
	if name == "" {
		return newTemporaryFolder()
	}
	path, err := filepath.Abs(name)
	if err != nil {
		return nil, fmt.Errorf("making the capture folder: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("making the capture folder: %w", err)
	}
	err = os.Mkdir(path, 0o700)
	if errors.Is(err, os.ErrExist) {
		entries, readErr := os.ReadDir(path)
		switch {
		case readErr != nil:
			return nil, fmt.Errorf("-o %s: %w", name, readErr)
		case len(entries) > 0:
			return nil, fmt.Errorf("-o %s: the folder is not empty; name a new one, so that no capture is overwritten", name)
		}
		err = os.Chmod(path, 0o700)
	}
	if err != nil {
		return nil, fmt.Errorf("making the capture folder: %w", err)
	}
	return &Folder{Path: path}, checkWritable(path)
}

func newTemporaryFolder() (*Folder, error) {
	path, err := os.MkdirTemp("", temporaryPattern)
	if err != nil {
		return nil, fmt.Errorf("making a folder for the capture: %w (set TMPDIR, or name one with -o)", err)
	}
	if err := checkWritable(path); err != nil {
		os.RemoveAll(path)
		return nil, fmt.Errorf("%w (set TMPDIR, or name a folder with -o)", err)
	}
	lock, err := lockedfolder.Make(path)
	if err != nil {
		os.RemoveAll(path)
		return nil, fmt.Errorf("the capture folder can't be written: %w (set TMPDIR, or name a folder with -o)", err)
	}
	return &Folder{Path: path, Temporary: true, lock: lock}, nil
}

// checkWritable writes a block, so that a full disk is found before the command
// runs.
func checkWritable(dir string) error {
	f, err := os.CreateTemp(dir, "try-")
	if err != nil {
		return fmt.Errorf("the capture folder can't be written: %w", err)
	}
	defer os.Remove(f.Name())
	defer f.Close()
	if _, err := f.Write(make([]byte, 4096)); err != nil {
		return fmt.Errorf("the capture folder can't be written: %w", err)
	}
	return nil
}

// Remove removes a temporary folder with all that is in it, and any other one when it
// is empty.
func (f *Folder) Remove() error {
	f.release()
	switch {
	case !f.Temporary:
		os.Remove(f.Path) // fails when it is not empty, as it should
		return nil
	case f.logsInside() && len(f.users) > 0:
		f.lock.Close() // a later gasm removes it
		return nil
	}
	return os.RemoveAll(f.Path)
}

// Keep makes the folder the user's: no later gasm removes it. It gives its path. It may
// be called while the recording is finished.
func (f *Folder) Keep() string {
	if f.logs != nil && !f.gathered.Load() {
		_ = f.gather() // what can't be had is missing in the capture, which is not whole anyway
	}
	f.release()
	if f.lock != nil {
		os.Remove(filepath.Join(f.Path, lockedfolder.LockFile))
	}
	return f.Path
}

// gather moves the JVMs' logs here.
func (f *Folder) gather() error {
	defer f.gathered.Store(true)
	if f.logs == nil {
		return nil // they are here already
	}
	return f.logs.gather(f.Path)
}

// release ends the use of the logs' folder.
func (f *Folder) release() {
	if f.logs != nil {
		f.users = f.logs.release()
	}
}

// logsInside tells whether the logs' folder is in this one.
func (f *Folder) logsInside() bool { return f.logs != nil && filepath.Dir(f.logs.path) == f.Path }

// InUse says after Remove and Keep what had to stay, and why; "" when nothing had to.
func (f *Folder) InUse() string {
	if len(f.users) == 0 {
		return ""
	}
	text := fmt.Sprintf("still running: %s; the logs of JVMs that may start there go to %s, which ", lockedfolder.ProcessList(f.users), filepath.Dir(f.logs.path))
	if f.logsInside() && !f.Temporary {
		return text + "has a folder for them, " + filepath.Base(f.logs.path) + ", until you remove it"
	}
	return text + "a later gasm profile removes"
}
