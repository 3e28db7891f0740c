package sdt

import (
	"bytes"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// TestFile writes objects with lists of probes, one after another, and reads them with debug/elf and readelf.
func TestFile(t *testing.T) {
	readelf := gasmtest.NeedTool(t, "readelf", "scripts/setup.sh test installs binutils")
	for name, m := range map[string]*Machine{"amd64": AMD64, "arm64": ARM64} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "java-1.so")
			o := create(t, path, m)
			defer o.Close()
			mapped := image(m)
			var all []Probe
			for _, method := range []Method{
				{Class: "org/acme/Svc", Name: "tiny", Descriptor: "(ILjava/lang/String;)J"},
				{Class: "org/acme/Svc$Inner", Name: "<init>", Descriptor: "(DDDDDDDDD)V"},
				{Class: "org/acme/Svc", Name: "tiny", Descriptor: "()V", Static: true},
			} {
				entry, ret, err := method.Probes(len(all))
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, entry, ret)
				if err := o.Publish(all); err != nil {
					t.Fatal(err)
				}
				checkMapped(t, path, mapped)
			}
			text := run(t, readelf, "-nlW", path)
			gasmtest.Golden(t, name+".readelf", []byte(strings.ReplaceAll(text, path, "java-1.so")))
			checkSymbols(t, path, all)
			gasmtest.Golden(t, name+".mapped", []byte(mappedText(t, path)))
			if have, err := os.ReadFile(path); err != nil || !bytes.Equal(have[codeAt:][:len(m.code)], m.code) {
				t.Errorf("the machine code, which TestCode looks at, is not in the object: %v", err)
			}
		})
	}
}

// create writes an object without probes to a file, and opens it.
func create(t *testing.T, path string, m *Machine) *File {
	t.Helper()
	content, err := Empty(m)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := Open(openStorage(t, path), m)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func openStorage(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// mappedText lists what the dynamic linker and tracers read of an object, except notes and probes: sections, dynamic
// entries, relocations, symbols, texts, and the first and the last site.
func mappedText(t *testing.T, path string) string {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var b strings.Builder
	sections := map[string][]byte{}
	for i, s := range f.Sections {
		fmt.Fprintf(&b, "%2d %-18s %v %v addr %#x align %d entsize %d link %d info %d", i, s.Name, s.Type, s.Flags,
			s.Addr, s.Addralign, s.Entsize, s.Link, s.Info)
		if s.Flags&elf.SHF_ALLOC != 0 {
			fmt.Fprintf(&b, " offset %#x size %#x", s.Offset, s.Size)
		}
		b.WriteByte('\n')
		if s.Addralign > 1 && s.Offset%s.Addralign != 0 {
			t.Errorf("%s is at %#x of the file", s.Name, s.Offset)
		}
		if sections[s.Name], err = s.Data(); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{".hash", ".dynsym", ".dynstr", ".rela.dyn", ".dynamic"} {
		fmt.Fprintf(&b, "\n%s\n%s", name, hex.Dump(sections[name]))
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&b, "\ntexts %q\n", bytes.TrimRight(whole[textsAt:baseAt], "\x00"))
	fmt.Fprintf(&b, "native methods\n%s", hex.Dump(whole[methodsAt-dataAt+dataOffset:][:6*8]))
	sites := sections[".text"][sitesAt-codeAt:]
	fmt.Fprintf(&b, "sites %x … %x, %d bytes\n", sites[:siteSize], sites[(Sites-1)*siteSize:][:siteSize], len(sites))
	return b.String()
}

// checkMapped checks that what a JVM has mapped is unchanged, apart from the header.
func checkMapped(t *testing.T, path string, want []byte) {
	t.Helper()
	have, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have[headersAt:len(want)], want[headersAt:]) {
		t.Error("publishing has changed what JVMs have mapped")
	}
}

// checkSymbols checks that each site has its symbol.
func checkSymbols(t *testing.T, path string, probes []Probe) {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	if len(symbols) != len(probes) {
		t.Fatalf("%d symbols of %d probes", len(symbols), len(probes))
	}
	for i, p := range probes {
		if s := symbols[i]; s.Name != p.Symbol || s.Value != siteAddress(p.Site) ||
			f.Sections[s.Section].Name != ".text" {
			t.Errorf("the symbol of %s is %+v", p.Name, s)
		}
	}
}

// TestFull publishes as many probes as there are sites, with the longest possible names.
func TestFull(t *testing.T) {
	path := filepath.Join(t.TempDir(), "java-1.so")
	o := create(t, path, AMD64)
	defer o.Close()
	long := Method{Class: strings.Repeat("LongName", 100), Name: strings.Repeat("m", 50), Descriptor: "(" +
		strings.Repeat("I", 200) + ")V"}
	var all []Probe
	for i := 0; i < Sites; i += 2 {
		entry, ret, err := long.Probes(i)
		if err != nil {
			t.Fatal(err)
		}
		ret.Values = entry.Values
		all = append(all, entry, ret)
	}
	for range 3 {
		if err := o.Publish(all); err != nil {
			t.Fatal(err)
		}
		checkSymbols(t, path, all)
	}
	beyond, _, err := long.Probes(Sites)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Publish([]Probe{beyond}); err == nil || !strings.Contains(err.Error(), "site 2048 of 2048") {
		t.Errorf("a site that is not there: %v", err)
	}
	checkSymbols(t, path, all)
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	o := create(t, filepath.Join(dir, "a"), AMD64)
	entry, ret, err := Method{Class: "A", Name: "b", Descriptor: "()V"}.Probes(0)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 { // so that the list is written to both areas
		if err := o.Publish([]Probe{entry, ret}); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(filepath.Join(dir, "a"))
		if err != nil {
			t.Fatal(err)
		}
		copied := filepath.Join(dir, "copy")
		if err := os.WriteFile(copied, content, 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := Open(openStorage(t, copied), AMD64)
		if err != nil {
			t.Fatal(err)
		}
		if c.second != o.second {
			t.Error("the copy's list of probes is taken for one of the other area")
		}
		if err := c.Publish([]Probe{ret}); err != nil {
			t.Error(err)
		}
		checkSymbols(t, copied, []Probe{ret})
		c.Close()
	}
	if err := o.Close(); err != nil {
		t.Error(err)
	}

	content, err := os.ReadFile(filepath.Join(dir, "a"))
	if err != nil {
		t.Fatal(err)
	}
	content[codeAt]++
	for name, content := range map[string][]byte{"changed": content, "short": content[:codeAt], "empty": nil} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		f := openStorage(t, path)
		if _, err := Open(f, AMD64); err == nil {
			t.Errorf("%s is taken for an object", name)
		}
		if err := f.Close(); !errors.Is(err, os.ErrClosed) {
			t.Errorf("%s is still open: %v", name, err)
		}
	}
}
