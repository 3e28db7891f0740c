// Package folder has the folders that a recording writes to: the capture's ([Capture]), and the one in which the
// command's JVMs create their logs ([Logs]). It moves the logs into the capture at the end, removes what is not needed
// any more, and finds what a gasm that was killed has left.
package folder

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/gasm-profiler/gasm/record/lockedfolder"
)

// A Capture is the folder that a capture is written to. Only its owner may read it, because a capture has the program's
// command line and class names in it.
type Capture struct {
	Path string
	// Temporary is true if the user named no folder, so that gasm removes it.
	Temporary bool

	lock   *lockedfolder.Lock // of a temporary folder, until it is kept
	logs   *Logs              // nil until MakeLogs
	gather sync.Once
	// users are the processes because of which the logs' folder had to stay.
	users []lockedfolder.Process
}

// New makes the folder of a capture, and checks that it can be written to. It must be new or empty, so that no capture
// is overwritten. The empty name makes a temporary folder.
func New(name string) (*Capture, error) {
	if name == "" {
		return newTemporary()
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
	return &Capture{Path: path}, checkWritable(path)
}

func newTemporary() (*Capture, error) {
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
	return &Capture{Path: path, Temporary: true, lock: lock}, nil
}

// checkWritable writes a block, so that a full disk is found before the command runs.
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

// Logs returns the folder for the JVMs' logs; nil before MakeLogs.
func (c *Capture) Logs() *Logs { return c.logs }

// MakeLogs returns the folder for the JVMs' logs. It makes the folder at the first call.
func (c *Capture) MakeLogs() (*Logs, error) {
	if c.logs == nil {
		logs, err := newLogs(c)
		if err != nil {
			return nil, err
		}
		c.logs = logs
	}
	return c.logs, nil
}

// Gather moves the JVMs' logs here. Only the first call does so, and returns an error; any other one waits until the
// logs are here.
func (c *Capture) Gather() (err error) {
	c.gather.Do(func() {
		if c.logs != nil {
			err = c.logs.Gather(c.Path)
		}
	})
	return err
}

// Remove removes a temporary folder with all that is in it. It removes any other folder when that is empty.
func (c *Capture) Remove() error {
	c.release()
	switch {
	case !c.Temporary:
		os.Remove(c.Path) // fails when it is not empty, as it should
		return nil
	case c.logsInside() && len(c.users) > 0:
		c.lock.Close() // a later gasm removes it
		return nil
	}
	return os.RemoveAll(c.Path)
}

// Keep makes the folder the user's, so that no later gasm removes it. It returns the folder's path. It may be called
// while the recording is being finished.
func (c *Capture) Keep() string {
	_ = c.Gather() // a log that can't be had is missing in the capture, which is not whole anyway
	c.release()
	if c.lock != nil {
		os.Remove(filepath.Join(c.Path, lockedfolder.LockFile))
	}
	return c.Path
}

// release ends the use of the logs' folder.
func (c *Capture) release() {
	if c.logs != nil {
		c.users = c.logs.release()
	}
}

// logsInside reports whether the logs' folder is in this one.
func (c *Capture) logsInside() bool { return c.logs != nil && filepath.Dir(c.logs.Path) == c.Path }

// InUse says, after Remove and Keep, what had to stay and why; "" when nothing had to.
func (c *Capture) InUse() string {
	if len(c.users) == 0 {
		return ""
	}
	text := fmt.Sprintf("still running: %s; the logs of JVMs that may start there go to %s, which ", lockedfolder.ProcessList(c.users), filepath.Dir(c.logs.Path))
	if c.logsInside() && !c.Temporary {
		return text + "has a folder for them, " + filepath.Base(c.logs.Path) + ", until you remove it"
	}
	return text + "a later gasm profile removes"
}
