package nmethod

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/javaname"
)

// A printedMethod is a method in a log.
type printedMethod struct {
	head     string // its first line without its time
	id       string // its compile id
	lo       uint64
	code     []byte
	comments []comment // by ascending address
}

// A comment is debug info, or a relocation, or both, at an address.
type comment struct {
	at     uint64
	frames string
	reloc  string
}

// readPrinted returns the methods of a log by their first lines. It parses them in the simplest possible way. Without
// hsdis, HotSpot prints the code in cells of four bytes.
func readPrinted(t *testing.T, log io.Reader) map[string]*printedMethod {
	t.Helper()
	methods := map[string]*printedMethod{}
	var m *printedMethod
	code := false
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		// In names, HotSpot's text has \u00fc where a copy has the letter in UTF-8.
		line := strings.TrimSpace(javaname.Decode(lines.Text()))
		words := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "Compiled method ("):
			m, code = &printedMethod{head: withoutTime(words), id: words[4]}, false
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

// withoutTime joins the words of the first line of a printed method,
//
//	Compiled method (c1) 363 73 % s! 3 Workload::dot @ 4 (28 bytes)
//
// without the time, and without the letters for what a tag does not say: s (synchronized), ! (with exception
// handlers) and b (blocking).
func withoutTime(words []string) string {
	head, rest := []string{strings.ToLower(words[2]), words[4]}, words[5:] // HotSpot prints "(JVMCI)"
	for ; strings.Trim(rest[0], "%s!bn") == ""; rest = rest[1:] {
		if strings.Contains(rest[0], "%") {
			head = append(head, "osr")
		}
	}
	if strings.HasPrefix(rest[1], "java.lang.invoke.MethodHandle::") {
		rest[1] = strings.ReplaceAll(rest[1], ",", "") // JDK 28 has linkToStatic(L,I)V
	}
	return strings.Join(append(head, rest...), " ")
}

var unescapeXML = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&quot;", `"`, "&apos;", "'", "&amp;", "&")

// frame reads a line ";*invokevirtual length {reexecute=0 rethrow=0 return_oop=0}" or
// "; - java.lang.String::length@9 (line 1519)".
func (m *printedMethod) frame(words []string) {
	if len(m.comments) == 0 {
		return
	}
	c := &m.comments[len(m.comments)-1]
	text := strings.Join(words, " ")
	if reloc, ok := strings.CutPrefix(text, "; {"); ok {
		c.reloc = unescapeXML.Replace(strings.TrimSuffix(reloc, "}"))
		return
	}
	if bytecode, ok := strings.CutPrefix(text, ";*"); ok {
		bytecode, _, _ = strings.Cut(bytecode, " {")
		c.frames += "*" + bytecode + "\n"
	} else if frame, ok := strings.CutPrefix(text, "; - "); ok {
		c.frames += strings.TrimPrefix(frame, "(reexecute) ") + "\n"
	}
}

// check checks what must be true of every method: its comments lie within the code, and their outermost frames belong
// to the method.
func (m *printedMethod) check(t *testing.T, head string) {
	for _, c := range m.comments {
		if c.frames == "" {
			continue
		}
		frames := strings.Split(strings.TrimSpace(c.frames), "\n")
		root, _, _ := strings.Cut(frames[len(frames)-1], "@")
		if !strings.Contains(head, " "+root+" ") || c.at < m.lo || c.at >= m.lo+uint64(len(m.code)) {
			t.Errorf("%s has at %#x:\n%s", head, c.at, c.frames)
			return
		}
	}
}
