package native

import (
	"bytes"
	"cmp"
	"slices"
)

// A piece is a function or a part of a function. If another function starts inside a function, it splits that function
// into pieces.
type piece struct {
	lo, hi uint64
	name   nameAt
}

// arrange returns a sorted list of pieces without overlaps. If several functions cover an address, it belongs to the
// one that starts last. If several of them start at the same address, it belongs to the one that the method prefer
// chooses. A function without a size ends where the next function starts, and never hides a part of a function that has
// a size.
func arrange(symbols []symbol, texts names) []piece {
	order := inOrder(symbols, texts)
	unsized := 0
	for _, s := range symbols {
		if s.unsized {
			unsized++
		}
	}
	// Where spans overlap, the function cut prefers the span with the higher index. Symbols with a size have priority.
	// So the slice spans has the symbols without a size first, and then those with a size. The loop goes backwards, and
	// fills each of these two groups from its end.
	spans, sized := make([]span, len(order)), len(order)
	next := ^uint64(0) // the next higher address at which a symbol starts
	for i := len(order) - 1; i >= 0; i-- {
		s, at := &order[i], &sized
		if i+1 < len(order) && order[i+1].lo > s.lo {
			next = order[i+1].lo
		}
		if symbols[s.id].unsized {
			s.hi, at = min(s.hi, next), &unsized
		}
		*at--
		spans[*at] = *s
		s.id = int32(*at)
	}
	flat := cut(spans, order)
	pieces := make([]piece, len(flat))
	for i, s := range flat {
		pieces[i] = piece{s.lo, s.hi, symbols[s.id].name}
	}
	return pieces
}

// inOrder returns the spans of symbols, sorted by their starts. Spans with the same start are sorted by the method
// prefer: the most preferred one comes last.
func inOrder(symbols []symbol, texts names) []span {
	order := make([]span, len(symbols))
	for i, s := range symbols {
		order[i] = span{s.lo, s.hi, int32(i)}
	}
	sortByStart(order)
	for first := 0; first < len(order); {
		end := first + 1
		for end < len(order) && order[end].lo == order[first].lo {
			end++
		}
		if end-first > 1 {
			slices.SortFunc(order[first:end], func(a, b span) int {
				return texts.prefer(&symbols[b.id], &symbols[a.id])
			})
		}
		first = end
	}
	return order
}

// prefer compares two symbols that start at the same address. The preferred one comes first: the one with the stronger
// binding, then with fewer leading underscores, then with the shorter name.
func (n names) prefer(a, b *symbol) int {
	if c := cmp.Compare(a.binding, b.binding); c != 0 {
		return c
	}
	nameA, nameB := n.begins(a.name), n.begins(b.name)
	return cmp.Or(
		cmp.Compare(underscores(nameA), underscores(nameB)),
		cmp.Compare(len(nameA), len(nameB)),
		bytes.Compare(nameA, nameB),
	)
}

// longestCompared is the maximum number of bytes of a name that the method prefer compares. Without this limit, sorting
// would take too long if a file had very many symbols with very long names at the same address.
const longestCompared = 1 << 9

// begins returns the first longestCompared bytes of a name. If the name is shorter, it returns the whole name.
func (n names) begins(a nameAt) []byte {
	text := n[a.table][a.offset:]
	text = text[:min(len(text), longestCompared)]
	if end := bytes.IndexByte(text, 0); end >= 0 {
		return text[:end]
	}
	return text
}

func underscores(name []byte) int { return len(name) - len(bytes.TrimLeft(name, "_")) }
