package diff

import (
	"cmp"
	"slices"

	"github.com/gasm-profiler/gasm/diff/asm"
)

// methodRegions has all regions of one method on both sides, the hottest first. A region is a run of sampled
// instructions.
type methodRegions struct {
	itemKey
	a, b []*Region
}

// A regionPair has the regions of one method that are compared with each other. Usually that is one region of each
// side, but a side may have more. For example, one of the runs may by chance have no samples in the middle of a piece
// of code. Then this code is two regions in that run, and one region in the other.
type regionPair struct {
	method *methodRegions
	a, b   []*Region
}

// A pairing pairs the regions of two trials.
type pairing struct {
	// maxUnlisted has one number for A and one for B. If a region has at least that many samples on code that the
	// report does not list, all regions of its method become one pair.
	maxUnlisted [2]int64
	alignments  map[[2]*Region][]asm.Match
}

// maxRegions is the maximum number of regions of a method that are aligned with each other. The
// hottest regions are aligned, and the others are added to the hottest pair.
const maxRegions = 12

func newPairing(a, b *TrialSide, minChange float64) *pairing {
	limit := func(t *TrialSide) int64 { return int64(minChange*float64(t.Samples)) + 1 }
	return &pairing{maxUnlisted: [2]int64{limit(a), limit(b)}, alignments: map[[2]*Region][]asm.Match{}}
}

// matches aligns two regions and returns the lines that match. The regions are one of A and one of B, or two of the
// same side. Each result is remembered for the next call with the same regions.
func (p *pairing) matches(a, b *Region) []asm.Match {
	key := [2]*Region{a, b}
	matches, ok := p.alignments[key]
	if !ok {
		matches, _ = asm.Align(a.Lines, b.Lines) // no matches if the code is too long
		p.alignments[key] = matches
	}
	return matches
}

// pairs pairs all regions of two trials.
func (p *pairing) pairs(a, b *TrialSide) []regionPair {
	methods := map[itemKey]*methodRegions{}
	var order []*methodRegions
	method := func(r *Region) *methodRegions {
		key := itemKey{r.Source, r.Method}
		m := methods[key]
		if m == nil {
			m = &methodRegions{itemKey: key}
			methods[key] = m
			order = append(order, m)
		}
		return m
	}
	for i := range a.Regions {
		m := method(&a.Regions[i])
		m.a = append(m.a, &a.Regions[i])
	}
	for i := range b.Regions {
		m := method(&b.Regions[i])
		m.b = append(m.b, &b.Regions[i])
	}
	var all []regionPair
	for _, m := range order {
		all = append(all, p.pairsOf(m)...)
	}
	return all
}

// pairsOf pairs the regions of a method. First it pairs the regions whose code is alike. Then it
// adds regions whose code is contained in one of these pairs, and after that it pairs the rest. If
// a region has no counterpart, it is added to the pair that it resembles most. So code never looks
// new unless its method is new.
func (p *pairing) pairsOf(m *methodRegions) []regionPair {
	codeA, restA, listedA := withCode(m.a, p.maxUnlisted[0])
	codeB, restB, listedB := withCode(m.b, p.maxUnlisted[1])
	if len(codeA) == 0 || len(codeB) == 0 || !listedA || !listedB {
		return []regionPair{{m, m.a, m.b}}
	}
	// Two regions are alike if at least half of their lines match. A region is contained
	// in another one if 60 % of its lines match lines there.
	const leastLikeness, leastContained = 0.5, 0.6
	pairs := p.oneToOne(nil, m, codeA, codeB, leastLikeness)
	p.addUnpaired(pairs, codeA, codeB, leastContained)
	pairs = p.oneToOne(pairs, m, codeA, codeB, 0)
	p.addUnpaired(pairs, codeA, codeB, 0)
	pairs = p.mergeCompilations(pairs, leastContained)
	pairs[0].a = append(pairs[0].a, restA...)
	pairs[0].b = append(pairs[0].b, restB...)
	return pairs
}

