package asm

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAlign(t *testing.T) {
	check := func(a, b []Line, want string) {
		t.Helper()
		matches, ok := Align(a, b)
		require.True(t, ok)
		var got []string
		for _, m := range matches {
			got = append(got, fmt.Sprintf("%d-%d", m.A, m.B))
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
	// A line is matched with one of the same text rather than one of the same shape.
	check(code(0, "add %eax,%ebx"), code(0, "add %ecx,%edx", "add %eax,%ebx", "add %esi,%edi"), "0-1")
	_, ok := Align(repeated("inc %eax", 3000), repeated("dec %eax", 3000))
	assert.False(t, ok, "too long")
}

// repeated is the same instruction n times.
func repeated(text string, n int) []Line {
	lines := make([]Line, n)
	for i := range lines {
		lines[i] = Line{Addr: uint64(i), Text: text, shape: text}
	}
	return lines
}

// listingText writes the operation, label and text of each line of a listing.
func listingText(a, b []Line) string {
	matches, _ := Align(a, b)
	var out []string
	for _, l := range newListing(a, b, matches).lines {
		label := l.Label
		if label != "" {
			label += ": "
		}
		out = append(out, l.Op+" "+label+l.Text)
	}
	return strings.Join(out, "\n")
}

func TestListing(t *testing.T) {
	a := code(0x1000, "1 mov 0x10(%rax),%r8d", "1 add %r8d,%r9d", "1 inc %ecx", "1 cmp %edx,%ecx", "1 jl 0x1000", "1 ret")
	b := code(0x2000, "1 mov 0x10(%rax),%r8d", "1 imul %r8d,%r9d", "1 inc %ecx", "1 cmp %edx,%ecx", "1 jl 0x2000", "1 ret")
	assert.Equal(t, "= L1: mov 0x10(%rax),%r8d\n- add %r8d,%r9d\n+ imul %r8d,%r9d\n= inc %ecx\n= cmp %edx,%ecx\n= jl L1\n= ret", listingText(a, b))
	// Jumps to different instructions are not equal lines.
	b = code(0x2000, "1 mov 0x10(%rax),%r8d", "1 add %r8d,%r9d", "1 inc %ecx", "1 cmp %edx,%ecx", "1 jl 0x2004", "1 ret")
	assert.Contains(t, listingText(a, b), "- jl L1\n+ jl L2\n= ret")
	// Code without samples at the ends is left out, because the other side may have it too without listing it.
	longer := code(0x0ff8, "push %rbp", "mov %rsp,%rbp", "1 mov 0x10(%rax),%r8d", "1 add %r8d,%r9d", "1 inc %ecx",
		"1 cmp %edx,%ecx", "1 jl 0x1000", "1 ret", "hlt")
	assert.NotContains(t, listingText(longer, a), "-")
	// Code without samples is also left out if the other side has a gap there.
	gap := append(code(0x3000, "1 mov 0x10(%rax),%r8d"), code(0x300c, "1 cmp %edx,%ecx", "1 jl 0x3000", "1 ret")...)
	gap[1].afterGap = true
	for i := range a {
		a[i].Count = 0
	}
	assert.NotContains(t, listingText(a, gap), "-")
}

// code makes normalised lines of four bytes each. A number in front of an instruction is
// its number of samples: "100 inc %ecx".
func code(lo uint64, lines ...string) []Line {
	var raw []Raw
	for i, text := range lines {
		r := Raw{Addr: lo + 4*uint64(i), Text: text}
		if number, instruction, ok := strings.Cut(text, " "); ok {
			if n, err := strconv.ParseInt(number, 10, 64); err == nil {
				r.Count, r.Text = n, instruction
			}
		}
		raw = append(raw, r)
	}
	return Normalise(raw)
}
