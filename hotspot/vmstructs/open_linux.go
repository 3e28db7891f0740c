package vmstructs

import (
	"debug/elf"
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
	vm, err := New(processMemory(pid), func(name string) (uint64, error) {
		at, ok := symbols[name]
		if !ok {
			return 0, fmt.Errorf("%s does not export %s", library.Path, name)
		}
		return at, nil
	})
	if err != nil {
		return nil, err
	}
	vm.symbols = func(names []string) (map[string]uint64, error) { return fileSymbols(library, names) }
	return vm, nil
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
