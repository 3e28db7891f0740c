package sdt

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// TestCode assembles the machine code and compares it with the package's constants.
func TestCode(t *testing.T) {
	for _, c := range []struct {
		machine       *Machine
		source, tools string
	}{
		{AMD64, "amd64.s", "x86_64-linux-gnu-"},
		{ARM64, "arm64.s", "aarch64-linux-gnu-"},
	} {
		t.Run(c.source, func(t *testing.T) {
			as := gasmtest.NeedTool(t, c.tools+"as", "scripts/setup.sh test installs binutils")
			dir := t.TempDir()
			object, linked, code := filepath.Join(dir, "o"), filepath.Join(dir, "elf"), filepath.Join(dir, "bin")
			run(t, as, fmt.Sprintf("--defsym=slots=%d", Sites), "-o", object, filepath.Join("testdata", c.source))
			args := []string{"-N", "--no-warn-rwx-segments", "-Ttext", fmt.Sprintf("%#x", codeAt), "-e", "0", "-o",
				linked, object}
			for name, at := range map[string]int{"classname": textsAt, "methods": methodsAt, "semaphores": semaphores,
				"sites": sitesAt} {
				args = append(args, fmt.Sprintf("--defsym=%s=%d", name, at))
			}
			run(t, c.tools+"ld", args...)
			run(t, c.tools+"objcopy", "-O", "binary", "-j", ".text", linked, code)
			want, err := os.ReadFile(code)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(c.machine.code, want) {
				t.Errorf("the machine code of %s is, in machine.go:\n%s\nand in testdata:", c.source,
					hex.Dump(c.machine.code))
				for i := 0; i < len(want); i += 32 {
					t.Logf("%x", want[i:min(i+32, len(want))])
				}
			}
			if end := codeAt + len(want); end > sitesAt {
				t.Errorf("the code ends at %#x, where the sites are", end)
			}
		})
	}
}

func run(t *testing.T, name string, args ...string) (output string) {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}
