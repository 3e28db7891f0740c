package profile

import (
	"cmp"
	"maps"
	"slices"

	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/code"
	"github.com/gasm-profiler/gasm/profile/jvmcode"
	"github.com/gasm-profiler/gasm/profile/tally"
)

// mergedCode is code that regions are cut from. It is one blob, or several blobs that have the same code in several
// forks; the samples of these blobs are added up. Its addresses are those of the hottest fork.
type mergedCode struct {
	*sampledBlob                         // the blob of the hottest fork
	mergedAtPC   map[uint64]tally.Counts // the samples of all forks at each PC
	pidsAtPC     map[uint64][]int        // the JVMs that have samples at a PC
	blobs        []*sampledBlob          // the blobs of all forks
	moved        bool                    // see [Region.Moved]
}

// A version is one compilation in one JVM. HotSpot does not use a compile id twice, except that JDK 8 numbers on-stack
// replacements separately. If two blobs have the same id, one is a copy of the other: HotSpot moves hot methods
// together (NMethodRelocation and HotCodeHeap, JDK 26 and newer).
type version struct {
	jvm, id int
	osr     bool
}

func (s *sampledBlob) version() version { return version{s.JVM, s.ID, s.OSR} }

// mergeForks merges blobs of different JVMs if their code differs only in addresses. A fork may compile a method
// several times. The n-th hottest compilation of one fork is merged with the n-th hottest of another. mergeForks also
// merges the blobs of a version that was moved.
func mergeForks(sampled []*sampledBlob, reader *jvmcode.Reader, counters int) []*mergedCode {
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
	versions := map[version]*mergedCode{}
	seen := map[nthKey]int{}
	var all []*mergedCode
	for _, s := range sampled {
		if m := versions[s.version()]; m != nil && s.ID > 0 && m.Kind == printassembly.NMethod && m.Name == s.Name &&
			m.Hi-m.Lo == s.Hi-s.Lo && code.Same(reader.Listing(m.Ref), reader.Listing(s.Ref)) {
			m.moved = true
			m.add(s, counters)
			continue
		}
		k := key{s.Source(), s.Name, s.OSRBCI, s.Hi - s.Lo, 0}
		nk := nthKey{k, s.JVM}
		k.nth = seen[nk]
		seen[nk]++
		// groups[k] never has two blobs of one JVM, because the keys of two such blobs differ in nth.
		same := slices.IndexFunc(groups[k], func(m *mergedCode) bool {
			return code.Same(reader.Listing(m.Ref),
				reader.Listing(s.Ref))
		})
		if same >= 0 {
			groups[k][same].add(s, counters)
			versions[s.version()] = groups[k][same]
			continue
		}
		m := &mergedCode{sampledBlob: s, mergedAtPC: map[uint64]tally.Counts{}, pidsAtPC: map[uint64][]int{}}
		m.add(s, counters)
		all = append(all, m)
		versions[s.version()] = m
		groups[k] = append(groups[k], m)
	}
	return all
}

// add adds the samples of a blob that has the same code as m. It converts their PCs to addresses of the merged code,
// because the blobs are at different addresses.
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

// distinct sorts process ids in place, and returns them without duplicates.
func distinct(pids []int) []int {
	slices.SortFunc(pids, cmp.Compare[int])
	return slices.Compact(pids)
}
