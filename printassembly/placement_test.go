package printassembly

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

// HotSpot tells hsdis the debug info of each instruction, and the hex dump that
// of each cell of four bytes: which instruction it belongs to is our guess.
// TestPlacement compares the guess with what hsdis printed, wherever two runs
// of one program gave the same code.
func TestPlacement(t *testing.T) {
	for _, jdk := range []string{"jdk17", "jdk25"} {
		t.Run(jdk, func(t *testing.T) {
			t.Parallel()
			truth := compilations(t, captureLog(t, jdk+"-full-hsdis"))
			methods, own, all := 0, agreement{}, agreement{}
			for key, got := range compilations(t, captureLog(t, jdk+"-lean-none")) {
				want := truth[key]
				if !sameMethod(got, want) {
					continue
				}
				methods++
				for i := range got {
					same := slices.Equal(got[i].Frames, want[i].Frames)
					all.add(same)
					if got[i].OwnFrames {
						own.add(same && want[i].OwnFrames)
					}
				}
			}
			t.Logf("%d methods with the same code: debug info stands on the same instruction for %v; "+
				"frames are the same for %v instructions", methods, own, all)
			assert.Greater(t, methods, 50)
			assert.GreaterOrEqual(t, own.percent(), 97.5)
			assert.GreaterOrEqual(t, all.percent(), 99.0)
		})
	}
}

type agreement struct{ all, same int }

func (a *agreement) add(same bool) {
	a.all++
	if same {
		a.same++
	}
}

func (a agreement) percent() float64 { return 100 * float64(a.same) / float64(max(a.all, 1)) }

func (a agreement) String() string {
	return fmt.Sprintf("%d of %d (%.2f %%)", a.same, a.all, a.percent())
}

// compilations gives the code of each method that was compiled once at its
// tier. Overloads have one name, so both are left out.
func compilations(t *testing.T, l *Log) map[string][]Instruction {
	found := map[string][]Instruction{}
	for i := range l.Blobs {
		b := &l.Blobs[i]
		if b.Kind != NMethod {
			continue
		}
		key := fmt.Sprint(b.Name, b.Source(), b.OSRBCI)
		if _, twice := found[key]; twice {
			found[key] = nil
		} else {
			found[key] = code(t, l, b)
		}
	}
	return found
}

// sameMethod tells whether two listings have the same instructions at the same
// distances, and are not of two overloads.
func sameMethod(a, b []Instruction) bool {
	return len(a) > 0 && firstLine(a) == firstLine(b) && slices.EqualFunc(a, b, func(x, y Instruction) bool {
		return x.Lo-a[0].Lo == y.Lo-b[0].Lo && x.Kind == y.Kind
	})
}

// firstLine is the method's lowest source line.
func firstLine(insts []Instruction) int {
	line := 1 << 30
	for i := range insts {
		if n := len(insts[i].Frames); n > 0 {
			line = min(line, insts[i].Frames[n-1].Line)
		}
	}
	return line
}
