package nmethod

import (
	"bytes"
	"hash/maphash"
)

// numbered has the numbers of the elements of one kind that the log has, by the hash of their text. They count from 1.
type numbered struct {
	seed   maphash.Seed
	byHash map[uint64]int
}

func newNumbered() numbered { return numbered{maphash.MakeSeed(), map[uint64]int{}} }

// next returns the number of the next new element.
func (n *numbered) next() int { return len(n.byHash) + 1 }

// keep keeps the element that begins at an index of text, with the number that next returns, unless the log has the same
// already. It returns the text and the element's number. Elements are the same if they agree from " method=" on, which
// comes after the number.
func (n *numbered) keep(text []byte, start int) ([]byte, int) {
	_, rest, _ := bytes.Cut(text[start:], []byte(" method="))
	hash := maphash.Bytes(n.seed, rest)
	if known, ok := n.byHash[hash]; ok {
		return text[:start], known
	}
	number := n.next()
	n.byHash[hash] = number
	return text, number
}
