package code

import (
	"strings"

	"github.com/gasm-profiler/gasm/printassembly"
)

// Same reports whether two listings have the same instructions at the same distances from their start. Addresses and
// large constants may differ, because they depend on where a JVM's heap, classes and code lie.
func Same(a, b []printassembly.Instruction) bool {
	if len(a) == 0 || len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Lo-a[0].Lo != b[i].Lo-b[0].Lo || a[i].Kind != b[i].Kind ||
			inside(a, a[i].Target) != inside(b, b[i].Target) || !sameText(&a[i], &b[i]) {
			return false
		}
	}
	return true
}

// inside returns the distance of an address from the start of the code, or 0 if the address is outside the code.
func inside(insts []printassembly.Instruction, addr uint64) uint64 {
	if lo := insts[0].Lo; addr > lo && addr < insts[len(insts)-1].Hi {
		return addr - lo
	}
	return 0
}

// sameText reports whether the texts of two instructions differ at most in addresses.
func sameText(a, b *printassembly.Instruction) bool {
	if a.Text == b.Text {
		return true
	}
	return normalText(a) == normalText(b)
}

// normalText returns an instruction's text with # for hexadecimal numbers of more than four digits. If a comment such
// as {oop(…)} says that the instruction holds an address, normalText writes # for all hexadecimal numbers. The comments
// {no_reloc} and {other} do not say that: they only fill gaps between the others.
func normalText(in *printassembly.Instruction) string {
	for _, c := range in.Comments {
		if strings.HasPrefix(c, "{") && c != "{no_reloc}" && c != "{other}" {
			return withoutNumbers(in.Text, 1)
		}
	}
	return withoutNumbers(in.Text, 5)
}

// withoutNumbers returns a text with # for hexadecimal numbers of at least this many digits.
func withoutNumbers(text string, digits int) string {
	var out strings.Builder
	rest := text
	for {
		before, after, ok := strings.Cut(rest, "0x")
		if !ok {
			out.WriteString(rest)
			return out.String()
		}
		n := strings.IndexFunc(after, func(r rune) bool { return !strings.ContainsRune("0123456789abcdef", r) })
		if n < 0 {
			n = len(after)
		}
		if n >= digits {
			out.WriteString(strings.TrimSuffix(before, "-") + "#")
		} else {
			out.WriteString(before + "0x" + after[:n])
		}
		rest = after[n:]
	}
}
