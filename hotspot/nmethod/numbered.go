package nmethod

import (
	"bytes"
	"hash/maphash"
)

// numbered assigns numbers to the elements of one kind in a log (profiles or method bodies), counting from 1. It maps
// the hash of an element's text to its number.
type numbered struct {
	seed   maphash.Seed
	byHash map[uint64]int
}

func newNumbered() numbered { return numbered{maphash.MakeSeed(), map[uint64]int{}} }

// next returns the number that the next new element gets.
func (n *numbered) next() int { return len(n.byHash) + 1 }

// keep removes the element that was appended to text at the offset start, if the log already has an equal one. It
// returns the text and the element's number. Before that, the caller has appended the element with the number that the
// method next returned. Two elements are equal if their texts are equal from " method=" to the end; their numbers come
// before that.
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
