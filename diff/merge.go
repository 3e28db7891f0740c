package diff

import (
	"cmp"
	"slices"
)

// MergeMargin is the largest distance in bytes between two regions of one
// compilation that are compared as one. An unrolled loop is easily longer than
// the 32 bytes that part regions in reports, and in which of its instructions
// samples fall differs from run to run.
const MergeMargin = 256

// sameBlob tells whether two regions are of one compilation in one JVM. In
// another JVM the code cache is elsewhere.
func sameBlob(a, b *Region) bool {
	return a.Source == b.Source && a.Method == b.Method && a.OSR == b.OSR && a.CompileID == b.CompileID &&
		max(a.Lo, b.Lo)-min(a.Lo, b.Lo) < near
}

// mergeRegions merges regions that lie close to each other; the result is
// ordered by heat.
func mergeRegions(regions []Region) []Region {
	byAddress := slices.Clone(regions)
	slices.SortStableFunc(byAddress, func(a, b Region) int { return cmp.Compare(a.Lo, b.Lo) })
	var merged []Region
	for i := range byAddress {
		r := &byAddress[i]
		if len(r.Lines) == 0 {
			r.Unlisted = r.Count
		}
		last := slices.IndexFunc(merged, func(m Region) bool {
			return sameBlob(&m, r) && r.Lo >= m.Hi && r.Lo-m.Hi <= MergeMargin
		})
		if last < 0 {
			merged = append(merged, *r)
			continue
		}
		m := &merged[last]
		m.Hi, m.Count, m.Unlisted = r.Hi, m.Count+r.Count, m.Unlisted+r.Unlisted
		m.Lines = appendLines(m.Lines, r.Lines)
	}
	slices.SortStableFunc(merged, func(a, b Region) int { return cmp.Compare(b.Count, a.Count) })
	return merged
}

// appendLines appends code that lies behind lines; the margins of both may
// overlap.
func appendLines(lines, more []Line) []Line {
	gap := len(lines) > 0
	for _, l := range more {
		if n := len(lines); n > 0 && l.Addr <= lines[n-1].Addr {
			gap = false
			continue
		}
		l.gap = l.gap || gap
		gap = false
		lines = append(lines, l)
	}
	return lines
}
