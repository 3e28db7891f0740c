package native

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// tool returns the path of a program, without which the test is skipped.
func tool(tb testing.TB, name string) string {
	tb.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		tb.Skipf("%s is not installed", name)
	}
	return path
}

func run(tb testing.TB, name string, args ...string) []byte {
	tb.Helper()
	out, err := exec.Command(tool(tb, name), args...).CombinedOutput()
	require.NoError(tb, err, "%s %q: %s", name, args, out)
	return out
}

// libjvms returns the libjvm.so of each JDK, one path a file.
func libjvms(tb testing.TB) []string {
	tb.Helper()
	paths, err := filepath.Glob("/usr/lib/jvm/*/lib/server/libjvm.so")
	require.NoError(tb, err)
	var libs []string
	known := map[string]bool{}
	for _, path := range paths {
		real, err := filepath.EvalSymlinks(path)
		require.NoError(tb, err)
		if !known[real] {
			known[real] = true
			libs = append(libs, real)
		}
	}
	if len(libs) == 0 {
		tb.Skip("no JDK in /usr/lib/jvm")
	}
	return libs
}

// An nmSymbol is a line of nm's.
type nmSymbol struct {
	lo, size uint64
	kind     byte
	name     string
}

// function tells whether nm calls it code. An i is an indirect function.
func (s nmSymbol) function() bool { return strings.IndexByte("tTwWiu", s.kind) >= 0 }

// nm lists the defined symbols of a file with binutils.
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

// load reads a file as if it were mapped.
func load(tb testing.TB, path string) *image {
	tb.Helper()
	img, failure := NewResolver().load(&Mapping{Path: path})
	require.Empty(tb, failure)
	return img
}

func write(tb testing.TB, path string, data []byte) string {
	tb.Helper()
	require.NoError(tb, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(tb, os.WriteFile(path, data, 0o755))
	return path
}
