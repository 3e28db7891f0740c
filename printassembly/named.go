package printassembly

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
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
func (x *indexer) addNamed(r io.ReaderAt) error {
	printed := map[int]bool{}
	for i := range x.idx.Blobs {
		printed[x.idx.Blobs[i].ID] = true
	}
	before := len(x.idx.Blobs)
	var line []byte
	for _, t := range x.tags {
		if printed[t.id] {
			continue
		}
		line = slices.Grow(line[:0], t.size)[:t.size]
		if _, err := r.ReadAt(line, t.at); err != nil {
			return fmt.Errorf("at offset %d: %w", t.at, err)
		}
		if b, ok := parseNamed(line); ok {
			b.ID, b.offset, b.end = t.id, t.at, t.at+int64(t.size)
			x.idx.Blobs = append(x.idx.Blobs, b)
		}
	}
	if len(x.idx.Blobs) > before {
		slices.SortStableFunc(x.idx.Blobs, func(a, b Blob) int { return cmp.Compare(a.offset, b.offset) })
	}
	return nil
}

// parseNamed reads such a tag. It has all but the code:
//
//	<nmethod compile_id='71' compile_kind='osr' compiler='c2' level='4' entry='0x…' size='3176' address='0x…'
//	  insts_offset='400' stub_offset='1584' … metadata_offset='1616' method='Shares heavy (I)I' … stamp='0.182'/>
//
// The code is from insts_offset on, stubs behind it, and ends where the next
// part begins (nmethod::log_new_nmethod). JDK 25 keeps some parts elsewhere,
// whose offsets are no longer within the size.
func parseNamed(tag []byte) (b Blob, ok bool) {
	address, _ := hexAddr(attr(tag, "address"))
	size, _ := strconv.ParseUint(string(attr(tag, "size")), 10, 26)
	insts, _ := strconv.ParseUint(string(attr(tag, "insts_offset")), 10, 26)
	ms, stamped := stampMillis(attr(tag, "stamp"))
	if address == 0 || insts == 0 || insts >= size || address+size < address || !stamped {
		return b, false
	}
	words := strings.Split(unescape(attr(tag, "method")), " ")
	if len(words) != 3 {
		return b, false
	}
	b = Blob{Name: javaClass(words[0]) + "::" + words[1], UptimeMillis: ms, Stamped: true, named: true,
		Lo: address + insts, Hi: address + codeEnd(tag, insts, size)}
	b.describe(tag)
	return b, true
}

// codeEnd gives the offset at which an nmethod's code ends.
func codeEnd(tag []byte, insts, size uint64) uint64 {
	from := insts
	if stub, err := strconv.ParseUint(string(attr(tag, "stub_offset")), 10, 32); err == nil && stub > insts {
		from = stub
	}
	end := size
	for rest := tag; ; {
		_, after, ok := bytes.Cut(rest, []byte("_offset='"))
		if !ok {
			return end
		}
		digits, _, _ := bytes.Cut(after, []byte{'\''})
		if n, err := strconv.ParseUint(string(digits), 10, 32); err == nil && n > from {
			end = min(end, n)
		}
		rest = after
	}
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
