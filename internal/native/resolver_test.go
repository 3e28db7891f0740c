package native

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// noteOurs tells a resolver that a process has the same user and root folder as this one. The process need not exist.
func noteOurs(t testing.TB, r *Resolver, pid int) {
	t.Helper()
	ours, ok := ownerOf(os.Getpid())
	assert.Equal(t, runtime.GOOS == "linux", ok)
	r.owners[pid] = notedOwner{owner: ours, looked: true}
}

// mapLibrary adds the mapping of a whole library, at base, to a resolver.
func mapLibrary(t testing.TB, r *Resolver, path string, pid int, base uint64) {
	t.Helper()
	noteOurs(t, r, pid)
	info, err := os.Stat(path)
	require.NoError(t, err)
	r.Add(Mapping{PID: pid, Lo: base, Hi: base + uint64(info.Size()+0xfff)&^0xfff, Path: path})
}

func symbolOf(t *testing.T, path, name string) nmSymbol {
	t.Helper()
	for _, s := range nm(t, path) {
		if s.name == name {
			return s
		}
	}
	t.Fatalf("%s has no %s", path, name)
	return nmSymbol{}
}

const base = 0x7f00_0000_0000

func TestResolveLive(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	kinds := [][]string{{"-pie", "-fPIE"}, {"-no-pie", "-fno-pie"}}
	require.NotEmpty(t, kinds)
	for _, flags := range kinds {
		path := compile(t, append(flags, "-DMAIN")...)
		cmd := exec.Command(path)
		stdin, err := cmd.StdinPipe()
		require.NoError(t, err)
		stdout, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		line := make([]byte, 200)
		n, err := stdout.Read(line)
		require.NoError(t, err)
		words := strings.Fields(string(line[:n]))
		require.Len(t, words, 2)

		pid := cmd.Process.Pid
		mappings, err := ReadMaps(pid)
		require.NoError(t, err)
		require.NotEmpty(t, mappings)
		r := NewResolver()
		r.Add(mappings...)
		for i, want := range []string{"exported_a", "static_e"} {
			pc, err := strconv.ParseUint(words[i], 0, 64)
			require.NoError(t, err)
			s := symbolOf(t, path, want)
			got, ok := r.Resolve(pid, pc, "")
			assert.True(t, ok)
			assert.Equal(t, Range{pid, pc, pc + s.size, "lib.so", want}, got)
			got, ok = r.Resolve(pid, pc+s.size-1, "wrong")
			assert.True(t, ok)
			assert.Equal(t, want, got.Symbol)
			got, ok = r.Resolve(pid, pc+s.size, "wrong")
			assert.True(t, ok)
			assert.Empty(t, got.Symbol)
			assert.Equal(t, pc+s.size, got.Lo)
		}
		_, ok := r.Resolve(pid, 0x10, "")
		assert.False(t, ok)
		_, ok = r.Resolve(pid+1, mappings[0].Lo, "")
		assert.False(t, ok)
		for _, m := range mappings {
			_, ok := r.Resolve(pid, m.Lo, "")
			assert.True(t, ok)
			_, ok = r.Resolve(pid, m.Hi-1, "")
			assert.True(t, ok)
		}
		assert.Empty(t, r.Notes())
		require.NoError(t, stdin.Close())
		require.NoError(t, cmd.Wait())
		_, err = ReadMaps(pid)
		assert.Error(t, err)
	}
}

func TestResolveVDSO(t *testing.T) {
	mappings, err := ReadMaps(os.Getpid())
	if runtime.GOOS != "linux" {
		assert.Error(t, err)
		t.Skip("needs /proc")
	}
	require.NoError(t, err)
	r := NewResolver()
	r.Add(mappings...)
	for _, m := range mappings {
		if m.Path != VDSO {
			continue
		}
		found := map[string]bool{}
		for pc := m.Lo; pc < m.Hi; pc += 4 {
			got, ok := r.Resolve(m.PID, pc, "__vdso_getcpu")
			require.True(t, ok)
			assert.Equal(t, VDSO, got.Module)
			found[strings.TrimLeft(got.Symbol, "_")] = true
		}
		assert.True(t, found["clock_gettime"] || found["vdso_clock_gettime"] || found["kernel_clock_gettime"],
			"%v", found)
		assert.Empty(t, r.Notes())

		m.PID, m.Hi = 2, m.Hi+0x1000
		r.Add(m)
		got, ok := r.Resolve(2, m.Lo, "")
		assert.True(t, ok)
		assert.Equal(t, Range{2, m.Lo, m.Hi, VDSO, ""}, got)
		assert.Len(t, r.Notes(), 1)
		return
	}
	t.Skip("no vDSO here")
}

