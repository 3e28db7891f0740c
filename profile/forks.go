package profile

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/jvmcode"
	"github.com/gasm-profiler/gasm/profile/tally"
)

// mergedCode is code that regions are cut from: one blob, or blobs of several forks with the same code, with their
// samples added up. Its addresses are those of the hottest fork.
type mergedCode struct {
	*sampledBlob                         // of the hottest fork
	mergedAtPC   map[uint64]tally.Counts // the samples of all forks
	pidsAtPC     map[uint64][]int        // the JVMs that have samples at a PC
	blobs        []*sampledBlob          // of all forks
}

// mergeForks merges blobs of different JVMs if their code differs only in addresses. Each fork compiles a method once
// or several times. The n-th hottest compilation of one fork is merged with the n-th hottest of another.
func mergeForks(sampled []*sampledBlob, code *jvmcode.Reader, counters int) []*mergedCode {
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
		nk := nthKey{k, s.JVM}
		k.nth = seen[nk]
		seen[nk]++
		// groups[k] never has two blobs of one JVM, because the keys of two such blobs differ in nth.
		same := slices.IndexFunc(groups[k], func(m *mergedCode) bool { return sameCode(code.Listing(m.Ref), code.Listing(s.Ref)) })
		if same >= 0 {
			groups[k][same].add(s, counters)
			continue
		}
		m := &mergedCode{sampledBlob: s, mergedAtPC: map[uint64]tally.Counts{}, pidsAtPC: map[uint64][]int{}}
		m.add(s, counters)
		all = append(all, m)
		groups[k] = append(groups[k], m)
	}
	return all
}

// add adds a blob's samples, at the addresses of the merged code.
func (m *mergedCode) add(s *sampledBlob, counters int) {
	m.blobs = append(m.blobs, s)
	for pc, c := range s.atPC {
		pc = pc - s.Lo + m.Lo
		tally.AddTo(m.mergedAtPC, pc, c, counters)
		m.pidsAtPC[pc] = append(m.pidsAtPC[pc], s.pid)
	}
}

// sampledPCs returns the PCs that have samples, ascending.
func (m *mergedCode) sampledPCs() []uint64 { return slices.Sorted(maps.Keys(m.mergedAtPC)) }

// sameCode reports whether two listings are the same instructions at the same distances. Addresses and large constants
// may differ, because they depend on where a JVM's heap, classes and code lie.
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

// inside returns the distance of an address from the start of the code, or 0 if the address is outside the code.
func inside(insts []printassembly.Instruction, addr uint64) uint64 {
	if lo := insts[0].Lo; addr > lo && addr < insts[len(insts)-1].Hi {
		return addr - lo
	}
	return 0
}

// sameText reports whether the texts of two instructions differ at most in addresses.
func sameText(a, b *printassembly.Instruction) bool {
	if a.Text == b.Text {
		return true
	}
	return normalText(a) == normalText(b)
}

// normalText returns an instruction's text with # for hexadecimal numbers of more than four digits. If a comment such
// as {oop(…)} says that the instruction holds an address, normalText writes # for all hexadecimal numbers.
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

// distinct sorts process ids in place, and returns them without duplicates.
func distinct(pids []int) []int {
	slices.SortFunc(pids, cmp.Compare[int])
	return slices.Compact(pids)
}
