// Package tally counts samples by counter. A counter is what the sampler counts to decide when to take a sample, for
// example "cycles". A sampler may have several of them, so nearly every number of a profile is a [Counts].
//
// In a list of Counts that belong together, all Counts have the same length. This is not so while samples are still
// being counted: then a Counts may be shorter than the list of counters, because more counters may appear later.
// [Counts.Bump] makes it longer when necessary.
package tally

import "slices"

// Counts holds the number of samples of each counter.
type Counts []int64

// Add adds the counts in other to c, element by element. c must be at least as long as other.
func (c Counts) Add(other Counts) {
	for i, n := range other {
		c[i] += n
	}
}

// Bump adds n to c[i]. It makes c longer if necessary.
func (c *Counts) Bump(i int, n int64) {
	for len(*c) <= i {
		*c = append(*c, 0)
	}
	(*c)[i] += n
}

// BumpAt adds one to m[key][counter]. It creates m[key] or makes it longer if necessary.
func BumpAt[K comparable](m map[K]Counts, key K, counter int) {
	c := m[key]
	if counter < len(c) {
		c[counter]++
		return
	}
	c.Bump(counter, 1)
	m[key] = c
}

// AddTo adds counts to the sum of a key. If the key has no sum yet, AddTo creates it with an element for each counter.
func AddTo[K comparable](sums map[K]Counts, key K, c Counts, counters int) {
	if sums[key] == nil {
		sums[key] = make(Counts, counters)
	}
	sums[key].Add(c)
}

// Compare compares counts so that sorting puts the most samples first. It compares the first counter and then, if that
// is equal, the next one.
func Compare(a, b Counts) int { return slices.Compare(b, a) }

// Zeros returns n Counts of zeros, each with as many elements as there are counters. All of them share one allocation.
func Zeros(n, counters int) []Counts {
	all, values := make([]Counts, n), make(Counts, n*counters)
	for i := range all {
		all[i] = values[i*counters : (i+1)*counters : (i+1)*counters]
	}
	return all
}
