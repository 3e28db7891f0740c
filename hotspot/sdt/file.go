package sdt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// A Storage is where an object is: a file of this process's, or one in the file system of a JVM.
type Storage interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
}

// A File is a shared object in a Storage.
type File struct {
	machine *Machine
	f       Storage
	second  bool // the list of probes is in the second area
}

// Empty returns the content of an object without probes.
func Empty(m *Machine) ([]byte, error) {
	data, headersAt, count, err := sections(m, firstArea, nil)
	if err != nil {
		return nil, err
	}
	content := make([]byte, firstArea+len(data))
	copy(content, image(m))
	copy(content[firstArea:], data)
	copy(content, encoded(header(m, headersAt, count)))
	return content, nil
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

// Open opens an object that began as [Empty] and that a JVM has copied. What is mapped of it must be unchanged: the folder
// may be one in which others can write too. The File closes f, also if there is an error.
func Open(f Storage, m *Machine) (*File, error) {
	want := image(m)
	have := make([]byte, len(want))
	_, err := f.ReadAt(have, 0)
	if err == nil && !bytes.Equal(have[headersAt:], want[headersAt:]) {
		err = errors.New("it is not one that gasm has written")
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("reading a shared object with probes: %w", err)
	}
	o := &File{machine: m, f: f}
	o.second = binary.LittleEndian.Uint64(have[sectionsPlace:]) >= firstArea+areaSize
	return o, nil
}

// Close closes the file, which stays.
func (o *File) Close() error { return o.f.Close() }
