package profile

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/printassembly"
)

// A piece is code that regions are made of: one blob, or the same code of
// several forks with their samples added up, at the first one's addresses.
type piece struct {
	*sampledBlob // the hottest fork's
	at           map[uint64]Counts
	pidsAt       map[uint64][]int // which JVMs have samples at a PC
}

// mergeForks makes one piece of blobs of different JVMs whose code is equal
// but for addresses. Each fork compiles a method once or more; the n-th
// hottest of one goes together with the n-th hottest of another.
func (w *work) mergeForks(sampled []*sampledBlob) []*piece {
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
	groups := map[key][]*piece{}
	seen := map[nthKey]int{}
	var pieces []*piece
	for _, s := range sampled {
		k := key{s.Source(), s.Name, s.OSRBCI, s.Hi - s.Lo, 0}
		nk := nthKey{k, s.jvm}
		k.nth = seen[nk]
		seen[nk]++
		if w.joinPiece(groups[k], s) {
			continue
		}
		p := &piece{sampledBlob: s, at: map[uint64]Counts{}, pidsAt: map[uint64][]int{}}
		p.add(s, w.n)
		pieces = append(pieces, p)
		groups[k] = append(groups[k], p)
	}
	return pieces
}

// joinPiece adds a blob to the first piece with the same code. A group has no
// two blobs of one JVM.
func (w *work) joinPiece(group []*piece, s *sampledBlob) bool {
	for _, p := range group {
		if sameCode(w.listing(p.blobRef), w.listing(s.blobRef)) {
			p.add(s, w.n)
			return true
		}
	}
	return false
}

// add takes a blob's samples over, moved to the piece's addresses.
func (p *piece) add(s *sampledBlob, events int) {
	for pc, c := range s.at {
		pc = pc - s.Lo + p.Lo
		if p.at[pc] == nil {
			p.at[pc] = make(Counts, events)
		}
		p.at[pc].Add(c)
		p.pidsAt[pc] = append(p.pidsAt[pc], s.pid)
	}
}

// sampledPCs gives the piece's PCs with samples, ascending.
func (p *piece) sampledPCs() []uint64 {
	pcs := make([]uint64, 0, len(p.at))
	for pc := range p.at {
		pcs = append(pcs, pc)
	}
	slices.Sort(pcs)
	return pcs
}

// sameCode tells whether two listings are the same instructions at the same
// distances, but for addresses and large constants, which are where a JVM's
// heap, classes and code lie.
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

// inside gives the distance of an address from the code's start, 0 when it is
// elsewhere.
func inside(insts []printassembly.Instruction, addr uint64) uint64 {
	if lo := insts[0].Lo; addr > lo && addr < insts[len(insts)-1].Hi {
		return addr - lo
	}
	return 0
}

func sameText(a, b *printassembly.Instruction) bool {
	if a.Text == b.Text {
		return true
	}
	return normalText(a) == normalText(b)
}

// normalText puts # in the place of hex numbers of more than four digits, and
// of all where the log says that the instruction holds an address of the JVM's.
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

// distinct sorts and thins out process ids.
func distinct(pids []int) []int {
	slices.SortFunc(pids, cmp.Compare[int])
	return slices.Compact(pids)
}