// withCode divides the regions of one side into those to be aligned and the rest. listed is false if a region has at
// least maxUnlisted samples on code that the report does not list.
func withCode(regions []*Region, maxUnlisted int64) (code, rest []*Region, listed bool) {
	listed = true
	for _, r := range regions {
		listed = listed && r.Unlisted < maxUnlisted
		if len(r.Lines) > 0 && len(code) < maxRegions {
			code = append(code, r)
		} else {
			rest = append(rest, r)
		}
	}
	return code, rest, listed
}

// oneToOne adds pairs of regions that are in no pair yet. It starts with the two regions that are most alike, and does
// not pair regions whose likeness is less than the parameter least. The result is ordered by samples.
func (p *pairing) oneToOne(pairs []regionPair, m *methodRegions, as, bs []*Region, least float64) []regionPair {
	type candidate struct {
		a, b     *Region
		likeness float64
	}
	var candidates []candidate
	for _, a := range as {
		for _, b := range bs {
			if n := likeness(a.Lines, b.Lines, p.matches(a, b)); n >= least {
				candidates = append(candidates, candidate{a, b, n})
			}
		}
	}
	slices.SortStableFunc(candidates, func(x, y candidate) int { return cmp.Compare(y.likeness, x.likeness) })
	for _, c := range candidates {
		if !paired(pairs, c.a) && !paired(pairs, c.b) {
			pairs = append(pairs, regionPair{m, []*Region{c.a}, []*Region{c.b}})
		}
	}
	slices.SortStableFunc(pairs, func(x, y regionPair) int {
		return cmp.Compare(totalCount(y.a)+totalCount(y.b), totalCount(x.a)+totalCount(x.b))
	})
	return pairs
}

// likeness returns how much of two pieces of code matches: 1 if all lines match, 0 if none does.
func likeness(a, b []asm.Line, matches []asm.Match) float64 {
	return 2 * float64(len(matches)) / float64(len(a)+len(b))
}

// addUnpaired handles the regions that are in no pair. It adds each of them to the pair that
// contains the most of the region's lines. If even that pair contains too few of the lines, the
// region stays without a pair.
func (p *pairing) addUnpaired(pairs []regionPair, as, bs []*Region, least float64) {
	for _, r := range as {
		inB := func(q *regionPair) float64 {
			return contained(r, q.b, func(b *Region) int { return len(p.matches(r, b)) })
		}
		if i, share := best(pairs, inB); !paired(pairs, r) && share >= least {
			pairs[i].a = append(pairs[i].a, r)
		}
	}
	for _, r := range bs {
		inA := func(q *regionPair) float64 {
			return contained(r, q.a, func(a *Region) int { return len(p.matches(a, r)) })
		}
		if i, share := best(pairs, inA); !paired(pairs, r) && share >= least {
			pairs[i].b = append(pairs[i].b, r)
		}
	}
}

// contained returns the share of r's lines that match lines of another region. If there are several
// other regions, the one with the most matches counts.
func contained(r *Region, others []*Region, matches func(*Region) int) float64 {
	most := 0
	for _, o := range others {
		if len(o.Lines) > 0 {
			most = max(most, matches(o))
		}
	}
	return float64(most) / float64(len(r.Lines))
}

// best returns the index of the first pair with the largest value, or -1 without pairs.
func best(pairs []regionPair, value func(*regionPair) float64) (index int, largest float64) {
	index, largest = -1, -1
	for i := range pairs {
		if n := value(&pairs[i]); n > largest {
			index, largest = i, n
		}
	}
	return index, largest
}

