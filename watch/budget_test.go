package watch

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestBudget checks how a budget reacts if gasm uses a certain CPU time per sample and JVM.
func TestBudget(t *testing.T) {
	for _, test := range []struct {
		name         string
		each         float64 // the cost of a hertz if all JVMs are watched, as a fraction of a processor
		fixed        float64 // the cost of everything else
		hertz, share float64 // in the end
		says         int     // how many changes there are
	}{
		{"cheap", 0.00005, 0.001, 101, 1, 0},
		{"slightly too expensive", 0.0001, 0, 101, 1, 0}, // 1.01 %: it is tolerated
		{"twice as expensive", 0.0002, 0, 47, 1, 1},
		{"with a fixed cost", 0.00015, 0.005, 37, 1, 2},
		{"expensive JVMs", 0.004, 0, 10, 0.25, 3},
		{"nothing helps", 0, 0.05, 10, 1.0 / 64, 8},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBudget(&Options{Budget: 0.01, Frequency: 101, Share: 1})
			var cpu, mono int64
			said := 0
			for range 3600 {
				if b.judge(cpu, mono) != "" {
					said++
				}
				mono += int64(time.Second)
				cpu += int64(1e9 * (test.fixed + test.each*float64(b.hertz)*b.share))
			}
			assert.InDelta(t, test.hertz, b.hertz, 1)
			assert.InDelta(t, test.share, b.share, 1e-9)
			assert.Equal(t, test.says, said)
		})
	}
}

// TestBudgetRecovers checks that gasm takes as many samples as before when it has become cheap again, and that it does
// nothing without a limit.
func TestBudgetRecovers(t *testing.T) {
	b := newBudget(&Options{Budget: 0.01, Frequency: 101, Share: 0.5})
	var cpu, mono int64
	run := func(cost float64, seconds int) (last string) {
		for range seconds {
			if text := b.judge(cpu, mono); text != "" {
				last = text
			}
			mono += int64(time.Second)
			cpu += int64(1e9 * cost)
		}
		return last
	}
	assert.Equal(t, "gasm used 8.00 % of a processor in the last minute, and its budget is 1.00 %: "+
		"it now takes about 11 samples per second and CPU instead of 101", run(0.08, 250))
	assert.Equal(t, "gasm used 8.00 % of a processor in the last minute, and its budget is 1.00 %: "+
		"it now watches 12.5 % of the JVMs, and leaves out the others", run(0.08, 600))
	run(0.001, 7200)
	assert.Equal(t, 101, b.hertz)
	assert.InDelta(t, 0.5, b.share, 0)
	b = newBudget(&Options{Frequency: 101, Share: 1})
	assert.Empty(t, run(10, 7200))
}

// TestBudgetChange checks that what gasm has lowered stays low when the configuration is read again, unless its limit
// is another one.
func TestBudgetChange(t *testing.T) {
	for _, test := range []struct {
		name         string
		cost         float64 // before the change
		new          Options
		hertz, share float64
	}{
		{"nothing changes", 0.08, Options{Budget: 0.01, Frequency: 101, Share: 0.5}, 10, 0.25},
		{"nothing was lowered", 0, Options{Budget: 0.01, Frequency: 101, Share: 0.5}, 101, 0.5},
		{"another limit", 0.08, Options{Budget: 0.02, Frequency: 101, Share: 0.5}, 101, 0.5},
		{"no limit", 0.08, Options{Frequency: 101, Share: 0.5}, 101, 0.5},
		{"a higher frequency and share", 0.08, Options{Budget: 0.01, Frequency: 1001, Share: 1}, 100, 0.5},
		{"a lower frequency", 0.08, Options{Budget: 0.01, Frequency: 5, Share: 0.5}, 5, 0.25},
		{"a higher frequency, and nothing was lowered", 0, Options{Budget: 0.01, Frequency: 501, Share: 1}, 501, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBudget(&Options{Budget: 0.01, Frequency: 101, Share: 0.5})
			cpu, mono, seconds := int64(0), int64(0), 0
			for ; seconds < 600 && b.share == 0.5; seconds++ {
				b.judge(cpu, mono)
				mono += int64(time.Second)
				cpu += int64(1e9 * test.cost)
			}
			b.change(&test.new)
			assert.InDelta(t, test.hertz, b.hertz, 0.5)
			assert.InDelta(t, test.share, b.share, 1e-9)
			for range 110 { // the period of the change does not count, and one more is too short a time
				assert.Empty(t, b.judge(cpu, mono))
				mono += int64(time.Second)
				cpu += int64(1e9 * 0.08)
			}
		})
	}
}
