package diff

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAlign(t *testing.T) {
	check := func(a, b []Line, want string) {
		t.Helper()
		matches, ok := align(a, b)
		require.True(t, ok)
		var got []string
		for _, m := range matches {
			got = append(got, fmt.Sprintf("%d-%d", m.a, m.b))
		}
		assert.Equal(t, want, strings.Join(got, " "))
	}
	loop := code(0x1000, "mov 0x10(%rax),%r8d", "add %r8d,%r9d", "inc %ecx", "cmp %edx,%ecx", "jl 0x1000")
	check(loop, loop, "0-0 1-1 2-2 3-3 4-4")
	check(loop, nil, "")
	check(nil, nil, "")
	changed := code(0x2000, "mov 0x10(%rax),%r8d", "imul %r8d,%r9d", "not %r9d", "inc %ecx", "cmp %edx,%ecx", "jl 0x2000")
	check(loop, changed, "0-0 2-3 3-4 4-5")
	renamed := code(0x3000, "mov 0x10(%rbx),%r10d", "add %r10d,%r11d", "inc %esi", "cmp %edi,%esi", "jl 0x3000")
	check(loop, renamed, "0-0 1-1 2-2 3-3 4-4")
	// The same text goes before the same shape.
	check(code(0, "add %eax,%ebx"), code(0, "add %ecx,%edx", "add %eax,%ebx", "add %esi,%edi"), "0-1")
	_, ok := align(many("inc %eax", 3000), many("dec %eax", 3000))
	assert.False(t, ok, "too long")
}

func many(text string, n int) []Line {
	lines := make([]Line, n)
	for i := range lines {
		lines[i] = Line{Addr: uint64(i), Text: text, shape: text}
	}
	return lines
}

// rowsOf writes a listing as one line per row.
func rowsOf(a, b []Line) string {
	matches, _ := align(a, b)
	var out []string
	for _, r := range newListing(a, b, matches).lines() {
		row := r.Op + " " + r.Text
		if r.Label != "" {
			row = r.Op + " " + r.Label + ": " + r.Text
		}
		out = append(out, row)
	}
	return strings.Join(out, "\n")
}

func TestListing(t *testing.T) {
	a := code(0x1000, "1 mov 0x10(%rax),%r8d", "1 add %r8d,%r9d", "1 inc %ecx", "1 cmp %edx,%ecx", "1 jl 0x1000", "1 ret")
	b := code(0x2000, "1 mov 0x10(%rax),%r8d", "1 imul %r8d,%r9d", "1 inc %ecx", "1 cmp %edx,%ecx", "1 jl 0x2000", "1 ret")
	assert.Equal(t, "= L1: mov 0x10(%rax),%r8d\n- add %r8d,%r9d\n+ imul %r8d,%r9d\n= inc %ecx\n= cmp %edx,%ecx\n= jl L1\n= ret", rowsOf(a, b))
	// A jump to another place is no equal line.
	b = code(0x2000, "1 mov 0x10(%rax),%r8d", "1 add %r8d,%r9d", "1 inc %ecx", "1 cmp %edx,%ecx", "1 jl 0x2004", "1 ret")
	assert.Contains(t, rowsOf(a, b), "- jl L1\n+ jl L2\n= ret")
	// Cold code at the ends may only be listed on one side.
	longer := code(0x0ff8, "push %rbp", "mov %rsp,%rbp", "1 mov 0x10(%rax),%r8d", "1 add %r8d,%r9d", "1 inc %ecx", "1 cmp %edx,%ecx", "1 jl 0x1000", "1 ret", "hlt")
	assert.NotContains(t, rowsOf(longer, a), "-")
	// So does code that lies in a gap of the other side.
	gap := append(code(0x3000, "1 mov 0x10(%rax),%r8d"), code(0x300c, "1 cmp %edx,%ecx", "1 jl 0x3000", "1 ret")...)
	gap[1].gap = true
	for i := range a {
		a[i].Count = 0
	}
	assert.NotContains(t, rowsOf(a, gap), "-")
}
