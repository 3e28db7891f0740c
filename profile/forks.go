package profile

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/printassembly"
)

// mergedCode is what regions are made of: one blob, or blobs of several forks with the
// same code, with their samples added up. Addresses are those of the hottest fork.
type mergedCode struct {
	*sampledBlob                   // the hottest fork's
	mergedAtPC   map[uint64]Counts // of all forks
	pidsAtPC     map[uint64][]int  // which JVMs have samples at a PC
	blobs        []*sampledBlob    // of all forks
}

// mergeForks merges blobs of different JVMs whose code is equal but for addresses. Each
// fork compiles a method once or more often. The n-th hottest compilation of one fork
// is merged with the n-th hottest of another.
func (w *work) mergeForks(sampled []*sampledBlob) []*mergedCode {
	type key struct {
		source, name string
		osrBCI       int
		size         uint64
		nth          int
	}
	type nthKey struct {
		key
		jvm int
	}
	groups := map[key][]*mergedCode{}
	seen := map[nthKey]int{}
	var all []*mergedCode
	for _, s := range sampled {
		k := key{s.Source(), s.Name, s.OSRBCI, s.Hi - s.Lo, 0}
		nk := nthKey{k, s.jvm}
		k.nth = seen[nk]
		seen[nk]++
		if w.joinMerged(groups[k], s) {
			continue
		}
		p := &mergedCode{sampledBlob: s, mergedAtPC: map[uint64]Counts{}, pidsAtPC: map[uint64][]int{}}
		p.add(s, w.n)
		all = append(all, p)
		groups[k] = append(groups[k], p)
	}
	return all
}

// joinMerged adds a blob to the first of a group that has the same code; false when none
// has. A group has no two blobs of one JVM.
func (w *work) joinMerged(group []*mergedCode, s *sampledBlob) bool {
	for _, p := range group {
		if sameCode(w.listing(p.blobRef), w.listing(s.blobRef)) {
			p.add(s, w.n)
			return true
		}
	}
	return false
}

// add takes a blob's samples over. They move to the addresses of the merged code.
func (p *mergedCode) add(s *sampledBlob, events int) {
	p.blobs = append(p.blobs, s)
	for pc, c := range s.atPC {
		pc = pc - s.Lo + p.Lo
		if p.mergedAtPC[pc] == nil {
			p.mergedAtPC[pc] = make(Counts, events)
		}
		p.mergedAtPC[pc].Add(c)
		p.pidsAtPC[pc] = append(p.pidsAtPC[pc], s.pid)
	}
}

// sampledPCs gives the PCs that have samples, ascending.
func (p *mergedCode) sampledPCs() []uint64 {
	pcs := make([]uint64, 0, len(p.mergedAtPC))
	for pc := range p.mergedAtPC {
		pcs = append(pcs, pc)
	}
	slices.Sort(pcs)
	return pcs
}

// sameCode tells whether two listings are the same instructions at the same distances.
// Addresses and large constants may differ: they say where a JVM's heap, classes and
// code lie.
func sameCode(a, b []printassembly.Instruction) bool {
	if len(a) == 0 || len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Lo-a[0].Lo != b[i].Lo-b[0].Lo || a[i].Kind != b[i].Kind ||
			inside(a, a[i].Target) != inside(b, b[i].Target) || !sameText(&a[i], &b[i]) {
			return false
		}
	}
	return true
}

// inside gives the distance of an address from the start of the code; 0 when the address
// is outside the code.
func inside(insts []printassembly.Instruction, addr uint64) uint64 {
	if lo := insts[0].Lo; addr > lo && addr < insts[len(insts)-1].Hi {
		return addr - lo
	}
	return 0
}

// sameText tells whether two instructions are the same text, but for addresses.
func sameText(a, b *printassembly.Instruction) bool {
	if a.Text == b.Text {
		return true
	}
	return normalText(a) == normalText(b)
}

// normalText writes # for hexadecimal numbers of more than four digits. Where a comment
// such as {oop(…)} says that the instruction holds an address, it writes # for all
// hexadecimal numbers.
func normalText(in *printassembly.Instruction) string {
	digits := 5
	for _, c := range in.Comments {
		if strings.HasPrefix(c, "{") {
			digits = 1
		}
	}
	var out strings.Builder
	rest := in.Text
	for {
		before, after, ok := strings.Cut(rest, "0x")
		if !ok {
			out.WriteString(rest)
			return out.String()
		}
		n := strings.IndexFunc(after, func(r rune) bool { return !strings.ContainsRune("0123456789abcdef", r) })
		if n < 0 {
			n = len(after)
		}
		if n >= digits {
			out.WriteString(strings.TrimSuffix(before, "-") + "#")
		} else {
			out.WriteString(before + "0x" + after[:n])
		}
		rest = after[n:]
	}
}

// distinct sorts process ids, and keeps each once.
func distinct(pids []int) []int {
	slices.SortFunc(pids, cmp.Compare[int])
	return slices.Compact(pids)
}
