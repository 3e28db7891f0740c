package sdt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// A File is a shared object on disk.
type File struct {
	machine *Machine
	f       *os.File
	second  bool // the list of probes is in the second area
}

// Create writes an object without probes. All may read it: a JVM may run as any user.
func Create(path string, m *Machine) (*File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("writing a shared object with probes: %w", err)
	}
	o := &File{machine: m, f: f, second: true}
	if err = f.Chmod(0o644); err == nil { // whatever the umask is
		_, err = f.WriteAt(image(m), 0)
	}
	if err == nil {
		err = o.Publish(nil)
	}
	if err != nil {
		err = errors.Join(fmt.Errorf("writing the shared object with probes %s: %w", path, err), f.Close(), os.Remove(path))
		return nil, err
	}
	return o, nil
}

// Publish has the object show these probes, and no others. A tracer that reads the file meanwhile sees the old list or
// the new one.
func (o *File) Publish(probes []Probe) error {
	place := uint64(firstArea)
	if !o.second {
		place += areaSize
	}
	data, headersAt, count, err := sections(o.machine, place, probes)
	if err != nil {
		return err
	}
	if len(data) > areaSize {
		return fmt.Errorf("%d probes take %d bytes in a shared object, which has room for %d", len(probes), len(data), areaSize)
	}
	if _, err := o.f.WriteAt(data, int64(place)); err != nil {
		return err
	}
	if _, err := o.f.WriteAt(encoded(header(o.machine, headersAt, count)), 0); err != nil {
		return err
	}
	o.second = !o.second
	return nil
}

// sectionsPlace is where the header says where the sections are (e_shoff).
const sectionsPlace = 40

// Open opens an object that Create has written and a JVM has copied. What is mapped of it must be unchanged: the folder
// may be one in which others can write too.
func Open(path string, m *Machine) (*File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("opening a shared object with probes: %w", err)
	}
	want := image(m)
	have := make([]byte, len(want))
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is no regular file")
	}
	if err == nil {
		_, err = f.ReadAt(have, 0)
	}
	if err == nil && !bytes.Equal(have[headersAt:], want[headersAt:]) {
		err = errors.New("it is not one that gasm has written")
	}
	if err != nil {
		f.Close()
		return nil, &fs.PathError{Op: "reading the shared object", Path: path, Err: err}
	}
	o := &File{machine: m, f: f}
	o.second = binary.LittleEndian.Uint64(have[sectionsPlace:]) >= firstArea+areaSize
	return o, nil
}

// Close closes the file, which stays.
func (o *File) Close() error { return o.f.Close() }
