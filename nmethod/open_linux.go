package nmethod

import (
	"debug/elf"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/gasm-profiler/gasm/native"
)

// Open finds HotSpot in a process. It must have loaded libjvm.so; one that
// writes a log has.
func Open(pid int) (*JVM, error) {
	mappings, err := native.ReadMaps(pid)
	if len(mappings) == 0 && err != nil {
		return nil, err
	}
	for _, m := range mappings {
		if filepath.Base(m.Path) != "libjvm.so" {
			continue
		}
		symbols, err := exported(m)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", m.Path, err)
		}
		return newJVM(process(pid), func(name string) (uint64, error) {
			at, ok := symbols[name]
			if !ok {
				return 0, fmt.Errorf("%s has no symbol %s", m.Path, name)
			}
			return at, nil
		})
	}
	return nil, errors.New("it has no libjvm.so")
}

// exported gives the addresses of a mapped file's dynamic symbols.
func exported(m native.Mapping) (map[string]uint64, error) {
	f, err := elf.Open(m.Path)
	if err != nil {
		// of another mount namespace
		f, err = elf.Open(fmt.Sprintf("/proc/%d/root%s", m.PID, m.Path))
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
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

// loadBias gives the difference between addresses in the process and in the
// file.
func loadBias(f *elf.File, m native.Mapping) (uint64, error) {
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 && p.Off <= m.FileOffset+m.Hi-m.Lo && m.FileOffset < p.Off+p.Filesz {
			return m.Lo - m.FileOffset - (p.Vaddr - p.Off), nil
		}
	}
	return 0, errors.New("it is not the file that is mapped")
}
