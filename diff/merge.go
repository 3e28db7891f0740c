package diff

import (
	"cmp"
	"slices"

	"github.com/gasm-profiler/gasm/diff/asm"
)

// MergeMargin is the largest gap, in bytes, over which two regions of one compilation are merged and compared as one
// region. A region is a run of sampled instructions, and reports end it at a gap of 32 bytes. That is too small for a
// comparison: the body of an unrolled loop is often longer than that, and in each run the samples are on different
// instructions of the loop.
const MergeMargin = 256

// sameBlob reports whether two regions are parts of one compilation in one JVM. Compile ids alone
// are not enough, because each JVM counts them anew. So the addresses must be close too: the code
// caches of two JVMs are usually far apart.
func sameBlob(a, b *Region) bool {
	return a.Source == b.Source && a.Method == b.Method && a.OSR == b.OSR && a.CompileID == b.CompileID &&
		max(a.Lo, b.Lo)-min(a.Lo, b.Lo) < asm.MaxSize
}

// A blobKey identifies a compilation within one JVM: all its regions have the same key. A
// compilation in another JVM may have this key too.
type blobKey struct {
	source, method string
	osr            bool
	compileID      int
}

// maxAtOnce is the maximum number of earlier regions with the same key that a region is compared
// with. With a single JVM, the latest of them would be enough, because a JVM's regions do not
// overlap. But other JVMs may have a compilation with the same id at nearby addresses. If there are
// more than maxAtOnce such JVMs, some of their regions are not merged.
const maxAtOnce = 16

// mergeRegions merges regions of one compilation that are close to each other. The
// result is ordered by samples, the hottest region first.
func mergeRegions(regions []Region) []Region {
	byAddress := slices.Clone(regions)
	slices.SortStableFunc(byAddress, func(a, b Region) int { return cmp.Compare(a.Lo, b.Lo) })
	var merged []Region
	last := map[blobKey][]int{} // for each compilation, the indexes in merged of its latest regions
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
