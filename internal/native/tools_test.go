package native

import (
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// tool returns the path of a program of gcc, binutils or xz.
func tool(tb testing.TB, name string) string {
	tb.Helper()
	return gasmtest.NeedTool(tb, name, "scripts/setup.sh test installs it")
}

func run(tb testing.TB, name string, args ...string) []byte {
	tb.Helper()
	out, err := exec.Command(tool(tb, name), args...).CombinedOutput()
	require.NoError(tb, err, "%s %q: %s", name, args, out)
	return out
}

// jdks returns the JDKs whose libjvm.so has a symbol table. Most have one, but not Debian's JDK 8.
func jdks(tb testing.TB) []gasmtest.JDK {
	tb.Helper()
	found := gasmtest.NeedJDKs(tb, func(j gasmtest.JDK) bool {
		f, err := elf.Open(j.LibJVM())
		require.NoError(tb, err)
		defer f.Close()
		return f.Section(".symtab") != nil
	})
	require.NotEmpty(tb, found)
	return found
}

// An nmSymbol is a line of nm's output.
type nmSymbol struct {
	lo, size uint64
	kind     byte
	name     string
}

// function reports whether the symbol is code, by nm's letter. i is an indirect function; u, a unique symbol, is data.
func (s nmSymbol) function() bool { return strings.IndexByte("tTwWi", s.kind) >= 0 }

// nm returns the defined symbols of a file, from binutils' nm.
func nm(tb testing.TB, path string, flags ...string) []nmSymbol {
	tb.Helper()
	var stderr bytes.Buffer
	cmd := exec.Command(tool(tb, "nm"), append(flags, "-S", "--defined-only", "--without-symbol-versions", path)...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(tb, err, stderr.String())
	var symbols []nmSymbol
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) < 3 {
			continue
		}
		s := nmSymbol{name: fields[len(fields)-1], kind: fields[len(fields)-2][0]}
		s.lo, err = strconv.ParseUint(fields[0], 16, 64)
		require.NoError(tb, err, line)
		if len(fields) == 4 {
			s.size, err = strconv.ParseUint(fields[1], 16, 64)
			require.NoError(tb, err, line)
		}
		symbols = append(symbols, s)
	}
	return symbols
}

// load returns the image of a file.
func load(tb testing.TB, path string) *image {
	tb.Helper()
	r := NewResolver()
	r.limits = newLimits(maxMemory, maxTime)
	img, failure := r.load(&Mapping{PID: os.Getpid(), Path: path})
	require.Empty(tb, failure)
	return img
}

func write(tb testing.TB, path string, data []byte) string {
	tb.Helper()
	require.NoError(tb, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(tb, os.WriteFile(path, data, 0o755))
	return path
}
