// Package halfwritten writes files, and removes those that are half written if gasm is stopped.
package halfwritten

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
)

// Files are the files that a command writes. Any goroutine may call its methods. The zero Files is ready to use.
type Files struct {
	mu        sync.Mutex
	open      map[string]bool // paths of the regular files that are being written
	abandoned bool
}

// ErrAbandoned is the error of writing a file after Abandon.
var ErrAbandoned = errors.New("gasm was stopped")

// Write creates a file, or truncates it if it exists, and lets a function fill it.
func (f *Files) Write(path string, write func(io.Writer) error) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	done, err := f.begin(path, file)
	if err == nil {
		err = write(file)
	}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	done()
	return err
}

// begin notes that a file is being written. The function that it returns notes that the file is complete. Pipes and
// devices, such as /dev/stdout, are not noted, because they can't be removed.
func (f *Files) begin(path string, file *os.File) (done func(), err error) {
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return func() {}, err
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return func() {}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.abandoned {
		return func() {}, errors.Join(ErrAbandoned, os.Remove(path))
	}
	if f.open == nil {
		f.open = map[string]bool{}
	}
	f.open[path] = true
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.open, path)
	}, nil
}

// Abandon removes the files that are half written, and prevents further files from being written.
func (f *Files) Abandon() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.abandoned = true
	for path := range f.open {
		_ = os.Remove(path) // another program may have removed the file
	}
}
