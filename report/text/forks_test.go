package text

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/report/reporttest"
	"github.com/gasm-profiler/gasm/report/text/view"
)

// bimodal returns the profile of a benchmark whose forks run in one of two ways.
func bimodal(forks int) (capture.Description, profile.Profile) {
	h := reporttest.Header()
	h.JVMs = nil
	p := profile.Profile{Trial: "Bench.run", Counters: []string{"cpu-clock"}}
	fast := profile.Method{Source: "c2, level 4", Name: "Bench::run", Blobs: 1, Counts: c(0)}
	slow := profile.Method{Source: "c1, level 3", Name: "Bench::run", Blobs: 1, Counts: c(0)}
	rare := profile.Method{Source: "interpreter", Name: "iload", Blobs: 1, Counts: c(0)}
	for i := range forks {
		h.JVMs = append(h.JVMs, capture.JVM{PID: 100 + i, Fork: i + 1})
		p.PIDs = append(p.PIDs, 100+i)
		p.Shares = append(p.Shares, profile.JVMShare{PID: 100 + i, Counts: c(1000), Native: c(50)})
		counts := []int64{900, 40, 10}
		if i%3 == 2 {
			counts = []int64{40, 900, 10}
		}
		for k, m := range []*profile.Method{&fast, &slow, &rare} {
			m.PerJVM = append(m.PerJVM, c(counts[k]))
			m.Counts[0] += counts[k]
		}
	}
	p.Methods = []profile.Method{fast, slow, rare}
	n := int64(1000 * forks)
	p.Accounts = []profile.Account{{Total: n, Profiled: n, Compiled: n * 94 / 100, Interpreter: n / 100,
		Native: n * 5 / 100}}
	return h, p
}

// forkSection returns the table of forks.
func forkSection(t *testing.T, forks int) []byte {
	h, p := bimodal(forks)
	_, after, ok := strings.Cut(string(text(t, h, []profile.Profile{p}, view.Options{Top: 20})), "....[Forks Compared")
	if !ok {
		t.Fatal("no table of forks")
	}
	after, _, _ = strings.Cut(after, "\n\n")
	return []byte("....[Forks Compared" + after + "\n")
}

func TestForkTable(t *testing.T) {
	gasmtest.Golden(t, "forks3.txt", forkSection(t, 3))
	gasmtest.Golden(t, "forks12.txt", forkSection(t, 12))
	h, p := bimodal(1)
	if strings.Contains(string(text(t, h, []profile.Profile{p}, view.Options{})), "Forks Compared") {
		t.Error("one fork has nothing to be compared with")
	}
}

// In 99 of 100 cases, the spread of equal forks is within the range that the table attributes to chance.
func TestChance(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const n, tries = 2000, 3000
	outside := 0
	for range tries {
		var hits [2]int
		for i := range hits {
			for range n {
				hits[i] += random.IntN(2)
			}
		}
		if math.Abs(float64(hits[0]-hits[1]))/n > chance(n) {
			outside++
		}
	}
	if share := float64(outside) / tries; share < 0.004 || share > 0.018 {
		t.Errorf("%.2f %% of the spreads are larger than what is called chance", 100*share)
	}
}
