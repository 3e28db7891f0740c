package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
)

// outputFiles are the files that a command writes. If gasm is stopped, abandon removes those that are half written.
type outputFiles struct {
	mu        sync.Mutex
	open      map[string]bool // paths of the regular files that are being written
	abandoned bool
}

var errAbandoned = errors.New("gasm was stopped")

// write creates a file, or truncates it if it exists, and lets a function fill it.
func (o *outputFiles) write(path string, write func(io.Writer) error) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	done, err := o.begin(path, file)
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
func (o *outputFiles) begin(path string, file *os.File) (done func(), err error) {
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return func() {}, err
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return func() {}, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.abandoned {
		return func() {}, errors.Join(errAbandoned, os.Remove(path))
	}
	if o.open == nil {
		o.open = map[string]bool{}
	}
	o.open[path] = true
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		delete(o.open, path)
	}, nil
}

// abandon removes the files that are half written, and prevents further files from being written.
func (o *outputFiles) abandon() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.abandoned = true
	for path := range o.open {
		_ = os.Remove(path) // another program may have removed the file
	}
}
