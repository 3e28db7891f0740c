package nmethod

import (
	"errors"
	"fmt"
	"io"
)

// A JVM is a running HotSpot whose memory can be read. It is for one goroutine.
type JVM struct {
	mem    memory
	layout layout
	// What is remembered by its address; see Forget.
	methods map[uint64]*method
	classes map[uint64]string
	members map[memberKey]string
	code    Code
}

// newJVM makes a JVM of a process's memory. symbol gives the address in it of
// one of libjvm.so's symbols.
func newJVM(mem io.ReaderAt, symbol func(name string) (uint64, error)) (*JVM, error) {
	j := &JVM{mem: memory{mem}}
	s, err := readStructs(j.mem, symbol)
	if err != nil {
		return nil, err
	}
	release, err := j.release(s)
	if err != nil {
		return nil, err
	}
	if j.layout, err = newLayout(s, release); err != nil {
		return nil, err
	}
	j.Forget()
	return j, nil
}

// release reads the feature release of the JDK.
func (j *JVM) release(s *structs) (int, error) {
	at, ok := s.statics["Abstract_VM_Version._vm_major_version"]
	if !ok {
		return 0, errors.New("HotSpot's tables do not tell its version")
	}
	var buf [4]byte
	b, err := j.mem.read(buf[:], at, 4)
	if err != nil {
		return 0, err
	}
	release := int(b[0])
	if !Known(release) {
		return 0, fmt.Errorf("the debug info of JDK %d is not known", release)
	}
	return release, nil
}

// Forget forgets the names of methods and classes. HotSpot uses the memory of
// unloaded classes again.
func (j *JVM) Forget() {
	j.methods, j.classes, j.members = map[uint64]*method{}, map[uint64]string{}, map[memberKey]string{}
}

// method reads a Method, or remembers it.
func (j *JVM) method(at uint64) (*method, error) {
	if m, ok := j.methods[at]; ok {
		return m, nil
	}
	m, err := j.readMethod(at)
	if err != nil {
		return nil, fmt.Errorf("a method of its debug info: %w", err)
	}
	j.methods[at] = m
	return m, nil
}
