package wallclock

import (
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/wall"
)

// A virtualPlace is what TestUnmounted knows of virtual threads: the innermost method of Unmounted.java, the state, and
// the class of the lock.
type virtualPlace struct {
	own   string
	state wall.State
	class string
}

// virtual returns the mean number of virtual threads at each place.
func (x *recorded) virtual() map[virtualPlace]float64 {
	counted := 0
	for _, c := range x.counts {
		if c.Looked > 0 { // otherwise a collector moved objects
			counted++
		}
	}
	means := map[virtualPlace]float64{}
	for _, v := range x.virtuals {
		at := virtualPlace{state: v.State}
		for f := range x.tree.Frames(v.Stack) {
			if strings.HasPrefix(f.Name, "Unmounted::") {
				at.own = f.Name
				break
			}
		}
		if lock := x.locks[v.Lock]; lock != nil {
			at.class = lock.Class
		}
		means[at] += float64(v.Count) / float64(counted)
	}
	return means
}

// TestUnmounted compares the counts of 10 000 virtual threads with what the program says about them. If there is enough
// processor time, all of them are looked at each time.
func TestUnmounted(t *testing.T) {
	jdks := gasmtest.NeedEachJDK(t, func(j gasmtest.JDK) bool { return j.Feature >= 21 })
	if !gasmtest.AllJDKs() {
		jdks = jdks[:1]
	}
	sockets := 200 // each thread needs two; with many, tests that search the sockets of the machine are slow
	if gasmtest.Long() {
		sockets = 2000
	}
	want := map[virtualPlace]float64{
		{"Unmounted::sleeping", wall.Sleep, ""}:                                                   float64(6000 - sockets),
		{"Unmounted::parked", wall.Park, "java.lang.StringBuilder"}:                               3000,
		{"Unmounted::reading", wall.Socket, ""}:                                                   float64(sockets),
		{"Unmounted::locking", wall.Park, "java.util.concurrent.locks.ReentrantLock$NonfairSync"}: 1000,
	}
	for _, j := range jdks {
		t.Run(j.Name(), func(t *testing.T) {
			p := start(t, j, "Unmounted", strconv.Itoa(6000-sockets), "3000", strconv.Itoa(sockets), "1000", "0", "-")
			x := p.record(t, Options{Share: 1}, func() { time.Sleep(3 * time.Second) })
			require.NoError(t, x.result.Virtual)
			require.NotEmpty(t, x.counts)
			for _, c := range x.counts {
				t.Logf("%+v", *c)
			}
			got := x.virtual()
			for place, count := range want {
				assert.InDelta(t, count, got[place], 100, place.own) // 1 % of all threads
			}

			gasmtest.NeedTime(t)
			gasmtest.NeedNoRaceDetector(t)
			const length = 6 * time.Second
			x = p.record(t, Options{}, func() { time.Sleep(length) })
			share := (x.result.CPU - x.result.First).Seconds() / (length - x.result.FirstTook).Seconds()
			t.Logf("%+v: %.2f %% of a processor", x.result, 100*share)
			assert.Less(t, share, 0.03)
			require.NotEmpty(t, x.counts)
			looked := 0
			for _, c := range x.counts {
				t.Logf("%+v", *c)
				assert.InDelta(t, 10000, c.Threads, 100)
				assert.Less(t, c.Looked, c.Threads)
				looked += c.Looked
			}
			got = x.virtual()
			for place, count := range want {
				// A share of 50 % has a standard error of 0.5/√looked of all; this is four times as much.
				assert.InDelta(t, count, got[place], 2*10000/math.Sqrt(float64(looked)), place.own)
			}
		})
	}
}
