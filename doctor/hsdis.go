package doctor

import (
	"bytes"
	"debug/elf"
	"debug/macho"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// pluginSymbol is what HotSpot looks up in a disassembler plug-in. Some
// plug-ins have only its forerunner, decode_instructions.
const pluginSymbol = "decode_instructions_virtual"

// A plugin is a disassembler that HotSpot would find.
type plugin struct {
	path   string
	usable bool // it has the symbol
}

// findPlugin looks where HotSpot does (Disassembler::load_library): beside
// libjvm with and without "lib", one folder up, then wherever the loader looks.
func (j *jdk) findPlugin() (plugin, bool) {
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

// pluginName is hsdis-amd64.so and the like; HotSpot has its own names for
// architectures, which are Go's but for one.
func (j *jdk) pluginName() string {
	arch, end := runtime.GOARCH, ".so"
	if f, err := elf.Open(j.libjvm); err == nil {
		arch = map[elf.Machine]string{elf.EM_AARCH64: "arm64", elf.EM_X86_64: "amd64", elf.EM_386: "i386"}[f.Machine]
		f.Close()
	}
	if arch == "" {
		arch = runtime.GOARCH
	}
	if arch == "arm64" {
		arch = "aarch64"
	}
	if runtime.GOOS == "darwin" {
		end = ".dylib"
	}
	return "hsdis-" + arch + end
}

// loaderPath is where the system's loader looks for a library without a path.
// The real one has a cache; these are its usual folders.
func loaderPath() []string {
	if runtime.GOOS == "darwin" {
		return append(filepath.SplitList(os.Getenv("DYLD_LIBRARY_PATH")), ".", "/usr/local/lib", "/usr/lib")
	}
	dirs := filepath.SplitList(os.Getenv("LD_LIBRARY_PATH"))
	triplets, _ := filepath.Glob("/usr/lib/*-linux-gnu")
	return append(append(dirs, triplets...), "/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib")
}

// dynamicSymbols are the names that a library gives to others.
func dynamicSymbols(path string) (names []string) {
	if f, err := elf.Open(path); err == nil {
		defer f.Close()
		symbols, _ := f.DynamicSymbols() // a library without any has none
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

// openMachO opens a library of macOS; of one for several architectures the part
// for this one.
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

// hasProbes tells whether a libjvm has HotSpot's static probes: SystemTap's
// notes on Linux, DTrace's own format on macOS.
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
	return slices.ContainsFunc(f.Sections, func(s *macho.Section) bool { return strings.HasPrefix(s.Name, "__dof_hotspot") })
}
