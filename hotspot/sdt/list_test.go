package sdt

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestParseLine(t *testing.T) {
	check := func(line string, wantSite int, want Method) {
		t.Helper()
		site, m, err := parseLine(line)
		if err != nil || site != wantSite || m != want {
			t.Errorf("%q is site %d, %+v, %v", line, site, m, err)
		}
	}
	check("2\torg/acme/Svc\ttiny\t(I)J", 2, Method{Class: "org/acme/Svc", Name: "tiny", Descriptor: "(I)J"})
	check("2046\tSvc\ttiny\t()V\tstatic", 2046, Method{Class: "Svc", Name: "tiny", Descriptor: "()V", Static: true})
	for _, bad := range []string{"", "2", "2\tA\tb", "3\tA\tb\t()V", "-2\tA\tb\t()V", "2048\tA\tb\t()V", "x\tA\tb\t()V", "2\t\tb\t()V",
		"2\tA\t\t()V", "2\tA\tb\t()V\tfinal", "2\tA\tb\t()V\tstatic\t"} {
		if _, _, err := parseLine(bad); err == nil {
			t.Errorf("%q is taken for a method", bad)
		}
	}
}

// TestPublished writes a list bit by bit.
func TestPublished(t *testing.T) {
	dir := t.TempDir()
	object, list := filepath.Join(dir, "java-1.so"), filepath.Join(dir, "java-1.methods")
	o, err := Create(object, ARM64)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	p, err := NewPublished(object, list, ARM64)
	if err != nil {
		t.Fatal(err)
	}
	update := func(wantMore bool, wantMethods, wantBad int) {
		t.Helper()
		more, err := p.Update()
		if err != nil || more != wantMore || len(p.Methods) != wantMethods || p.Bad != wantBad {
			t.Errorf("more %t, %d methods, %d bad lines, %v; want %t, %d, %d", more, len(p.Methods), p.Bad, err, wantMore, wantMethods, wantBad)
		}
		checkSymbols(t, object, p.probes)
	}
	write := func(text string) {
		t.Helper()
		f, err := os.OpenFile(list, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = f.WriteString(text)
		}
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	update(false, 0, 0)
	write("0\tA\tb\t()V\n2\tA\tc")
	update(true, 1, 0)
	update(false, 1, 0)
	write("\t(I)V\tstatic\n")
	update(true, 2, 0)
	write("2\tA\tother\t(I)V\nbad\n4\tA\td\t(\n")
	update(false, 2, 3)
	write(strings.Repeat("x", maxList))
	update(false, 2, 3)
	if err := p.Remove(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

func FuzzList(f *testing.F) {
	f.Add("0\torg/acme/Svc\ttiny\t(ILjava/lang/String;)J\n2\tA$B\t<init>\t()V\tstatic\nbad\n4\tA")
	f.Add("0\tA\tb\t([[[Lx;DJ)[I\n")
	f.Fuzz(func(t *testing.T, text string) {
		p := &Published{}
		p.add(text)
		if len(p.probes) != 2*len(p.Methods) || len(p.probes) > Sites {
			t.Errorf("%d probes of %d methods", len(p.probes), len(p.Methods))
		}
		for _, probe := range p.probes {
			for _, text := range []string{probe.Name, probe.Symbol} {
				if strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' || r == ':' }) {
					t.Errorf("%q can't be shown by a tracer", text)
				}
			}
		}
		data, headers, count, err := sections(AMD64, firstArea, p.probes)
		if err != nil || len(data) > areaSize || headers < firstArea || count == 0 {
			t.Error(fmt.Errorf("%d bytes of sections: %w", len(data), err))
		}
	})
}
