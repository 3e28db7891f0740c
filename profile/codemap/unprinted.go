package codemap

import (
	"cmp"
	"slices"

	"github.com/gasm-profiler/gasm/printassembly"
)

// unprintedCode lists the parts of the code cache that hold code which HotSpot never prints. They ascend and do not
// overlap. For the users of a Map, each part is a blob.
//
// HotSpot prints methods, stubs and codelets, but neither i2c/c2i adapters nor inline cache stubs (sharedRuntime.cpp,
// icBuffer.cpp). These lie among the JVM's own blobs, in the part of the code cache that is not for methods. The code
// cache is one reserved range, so everything between two blobs is in it. If neither of the two is a method, the code
// between them is the JVM's own. Code next to a method may be another method that the log lacks, so it does not count
// as unprinted.
type unprintedCode []part

// A part is a range of addresses.
type part struct{ lo, hi uint64 }

// blob returns the blob that is made of part i.
func (u unprintedCode) blob(i int) *printassembly.Blob {
	return &printassembly.Blob{Kind: printassembly.Unprinted, Name: unprintedName, Lo: u[i].lo, Hi: u[i].hi}
}

// findUnprinted finds the unprinted code between the blobs of a log. The extents must be in the order of their
// addresses. If several of them begin at the same address, they must be in the order of [printassembly.Kind], so that a
// method comes before all others. Only the first of them can have unprinted code before it, and a method never has.
func findUnprinted(extents []extent) unprintedCode {
	var found unprintedCode
	var hi uint64   // highest end of all blobs so far
	ownEnd := false // true if only the JVM's own code ends at hi, and no method
	for _, e := range extents {
		own := !e.kind.Java()
		if hi < e.lo && ownEnd && own {
			found = append(found, part{hi, e.lo})
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

// unprintedName is the name of all blobs of unprinted code.
const unprintedName = "(adapters and inline cache stubs)"

// find returns the index of the blob that holds pc. It returns false if there is none.
func (u unprintedCode) find(pc uint64) (int, bool) {
	i, ok := slices.BinarySearchFunc(u, pc, func(p part, pc uint64) int { return cmp.Compare(p.lo, pc) })
	if !ok {
		i--
	}
	return i, i >= 0 && pc < u[i].hi
}
