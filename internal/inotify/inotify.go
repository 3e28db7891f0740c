// Package inotify signals changes of a file or a folder, so that a program need not check for them all the time:
// [NewFiles] signals new files in a folder, [NextWrite] the next write to a file, and [WatchOpens] that a file is
// opened.
//
// It uses inotify(7) on Linux, if the machine allows that: the number of instances that a user can have is limited
// (fs.inotify.max_user_instances). Where inotify is not available, and on other systems, [NewFiles] signals at regular
// intervals, and [File.Arm] returns false.
//
// A signal may come although nothing has changed. So the receiver must check whether anything has changed.
package inotify

import "time"

// A Folder signals new files in a folder.
type Folder struct {
	// C gets a value when there are new files. It holds at most one value, for all files that came since the last value
	// was received.
	C    <-chan struct{}
	stop func()
}

// pollInterval is the time between two values in a Folder's channel if inotify is not available. It is short, because
// the file that gasm waits for is the log of a JVM, which takes only 50 ms or more to start.
const pollInterval = 20 * time.Millisecond

// NewFiles starts to watch a folder for files that are created in it or moved to it. The caller must call Close.
func NewFiles(dir string) *Folder {
	b := newBell()
	if i, err := openInstance(b.ring); err == nil {
		if err := i.addNewFiles(dir); err == nil {
			return &Folder{b, i.close}
		}
		i.close()
	}
	return &Folder{b, b.every(pollInterval)}
}

// Close ends the watch.
func (f *Folder) Close() { f.stop() }

// A File signals the next write to a file. It should not be armed while the file is being written all the time, because
// each signal slows down the writer a little.
type File struct {
	// C gets a value at the next write after Arm. It may also have a value for a write after an earlier Arm.
	C        <-chan struct{}
	path     string
	instance *instance // nil if inotify is not available
}

// NextWrite returns a File that signals nothing until [File.Arm] is called. The caller must call Close.
func NextWrite(path string) *File {
	b := newBell()
	i, err := openInstance(b.ring)
	if err != nil {
		i = nil
	}
	return &File{b, path, i}
}

// Arm asks for a signal at the next write. It returns false if there can't be a signal. Then the caller has to check
// the file from time to time.
func (f *File) Arm() bool {
	if f.instance == nil {
		return false
	}
	select {
	case <-f.C: // drops the signal of an earlier write
	default:
	}
	return f.instance.addNextWrite(f.path) == nil
}

// Close ends the watch.
func (f *File) Close() {
	if f.instance != nil {
		f.instance.close()
	}
}

// Opens signals that a file is opened.
type Opens struct {
	// C gets a value when some process has opened the file. It holds at most one value, for all openings since the last
	// value was received.
	C        <-chan struct{}
	instance *instance
}

// WatchOpens starts to watch a file. It returns nil if inotify is not available. The caller must call Close.
func WatchOpens(path string) *Opens {
	b := newBell()
	i, err := openInstance(b.ring)
	if err != nil {
		return nil
	}
	if err := i.addOpens(path); err != nil {
		i.close()
		return nil
	}
	return &Opens{b, i}
}

// Close ends the watch. For nil it does nothing.
func (o *Opens) Close() {
	if o != nil {
		o.instance.close()
	}
}

// A bell is a channel that is rung by sending a value. It holds at most one value, until somebody receives it.
type bell chan struct{}

func newBell() bell { return make(bell, 1) }

func (b bell) ring() {
	select {
	case b <- struct{}{}:
	default:
	}
}

// every rings at regular intervals. It returns a function that stops the ringing.
func (b bell) every(interval time.Duration) (stop func()) {
	ticker, done := time.NewTicker(interval), make(chan struct{})
	go func() {
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				b.ring()
			case <-done:
				return
			}
		}
	}()
	return func() { close(done) }
}
