package vmstructs

import "fmt"

// A Query looks up fields and types that must exist in HotSpot's tables, and remembers the first one that does not.
// Packages that read a part of HotSpot's data, such as codecache, embed a Query and add lookups of their own.
type Query struct {
	VM *VM
	// Of is a part of the error message "gasm does not know the code cache of this build of JDK 17". In this message
	// it is "the code cache of ". It is "" if the Query is about the JVM as a whole.
	Of string
	// Missing is the error about the first thing that was missing. It is nil if nothing was missing.
	Missing error
}

// Must sets Missing if found is false. name is what was not found.
func (q *Query) Must(found bool, name string) {
	if !found && q.Missing == nil {
		q.Missing = fmt.Errorf("HotSpot's tables have no %s: gasm does not know %sthis build of JDK %d", name, q.Of,
			q.VM.Release)
	}
}

// Field returns a field, such as "nmethod::_compile_id". If HotSpot's tables do not have it, or have no size of its
// type, Field sets Missing.
func (q *Query) Field(name string) Field {
	f, ok := q.VM.Field(name)
	q.Must(ok && f.Size > 0, name)
	return f
}

// Static returns a static field, such as "CodeCache::_heaps". If HotSpot's tables do not have it,
// Static sets Missing.
func (q *Query) Static(name string) Field {
	f, ok := q.VM.StaticField(name)
	q.Must(ok, name)
	return f
}

// Size returns the size of a type in bytes. If HotSpot's tables do not have the type, Size returns
// 0 and sets Missing.
func (q *Query) Size(name string) uint64 {
	size, ok := q.VM.Size(name)
	q.Must(ok, name)
	return size
}
