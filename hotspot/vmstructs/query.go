package vmstructs

import "fmt"

// A Query asks HotSpot's tables for what must be there. The packages that read a part of HotSpot embed
// one, and add how they read fields.
type Query struct {
	VM *VM
	// Of is what gasm does not know where something is missing: "the code cache of "; "" for the JVM as
	// a whole.
	Of string
	// Missing says what was not there first; nil while all was.
	Missing error
}

// Must notes what is not there.
func (q *Query) Must(found bool, name string) {
	if !found && q.Missing == nil {
		q.Missing = fmt.Errorf("HotSpot's tables have no %s: gasm does not know %sthis build of JDK %d", name, q.Of, q.VM.Release)
	}
}

// Static finds a static field: "CodeCache::_heaps".
func (q *Query) Static(name string) Field {
	f, ok := q.VM.StaticField(name)
	q.Must(ok, name)
	return f
}

// Size gives the size of a type in bytes.
func (q *Query) Size(name string) uint64 {
	size, ok := q.VM.Size(name)
	q.Must(ok, name)
	return size
}
