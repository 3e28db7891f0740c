// Package inotify tells when something happens to a file or a folder, so that nobody
// has to look at it again and again: [NewFiles] of new files in a folder, and
// [NextWrite] of the next write to a file.
//
// Linux tells of it (inotify(7)), as long as the machine has watches left: each user
// has a limited number of them (fs.inotify.max_user_instances). Where it can't be had,
// and on other systems, [NewFiles] looks at regular intervals, and [NextWrite] says so.
//
// A watch may tell without a reason. Whoever is told must look.
package inotify

import "time"

// A Folder tells of new files in a folder.
type Folder struct {
	// C gets a value when there are new files. It holds one value at most, for all files
	// since it was read.
	C    <-chan struct{}
	stop func()
}

// pollInterval is for where inotify can't be had. What is waited for is the log of a
// JVM, whose start takes 50 ms and more.
const pollInterval = 20 * time.Millisecond

// NewFiles begins to watch a folder for files that are created in it or moved to it.
// The caller must call Close.
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

// A File tells of the next write to a file. While a file is written all the time, it
// should not be armed, because each write that is told of costs the writer something.
type File struct {
	// C gets a value at the next write after Arm. It may also have one for a write that
	// an earlier Arm was for.
	C        <-chan struct{}
	path     string
	instance *instance // nil where it can't be had
}

// NextWrite makes a watch for the next write to a file. It tells of nothing before
// [File.Arm]. The caller must call Close.
func NextWrite(path string) *File {
	b := newBell()
	i, err := openInstance(b.ring)
	if err != nil {
		i = nil
	}
	return &File{b, path, i}
}

// Arm asks to be told of the next write. It is false where that can't be had, and the
// caller has to look at the file from time to time.
func (f *File) Arm() bool {
	if f.instance == nil {
		return false
	}
	select {
	case <-f.C: // of an earlier write
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

// A bell holds one value at most, until somebody reads it.
type bell chan struct{}

func newBell() bell { return make(bell, 1) }

func (b bell) ring() {
	select {
	case b <- struct{}{}:
	default:
	}
}

// every rings at regular intervals, until stop is called.
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