// mergeCompilations merges pairs whose code is the same although it comes from several compilations of the method.
// Without that, there would be differences by chance, because it differs from run to run how long each compilation is
// in use, and in which fork. Two regions have the same code if enough of the shorter region's lines match.
func (p *pairing) mergeCompilations(pairs []regionPair, least float64) []regionPair {
	sameCode := func(x, y *Region) bool {
		n := len(p.matches(x, y))
		return !sameBlob(x, y) && float64(n) >= least*float64(min(len(x.Lines), len(y.Lines)))
	}
	anySameCode := func(xs, ys []*Region) bool {
		return slices.ContainsFunc(xs, func(x *Region) bool {
			return slices.ContainsFunc(ys, func(y *Region) bool { return sameCode(x, y) })
		})
	}
	var merged []regionPair
	for _, q := range pairs {
		i := slices.IndexFunc(merged, func(m regionPair) bool { return anySameCode(m.a, q.a) || anySameCode(m.b, q.b) })
		if i < 0 {
			merged = append(merged, q)
			continue
		}
		merged[i].a, merged[i].b = append(merged[i].a, q.a...), append(merged[i].b, q.b...)
	}
	return merged
}

// paired reports whether a region is in one of the pairs.
func paired(pairs []regionPair, r *Region) bool {
	return slices.ContainsFunc(pairs, func(q regionPair) bool {
		return slices.Contains(q.a, r) ||
			slices.Contains(q.b, r)
	})
}

// totalCount returns the number of samples in regions.
func totalCount(regions []*Region) (n int64) {
	for _, r := range regions {
		n += r.Count
	}
	return n
}

// unlistedCount returns how many samples in the regions are on code that the report does not list.
func unlistedCount(regions []*Region) (n int64) {
	for _, r := range regions {
		n += r.Unlisted
	}
	return n
}

// minRun is the minimum number of lines in a row that must match when a region is compared with a
// region of another pair. Shorter runs can be alike by chance. Other pairs are searched because a
// region ends where its samples end, so the same code may belong to this pair in A and to another
// pair in B.
const minRun = 6

// unmatched returns how many samples of each side of a pair are on instructions that the
// other side does not have in any region of the method.
func (p *pairing) unmatched(q *regionPair) (a, b int64) {
	found := map[*Region][]bool{} // for each line, whether the other side has it
	in := map[*Region]bool{}      // whether the region is in the pair
	for _, r := range slices.Concat(q.a, q.b) {
		found[r], in[r] = make([]bool, len(r.Lines)), true
	}
	listedA, listedB := listed(q.method.a), listed(q.method.b)
	for _, r := range slices.Concat(listedA, listedB) {
		found[r] = make([]bool, len(r.Lines))
	}
	for _, ra := range listedA {
		for _, rb := range listedB {
			inA, inB := in[ra], in[rb]
			if !inA && !inB {
				continue
			}
			matches := p.matches(ra, rb)
			if !inA || !inB {
				matches = longRuns(matches)
			}
			for _, m := range matches {
				found[ra][m.A], found[rb][m.B] = true, true
			}
		}
	}
	missing := func(regions []*Region) (n int64) {
		for _, r := range regions {
			for i, l := range r.Lines {
				// The listing also has some lines before and after the region. Samples on these
				// lines belong to other regions.
				if !found[r][i] && r.Lo <= l.Addr && l.Addr < r.Hi {
					n += l.Count
				}
			}
		}
		return n
	}
	return missing(q.a), missing(q.b)
}

// maxListed is the maximum number of regions of a method, on each side, in which unmatched searches for instructions.
const maxListed = 64

// listed returns the hottest regions that have code. It returns at most maxListed regions.
func listed(regions []*Region) []*Region {
	var hottest []*Region
	for _, r := range regions {
		if len(r.Lines) > 0 && len(hottest) < maxListed {
			hottest = append(hottest, r)
		}
	}
	return hottest
}

// longRuns returns the matches that are in runs of at least minRun lines.
func longRuns(matches []asm.Match) []asm.Match {
	var kept []asm.Match
	for from := 0; from < len(matches); {
		to := from + 1
		for to < len(matches) && matches[to].A == matches[to-1].A+1 && matches[to].B == matches[to-1].B+1 {
			to++
		}
		if to-from >= minRun {
			kept = append(kept, matches[from:to]...)
		}
		from = to
	}
	return kept
}
