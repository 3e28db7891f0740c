package top_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/top/toptest"
)

// TestHotInstructions checks that the hot instructions of each interval have names, and no others, and that no sample
// changes otherwise.
func TestHotInstructions(t *testing.T) {
	r, plain := toptest.New(t, "stacks", nil), toptest.New(t, "stacks", nil)
	r.Model.NameInstructions()
	named, samples := 0, 0
	for n := 0; r.Second(); n++ {
		plain.Second()
		if n%3 != 2 {
			continue
		}
		s, ok := r.Model.TakeSettled(0)
		want, _ := plain.Model.TakeSettled(0)
		if !ok {
			continue
		}
		total, at := int64(0), map[uint64]int64{}
		for i := range s.Samples {
			total += s.Samples[i].Counts[0]
			at[s.Samples[i].PC] += s.Samples[i].Counts[0]
		}
		got := map[string]int64{}
		for i := range s.Samples {
			l := &s.Samples[i]
			got[placeOf(l, s.Stacks)] += l.Counts[0]
			samples += int(l.Counts[0])
			hot := l.Frames != nil && l.Source != "interpreter" && at[l.PC] >= 10 && at[l.PC]*100 >= total
			assert.Equal(t, hot, l.Instruction != "", "%+v: %d of %d", l, at[l.PC], total)
			if hot {
				named += int(l.Counts[0])
				assert.Regexp(t, `^[a-z][a-z0-9]+( [ -~]+)?$`, l.Instruction)
			}
		}
		others := map[string]int64{}
		for i := range want.Samples {
			assert.Empty(t, want.Samples[i].Instruction)
			others[placeOf(&want.Samples[i], want.Stacks)] += want.Samples[i].Counts[0]
		}
		assert.Equal(t, others, got)
	}
	t.Logf("%d of %d samples are at hot instructions", named, samples)
	assert.Greater(t, named, samples/10)
	assert.Less(t, named, samples)
}
