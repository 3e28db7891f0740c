package diff

import (
	"cmp"
	"slices"
)

// A regionPair is code of one method that belongs together: usually one region
// of each side. One run can show two regions where the other shows one, when
// by chance no sample fell between them; then they are all in one pair.
type regionPair struct {
	source, method string
	a, b           []*Region
	all            *regionPair // all regions of the method
}

// A pairing pairs the regions of two trials.
type pairing struct {
	// uncoded are numbers of samples, of A and B, from which on a region ought to
	// have code; one without makes its whole method one pair.
	uncoded    [2]int64
	alignments map[[2]*Region][]match
}

// maxRegions is how many regions of a method, the hottest, are aligned with
// each other. The rest goes with the hottest pair.
const maxRegions = 12

func newPairing(a, b *Trial, minChange float64) *pairing {
	least := func(t *Trial) int64 { return int64(minChange*float64(t.Samples)) + 1 }
	return &pairing{uncoded: [2]int64{least(a), least(b)}, alignments: map[[2]*Region][]match{}}
}

func (p *pairing) align(a, b *Region) []match {
	key := [2]*Region{a, b}
	matches, ok := p.alignments[key]
	if !ok {
		matches, _ = align(a.Lines, b.Lines)
		p.alignments[key] = matches
	}
	return matches
}

// pairs pairs all regions of two trials.
func (p *pairing) pairs(a, b *Trial) []regionPair {
	methods := map[itemKey]*regionPair{}
	var order []itemKey
	add := func(r *Region, isB bool) {
		key := itemKey{r.Source, r.Method}
		m := methods[key]
		if m == nil {
			m = &regionPair{source: r.Source, method: r.Method}
			methods[key] = m
			order = append(order, key)
		}
		if isB {
			m.b = append(m.b, r)
		} else {
			m.a = append(m.a, r)
		}
	}
	for i := range a.Regions {
		add(&a.Regions[i], false)
	}
	for i := range b.Regions {
		add(&b.Regions[i], true)
	}
	var all []regionPair
	for _, key := range order {
		all = append(all, p.split(methods[key])...)
	}
	return all
}

// split takes the regions of a method apart into pairs: first those whose code
// is alike, then those that another one has in it, then what is left. What has
// no counterpart even then goes to the pair that is most like it, so nothing
// looks new that is not a method of its own.
func (p *pairing) split(m *regionPair) []regionPair {
	m.all = m
	codeA, restA, wholeA := withCode(m.a, p.uncoded[0])
	codeB, restB, wholeB := withCode(m.b, p.uncoded[1])
	if len(codeA) == 0 || len(codeB) == 0 || !wholeA || !wholeB {
		return []regionPair{*m}
	}
	const alike, contained = 0.5, 0.6
	pairs := p.oneToOne(nil, m, codeA, codeB, alike)
	p.join(pairs, codeA, codeB, contained)
	pairs = p.oneToOne(pairs, m, codeA, codeB, 0)
	p.join(pairs, codeA, codeB, 0)
	pairs = p.mergeCompilations(pairs, contained)
	pairs[0].a = append(pairs[0].a, restA...)
	pairs[0].b = append(pairs[0].b, restB...)
	return pairs
}

// join adds regions that are in no pair to the one that has most of their
// lines, at least this part of them.
func (p *pairing) join(pairs []regionPair, as, bs []*Region, least float64) {
	for _, r := range as {
		if i, part := mostLike(pairs, func(q *regionPair) float64 { return p.contained(r, q.b, false) }); !taken(pairs, r) && part >= least {
			pairs[i].a = append(pairs[i].a, r)
		}
	}
	for _, r := range bs {
		if i, part := mostLike(pairs, func(q *regionPair) float64 { return p.contained(r, q.a, true) }); !taken(pairs, r) && part >= least {
			pairs[i].b = append(pairs[i].b, r)
		}
	}
}

// mergeCompilations makes one pair of those that have the same code in several
// compilations of the method: which one runs for how long, and in which fork,
// differs from run to run.
func (p *pairing) mergeCompilations(pairs []regionPair, least float64) []regionPair {
	alike := func(x, y *Region) bool {
		n := len(p.align(x, y))
		return !sameBlob(x, y) && float64(n) >= least*float64(min(len(x.Lines), len(y.Lines)))
	}
	anyAlike := func(xs, ys []*Region) bool {
		return slices.ContainsFunc(xs, func(x *Region) bool {
			return slices.ContainsFunc(ys, func(y *Region) bool { return alike(x, y) })
		})
	}
	var merged []regionPair
	for _, q := range pairs {
		i := slices.IndexFunc(merged, func(m regionPair) bool { return anyAlike(m.a, q.a) || anyAlike(m.b, q.b) })
		if i < 0 {
			merged = append(merged, q)
			continue
		}
		merged[i].a, merged[i].b = append(merged[i].a, q.a...), append(merged[i].b, q.b...)
	}
	return merged
}

