package hosts

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fleet draws the samples of hosts. Each host has its own share of the first of two pieces of code.
func fleet(r *rand.Rand, samples int64, shares ...float64) ([]Host, []Code) {
	code := []Code{{Name: "a", Samples: map[int]int64{}}, {Name: "b", Samples: map[int]int64{}}}
	var all []Host
	for h, share := range shares {
		all = append(all, Host{Name: fmt.Sprint(h), Samples: samples})
		for range samples {
			if r.Float64() < share {
				code[0].Samples[h]++
			} else {
				code[1].Samples[h]++
			}
		}
	}
	return all, code
}

func different(all []Host) (names []string) {
	for _, h := range all {
		if h.Farthest.Different() {
			names = append(names, h.Name)
		}
	}
	return names
}

func TestOddOneOut(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	all, code := fleet(r, 1000, 0.5, 0.5, 0.9)
	Compare(all, code)
	assert.Equal(t, []string{"2"}, different(all), "the others differ from their rest, but the rest differs in itself")
	assert.InDelta(t, 0.4, all[2].Farthest.Change(), 0.05)
	assert.Less(t, all[2].Farthest.Noise, 0.2)

	all, code = fleet(r, 1000, 0.5, 0.5, 0.5, 0.5, 0.2, 0.5)
	Compare(all, code)
	assert.Equal(t, []string{"4"}, different(all))

	all, code = fleet(r, 1000, 0.5, 0.7)
	Compare(all, code)
	assert.Len(t, different(all), 2, "of two hosts, each differs from the other")

	all, code = fleet(r, 1000, 0.5)
	Compare(all, code)
	assert.Nil(t, all[0].Farthest)
}

// TestNoFalseAlarms checks that hosts are hardly ever called different if the shares of all of them vary in the same
// way.
func TestNoFalseAlarms(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	const rounds = 300
	alarms := 0
	for range rounds {
		shares := make([]float64, 8)
		for i := range shares {
			shares[i] = 0.5 + 0.1*r.NormFloat64()
		}
		all, code := fleet(r, 300, shares...)
		Compare(all, code)
		alarms += len(different(all))
	}
	// One in a hundred comparisons may have a false alarm: 3 of 300. Five standard errors are 9.
	assert.LessOrEqual(t, alarms, 12)
}

func TestNoSamples(t *testing.T) {
	all := []Host{{Name: "a", Samples: 100}, {Name: "b"}, {Name: "c", Samples: 50}}
	code := []Code{{Name: "x", Samples: map[int]int64{0: 100, 2: 10}}}
	Compare(all, code)
	require.NotNil(t, all[0].Farthest)
	assert.Nil(t, all[1].Farthest, "a host without samples is unknown, not different")
	Order(all)
	assert.Equal(t, "b", all[2].Name)
	Compare(nil, nil)
}
