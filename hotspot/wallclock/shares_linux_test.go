package wallclock

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/wall"
)

// sums holds how long the threads of a program were blocked or ran, by names that the program chooses, until a time.
type sums struct {
	at    int64
	nanos map[string]int64
}

// ask asks the program for its sums.
func (p *program) ask(t *testing.T) (s sums) {
	t.Helper()
	_, err := p.Stdin.Write([]byte("\n"))
	require.NoError(t, err)
	require.True(t, p.Lines.Scan())
	words := strings.Fields(p.Lines.Text())
	s.nanos = map[string]int64{}
	_, err = fmt.Sscan(words[0], &s.at)
	require.NoError(t, err, p.Lines.Text())
	for i := 1; i < len(words); i += 2 {
		var n int64
		_, err = fmt.Sscan(words[i+1], &n)
		require.NoError(t, err, p.Lines.Text())
		s.nanos[words[i]] = n
	}
	return s
}

// A share is the part of the time of some threads that they spent in a certain way.
type share struct {
	part     float64
	late     float64 // the part that the program counts, but in which the thread waited for a processor or for a safepoint
	accuracy float64 // three standard errors of part
}

// sharesOf returns the shares of the time of all threads with a name, between two times. name returns the name of the
// share that a spell's blocked time belongs to. A share's late has the runnable time of all spells.
func (x *recorded) sharesOf(thread string, from, to int64, name func(*wall.Spell) string) (shares map[string]share) {
	got, errors, late := map[string]float64{}, map[string]float64{}, 0.0
	for _, s := range x.of(thread) {
		in := min(s.ToMonoNanos, to) - max(s.FromMonoNanos, from)
		if in <= 0 {
			continue
		}
		part := float64(in) / float64(s.ToMonoNanos-s.FromMonoNanos)
		blocked := part * float64(s.Blocked)
		late += part * float64(s.Runnable)
		got["on processor"] += part * float64(s.Ran)
		if s.State == wall.Safepoint || s.State == wall.Unseen {
			late += blocked
		}
		got[name(s)] += blocked
		// If the thread has run, the recorder does not know when. All of the interval counts for the place at its end,
		// but a part of it, which may be nothing or all, belongs to the place before. So each share has an error from
		// its own intervals, and one from those of other places.
		if s.Ran+s.Runnable > 0 {
			errors[name(s)] += 2 * blocked * blocked / 3
		}
	}
	whole := float64(to-from) * float64(x.threadsNamed(thread))
	shares = map[string]share{}
	for name, n := range got {
		shares[name] = share{n / whole, late / whole, 3 * math.Sqrt(errors[name]) / whole}
	}
	return shares
}

// check compares a share with the one that the program has measured. Both may differ by one point, or by more if the
// machine was too busy to look at the threads often enough.
func (s share) check(t *testing.T, name string, want float64) {
	t.Helper()
	most := max(0.01, s.accuracy)
	t.Logf("%s: %.2f %%, %.2f %% by the program, late %.2f %%, accuracy %.2f", name, 100*s.part, 100*want, 100*s.late,
		100*s.accuracy)
	if s.part > want+most || s.part < want-most-s.late {
		t.Errorf("%s: %.2f %%, but %.2f %% by the program", name, 100*s.part, 100*want)
	}
}