func TestAddReplaces(t *testing.T) {
	r := NewResolver()
	at := func(lo, hi, offset uint64, path string) Mapping {
		return Mapping{PID: 1, Lo: lo, Hi: hi, FileOffset: offset, Path: path}
	}
	check := func(pc uint64, want string, offset uint64) {
		t.Helper()
		p := r.processes[1].find(pc)
		if want == "" {
			assert.True(t, p == nil || !p.file(), "%#x", pc)
			return
		}
		if assert.NotNil(t, p, "%#x", pc) {
			assert.Equal(t, want, p.module, "%#x", pc)
			assert.Equal(t, offset, pc-p.Lo+p.FileOffset, "%#x", pc)
		}
	}
	r.Add(at(0x1000, 0x9000, 0x100, "/x/a.so"), at(0x9000, 0xa000, 0, "/x/b.so"), at(5, 5, 0, "/x/empty"))
	check(0xfff, "", 0)
	check(0x1000, "a.so", 0x100)
	check(0x8fff, "a.so", 0x80ff)
	check(0x9000, "b.so", 0)
	check(0xa000, "", 0)
	before := r.processes[1].parts[0]
	r.Add(at(0x1000, 0x9000, 0x100, "/x/a.so"))
	assert.Same(t, before, r.processes[1].parts[0], "it is there already")

	r.Add(at(0x3000, 0x4000, 0x70, "/x/c.so")) // inside a
	check(0x2fff, "a.so", 0x20ff)
	check(0x3000, "c.so", 0x70)
	check(0x4000, "a.so", 0x3100)
	r.Add(at(0x8000, 0x9800, 0, "//anon")) // over the ends of a and b
	check(0x7fff, "a.so", 0x70ff)
	check(0x8000, "", 0)
	check(0x97ff, "", 0)
	check(0x9800, "b.so", 0x800)
	r.Add(at(0, ^uint64(0), 0, "/x/d.so"))
	check(0x3000, "d.so", 0x3000)
	assert.Len(t, r.processes[1].parts, 1)
}

// TestReplacedMapping: a table contains the functions that were found in a mapping before that mapping was replaced.
func TestReplacedMapping(t *testing.T) {
	lib := compile(t, shared...)
	a, e := symbolOf(t, lib, "exported_a"), symbolOf(t, lib, "static_e")
	r := NewResolver()
	mapLibrary(t, r, lib, 1, base)
	for _, s := range []nmSymbol{a, e} {
		_, ok := r.Resolve(1, base+s.lo, "")
		require.True(t, ok)
	}
	r.Add(Mapping{PID: 1, Lo: base + a.lo, Hi: base + a.lo + 1, Path: "/nosuch/other.so"})
	got, ok := r.Resolve(1, base+a.lo, "")
	assert.True(t, ok)
	assert.Equal(t, Range{1, base + a.lo, base + a.lo + 1, "other.so", ""}, got)
	got, ok = r.Table().Resolve(1, base+a.lo)
	assert.True(t, ok)
	assert.Equal(t, "other.so", got.Module)
	for _, s := range []nmSymbol{{lo: a.lo + 1, name: a.name}, e} {
		got, ok = r.Table().Resolve(1, base+s.lo)
		assert.True(t, ok)
		assert.Equal(t, s.name, got.Symbol)
	}
}

func TestFilesThatCannotBeUsed(t *testing.T) {
	lib := compile(t, shared...)
	dir := t.TempDir()
	data, err := os.ReadFile(lib)
	require.NoError(t, err)
	r := NewResolver()
	cases := []struct {
		name string
		data []byte
		m    Mapping
		want string
	}{
		{"replaced.so", data, Mapping{Inode: 1, DevMajor: 1},
			"replaced.so was replaced while the command ran: its functions have no names"},
		{"deleted.so", data, Mapping{Deleted: true},
			"deleted.so was deleted or replaced while it was in use: its functions have no names"},
		{"missing.so", nil, Mapping{}, "no such file"},
		{"text.so", []byte("INPUT(libc.so)"), Mapping{}, "text.so could not be read"},
		{"empty.so", []byte{}, Mapping{}, "empty.so could not be read"},
		{"cut.so", data[:len(data)/2], Mapping{}, "cut.so could not be read"},
	}
	require.NotEmpty(t, cases)
	for i, c := range cases {
		m := c.m
		m.PID, m.Lo, m.Hi, m.Path = i, base, base+0x100000, filepath.Join(dir, c.name)
		if c.data != nil {
			write(t, m.Path, c.data)
		}
		noteOurs(t, r, i)
		r.Add(m)
		for range 2 {
			got, ok := r.Resolve(i, base+0x1234, "exported_a")
			assert.True(t, ok)
			assert.Equal(t, Range{i, m.Lo, m.Hi, c.name, ""}, got)
		}
		if assert.Len(t, r.Notes(), i+1) {
			assert.Contains(t, r.Notes()[i], c.want)
		}
	}
	noteOurs(t, r, 99)
	r.Add(Mapping{PID: 99, Lo: base, Hi: base + 1, Path: dir})
	_, ok := r.Resolve(99, base, "")
	assert.True(t, ok)
	assert.Contains(t, r.Notes()[len(r.Notes())-1], "is a folder, not a file")
}

func TestResolveAllocatesOnce(t *testing.T) {
	lib := compile(t, shared...)
	stripped := lib + ".stripped"
	run(t, "strip", "-s", "-o", stripped, lib)
	a, hidden := symbolOf(t, lib, "exported_a"), symbolOf(t, lib, "hidden_c")
	r := NewResolver()
	mapLibrary(t, r, stripped, 1, base)
	line := bytes.Repeat([]byte("hidden_c "), 3)
	claim := string(line[:8])
	ask := func() {
		r.Resolve(1, base+a.lo, claim)
		r.Resolve(1, base+hidden.lo, "exported_a")
		r.Resolve(1, base+hidden.lo, claim)
		r.Resolve(1, 1, claim)
	}
	ask()
	assert.Zero(t, testing.AllocsPerRun(100, ask))
}
