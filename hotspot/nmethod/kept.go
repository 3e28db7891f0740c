package nmethod

import (
	"slices"

	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
)

// A keptMethod is a method of the interpreter, with everything in the JVM's memory that it was read from.
type keptMethod struct {
	*method
	from *vmstructs.Reads
}

// Limits for what is kept: mostKept methods, each with at most largestKept bytes, including what it was read from. Most
// methods take less than 2 KiB.
const (
	mostKept    = 1 << 11
	largestKept = 8 << 10
)

// interpretedMethod is like method. But instead of reading a method again that Forget has discarded, it checks with one
// system call that the memory that the method was read from is unchanged. Programs execute the same few methods in the
// interpreter again and again.
func (c *Copier) interpretedMethod(at uint64) (*method, error) {
	if m, ok := c.methods[at]; ok {
		return m, nil
	}
	if _, ok := c.kept[at]; ok && c.Unchanged([]uint64{at})[0] {
		return c.methods[at], nil
	}
	vm, classes := c.vm, c.classes
	reading, from := vm.KeepReads()
	c.vm, c.classes = reading, map[uint64]string{} // without what was read before: that must be in from, too
	m, err := c.method(at)
	c.vm, c.classes = vm, classes
	if err == nil && !from.Failed() && from.Size()+len(m.bytecode)+16*cap(m.lines) <= largestKept {
		if len(c.kept) >= mostKept {
			clear(c.kept)
		}
		c.kept[at] = keptMethod{m, from}
	}
	return m, err
}

// Unchanged reports which of the Methods with the given addresses were read by Interpreted and have not changed since.
// For those, the next call of Interpreted reads nothing. Unchanged makes one system call for all Methods. An address
// may occur more than once.
func (c *Copier) Unchanged(methods []uint64) (same []bool) {
	var reads []*vmstructs.Reads
	var of []uint64 // reads[i] is what the Method at of[i] was read from
	for _, at := range methods {
		if kept, ok := c.kept[at]; ok && c.methods[at] == nil && !slices.Contains(of, at) {
			reads, of = append(reads, kept.from), append(of, at)
		}
	}
	for i, unchanged := range vmstructs.Unchanged(c.vm.Memory, reads) {
		if at := of[i]; unchanged {
			c.methods[at] = c.kept[at].method
		} else {
			delete(c.kept, at)
		}
	}
	same = make([]bool, len(methods))
	for i, at := range methods {
		same[i] = c.methods[at] != nil
	}
	return same
}
