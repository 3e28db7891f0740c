package diff

import (
	"cmp"
	"slices"

	"github.com/gasm-profiler/gasm/diff/asm"
)

// MergeMargin is the largest gap, in bytes, over which two regions of one compilation are merged
// and compared as one region. Reports separate regions at a gap of 32 bytes. That is too small for
// a comparison: the body of an unrolled loop is often longer, and the samples are on different
// instructions of it in each run.
const MergeMargin = 256

// sameBlob reports whether two regions are parts of one compilation in one JVM. Compile ids alone
// are not enough, because each JVM counts them anew. So the addresses must be close too: the code
// caches of two JVMs are usually far apart.
func sameBlob(a, b *Region) bool {
	return a.Source == b.Source && a.Method == b.Method && a.OSR == b.OSR && a.CompileID == b.CompileID &&
		max(a.Lo, b.Lo)-min(a.Lo, b.Lo) < asm.MaxSize
}

// A blobKey is the same for all regions of a compilation. A compilation in another JVM may have the
// same key.
type blobKey struct {
	source, method string
	osr            bool
	compileID      int
}

// maxAtOnce limits with how many earlier regions of the same key a region is compared. For a single
// JVM the latest region would be enough, because its regions do not overlap. But other JVMs may
// have a compilation with the same id at nearby addresses. If there are more than maxAtOnce such
// JVMs, some of their regions are not merged.
const maxAtOnce = 16

// mergeRegions merges regions of one compilation that are close to each other. The
// result is ordered by samples, the hottest region first.
func mergeRegions(regions []Region) []Region {
	byAddress := slices.Clone(regions)
	slices.SortStableFunc(byAddress, func(a, b Region) int { return cmp.Compare(a.Lo, b.Lo) })
	var merged []Region
	last := map[blobKey][]int{} // for each compilation, indexes of the latest regions in merged
	for i := range byAddress {
		r := &byAddress[i]
		if len(r.Lines) == 0 {
			r.Unlisted = r.Count
		}
		key := blobKey{r.Source, r.Method, r.OSR, r.CompileID}
		k := slices.IndexFunc(last[key], func(m int) bool {
			before := &merged[m]
			return sameBlob(before, r) && r.Lo >= before.Hi && r.Lo-before.Hi <= MergeMargin
		})
		if k < 0 {
			last[key] = append(last[key][max(0, len(last[key])+1-maxAtOnce):], len(merged))
			merged = append(merged, *r)
			continue
		}
		m := &merged[last[key][k]]
		m.Hi, m.Count, m.Unlisted = r.Hi, m.Count+r.Count, m.Unlisted+r.Unlisted
		m.Lines = asm.Append(m.Lines, r.Lines)
	}
	slices.SortStableFunc(merged, func(a, b Region) int { return cmp.Compare(b.Count, a.Count) })
	return merged
}
