package vmstructs

import (
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/gasm-profiler/gasm/internal/native"
)

// Open finds the HotSpot in a process. The process must have loaded libjvm.so; a JVM
// that writes a log has.
//
// The error is syscall.ESRCH or fs.ErrNotExist where the process has ended.
func Open(pid int) (*VM, error) {
	library, err := findLibJVM(pid)
	if err != nil {
		return nil, err
	}
	symbols, err := exportedSymbols(library)
	if err != nil {
		if _, gone := os.Stat(fmt.Sprintf("/proc/%d", pid)); gone != nil {
			err = gone
		}
		return nil, fmt.Errorf("reading the symbols of %s: %w", library.Path, err)
	}
	return New(processMemory(pid), func(name string) (uint64, error) {
		at, ok := symbols[name]
		if !ok {
			return 0, fmt.Errorf("%s does not export %s", library.Path, name)
		}
		return at, nil
	})
}

// findLibJVM finds the mapping of libjvm.so that holds code.
func findLibJVM(pid int) (native.Mapping, error) {
	mappings, err := native.ReadMaps(pid)
	for _, m := range mappings {
		if filepath.Base(m.Path) == "libjvm.so" {
			return m, nil
		}
	}
	switch {
	case err != nil:
		return native.Mapping{}, err
	case len(mappings) == 0:
		// A process that has ended has no memory, until its parent waits for it.
		return native.Mapping{}, fmt.Errorf("process %d has no memory any more: %w", pid, syscall.ESRCH)
	}
	return native.Mapping{}, fmt.Errorf("process %d has not loaded libjvm.so: it is no JVM with HotSpot", pid)
}

// exportedSymbols gives the addresses of the symbols that a mapped file exports.
func exportedSymbols(m native.Mapping) (map[string]uint64, error) {
	file, err := openMapped(m)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	f, err := elf.NewFile(file)
	if err != nil {
		return nil, err
	}
	bias, err := loadBias(f, m)
	if err != nil {
		return nil, err
	}
	list, err := f.DynamicSymbols()
	if err != nil {
		return nil, err
	}
	symbols := make(map[string]uint64, len(list))
	for _, s := range list {
		if s.Section != elf.SHN_UNDEF {
			symbols[s.Name] = s.Value + bias
		}
	}
	return symbols, nil
}

// openMapped opens the file that is mapped. An update of the JDK's package may have
// put another file at its path, which has its symbols at other addresses.
func openMapped(m native.Mapping) (*os.File, error) {
	paths := []string{
		m.Path,
		fmt.Sprintf("/proc/%d/root%s", m.PID, m.Path),              // of another mount namespace
		fmt.Sprintf("/proc/%d/map_files/%x-%x", m.PID, m.Lo, m.Hi), // for root, even if the file has no path any more
	}
	if m.Deleted {
		paths = paths[2:]
	}
	var first error
	for _, path := range paths {
		f, _, err := native.OpenMapped(path, &m)
		if err == nil {
			return f, nil
		}
		if first == nil {
			first = err
		}
	}
	// The reason is not wrapped, because fs.ErrNotExist says that the process has ended.
	return nil, fmt.Errorf("the file that the JVM loaded can't be opened (%v); if it was updated, start the JVM again", first)
}

// loadBias gives the difference between an address in the process and the address
// that the file has for it.
func loadBias(f *elf.File, m native.Mapping) (uint64, error) {
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 && p.Off <= m.FileOffset+m.Hi-m.Lo && m.FileOffset < p.Off+p.Filesz {
			return m.Lo - m.FileOffset - (p.Vaddr - p.Off), nil
		}
	}
	return 0, errors.New("its segments are not those that are mapped: libjvm.so was replaced after the JVM had loaded it; start the JVM again")
}
