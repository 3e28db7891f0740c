package printassembly

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// TestPlacement compares the comments of two captures of one program, one made with hsdis and one without. The golden
// files testdata/placement-jdk*.golden list all differences.
func TestPlacement(t *testing.T) {
	gasmtest.NeedNoRaceDetector(t)
	for _, jdk := range []string{"jdk17", "jdk25"} {
		t.Run(jdk, func(t *testing.T) {
			t.Parallel()
			c := compareMethods(compilations(t, captureLog(t, jdk+"-lean-none"), disasm.ATT),
				compilations(t, captureLog(t, jdk+"-full-hsdis"), disasm.ATT))
			assert.Empty(t, c.wrong)
			assert.NotZero(t, c.compared)
			head :=
				fmt.Sprintf("%d methods with the same code, %d instructions with comments: on %d it is another's of its cell, and %d are lost\n",
					c.methods, c.compared, len(c.moved), len(c.lost))
			gasmtest.Golden(t, "placement-"+jdk+".golden",
				[]byte(head+"moved\n\t"+strings.Join(c.moved, "\n\t")+"\nlost\n\t"+strings.Join(c.lost, "\n\t")+"\n"))
		})
	}
}
