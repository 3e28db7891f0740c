// Package folder manages the folders that a recording writes to. These are the folder of the capture ([Capture]), and
// the folder in which the command's JVMs create their logs ([Logs]). At the end of a recording, the package moves the
// logs into the capture and removes files that are no longer needed. It also finds folders that were left behind
// because gasm was killed.
package folder

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/gasm-profiler/gasm/record/lockedfolder"
)

// A Capture is the folder to which a capture is written. Other users can't read it, because it contains the program's
// command line and class names.
type Capture struct {
	Path string
	// Temporary is true if the user has not named a folder. gasm then removes the folder at the end, unless Keep is
	// called.
	Temporary bool

	lock   *lockedfolder.Lock // the lock of a temporary folder; otherwise nil
	logs   *Logs              // nil until MakeLogs
	events string             // the beginning of the paths of the logs that EventPattern is for; "" if there are none
	gather sync.Once
	// users are processes that may still start JVMs, which would log to the logs' folder or to the folder of a temporary
	// capture. If there are any users, gasm has not removed that folder.
	users []lockedfolder.Process
}

// New makes the folder of a capture, and checks that files can be written to it. The folder must be empty or not exist
// yet, so that no capture is overwritten. If name is "", New makes a temporary folder.
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

// checkWritable checks that files can be written to a folder, by writing a small file and removing it again. So gasm
// notices a full disk before the command runs.
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

// Size returns the size of the files in the folder, in bytes. It leaves out files whose size can't be read.
func (c *Capture) Size() (bytes int64) {
	entries, _ := os.ReadDir(c.Path)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			bytes += info.Size()
		}
	}
	return bytes
}

// Logs returns the folder for the JVMs' logs. It returns nil before MakeLogs.
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

// EventPattern returns the path for -Xlog in JVMs that have the same user and root directory as gasm. HotSpot replaces
// %p with the process id. JVMs write these logs directly into the capture's folder. Everyone can see the path in the
// JVMs' command lines. Unlike the path of [Logs], it need not be secret, because other users can't write to the
// folder.
func (c *Capture) EventPattern() (string, error) {
	dir, err := filepath.Abs(c.Path)
	if err != nil {
		return "", err
	}
	c.events = filepath.Join(dir, eventHead)
	return c.events + "%p" + eventTail, nil
}

// Gather moves the JVMs' logs into the capture. Only the first call does so, and can return an error. Further calls
// wait until the first call has returned, and return nil.
func (c *Capture) Gather() (err error) {
	c.gather.Do(func() {
		if c.events != "" {
			err = checkEvents(c.Path)
		}
		if c.logs != nil {
			err = errors.Join(err, c.logs.Gather(c.Path))
		}
	})
	return err
}

// Remove removes a temporary folder with all files in it. It removes a folder that the user has named only if the
// folder is empty.
func (c *Capture) Remove() error {
	c.release()
	logging := c.logging()
	c.users = append(c.users, logging...)
	switch {
	case !c.Temporary:
		c.removeEvents()
		os.Remove(c.Path) // fails if the folder is not empty, as intended
		return nil
	case c.logsInside() && len(c.users) > 0, len(logging) > 0:
		c.lock.Close() // without the lock, a later gasm removes the folder
		return nil
	}
	return os.RemoveAll(c.Path)
}

// Keep makes a temporary folder permanent, so that no later gasm process removes it. It returns the folder's path. It
// may be called while another goroutine still gathers the logs.
func (c *Capture) Keep() string {
	_ = c.Gather() // ignore the error: a capture that is kept at this point is incomplete anyway
	c.release()
	if c.lock != nil {
		os.Remove(filepath.Join(c.Path, lockedfolder.LockFile))
	}
	return c.Path
}

// release removes the logs' folder. If processes still use the folder, release leaves it and sets c.users.
func (c *Capture) release() {
	if c.logs != nil {
		c.users = c.logs.release()
	}
}

// logging returns the processes that may still start JVMs that log to the folder of a temporary capture.
func (c *Capture) logging() []lockedfolder.Process {
	if c.events == "" || c.lock == nil {
		return nil
	}
	return c.lock.Users(c.events)
}

// removeEvents removes the logs that JVMs have written to the path that EventPattern returned.
func (c *Capture) removeEvents() {
	if c.events == "" {
		return
	}
	for _, log := range eventLogs(c.Path) {
		os.Remove(log.Path)
	}
}

// logsInside reports whether the logs' folder is inside the capture's folder.
func (c *Capture) logsInside() bool { return c.logs != nil && filepath.Dir(c.logs.Path) == c.Path }

// InUse returns a sentence for the user if Remove or Keep has left the logs' folder because processes still use it.
// Otherwise it returns "".
func (c *Capture) InUse() string {
	if len(c.users) == 0 {
		return ""
	}
	to := c.Path
	if c.logs != nil {
		to = filepath.Dir(c.logs.Path)
	}
	text := fmt.Sprintf("still running: %s; the logs of JVMs that may start there go to %s, which ",
		lockedfolder.ProcessList(c.users), to)
	if c.logsInside() && !c.Temporary {
		return text + "has a folder for them, " + filepath.Base(c.logs.Path) + ", until you remove it"
	}
	return text + "a later gasm profile removes"
}
