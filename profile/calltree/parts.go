package calltree

import (
	"cmp"
	"slices"

	"github.com/gasm-profiler/gasm/profile/tally"
)

// addParts sets SelfParts and OmittedParts in a tree's nodes: the samples in each part of the profile, which is a slice
// of time and a group of threads. number maps the nodes of m to those of the tree.
func (m *merged) addParts(tree *Tree, number map[int32]int32) {
	type key struct {
		node    int32
		omitted bool
		part    int32
	}
	sums := map[key]tally.Counts{}
	for i, k := range m.samples {
		at := m.ends[i]
		node, kept := number[at]
		key := key{part: k.part, omitted: !kept}
		for !kept {
			at = m.nodes[at].parent
			node, kept = number[at]
		}
		key.node = node
		tally.AddTo(sums, key, m.of(int32(i)), m.Set.counters)
	}
	for k, c := range sums {
		n := &tree.Nodes[k.node]
		list := &n.SelfParts
		if k.omitted {
			list = &n.OmittedParts
		}
		*list = append(*list, PartCounts{int(k.part), c})
	}
	byPart := func(a, b PartCounts) int { return cmp.Compare(a.Part, b.Part) }
	for i := range tree.Nodes {
		slices.SortFunc(tree.Nodes[i].SelfParts, byPart)
		slices.SortFunc(tree.Nodes[i].OmittedParts, byPart)
	}
}

// TotalsByPart returns the same samples as Totals, but separately for each part of the profile. The parts of each code
// are in ascending order.
func (s *Set) TotalsByPart() map[Code][]PartCounts {
	m := s.merge(false, "")
	totals := map[Code][]PartCounts{}
	for part := range s.parts {
		for code, c := range m.totals(m.addUp(m.ending(int32(part)))) {
			totals[code] = append(totals[code], PartCounts{part, c})
		}
	}
	return totals
}
