package printassembly

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// named takes LogCompilation's tag for a method that was installed. It has all
// but the code; where the code is printed too, dropNamed drops the tag's blob:
//
//	<nmethod compile_id='71' compile_kind='osr' compiler='c2' level='4' entry='0x…' size='3176' address='0x…'
//	  insts_offset='400' stub_offset='1584' … metadata_offset='1616' method='Shares heavy (I)I' … stamp='0.182'/>
//
// The code is from insts_offset on, stubs behind it, and ends where the next
// part begins (nmethod::log_new_nmethod). JDK 25 keeps some parts elsewhere,
// whose offsets are no longer within the size.
func (x *indexer) named(tag []byte) {
	address, _ := hexAddr(attr(tag, "address"))
	size, _ := strconv.ParseUint(string(attr(tag, "size")), 10, 32)
	insts, _ := strconv.ParseUint(string(attr(tag, "insts_offset")), 10, 32)
	ms, stamped := stampMillis(attr(tag, "stamp"))
	if address == 0 || size == 0 || insts == 0 || insts >= size || !stamped {
		return
	}
	b := Blob{UptimeMillis: ms, Stamped: true, named: true, Lo: address + insts, Hi: address + codeEnd(tag, insts, size),
		offset: x.at, end: x.at + int64(len(tag))}
	b.ID, _ = strconv.Atoi(string(attr(tag, "compile_id")))
	b.describe(tag)
	words := strings.Split(unescape(attr(tag, "method")), " ")
	if len(words) != 3 {
		return
	}
	b.Name = javaClass(words[0]) + "::" + words[1]
	x.idx.Blobs = append(x.idx.Blobs, b)
	x.names++
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

// dropNamed drops the blobs of tags whose method's code is printed too.
func (x *indexer) dropNamed(blobs []Blob) []Blob {
	if x.names == 0 {
		return blobs
	}
	printed := map[int][]int{} // places by compile id
	for i := range blobs {
		if b := &blobs[i]; !b.named && b.ID > 0 {
			printed[b.ID] = append(printed[b.ID], i)
		}
	}
	kept := make([]Blob, 0, len(blobs))
	for i := range blobs {
		b := &blobs[i]
		same := func(p int) bool { return b.Lo < blobs[p].Hi && blobs[p].Lo < b.Hi }
		if !b.named || !slices.ContainsFunc(printed[b.ID], same) {
			kept = append(kept, *b)
		}
	}
	return kept
}
