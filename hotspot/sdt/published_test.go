package sdt

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPublished(t *testing.T) {
	dir := t.TempDir()
	object := filepath.Join(dir, "java-1.so")
	if err := create(t, object, ARM64).Close(); err != nil {
		t.Fatal(err)
	}
	p, err := NewPublished(openStorage(t, object), ARM64)
	if err != nil {
		t.Fatal(err)
	}
	m := Method{Class: "A", Name: "b", Descriptor: "()V"}
	var want []Probe
	for _, site := range []int{0, Sites - 2} {
		if err := p.Add(site, m); err != nil || !p.Has(site) {
			t.Error(err)
		}
		entry, ret, err := m.Probes(site)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, entry, ret)
	}
	if p.Has(-1) || p.Has(2) || p.Has(Sites) {
		t.Error("it has sites that nobody has added")
	}
	for _, site := range []int{0, 1, 3, -2, Sites - 1, Sites} {
		if err := p.Add(site, m); err == nil {
			t.Errorf("%d is taken for a free site", site)
		}
	}
	for _, bad := range []Method{{"", "b", "()V", false}, {"A", "", "()V", false}, {"A", "b", "", false}} {
		if err := p.Add(2, bad); err == nil {
			t.Errorf("%v is taken for a method", bad)
		}
	}
	checkSymbols(t, object, nil)
	if err := p.Publish(); err != nil || len(p.Methods) != 2 {
		t.Errorf("%d methods, %v", len(p.Methods), err)
	}
	checkSymbols(t, object, want)
	before, err := os.ReadFile(object)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Publish(); err != nil {
		t.Error(err)
	}
	if after, err := os.ReadFile(object); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the same probes were published twice, %v", err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	checkSymbols(t, object, want)
}

// FuzzMethod makes probes for methods whose class, name and descriptor are any text, because gasm gets them from a
// JVM.
func FuzzMethod(f *testing.F) {
	f.Add("org/acme/Svc", "tiny", "(ILjava/lang/String;)J", true)
	f.Add("A$B", "<init>", "([[[Lx;DJ)V", false)
	f.Add("\x1b[31m:\n", "a\x00b", "(D)[I", false)
	f.Fuzz(func(t *testing.T, class, name, descriptor string, static bool) {
		entry, ret, err := Method{class, name, descriptor, static}.Probes(4)
		if err != nil {
			return
		}
		for _, p := range []Probe{entry, ret} {
			for _, text := range []string{p.Name, p.Symbol} {
				if strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' || r == ':' }) {
					t.Errorf("%q can't be shown by a tracer", text)
				}
			}
		}
		data, headers, count, err := sections(AMD64, firstArea, []Probe{entry, ret})
		if err != nil || len(data) > areaSize/Sites+1<<12 || headers < firstArea || count == 0 {
			t.Errorf("%d bytes of sections: %v", len(data), err)
		}
	})
}
