package diff

import (
	"cmp"
	"slices"

	"github.com/gasm-profiler/gasm/diff/asm"
)

// A RegionRow is a pair of regions whose share or code changed.
type RegionRow struct {
	Row
	CompileIDA int `json:"compile_id_a,omitempty"` // the compile id of A's hottest region in the pair
	CompileIDB int `json:"compile_id_b,omitempty"`
	RegionsA   int `json:"regions_a"` // the number of A's regions in the pair
	RegionsB   int `json:"regions_b"`
	// CodeKnown is true if both sides have code that can be compared.
	CodeKnown bool `json:"code_known"`
	// Same is the share of lines that are equal on both sides, including registers. It is 0 if Code
	// is 0.
	Same float64 `json:"same,omitempty"`
	// Listing is the aligned code of a hot region whose code differs; nil for other regions.
	Listing []asm.ListingLine `json:"listing,omitempty"`
}

// regionRows returns rows for the pairs of regions that changed. Reports have no counts by fork or
// slice for regions. So the standard error over forks and slices is taken from the region's method.
func (c *Comparison) regionRows(p *pairing, pairs []regionPair, methods []itemPair, o Options) []RegionRow {
	spreadErrors := map[itemKey]float64{}
	for _, m := range methods {
		spreadErrors[itemKey{m.source, m.name}] = m.spreadError
	}
	rows := []RegionRow{}
	comparableCode := sameSyntax(c.A, c.B)
	for i := range pairs {
		q := &pairs[i]
		key := q.method.itemKey
		r := RegionRow{RegionsA: len(q.a), RegionsB: len(q.b), CompileIDA: compileID(q.a), CompileIDB: compileID(q.b)}
		r.Row = c.row(&itemPair{key.source, key.name, totalCount(q.a), totalCount(q.b), spreadErrors[key]})
		if comparableCode {
			r.Code = c.codeChange(p, q, spreadErrors[key])
		}
		if !r.changed() {
			continue
		}
		if r.Code > 0 {
			r.Same, r.Listing = compareCode(q)
		}
		r.CodeKnown = comparableCode && hasCode(q.a) && hasCode(q.b)
		rows = append(rows, r)
	}
	slices.SortStableFunc(rows, func(a, b RegionRow) int {
		return cmp.Or(compareRows(&a.Row, &b.Row), cmp.Compare(a.CompileIDA, b.CompileIDA))
	})
	dropColdListings(rows, o.HotThreshold)
	return rows
}

// dropColdListings removes the listings of regions that are not hot. The first listing always
// stays.
func dropColdListings(rows []RegionRow, hotThreshold float64) {
	kept := 0
	for i := range rows {
		r := &rows[i]
		if kept > 0 && max(r.ShareA, r.ShareB) < hotThreshold {
			r.Listing = nil
		}
		if r.Listing != nil {
			kept++
		}
	}
}

// compileID returns the compile id of the hottest region.
func compileID(regions []*Region) int {
	id, most := 0, int64(-1)
	for _, r := range regions {
		if r.Count > most {
			id, most = r.CompileID, r.Count
		}
	}
	return id
}

// codeChange returns the share of a side's samples that are on instructions which the other side
// does not have. It computes this share for A and for B, and returns the larger one. It returns 0
// if both are within the noise. If the other side has samples on unknown code, their share is
// subtracted, because the unknown code may have the same instructions.
func (c *Comparison) codeChange(p *pairing, q *regionPair, spreadError float64) float64 {
	if !hasCode(q.a) || !hasCode(q.b) {
		return 0
	}
	onlyA, onlyB := p.unmatched(q)
	a := shareOf(onlyA, c.A.Samples) - shareOf(unlistedCount(q.b), c.B.Samples)
	b := shareOf(onlyB, c.B.Samples) - shareOf(unlistedCount(q.a), c.A.Samples)
	var change float64
	if a >= c.Noise.threshold(onlyA, 0, spreadError) {
		change = a
	}
	if b >= c.Noise.threshold(0, onlyB, spreadError) {
		change = max(change, b)
	}
	return change
}

// compareCode returns the listing of a pair. For each side, the listing has the compilation that the pair's hottest
// region belongs to. It has all regions of that compilation, because code that is in the hottest region in A may be in
// another region in B. The first result is the share of equal lines.
func compareCode(q *regionPair) (same float64, lines []asm.ListingLine) {
	return asm.Compare(compilationCode(q.a, q.method.a), compilationCode(q.b, q.method.b))
}

// compilationCode returns the code of one compilation, sorted by address. It is the compilation
// that the pair's hottest region belongs to. The first argument has the pair's regions on one side,
// and the second one has all regions of the method on that side. InRegion is set for the lines that
// are in the pair's regions.
func compilationCode(pair, of []*Region) []asm.Line {
	hottest := hottestWithCode(pair)
	if hottest == nil {
		return nil
	}
	var all, ofPair []*Region
	for _, r := range of {
		if len(r.Lines) > 0 && sameBlob(r, hottest) {
			all = append(all, r)
			if slices.Contains(pair, r) {
				ofPair = append(ofPair, r)
			}
		}
	}
	slices.SortFunc(all, func(a, b *Region) int { return cmp.Compare(a.Lines[0].Addr, b.Lines[0].Addr) })
	var lines []asm.Line
	for _, r := range all {
		lines = asm.Append(lines, r.Lines)
	}
	for i := range lines {
		addr := lines[i].Addr
		lines[i].InRegion = slices.ContainsFunc(ofPair, func(r *Region) bool { return r.Lo <= addr && addr < r.Hi })
	}
	return lines
}

// hottestWithCode returns the hottest region that has code, or nil if none has.
func hottestWithCode(regions []*Region) *Region {
	var hottest *Region
	for _, r := range regions {
		if len(r.Lines) > 0 && (hottest == nil || r.Count > hottest.Count) {
			hottest = r
		}
	}
	return hottest
}

func hasCode(regions []*Region) bool { return hottestWithCode(regions) != nil }
