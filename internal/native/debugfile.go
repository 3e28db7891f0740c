package native

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/ulikunitz/xz"

	"github.com/gasm-profiler/gasm/internal/regular"
)

// debugFolder is the folder in which distributions install separate debug files.
const debugFolder = "/usr/lib/debug"

// longestDebugData limits the unpacked size of a .gnu_debugdata section, in bytes. A larger section is an error. The
// largest sections in use have about ten MB.
const longestDebugData = 64 << 20

// longestDebugFile limits the size of a debug file, in bytes. A larger file is an error. The debug files of the largest
// programs have 2 GB, because they contain everything that a debugger needs.
const longestDebugFile = 4 << 30

// A debugFinder finds the functions that were stripped from an ELF file.
type debugFinder struct {
	folder string // debugFolder, except in tests
	// beside is true if the process sees the same files as gasm, and the mapping's path still leads to the ELF file.
	// Only then may debug files be read from the ELF file's own folder, if that folder is also trusted. In any other
	// folder, somebody may have put a link that leads to any file.
	beside bool
	// note is called with a sentence for each debug file or section that was found but could not be used.
	note func(text string)
}

// symbols returns the functions that were stripped from the ELF file at a path. It looks for a debug file. If it finds
// none, it looks for the section .gnu_debugdata. If that is missing too, the result is empty.
func (d debugFinder) symbols(path string, o object) symbolTable {
	for _, find := range []func(string, object) (symbolTable, error){d.byBuildID, d.byLink, d.packed} {
		found, err := find(path, o)
		if err != nil {
			d.note(fmt.Sprintf("the debug information of %s could not be read (%v)", filepath.Base(path), err))
		}
		if len(found.functions) > 0 {
			return found
		}
	}
	return symbolTable{}
}

// byBuildID reads the debug file whose name is the build id of o.
func (d debugFinder) byBuildID(_ string, o object) (symbolTable, error) {
	path := d.buildIDPath(o)
	if path == "" {
		return symbolTable{}, nil
	}
	return d.read(path, regular.Open, o, nil)
}

// buildIDPath returns the path of the debug file whose name is the build id of o, or "" if o has no build id.
func (d debugFinder) buildIDPath(o object) string {
	id := hex.EncodeToString(o.buildID())
	if id == "" {
		return ""
	}
	return filepath.Join(d.folder, ".build-id", id[:2], id[2:]+".debug")
}

// byLink reads the debug file that is named in the section .gnu_debuglink.
func (d debugFinder) byLink(path string, o object) (symbolTable, error) {
	candidates, sum, err := d.linked(path, o)
	if err != nil {
		return symbolTable{}, err
	}
	var last error
	for _, c := range candidates {
		found, err := d.read(c.path, c.open, o, &sum)
		if len(found.functions) > 0 {
			return found, nil
		}
		if err != nil {
			last = err
		}
	}
	return symbolTable{}, last
}

// A candidate is a path at which a debug file may be.
type candidate struct {
	path string
	open opener
}

// linked returns the possible paths of the debug file that the section .gnu_debuglink names. The section has the debug
// file's name (without a folder) and its checksum. If there is no such section, there are no paths.
func (d debugFinder) linked(path string, o object) (all []candidate, sum uint32, err error) {
	section := o.Section(".gnu_debuglink")
	if section == nil {
		return nil, 0, nil
	}
	data, err := o.data(section, 1<<12)
	if err != nil {
		return nil, 0, err
	}
	end := bytes.IndexByte(data, 0)
	at := end + 4 - end%4 // the checksum is aligned
	if end <= 0 || at+4 > len(data) {
		return nil, 0, errors.New("section .gnu_debuglink is cut")
	}
	name := string(data[:end])
	if strings.ContainsRune(name, '/') || name == "." || name == ".." {
		return nil, 0, fmt.Errorf("section .gnu_debuglink has a path: %q", name)
	}
	folder := filepath.Dir(path)
	for _, beside := range []string{folder, filepath.Join(folder, ".debug")} {
		if d.beside && isTrusted(beside) {
			all = append(all, candidate{filepath.Join(beside, name), regular.OpenNoLink})
		}
	}
	all = append(all, candidate{filepath.Join(d.folder, folder, name), regular.Open})
	all = slices.DeleteFunc(all, func(c candidate) bool { return c.path == path })
	return all, o.ByteOrder.Uint32(data[at:]), nil
}

// read returns the functions of o from the debug file at a path, which it opens with open(path). If sum is not nil, a
// debug file with another CRC-32 is an error. A missing file is not an error; the result is just empty.
func (d debugFinder) read(path string, open opener, o object, sum *uint32) (symbolTable, error) {
	debug, f, err := openDebug(path, open, o, sum)
	if f == nil {
		return symbolTable{}, err
	}
	defer f.Close()
	found, err := debug.symbols(elf.SHT_SYMTAB)
	if err != nil {
		return symbolTable{}, fmt.Errorf("%s: %w", path, err)
	}
	return found, nil
}

