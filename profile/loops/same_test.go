package loops

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/code"
	"github.com/gasm-profiler/gasm/profile/tally"
)

// The facts about the loops of a program's code are the same in both syntaxes.
func TestBothSyntaxes(t *testing.T) {
	t.Parallel()
	for _, capture := range []string{"jdk17-lean-none", "jdk25-lean-none"} {
		_, path := gasmtest.UnpackCapture(t, capture, t.TempDir())
		log, err := printassembly.Open(path)
		require.NoError(t, err)
		loops, bounds := 0, 0
		for i := range log.Blobs {
			if !log.Blobs[i].HasCode {
				continue
			}
			att, intel := factsOf(t, log, i, disasm.ATT), factsOf(t, log, i, disasm.Intel)
			require.Len(t, intel, len(att))
			for j := range att {
				assert.Equal(t, att[j].Words(), intel[j].Words(), log.Blobs[i].Name)
				assert.Equal(t, att[j].Unrolled, intel[j].Unrolled, log.Blobs[i].Name)
				if loops++; att[j].Bound != nil {
					bounds++
				}
				assert.Equal(t, withoutNames(att[j].Bound), withoutNames(intel[j].Bound), log.Blobs[i].Name)
				if att[j].Unbounded != "" {
					t.Log(att[j].Unbounded, log.Blobs[i].Name)
				}
			}
		}
		t.Logf("%s: %d loops, %d bounds", capture, loops, bounds)
		assert.Positive(t, bounds)
		require.NoError(t, log.Close())
	}
}

// factsOf describes the loops of a blob.
func factsOf(t *testing.T, log *printassembly.Log, blob int, syntax disasm.Syntax) []*Facts {
	t.Helper()
	insts, err := log.Code(&log.Blobs[blob], syntax)
	require.NoError(t, err)
	lines := make([]code.Line, len(insts))
	for i := range insts {
		lines[i] = code.Line{Instruction: insts[i], Counts: tally.Counts{0}}
	}
	return describe(lines)
}

// withoutNames returns a copy of a bound without the mnemonics, some of which differ between the syntaxes.
func withoutNames(b *Bound) *Bound {
	if b == nil {
		return nil
	}
	plain := *b
	plain.Chain = slices.Clone(b.Chain)
	for i := range plain.Chain {
		plain.Chain[i].Name = ""
	}
	return &plain
}
