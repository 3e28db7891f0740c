package probe

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"
)

// The agent's Loader first defines the classes that the probed methods call. These are in
// runtimePackage. Then it defines all other classes; the entry class is the last one.
const (
	runtimePackage = "java/lang/"
	entryClass     = "org/gasm/agent/Entry"
)

// classFiles converts the agent's jar to the form that its Loader reads. Each class file is
// preceded by its length in four bytes. A class comes after its superclass and interfaces. The
// classes for the boot loader come first, then a length of 0, then the other classes, and another
// length of 0.
func classFiles(jar []byte) ([]byte, error) {
	files, err := readJar(jar)
	if err != nil {
		return nil, fmt.Errorf("reading the agent's jar: %w", err)
	}
	s := sorter{files: files, done: map[string]bool{entryClass: true}}
	for _, name := range s.names() {
		if strings.HasPrefix(name, runtimePackage) {
			s.add(name)
		}
	}
	s.end()
	for _, name := range s.names() {
		s.add(name)
	}
	s.done[entryClass] = false
	s.add(entryClass)
	s.end()
	return s.out, nil
}

// readJar returns the class files of a jar by their class names, such as "java/lang/Object".
func readJar(jar []byte) (map[string][]byte, error) {
	z, err := zip.NewReader(bytes.NewReader(jar), int64(len(jar)))
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, entry := range z.File {
		name, ok := strings.CutSuffix(entry.Name, ".class")
		if !ok {
			continue
		}
		r, err := entry.Open()
		if err != nil {
			return nil, err
		}
		if files[name], err = io.ReadAll(r); err != nil {
			return nil, err
		}
		r.Close()
	}
	return files, nil
}

// A sorter writes class files. Each class comes after its superclass and interfaces, because the agent's Loader defines
// the classes in this order and can't load one on demand.
type sorter struct {
	files map[string][]byte
	done  map[string]bool
	out   []byte
}

func (s *sorter) names() (names []string) {
	for name := range s.files {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// add writes a class, and before it the class's superclass and interfaces. It skips classes that
// are already written, and classes of the JDK, which are not in the jar.
func (s *sorter) add(name string) {
	file, ok := s.files[name]
	if !ok || s.done[name] {
		return
	}
	s.done[name] = true
	for _, above := range superclasses(file) {
		s.add(above)
	}
	s.out = binary.BigEndian.AppendUint32(s.out, uint32(len(file)))
	s.out = append(s.out, file...)
}

func (s *sorter) end() { s.out = binary.BigEndian.AppendUint32(s.out, 0) }

// superclasses returns the names of a class's superclass and interfaces, from its class file
// (chapter 4 of the JVM Specification). It does not check the file, so it is only for the agent's
// own classes.
func superclasses(file []byte) (names []string) {
	const utf8, long, double, class = 1, 5, 6, 7
	u2 := func(at int) int { return int(binary.BigEndian.Uint16(file[at:])) }
	// Sizes of the other constants, by tag, in bytes.
	sizes := map[byte]int{3: 4, 4: 4, long: 8, double: 8, class: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2,
		17: 4, 18: 4}
	constants := map[int]int{} // offsets of constants, by index
	at := 10
	for i := 1; i < u2(8); i++ {
		constants[i] = at
		switch tag := file[at]; tag {
		case utf8:
			at += 3 + u2(at+1)
		case long, double:
			i++ // each long or double takes two indices
			fallthrough
		default:
			at += 1 + sizes[tag]
		}
	}
	// Now at is the offset of the access flags. Then come the class (at+2), the superclass (at+4), the number of
	// interfaces (at+6), and the interfaces. Each of these has 2 bytes.
	for i := range 1 + u2(at+6) {
		of := u2(at + 4)
		if i > 0 {
			of = u2(at + 6 + 2*i)
		}
		text := constants[u2(constants[of]+1)]
		names = append(names, string(file[text+3:text+3+u2(text+1)]))
	}
	return names
}
