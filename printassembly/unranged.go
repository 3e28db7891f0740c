package printassembly

import (
	"bytes"
	"strconv"
)

// Some blobs come without the line that tells their range: all blobs of JDK 8 that are
// no methods, methods of JDK 8 when PrintAssembly is on and PrintNMethods off, and
// signature handlers in every JDK. The addresses of their rows of code tell the range
// instead. The text of the last instruction does not tell its length, so the range ends
// behind its first byte. That is enough, because a sample has the address of an
// instruction's first byte.

// unranged is what the indexer keeps of a blob for that.
type unranged struct {
	growing  bool   // its range comes from its rows, which go on
	machine  bool   // the rows are bytes, behind [MachCode]
	nameless bool   // its name is still to come, in a comment
	size     uint64 // of the code, if the first line tells it ("145 bytes generated"); else 0
	address  uint64 // of the nmethod that the code is part of
}

// maxRowGap is more than lies between two rows of one blob's text.
const maxRowGap = 64

// learn takes a row of a blob whose range is unknown.
func (x *indexer) learn(o *openBlob, line []byte) {
	line = bytes.TrimLeft(line, " ")
	if o.nameless && bytes.HasPrefix(line, []byte("# {method} ")) {
		if name, ok := parseMethod(cleanComment(line)); ok && len(name) <= maxName {
			x.idx.Blobs[o.index].Name, o.nameless = name, false
		}
	}
	addr, n := hexAddr(line)
	if n == 0 || n >= len(line) || line[n] != ':' {
		return
	}
	row := bytes.TrimLeft(line[n+1:], " ")
	if len(row) == 0 || row[0] == ';' || row[0] == '#' {
		return
	}
	size := uint64(1)
	switch {
	case o.size > 0: // of all rows
		size = o.size
	case o.machine:
		size = rowBytes(row)
	}
	if size == 0 || addr+size < addr {
		return
	}
	switch {
	case !o.growing:
		o.growing, o.hasCode = o.size == 0, true
		o.mainLo, o.mainHi = addr, addr+size
	case addr >= o.mainHi && addr-o.mainHi <= maxRowGap:
		o.mainHi = addr + size
	}
}

// rowBytes counts the bytes of a row of hex.
func rowBytes(row []byte) (n uint64) {
	digits := 0
	for _, c := range row {
		switch {
		case hexDigit(c) >= 0:
			digits++
		case c != ' ' && c != '|':
			return uint64(digits / 2)
		}
	}
	return uint64(digits / 2)
}

// decoding takes a line without its "Decoding ". JDK 8 prints a method's code
// behind one of these, with PrintNMethods for the second time:
//
//	Decoding compiled method 0x00007f0a25108550:
//	Decoding CodeBlob 0x00007f0a25109910
func (x *indexer) decoding(rest []byte) {
	name, method := bytes.CutPrefix(rest, []byte("compiled method "))
	if !method {
		name, _ = bytes.CutPrefix(rest, []byte("CodeBlob "))
	}
	address, n := hexAddr(name)
	if n > 0 && len(name) != len(rest) {
		if x.cur != nil && x.cur.active && x.cur.java && x.cur.address == address {
			return
		}
		if method {
			x.start(Blob{Kind: NMethod, Name: "unnamed method"}, true)
			x.cur.nameless, x.cur.address = true, address
			return
		}
	}
	if b, ok := parseDecoding(rest); ok {
		x.start(b, true)
	}
}

// handler takes the first line of the code that the interpreter calls native
// methods of one signature with:
//
//	argument handler #0 for: static java.lang.System.registerNatives()V (fingerprint = 29, 11 bytes generated)
func (x *indexer) handler(line []byte) {
	x.start(Blob{Kind: RuntimeBlob, Name: "signature handler"}, true)
	text, ok := bytes.CutSuffix(line, []byte(" bytes generated)"))
	if i := bytes.LastIndexByte(text, ' '); ok && i >= 0 {
		if n, err := strconv.ParseUint(string(text[i+1:]), 10, 20); err == nil {
			x.cur.size = n
		}
	}
}

// ranged takes a blob whose first line has its range. JDK 11 prints one above
// the code of each method, also of native wrappers, which have no other.
func (x *indexer) ranged(b Blob) {
	if o := x.cur; b.Kind.Java() && o != nil && o.active && o.java && !o.growing {
		switch o.mainLo {
		case 0:
			o.mainLo, o.mainHi = b.Lo, b.Hi
			return
		case b.Lo:
			return
		}
	}
	x.start(b, true)
	x.cur.mainLo, x.cur.mainHi = b.Lo, b.Hi
}

// describe takes LogCompilation's tag behind a method that JDK 8 printed
// without saying what it is:
//
//	<nmethod compile_id='3' compiler='C1' level='3' … address='0x00007f0a2510ba90' … stamp='0.260'/>
func (x *indexer) describe(tag []byte) (done bool) {
	o := x.cur
	if o == nil || !o.active {
		return false
	}
	b := &x.idx.Blobs[o.index]
	if b.Kind != NMethod || b.Compiler != "" {
		return false
	}
	installed, ok := ParseInstalled(tag)
	if !ok || installed.Address != o.address {
		return false
	}
	installed.describe(b)
	return true
}
