package exec

import (
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzAnalyze executes any bytes as each kind of code. Frames must only be at instructions, their places must be valid,
// and the Table must not depend on earlier runs.
func FuzzAnalyze(f *testing.F) {
	for i, b := range blobs(f) {
		if i%64 == 0 {
			f.Add(b.code[:min(len(b.code), 512)], uint16(48), uint16(12), uint16(0), false)
		}
	}
	for i, b := range armBlobs(f) {
		if i%16 == 0 {
			f.Add(b.code[:min(len(b.code), 512)], uint16(48), uint16(12), uint16(0), true)
		}
	}
	apx, err := hex.DecodeString("d5085562f4dc1883ec10d5485589c462f45418fff362f454188fc362f4dc1883c410d5085dc3")
	require.NoError(f, err)
	f.Add(apx, uint16(48), uint16(12), uint16(0), false)
	f.Fuzz(func(t *testing.T, code []byte, frameSize, frameComplete, osr uint16, aarch64 bool) {
		a := AMD64
		if aarch64 {
			a = ARM64
		}
		m := Method{VerifiedEntry: testLo, OSREntry: testLo + uint64(osr), FrameSize: int(frameSize),
			FrameComplete: int(frameComplete) - 1, Native: osr&1 != 0}
		codes := []Code{a.NMethod(testLo, code, m), a.Adapter(testLo, code)}
		for _, name := range []string{"SafepointBlob", "ExceptionBlob", "handle_exception_from_callee", "forward_exception"} {
			codes = append(codes, a.Stub(testLo, code, name))
		}
		codes = append(codes, a.Codelet(testLo, code, ""), a.Codelet(testLo, code, "method entry point"))
		for _, c := range codes {
			table := Analyze(c)
			checkTable(t, a, table)
			require.Equal(t, table, Analyze(c))
		}
	})
}

func checkTable(t *testing.T, a *Arch, table *Table) {
	t.Helper()
	for i := range table.at {
		f, ok := table.At(testLo + uint64(i))
		if !ok {
			continue
		}
		for _, p := range append(f.Saved[:len(a.preserved)], f.CFA, f.RA) {
			require.LessOrEqual(t, p.Where, AtCFA)
			require.Less(t, p.Reg, uint8(a.registers))
		}
		require.NotEqual(t, AtCFA, f.CFA.Where)
		require.NotEqual(t, Unknown, f.CFA.Where)
		require.NotEqual(t, Unknown, f.RA.Where)
		var r Registers
		for n := range a.registers {
			r.Set(n, uint64(n)<<60)
		}
		_, ok = f.Caller(&r, func(addr uint64) (uint64, bool) { return addr, true })
		require.True(t, ok)
	}
}