// versions returns the versions of the debug files that o may have, one after the other. A file that is missing has the
// zero value. So the result differs if a debug file was installed meanwhile.
func (d debugFinder) versions(path string, o object) (all [4]fileVersion) {
	paths := []string{d.buildIDPath(o)}
	candidates, _, _ := d.linked(path, o) // none after an error
	for _, c := range candidates {
		paths = append(paths, c.path)
	}
	for i, path := range paths[:min(len(paths), len(all))] {
		if info, err := os.Lstat(path); err == nil {
			all[i] = fileVersion{info.Size(), info.ModTime()}
		}
	}
	return all
}

// An opener opens the regular file at a path, and returns its size in bytes.
type opener func(path string) (*os.File, int64, error)

// openDebug opens the debug file of o at a path. If sum is not nil, a debug file with another CRC-32 is an error. A
// missing file is not an error; the result is just nil.
func openDebug(path string, open opener, o object, sum *uint32) (_ object, _ *os.File, err error) {
	f, size, err := open(path)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return object{}, nil, nil
	}
	if err != nil {
		return object{}, nil, err
	}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	if size > longestDebugFile {
		return object{}, nil, fmt.Errorf("%s has %d bytes, which is too large for a debug file", path, size)
	}
	if sum != nil {
		crc := crc32.NewIEEE()
		if _, err := io.Copy(crc, io.NewSectionReader(limitedFile{o.load, f}, 0, size)); err != nil {
			return object{}, nil, err
		}
		if crc.Sum32() != *sum {
			return object{}, nil, fmt.Errorf("%s is of another build", path)
		}
	}
	debug, err := debugObject(f, size, o)
	if err != nil {
		return object{}, nil, fmt.Errorf("%s: %w", path, err)
	}
	return debug, f, nil
}

// packed reads the section .gnu_debugdata, which Fedora and related distributions add to stripped files. The section is
// itself an ELF file, packed by xz. The symbol table of that file has all functions except those that are dynamic
// symbols.
func (d debugFinder) packed(_ string, o object) (symbolTable, error) {
	section := o.Section(".gnu_debugdata")
	if section == nil {
		return symbolTable{}, nil
	}
	data, err := o.data(section, longestSection)
	if err != nil {
		return symbolTable{}, err
	}
	defer o.load.give(int64(len(data)))
	if err := checkXZ(data); err != nil {
		return symbolTable{}, fmt.Errorf("section .gnu_debugdata: %w", err)
	}
	unpacker, err := xz.ReaderConfig{SingleStream: true}.NewReader(bytes.NewReader(data))
	if err != nil {
		return symbolTable{}, fmt.Errorf("section .gnu_debugdata: %w", err)
	}
	unpacked, err := readAll(o.load, unpacker, longestDebugData)
	defer o.load.give(int64(cap(unpacked)))
	if err != nil {
		return symbolTable{}, fmt.Errorf("section .gnu_debugdata: %w", err)
	}
	found, err := functionsOf(bytes.NewReader(unpacked), int64(len(unpacked)), o)
	if err != nil {
		return symbolTable{}, fmt.Errorf("section .gnu_debugdata: %w", err)
	}
	return found, nil
}

// functionsOf returns the functions in a debug file. It returns an error if the debug file does not belong to o.
func functionsOf(r io.ReaderAt, size int64, o object) (symbolTable, error) {
	debug, err := debugObject(r, size, o)
	if err != nil {
		return symbolTable{}, err
	}
	return debug.symbols(elf.SHT_SYMTAB)
}

// debugObject reads the headers of a debug file. It returns an error if the debug file does not belong to o.
func debugObject(r io.ReaderAt, size int64, o object) (object, error) {
	debug, err := newObject(o.load, r, size)
	if err != nil {
		return object{}, err
	}
	ours, theirs := o.buildID(), debug.buildID()
	if debug.Machine != o.Machine || debug.Class != o.Class ||
		ours != nil && theirs != nil && !bytes.Equal(ours, theirs) {
		return object{}, errors.New("it is of another build")
	}
	return debug, nil
}

// readAll reads r to its end. It returns an error if r has more than limit bytes. It takes the memory for the data from
// l. The caller must give back cap(data) bytes to l, even after an error.
func readAll(l *reading, r io.Reader, limit int) (data []byte, err error) {
	const atFirst = 1 << 16
	for {
		if len(data) == cap(data) {
			larger := max(atFirst, 2*cap(data))
			if err := l.take(int64(larger)); err != nil {
				return data, err
			}
			l.give(int64(cap(data)))
			data = append(make([]byte, 0, larger), data...)
		}
		n, err := r.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case errors.Is(err, io.EOF):
			return data, nil
		case err != nil:
			return data, err
		case len(data) > limit:
			return data, errors.New("it is too large")
		}
		if err := context.Cause(l.ctx); err != nil {
			return data, err
		}
	}
}
