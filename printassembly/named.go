package printassembly

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// A namedTag is the place of one of LogCompilation's tags for a method that was
// installed. Where the method's code is printed too, the tag tells nothing more.
type namedTag struct {
	at   int64
	size int
	id   int // compile id
}

func (x *indexer) named(tag []byte) {
	if id, err := strconv.Atoi(string(attr(tag, "compile_id"))); err == nil {
		x.tags = append(x.tags, namedTag{x.at, len(tag), id})
	}
}

// addNamed adds the methods that only a tag tells of. It reads their tags again.
//
// A method's place in the log's order is its tag's, where it was installed: what
// gasm copied of it comes at the end.
func (x *indexer) addNamed(r io.ReaderAt) error {
	blobs := x.idx.Blobs
	for i := range blobs {
		blobs[i].installed = blobs[i].offset
	}
	if len(x.tags) == 0 {
		return nil
	}
	printed := map[int]int{}
	for i := range blobs {
		printed[blobs[i].ID] = i
	}
	var line []byte
	for _, t := range x.tags {
		if t.id == 0 {
			continue
		}
		if i, ok := printed[t.id]; ok {
			blobs[i].installed = min(blobs[i].installed, t.at)
			continue
		}
		line = slices.Grow(line[:0], t.size)[:t.size]
		if _, err := r.ReadAt(line, t.at); err != nil {
			return fmt.Errorf("at offset %d: %w", t.at, err)
		}
		if b, ok := parseNamed(line); ok {
			b.ID, b.offset, b.end, b.installed = t.id, t.at, t.at+int64(t.size), t.at
			blobs = append(blobs, b)
		}
	}
	slices.SortStableFunc(blobs, func(a, b Blob) int { return cmp.Compare(a.installed, b.installed) })
	x.idx.Blobs = blobs
	return nil
}

// parseNamed reads such a tag.
func parseNamed(tag []byte) (b Blob, ok bool) {
	t, ok := ParseInstalled(tag)
	if !ok {
		return b, false
	}
	b = Blob{Name: t.Name, UptimeMillis: t.UptimeMillis, Stamped: true, named: true, Lo: t.Lo, Hi: t.Hi}
	b.describe(tag)
	return b, true
}

// describe takes from LogCompilation's tag by what and how a method was
// compiled.
func (b *Blob) describe(tag []byte) {
	b.Compiler = string(bytes.ToLower(attr(tag, "compiler")))
	b.Level, _ = strconv.Atoi(string(attr(tag, "level")))
	switch string(attr(tag, "compile_kind")) {
	case "osr":
		b.OSR = true
	case "c2n", "cnt": // cnt: the JVM's own wrappers of continuations
		b.Kind, b.Compiler = Native, ""
	}
}
