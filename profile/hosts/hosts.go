// Package hosts compares the hosts of a profile that was made from several captures: which of them differs from all
// others, and in which code.
package hosts

import (
	"cmp"
	"math"
	"slices"

	"github.com/gasm-profiler/gasm/internal/noise"
)

// MinChange is the minimum of [Difference.Noise]. Two shares that differ by less are never called different, however
// many samples there are.
const MinChange = 0.01

// A Code is code whose share of the samples may differ between hosts.
type Code struct {
	Name    string
	Samples map[int]int64 // samples by the index of the host; hosts without samples in the code are missing
}

// A Host is one of the hosts of a profile.
type Host struct {
	Name    string
	PIDs    []int   // process ids of the host's JVMs in the profile
	Samples int64   // samples of the first counter, as all numbers here
	Hottest []int64 // the host's samples in each of the hottest regions of the profile
	// Farthest is the code in which the host differs most from the others. It is nil if there is nothing to compare
	// with.
	Farthest *Difference
}

// A Difference says how much the share of some code on one host differs from its share on all other hosts together.
type Difference struct {
	Code          int     // index of the Code
	Share, Others float64 // the code's share of the host's samples, and of all other hosts' samples
	// Noise is the largest difference that is explained by chance: by random sampling, and by how much the other hosts
	// differ from each other. It is at least MinChange, and at most 1, because no difference is larger than that.
	Noise float64
}

// Change returns the difference of the two shares.
func (d *Difference) Change() float64 { return d.Share - d.Others }

// Different reports whether the difference is larger than the noise.
func (d *Difference) Different() bool { return math.Abs(d.Change()) > d.Noise }

// Compare sets Farthest of each host.
//
// If a host is like the others, its share still differs from theirs, for two reasons. One is random sampling. The other
// is that hosts differ: if the variance of one host's share is v, the difference to the mean of n other hosts has the
// variance v + v/n. The variance v/n is estimated from those n hosts, which takes at least two of them.
func Compare(all []Host, code []Code) {
	c := comparison{hosts: all, code: code}
	rows := 0
	for i := range code {
		for h, n := range code[i].Samples {
			if float64(n) >= MinChange*float64(all[h].Samples) {
				rows++
				break
			}
		}
	}
	c.factor = noise.Factor(rows * len(all))
	for _, h := range all {
		c.total += h.Samples
	}
	for i := range code {
		c.compare(i)
	}
}

type comparison struct {
	hosts  []Host
	code   []Code
	total  int64 // samples of all hosts
	factor float64
}

// compare compares the shares of one piece of code. Hosts without samples are left out.
func (c *comparison) compare(i int) {
	var groups noise.Groups
	var all int64
	for h := range c.hosts {
		n := c.code[i].Samples[h]
		if c.hosts[h].Samples > 0 {
			groups.Add(c.hosts[h].Samples, n)
		}
		all += n
	}
	for h := range c.hosts {
		host := &c.hosts[h]
		own, rest := c.code[i].Samples[h], c.total-host.Samples
		if host.Samples == 0 || rest == 0 {
			continue
		}
		d := Difference{Code: i, Share: float64(own) / float64(host.Samples), Others: float64(all-own) / float64(rest)}
		groups.Remove(host.Samples, own)
		spread := math.Sqrt(groups.Variance() * float64(groups.Len()+1))
		d.Noise = min(1, max(MinChange, c.factor*noise.SamplingError(own, host.Samples, all-own, rest),
			noise.SpreadFactor(c.factor, groups.Len()-1)*spread))
		groups.Add(host.Samples, own)
		if host.Farthest == nil || d.beyond(host.Farthest) {
			host.Farthest = &d
		}
	}
}

// beyond reports whether d comes before other in the order in which the farthest difference is chosen. Differences
// above the noise come first, the largest one at the top. The others follow, ordered by how close they come to the
// noise.
func (d *Difference) beyond(other *Difference) bool {
	if d.Different() != other.Different() {
		return d.Different()
	}
	if d.Different() {
		return math.Abs(d.Change()) > math.Abs(other.Change())
	}
	return math.Abs(d.Change())/d.Noise > math.Abs(other.Change())/other.Noise
}

// Order sorts hosts: those that differ from the others come first, the farthest one at the top, and then those with the
// most samples.
func Order(all []Host) {
	change := func(h *Host) float64 {
		if h.Farthest == nil || !h.Farthest.Different() {
			return 0
		}
		return math.Abs(h.Farthest.Change())
	}
	slices.SortStableFunc(all, func(a, b Host) int {
		return cmp.Or(cmp.Compare(change(&b), change(&a)), cmp.Compare(b.Samples, a.Samples), cmp.Compare(a.Name, b.Name))
	})
}
