package nmethod

import "github.com/gasm-profiler/gasm/hotspot/vmstructs"

// A keptMethod is a method of the interpreter, with everything in the JVM's memory that it was read from.
type keptMethod struct {
	*method
	from *vmstructs.Noted
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
	if kept, ok := c.kept[at]; ok {
		if kept.from.Unchanged(c.vm.Memory) {
			c.methods[at] = kept.method
			return kept.method, nil
		}
		delete(c.kept, at)
	}
	vm, classes := c.vm, c.classes
	noting, from := vm.Noting()
	c.vm, c.classes = noting, map[uint64]string{} // without what was read before: that must be in from, too
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
