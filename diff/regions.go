package diff

import (
	"cmp"
	"slices"
)

// A RegionRow is a pair of regions whose share or code changed.
type RegionRow struct {
	Row
	CompileIDA int `json:"compile_id_a,omitempty"` // of the hottest region
	CompileIDB int `json:"compile_id_b,omitempty"`
	RegionsA   int `json:"regions_a"` // that are in the pair
	RegionsB   int `json:"regions_b"`
	// CodeKnown tells that both sides have code to compare.
	CodeKnown bool `json:"code_known"`
	// Same is the part of the lines of both sides that is the same, registers
	// included; 0 where Code is 0.
	Same float64 `json:"same,omitempty"`
	// Listing is the aligned code of a hot region that differs, else nil.
	Listing []ListingLine `json:"listing,omitempty"`
}

// regionRows keeps the pairs that changed. methods lends the spread over forks,
// which regions do not have.
func (c *Comparison) regionRows(p *pairing, pairs []regionPair, methods []rowPair, o Options) []RegionRow {
	spreads := map[itemKey]float64{}
	for _, m := range methods {
		spreads[itemKey{m.source, m.name}] = m.spread
	}
	rows := []RegionRow{}
	comparable := sameSyntax(c.A, c.B)
	for i := range pairs {
		q := &pairs[i]
		key := itemKey{q.source, q.method}
		r := RegionRow{RegionsA: len(q.a), RegionsB: len(q.b), CompileIDA: compileID(q.a), CompileIDB: compileID(q.b)}
		r.Row = c.row(&rowPair{q.source, q.method, total(q.a), total(q.b), spreads[key]})
		if comparable {
			r.Code = c.codeChange(p, q, spreads[key])
		}
		if !r.changed() {
			continue
		}
		if r.Code > 0 {
			r.Same, r.Listing = compareCode(q)
		}
		r.CodeKnown = comparable && hasCode(q.a) && hasCode(q.b)
		rows = append(rows, r)
	}
	slices.SortStableFunc(rows, func(a, b RegionRow) int {
		return cmp.Or(compareRows(&a.Row, &b.Row), cmp.Compare(a.CompileIDA, b.CompileIDA))
	})
	listings := 0
	for i := range rows {
		r := &rows[i]
		if listings > 0 && max(r.ShareA, r.ShareB) < o.HotThreshold {
			r.Listing = nil
		}
		if r.Listing != nil {
			listings++
		}
	}
	return rows
}

// compileID is that of the hottest region.
func compileID(regions []*Region) int {
	id, most := 0, int64(-1)
	for _, r := range regions {
		if r.Count > most {
			id, most = r.CompileID, r.Count
		}
	}
	return id
}

// codeChange is the share of the samples on instructions that the other side
// has not, of the side that has more; 0 when that is within the noise. What
// the other side does not list could be the same code.
func (c *Comparison) codeChange(p *pairing, q *regionPair, spread float64) float64 {
	if !hasCode(q.a) || !hasCode(q.b) {
		return 0
	}
	onlyA, onlyB := p.unmatched(q)
	a := shareOf(onlyA, c.A.Samples) - shareOf(unlisted(q.b), c.B.Samples)
	b := shareOf(onlyB, c.B.Samples) - shareOf(unlisted(q.a), c.A.Samples)
	var change float64
	if a >= c.Noise.threshold(onlyA, 0, spread) {
		change = a
	}
	if b >= c.Noise.threshold(0, onlyB, spread) {
		change = max(change, b)
	}
	return change
}

// compareCode aligns the code of a pair for reading: of each side the
// compilation of its hottest region, with the method's other regions, since the
// other side may have the same code there.
func compareCode(q *regionPair) (same float64, listing []ListingLine) {
	a, b := join(q.a, q.all.a), join(q.b, q.all.b)
	if len(a) == 0 || len(b) == 0 {
		return 0, nil
	}
	matches, ok := align(a, b)
	if !ok {
		return 0, nil
	}
	l := newListing(a, b, matches)
	return l.same(), l.lines()
}

// join puts regions of one compilation together, by address. Lines of own are
// marked.
func join(own, all []*Region) []Line {
	hottest := hottestWithCode(own)
	if hottest == nil {
		return nil
	}
	var parts, owned []*Region
	for _, r := range all {
		if len(r.Lines) > 0 && sameBlob(r, hottest) {
			parts = append(parts, r)
			if slices.Contains(own, r) {
				owned = append(owned, r)
			}
		}
	}
	slices.SortFunc(parts, func(a, b *Region) int { return cmp.Compare(a.Lines[0].Addr, b.Lines[0].Addr) })
	var lines []Line
	for _, r := range parts {
		lines = appendLines(lines, r.Lines)
	}
	for i := range lines {
		addr := lines[i].Addr
		lines[i].own = slices.ContainsFunc(owned, func(r *Region) bool { return r.Lo <= addr && addr < r.Hi })
	}
	return lines
}

func hottestWithCode(regions []*Region) *Region {
	var hottest *Region
	for _, r := range regions {
		if len(r.Lines) > 0 && (hottest == nil || r.Count > hottest.Count) {
			hottest = r
		}
	}
	return hottest
}
