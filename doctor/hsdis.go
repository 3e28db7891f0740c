package doctor

import (
	"bytes"
	"cmp"
	"debug/elf"
	"debug/macho"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// pluginSymbol is the function that HotSpot calls in a disassembler plug-in. Some plug-ins
// have only the older decode_instructions, which HotSpot no longer calls.
const pluginSymbol = "decode_instructions_virtual"

// A plugin is a disassembler plug-in (hsdis) that HotSpot would find.
type plugin struct {
	path   string
	usable bool // true if it exports pluginSymbol
}

// findPlugin looks for a plug-in in the same places as HotSpot (Disassembler::load_library): in the folder of libjvm,
// with and without the prefix "lib", in the folder above it, and in the folders of the system's loader.
func (j *foundJDK) findPlugin() (plugin, bool) {
	if j.libjvm == "" {
		return plugin{}, false
	}
	name := j.pluginName()
	vm := filepath.Dir(j.libjvm)
	places := []string{filepath.Join(vm, "lib"+name), filepath.Join(vm, name), filepath.Join(filepath.Dir(vm), name)}
	for _, dir := range loaderPath() {
		places = append(places, filepath.Join(dir, name))
	}
	for _, path := range places {
		if _, err := os.Stat(path); err == nil {
			return plugin{path, slices.Contains(dynamicSymbols(path), pluginSymbol)}, true
		}
	}
	return plugin{}, false
}

// pluginName returns the file name of a plug-in for the architecture of libjvm, such as "hsdis-amd64.so". HotSpot and
// Go have the same names for architectures, except for aarch64.
func (j *foundJDK) pluginName() string {
	arch := map[string]string{"arm64": "aarch64"}[runtime.GOARCH]
	if f, err := elf.Open(j.libjvm); err == nil {
		arch = map[elf.Machine]string{elf.EM_AARCH64: "aarch64", elf.EM_X86_64: "amd64", elf.EM_386: "i386"}[f.Machine]
		f.Close()
	}
	name := "hsdis-" + cmp.Or(arch, runtime.GOARCH)
	if runtime.GOOS == "darwin" {
		return name + ".dylib"
	}
	return name + ".so"
}

// loaderPath returns the folders in which the system's loader usually looks for a library that is named without a
// folder. The loader may find further libraries in its cache, which loaderPath does not read.
func loaderPath() []string {
	if runtime.GOOS == "darwin" {
		return append(filepath.SplitList(os.Getenv("DYLD_LIBRARY_PATH")), ".", "/usr/local/lib", "/usr/lib")
	}
	dirs := filepath.SplitList(os.Getenv("LD_LIBRARY_PATH"))
	triplets, _ := filepath.Glob("/usr/lib/*-linux-gnu")
	return append(append(dirs, triplets...), "/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib")
}

// dynamicSymbols returns the names of the functions and variables that a library exports.
func dynamicSymbols(path string) (names []string) {
	if f, err := elf.Open(path); err == nil {
		defer f.Close()
		symbols, _ := f.DynamicSymbols() // the error says that there are none
		for _, s := range symbols {
			if s.Section != elf.SHN_UNDEF {
				names = append(names, s.Name)
			}
		}
		return names
	}
	f, done := openMachO(path)
	if f == nil {
		return nil
	}
	defer done()
	if f.Symtab == nil {
		return nil
	}
	for _, s := range f.Symtab.Syms {
		if s.Sect != 0 {
			names = append(names, strings.TrimPrefix(s.Name, "_"))
		}
	}
	return names
}

// openMachO opens a macOS library. If the library has parts for several architectures, f is the part for this machine's
// architecture. done closes the library. Both are nil if the file is not a macOS library, or if it has no part for this
// architecture.
func openMachO(path string) (f *macho.File, done func()) {
	if f, err := macho.Open(path); err == nil {
		return f, func() { f.Close() }
	}
	fat, err := macho.OpenFat(path)
	if err != nil {
		return nil, nil
	}
	cpu := map[string]macho.Cpu{"amd64": macho.CpuAmd64, "arm64": macho.CpuArm64}[runtime.GOARCH]
	for _, arch := range fat.Arches {
		if arch.Cpu == cpu {
			return arch.File, func() { fat.Close() }
		}
	}
	fat.Close()
	return nil, nil
}

// hasProbes reports whether a libjvm has HotSpot's static probes (USDT). On Linux, these are notes in SystemTap's
// format. On macOS, they are sections in DTrace's format.
func hasProbes(libjvm string) bool {
	if f, err := elf.Open(libjvm); err == nil {
		defer f.Close()
		if s := f.Section(".note.stapsdt"); s != nil {
			notes, err := s.Data()
			return err == nil && bytes.Contains(notes, []byte("hotspot\x00"))
		}
		return false
	}
	f, done := openMachO(libjvm)
	if f == nil {
		return false
	}
	defer done()
	return slices.ContainsFunc(f.Sections, func(s *macho.Section) bool {
		return strings.HasPrefix(s.Name,
			"__dof_hotspot")
	})
}
