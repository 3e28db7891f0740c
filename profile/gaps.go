package profile

import (
	"cmp"
	"slices"

	"github.com/gasm-profiler/gasm/printassembly"
)

// gaps are the parts of the code cache that hold code which HotSpot never prints, as
// blobs of their own. They ascend and do not overlap.
//
// HotSpot prints methods, stubs and codelets, but neither i2c/c2i adapters nor inline
// cache stubs (sharedRuntime.cpp, icBuffer.cpp). These lie among the JVM's own blobs, in
// the part of the code cache that is not for methods. The code cache is one reserved
// range, so whatever lies between two blobs is in it. What lies between two blobs that
// are no methods is the JVM's own code. What lies next to a method may be another method
// whose print is missing, so it is no gap.
type gaps []printassembly.Blob

// findGaps finds the gaps between the blobs of a log. The extents ascend; of several that
// begin at one address, methods come first, because they decide (see the order of
// [printassembly.Kind]).
func findGaps(extents []extent) gaps {
	var found gaps
	var hi uint64   // of all blobs so far
	ownEnd := false // what ends at hi is the JVM's own code, not a method
	for _, e := range extents {
		own := !e.kind.Java()
		if hi < e.lo && ownEnd && own {
			found = append(found, printassembly.Blob{Kind: printassembly.Unprinted, Name: unprintedName, Lo: hi, Hi: e.lo})
		}
		switch {
		case e.hi > hi:
			hi, ownEnd = e.hi, own
		case e.hi == hi:
			ownEnd = ownEnd && own
		}
	}
	return found
}

// unprintedName is the name of a gap's blob.
const unprintedName = "(adapters and inline cache stubs)"

// find gives the gap that holds pc.
func (g gaps) find(pc uint64) (int, bool) {
	i, ok := slices.BinarySearchFunc(g, pc, func(b printassembly.Blob, pc uint64) int { return cmp.Compare(b.Lo, pc) })
	if !ok {
		i--
	}
	return i, i >= 0 && pc < g[i].Hi
}
