package loops

import "testing"

// BenchmarkDescribe describes the loops of a method with 123 instructions.
func BenchmarkDescribe(b *testing.B) {
	lines := readLog(b, "chase")
	for b.Loop() {
		describe(lines)
	}
}
