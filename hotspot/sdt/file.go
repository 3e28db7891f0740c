package sdt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// A Storage is the file that holds an object. It is in gasm's own file system, or in the file system that a JVM sees.
type Storage interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
}

// A File is a shared object in a Storage.
type File struct {
	machine *Machine
	f       Storage
	second  bool // true if the second of the file's two areas is in use; see firstArea
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

// Publish replaces the object's list of probes. A tracer that reads the file at the same time sees either the old list
// or the new one.
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
		return fmt.Errorf("%d probes take %d bytes in a shared object, which has room for %d", len(probes),
			len(data), areaSize)
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

// sectionsPlace is the offset of the field e_shoff in the ELF header. That field has the offset of the section headers.
const sectionsPlace = 40

// Open opens an object whose content was created by [Empty] and written to a file by a JVM. Other users may be able to
// write to the folder, so Open checks that the part that the JVM maps still has that content, and otherwise returns an
// error. The File owns f: Close closes it, and Open itself closes it if it returns an error.
func Open(f Storage, m *Machine) (*File, error) {
	want := image(m)
	have := make([]byte, len(want))
	_, err := f.ReadAt(have, 0)
	if err == nil && !bytes.Equal(have[headersAt:], want[headersAt:]) {
		err = errors.New("it was not written by gasm")
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("reading a shared object with probes: %w", err)
	}
	o := &File{machine: m, f: f}
	o.second = binary.LittleEndian.Uint64(have[sectionsPlace:]) >= firstArea+areaSize
	return o, nil
}

// Close closes the Storage. It does not remove the object.
func (o *File) Close() error { return o.f.Close() }