// withCode parts regions, hottest first, into those to align and the rest.
// False when a region that ought to have code has none.
func withCode(regions []*Region, uncoded int64) (code, rest []*Region, whole bool) {
	whole = true
	for _, r := range regions {
		whole = whole && r.Unlisted < uncoded
		if len(r.Lines) > 0 && len(code) < maxRegions {
			code = append(code, r)
		} else {
			rest = append(rest, r)
		}
	}
	return code, rest, whole
}

// oneToOne adds pairs of regions that are in none yet, the most alike first.
func (p *pairing) oneToOne(pairs []regionPair, m *regionPair, as, bs []*Region, least float64) []regionPair {
	type candidate struct {
		a, b     *Region
		likeness float64
	}
	var candidates []candidate
	for _, a := range as {
		for _, b := range bs {
			if n := likeness(a.Lines, b.Lines, p.align(a, b)); n >= least {
				candidates = append(candidates, candidate{a, b, n})
			}
		}
	}
	slices.SortStableFunc(candidates, func(x, y candidate) int { return cmp.Compare(y.likeness, x.likeness) })
	for _, c := range candidates {
		if !taken(pairs, c.a) && !taken(pairs, c.b) {
			pairs = append(pairs, regionPair{m.source, m.method, []*Region{c.a}, []*Region{c.b}, m})
		}
	}
	slices.SortStableFunc(pairs, func(x, y regionPair) int {
		return cmp.Compare(total(y.a)+total(y.b), total(x.a)+total(x.b))
	})
	return pairs
}

// likeness is the part of two listings that is the same but for registers.
func likeness(a, b []Line, matches []match) float64 {
	return 2 * float64(len(matches)) / float64(len(a)+len(b))
}

func taken(pairs []regionPair, r *Region) bool {
	return slices.ContainsFunc(pairs, func(q regionPair) bool { return slices.Contains(q.a, r) || slices.Contains(q.b, r) })
}

func total(regions []*Region) int64 {
	var n int64
	for _, r := range regions {
		n += r.Count
	}
	return n
}

// mostLike gives the pair for which like is largest, the first of several; -1
// for none.
func mostLike(pairs []regionPair, like func(*regionPair) float64) (best int, most float64) {
	best, most = -1, -1
	for i := range pairs {
		if n := like(&pairs[i]); n > most {
			best, most = i, n
		}
	}
	return best, most
}

// contained is the part of a region's lines that one of the other side's has.
func (p *pairing) contained(r *Region, others []*Region, rIsB bool) float64 {
	most := 0
	for _, o := range others {
		if len(o.Lines) > 0 {
			most = max(most, len(p.align(pick(rIsB, o, r), pick(rIsB, r, o))))
		}
	}
	return float64(most) / float64(len(r.Lines))
}

func pick[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}

// passage is how many lines in a row must be the same for code to be found
// outside of its pair: regions end where samples end, and what is in one pair
// on one side may be in the next on the other.
const passage = 6

// unmatched counts the samples of each side on instructions that the other
// has nowhere.
func (p *pairing) unmatched(q *regionPair) (a, b int64) {
	found := map[*Region][]bool{}
	for _, r := range slices.Concat(q.all.a, q.all.b) {
		found[r] = make([]bool, len(r.Lines))
	}
	for _, ra := range q.all.a {
		for _, rb := range q.all.b {
			inA, inB := slices.Contains(q.a, ra), slices.Contains(q.b, rb)
			if len(ra.Lines) == 0 || len(rb.Lines) == 0 || !inA && !inB {
				continue
			}
			matches := p.align(ra, rb)
			if !inA || !inB {
				matches = passages(matches)
			}
			for _, m := range matches {
				found[ra][m.a], found[rb][m.b] = true, true
			}
		}
	}
	missing := func(regions []*Region) (n int64) {
		for _, r := range regions {
			for i, l := range r.Lines {
				if !found[r][i] && r.Lo <= l.Addr && l.Addr < r.Hi { // the margin's samples are another region's
					n += l.Count
				}
			}
		}
		return n
	}
	return missing(q.a), missing(q.b)
}

// passages keeps the matches that are in a row.
func passages(matches []match) []match {
	var kept []match
	for from := 0; from < len(matches); {
		to := from + 1
		for to < len(matches) && matches[to].a == matches[to-1].a+1 && matches[to].b == matches[to-1].b+1 {
			to++
		}
		if to-from >= passage {
			kept = append(kept, matches[from:to]...)
		}
		from = to
	}
	return kept
}

// unlisted counts the samples of regions for which there is no code.
func unlisted(regions []*Region) (n int64) {
	for _, r := range regions {
		n += r.Unlisted
	}
	return n
}

func hasCode(regions []*Region) bool { return hottestWithCode(regions) != nil }
