package nmethod

import "encoding/binary"

// A relocation says what an instruction refers to, for example a class, another method or a stub. HotSpot uses it to
// find the reference and to change it (relocInfo.hpp).
type relocation struct {
	offset    int // offset of the instruction from the start of the code; negative in the constants before the code
	kind      relocKind
	format    int     // its meaning depends on the kind
	immediate bool    // the data is the single word in small
	data      []byte  // two-byte words whose meaning depends on the kind
	small     [2]byte // the data, if immediate
}

// A relocKind is HotSpot's relocInfo::relocType.
type relocKind int

const (
	relocNone relocKind = iota
	relocOop
	relocVirtualCall
	relocOptVirtualCall
	relocStaticCall
	relocStaticStub
	relocRuntimeCall
	relocExternalWord
	relocInternalWord
	relocSectionWord
	relocPoll
	relocPollReturn
	relocMetadata
	relocTrampolineStub
	relocRuntimeCallWithPool
	relocPrefix
	relocPostCallNop // this kind and the next ones: JDK 20 and newer
	relocEntryGuard
	relocBarrier
	relocPatchableBarrier // JDK 28
)

// A relocPacking says how a relocation is packed into a two-byte word. From the highest bit down, the word has the
// kind, a format, and the distance from the previous relocation's instruction.
type relocPacking struct {
	kindBits, formatBits uint
	unit                 int  // the unit of the distances, in bytes
	noEntryGuard         bool // relocEntryGuard does not exist, and the number of each kind after it is lower by one
}

// packingOf returns how a release of the JDK packs relocations.
func packingOf(release int, arm64 bool) relocPacking {
	p := relocPacking{kindBits: 4, formatBits: 2, unit: 1, noEntryGuard: release >= 28}
	if release >= 20 {
		p.kindBits, p.formatBits = 5, 3
	}
	if arm64 {
		p.formatBits, p.unit = 1, 4
		if release >= 20 {
			p.formatBits = 2
		}
	}
	return p
}

// A relocReader reads packed relocations one after another.
type relocReader struct {
	packing relocPacking
	data    []byte
	offset  int // of the last relocation's instruction
}

// next reads the next relocation. It returns false at the end, or if the data is damaged.
//
// The data of a relocation comes before the relocation itself, after a word of the kind relocPrefix. That word has
// either the number of words of the data, or the data itself if it is small (RelocIterator::advance_over_prefix).
func (r *relocReader) next() (rel relocation, ok bool) {
	word, ok := r.word()
	if !ok {
		return rel, false
	}
	low := 16 - r.packing.kindBits // the number of bits below the kind
	if relocKind(word>>low) == relocPrefix {
		isSize, rest := word>>(low-1)&1 != 0, word&(1<<(low-1)-1)
		if isSize {
			size := 2 * int(rest)
			if size > len(r.data) {
				return rel, false
			}
			rel.data, r.data = r.data[:size], r.data[size:]
		} else {
			rel.immediate = true
			binary.LittleEndian.PutUint16(rel.small[:], rest)
		}
		if word, ok = r.word(); !ok || relocKind(word>>low) == relocPrefix {
			return rel, false
		}
	}
	offsetBits := low - r.packing.formatBits
	rel.kind = r.packing.renumbered(word >> low)
	rel.format = int(word >> offsetBits & (1<<r.packing.formatBits - 1))
	r.offset += int(word&(1<<offsetBits-1)) * r.packing.unit
	rel.offset = r.offset
	return rel, true
}

func (r *relocReader) word() (word uint16, ok bool) {
	if len(r.data) < 2 {
		return 0, false
	}
	word, r.data = binary.LittleEndian.Uint16(r.data), r.data[2:]
	return word, true
}

// words returns the relocation's data.
func (r *relocation) words() []byte {
	if r.immediate {
		return r.small[:]
	}
	return r.data
}

// number returns the n-th number in the relocation's data. The parameter numbers is how many numbers the data should
// hold. Each takes one word or, if there are more words than numbers, two words with the upper one first
// (Relocation::unpack_2_ints). A missing number is 0.
func (r *relocation) number(n, numbers int) int {
	data := r.words()
	if len(data) <= 2*numbers {
		return signedWord(data, n)
	}
	if len(data) < 4*n+4 {
		return signedWord(data, 2*n)
	}
	return signedWord(data, 2*n)<<16 | int(binary.LittleEndian.Uint16(data[4*n+2:]))
}

func signedWord(data []byte, n int) int {
	if len(data) < 2*n+2 {
		return 0
	}
	return int(int16(binary.LittleEndian.Uint16(data[2*n:])))
}
