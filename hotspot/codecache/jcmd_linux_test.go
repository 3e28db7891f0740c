package codecache

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/printassembly"
)

// jcmd runs one of jcmd's commands in the JVM.
func (j *jvm) jcmd(t *testing.T, command string) string {
	t.Helper()
	out, err := exec.Command(gasmtest.NeedTool(t, "jcmd", "scripts/setup.sh installs a JDK"), fmt.Sprint(j.Process.Pid),
		command).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

// An entry is a blob as the JVM reports it.
type entry struct {
	id, level int
	lo, hi    uint64
	name      string
}

// around polls a Cache, calls list to have the JVM list its blobs, and polls again. It returns the JVM's list as
// told. all has the blobs of both Polls, and an element of kept is true if both Polls found the blob. all and kept
// differ because the JVM runs methods for jcmd that it has not run before.
func around(t *testing.T, c *Cache, list func() map[entry]bool, entries func() []entry) (
	told, kept, all map[entry]bool) {
	t.Helper()
	kept, all = map[entry]bool{}, map[entry]bool{}
	_, err := c.Poll(1)
	require.NoError(t, err)
	for _, e := range entries() {
		all[e] = true
	}
	told = list()
	_, err = c.Poll(2)
	require.NoError(t, err)
	for _, e := range entries() {
		kept[e] = all[e]
		all[e] = true
	}
	return told, kept, all
}

func compare(t *testing.T, told, kept, all map[entry]bool) {
	t.Helper()
	common := 0
	for e := range told {
		assert.True(t, all[e], "only the JVM knows %+v", e)
	}
	for e, inBoth := range kept {
		if inBoth {
			common++
			assert.True(t, told[e], "the JVM does not know %+v", e)
		}
	}
	t.Logf("the JVM lists %d, gasm %d; %d of these were there before and after", len(told), len(all), common)
	assert.Greater(t, common, 200)
}

// TestCodelist compares the nmethods with those that the JVM lists.
func TestCodelist(t *testing.T) {
	gasmtest.NeedTime(t)
	dir := classPath(t)
	// 4 0 0 jdk.internal.misc.Unsafe.getReferenceVolatile(Ljava/lang/Object;J)Ljava/lang/Object; [0x…, 0x… - 0x…]
	line := regexp.MustCompile(`(?m)^(\d+) (-?\d+) (-?\d+) (.+) \[0x([0-9a-f]+), 0x([0-9a-f]+) - 0x([0-9a-f]+)\]$`)
	eachJDK(t, func(t *testing.T, jdk gasmtest.JDK) {
		if jdk.Feature < 11 {
			return // this JDK has no Compiler.codelist
		}
		j := start(t, jdk, 250, "-cp", dir, "Busy", "1000")
		c := j.open(t)
		list := func() map[entry]bool {
			told := map[entry]bool{}
			for _, m := range line.FindAllStringSubmatch(j.jcmd(t, "Compiler.codelist"), -1) {
				name, _, _ := strings.Cut(m[4], "(")
				if i := strings.LastIndexByte(name, '.'); i >= 0 {
					name = name[:i] + "::" + name[i+1:]
				}
				told[entry{number(t, m[1]), number(t, m[2]), address(t, m[5]), 0, name}] = true
			}
			return told
		}
		told, kept, all := around(t, c, list, func() (entries []entry) {
			for _, b := range c.Blobs() {
				if b.Method != nil {
					name, _, _ := strings.Cut(b.Name, "(")
					entries = append(entries, entry{b.Method.ID, b.Method.Level, b.Method.Address, 0, name})
				}
			}
			return entries
		})
		compare(t, told, kept, all)
	})
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n
}

func address(t *testing.T, text string) uint64 {
	t.Helper()
	at, err := strconv.ParseUint(strings.TrimPrefix(text, "0x"), 16, 64)
	require.NoError(t, err)
	return at
}

// TestPerfmap compares all blobs with the list that the JVM writes for perf.
func TestPerfmap(t *testing.T) {
	gasmtest.NeedTime(t)
	dir := classPath(t)
	eachJDK(t, func(t *testing.T, jdk gasmtest.JDK) {
		if jdk.Feature < 17 {
			return // this JDK has no Compiler.perfmap
		}
		j := start(t, jdk, 250, "-cp", dir, "Busy", "1000")
		path := fmt.Sprintf("/tmp/perf-%d.map", j.Process.Pid)
		t.Cleanup(func() { os.Remove(path) })
		c := j.open(t)
		methods := map[uint64]bool{}
		list := func() map[entry]bool {
			j.jcmd(t, "Compiler.perfmap")
			_, err := c.Poll(1)
			require.NoError(t, err)
			for _, b := range c.Blobs() {
				methods[b.Lo] = b.Method != nil
			}
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			told := map[entry]bool{}
			for line := range strings.Lines(string(text)) {
				// 0x00007fec78ec71c0 0x0000000000000270 jdk.internal.misc.Unsafe.getReferenceVolatile
				f := strings.SplitN(strings.TrimSpace(line), " ", 3)
				lo := address(t, f[0])
				e := entry{lo: lo, hi: lo + address(t, f[1]), name: strings.TrimSpace(f[2])}
				// JDK 28 lists parts of blobs, too: "StubRoutines mulAdd_stub (stub gen)", "vtable stub [5]".
				if b := c.Find(lo); b != nil && b.Lo == lo && b.Hi == e.hi &&
					(b.Kind == printassembly.Stub || b.Kind == printassembly.VtableStub) {
					if b.Kind == printassembly.Stub {
						i := strings.LastIndex(b.Name, "::")
						assert.Equal(t, e.name, b.Name[:i]+" "+b.Name[i+2:])
					}
					continue
				}
				if methods[lo] { // signatures such as "void java.lang.Object.<init>()" are not compared
					e.name = ""
				}
				told[e] = true
			}
			return told
		}
		told, kept, all := around(t, c, list, func() (entries []entry) {
			for _, hp := range c.heaps {
				for _, b := range hp.blocks {
					if jdk.Feature >= 28 && b.compileID == 0 && b.parts[0].Name != b.name &&
						b.kind != printassembly.Interpreter && b.kind != printassembly.Adapter {
						continue // the JVM lists only the parts of this blob
					}
					entries = append(entries, entry{lo: b.lo, hi: b.hi,
						name: strings.TrimPrefix(b.name, safepointPrefix)})
				}
			}
			return entries
		})
		compare(t, told, kept, all)
	})
}
