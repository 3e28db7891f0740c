package printassembly

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// A namedTag is the position of a LogCompilation tag for a method that was installed. If the method's code is printed
// as well, only the position of the tag and its times stamp and seen are used.
type namedTag struct {
	at   int64
	size int
	id   int // compile id
	// stamp and seen are the times in a tag of gasm's, see Installed; both are 0 in a tag of HotSpot's.
	stamp, seen int64
}

// named records where a tag <nmethod …/> is in the log, and the compile id in it. addNamed reads the tag again later,
// but only if the method's code is not printed.
func (x *indexer) named(tag []byte) {
	id, err := strconv.Atoi(string(attr(tag, "compile_id")))
	if err != nil {
		return
	}
	t := namedTag{at: x.at, size: len(tag), id: id}
	if stamp, seen, ok := seenMillis(tag); ok {
		t.stamp, t.seen = stamp, seen
	}
	x.tags = append(x.tags, t)
}

// addNamed adds the methods that are in the log only by the tag <nmethod …/>, without their code. It reads these tags
// again.
//
// Blobs are sorted by the time at which they were installed. For a method that has a tag, the position of the tag in
// the log stands for this time. The position of its code can't, because the code that gasm has copied comes at the end
// of the log.
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
			if t.stamp == blobs[i].UptimeMillis { // JDK 8 has the same ids for on-stack replacements
				blobs[i].SeenMillis = t.seen
			}
			continue
		}
		line = slices.Grow(line[:0], t.size)[:t.size]
		if _, err := r.ReadAt(line, t.at); err != nil {
			return fmt.Errorf("at offset %d: %w", t.at, err)
		}
		if installed, ok := ParseInstalled(line); ok && len(installed.Name) <= maxName {
			b := Blob{Name: installed.Name, Lo: installed.Lo, Hi: installed.Hi,
				offset: t.at, end: t.at + int64(t.size), installed: t.at, named: true}
			installed.describe(&b)
			blobs = append(blobs, b)
		}
	}
	slices.SortStableFunc(blobs, func(a, b Blob) int { return cmp.Compare(a.installed, b.installed) })
	x.idx.Blobs = blobs
	return nil
}
