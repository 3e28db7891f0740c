package wallclock

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/hotspot/threaddump"
	"github.com/gasm-profiler/gasm/wall"
)

const ms = int64(1e6)

// newLife returns the life of a thread, whose spells are appended to a slice.
func newLife(to *[]wall.Spell) *life {
	return &life{thread: 1, write: func(s *wall.Spell) { *to = append(*to, *s) }, runs: counts(1, 0, 0)}
}

func counts(n uint64, ran, delay int64) threaddump.Runs {
	return threaddump.Runs{Known: true, Count: n, Ran: uint64(ran), Delay: uint64(delay)}
}

func at(state wall.State) wall.Spell { return wall.Spell{State: state, Stack: 7} }

// A short is a spell without its place.
type short struct {
	state                  wall.State
	ran, runnable, blocked int64 // in ms
}

func TestIntervals(t *testing.T) {
	sleep, park := at(wall.Sleep), at(wall.Park)
	for name, c := range map[string]struct {
		live func(l *life)
		want []short
	}{
		"blocked all the time": {func(l *life) {
			l.blockedAt(sleep, counts(1, 0, 0), 50*ms)
			l.still(100 * ms)
			l.still(5000 * ms)
		}, []short{{wall.Sleep, 0, 0, 5000}}},
		"blocked at another place": {func(l *life) {
			l.blockedAt(sleep, counts(1, 0, 0), 50*ms)
			l.blockedAt(park, counts(2, 3*ms, 1*ms), 100*ms)
			l.still(150 * ms)
		}, []short{{wall.Sleep, 0, 0, 50}, {wall.Park, 3, 1, 46}, {wall.Park, 0, 0, 50}}},
		"blocked, then running": {func(l *life) {
			l.blockedAt(sleep, counts(1, 0, 0), 50*ms)
			l.runningAt(counts(2, 10*ms, 2*ms), 100*ms)
			l.blockedAt(park, counts(3, 15*ms, 2*ms), 150*ms)
		}, []short{{wall.Sleep, 0, 0, 88}, {wall.OnProcessor, 15, 2, 0}, {wall.Park, 0, 0, 45}}},
		"running all the time, counted late": {func(l *life) {
			l.runningAt(counts(1, 50*ms, 0), 50*ms)
			l.runningAt(counts(1, 97*ms, 0), 100*ms)
			l.runningAt(counts(1, 148*ms, 0), 150*ms)
			l.blockedAt(park, counts(1, 155*ms, 0), 160*ms)
		}, []short{{wall.OnProcessor, 155, 0, 0}, {wall.Park, 0, 0, 5}}},
		"runnable all the time": {func(l *life) {
			l.runningAt(counts(1, 50*ms, 0), 50*ms)
			l.runningAt(counts(2, 60*ms, 40*ms), 100*ms)
			l.runningAt(counts(2, 60*ms, 40*ms), 150*ms)
			l.runningAt(counts(3, 60*ms, 140*ms), 200*ms)
		}, []short{{wall.OnProcessor, 60, 40, 0}, {wall.Runnable, 0, 100, 0}}},
		"running at each look, blocked in between": {func(l *life) {
			l.runningAt(counts(1, 50*ms, 0), 50*ms)
			l.runningAt(counts(5, 70*ms, 0), 100*ms)
			l.runningAt(counts(9, 90*ms, 0), 150*ms)
			l.blockedAt(park, counts(12, 110*ms, 0), 200*ms)
		}, []short{{wall.OnProcessor, 110, 0, 0}, {wall.Park, 0, 0, 90}}},
		"the same for long": {func(l *life) {
			l.blockedAt(park, counts(1, 0, 0), 50*ms)
			l.runningAt(counts(2, 50*ms, 0), 100*ms)
			for i := range int64(40) {
				l.runningAt(counts(uint64(3+i), (50+25*(i+1))*ms, 0), (150+50*i)*ms)
			}
		}, []short{{wall.Park, 0, 0, 50}, {wall.OnProcessor, 50, 0, 0}, {wall.Park, 0, 0, 500}, {wall.OnProcessor, 500, 0,
			0}, {wall.Park, 0, 0, 500}, {wall.OnProcessor, 500, 0, 0}}},
		"moved": {func(l *life) {
			l.blockedAt(park, counts(1, 0, 0), 50*ms)
			l.unseen(counts(9, 20*ms, 5*ms), 100*ms, "moved")
			l.runningAt(counts(10, 30*ms, 5*ms), 150*ms)
			l.unseen(threaddump.Runs{}, 200*ms, "")
		}, []short{{wall.Park, 0, 0, 50}, {wall.Unseen, 20, 5, 25}, {wall.Unseen, 0, 0, 40}, {wall.OnProcessor, 10, 0,
			0}, {wall.Unseen, 0, 0, 50}}},
	} {
		var spells []wall.Spell
		l := newLife(&spells)
		c.live(l)
		l.end()
		var got []short
		for _, s := range spells {
			got = append(got, short{s.State, s.Ran / ms, s.Runnable / ms, s.Blocked / ms})
		}
		assert.Equal(t, c.want, got, name)
	}
}

// TestTiling looks at a random thread at random times, with counts that lag behind. The spells must cover the time
// without gaps and overlaps, and their times must add up to those of the thread, except for what the counts do not have
// yet.
func TestTiling(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		var spells []wall.Spell
		l := newLife(&spells)
		now, n, ran, delay := int64(0), uint64(1), int64(0), int64(0)
		for range 300 {
			length := r.Int64N(80 * ms)
			now += length
			a := r.Int64N(length + 1)
			b := r.Int64N(length - a + 1)
			late := int64(0)
			switch r.IntN(6) {
			case 0, 1:
				n, ran, delay = n+1, ran+a, delay+b
				l.blockedAt(at(wall.State(2+r.IntN(5))), counts(n, ran, delay), now)
			case 2:
				if l.phase == blocked {
					l.still(now)
				}
			case 3:
				n, ran, delay = n+1, ran+a, delay+b
				late = min(r.Int64N(4*ms), a)
				l.runningAt(counts(n, ran-late, delay), now)
			case 4:
				if l.phase == running {
					ran += length
					l.runningAt(counts(n, ran, delay), now)
				}
			case 5:
				n, ran, delay = n+1, ran+a, delay+b
				l.unseen(counts(n, ran, delay), now, "moved")
			}
		}
		now++
		l.unseen(counts(n+1, ran, delay), now, "")
		l.end()
		to, sumRan, sumDelay := int64(0), int64(0), int64(0)
		for _, s := range spells {
			require.Equal(t, to, s.FromMonoNanos)
			require.Equal(t, s.ToMonoNanos-s.FromMonoNanos, s.Ran+s.Runnable+s.Blocked)
			require.GreaterOrEqual(t, min(s.Ran, s.Runnable, s.Blocked), int64(0))
			to, sumRan, sumDelay = s.ToMonoNanos, sumRan+s.Ran, sumDelay+s.Runnable
		}
		require.Equal(t, now, to)
		require.Equal(t, ran, sumRan+l.ran, seed)
		require.GreaterOrEqual(t, l.ran, -tick, "no more than the kernel may lack")
		require.Equal(t, delay, sumDelay+l.runnable, seed)
	}
}
