package printassembly

import (
	"bytes"
	"strconv"
)

// Some blobs come without a line that has their range. In every JDK, the signature handlers do. In JDK 8, all blobs
// that are not methods do, and if PrintAssembly is on and PrintNMethods is off, the methods do as well. The range of
// such a blob is computed from the addresses of its rows of code. The length of the last instruction is unknown, so the
// range ends after its first byte. That is enough, because a sample has the address of the first byte of an
// instruction.

// unranged is what the indexer knows about an open blob whose range may have to be computed.
type unranged struct {
	growing  bool   // the range grows with each row
	machine  bool   // the rows are bytes, after [MachCode]
	nameless bool   // the name is in a comment that has not been read yet
	size     uint64 // size of the code, if the first line has it ("145 bytes generated"), and otherwise 0
	address  uint64 // address of the nmethod that contains the code
}

// maxRowGap is an upper bound for the distance between two rows of one blob. A row beyond it is not part of the blob.
const maxRowGap = 64

// learn sets or extends the range of a blob whose range is unknown, from the address of a row of its code.
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
	case o.size > 0: // the first line has the size of all rows together
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

// rowBytes returns the number of bytes in a row of hexadecimal code.
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

// decoding handles the rest of a line that begins with "Decoding ". JDK 8 prints a method's code after one
// of these lines. With PrintNMethods this is the second time that it prints the code:
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

// handler handles the first line of a signature handler, which is code that the interpreter uses to call the native
// methods of one signature:
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

// ranged handles a blob whose first line has its range. JDK 11 prints such a line above the code of each method. For
// native wrappers it is the only line with a range.
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

// describe handles LogCompilation's tag after a method that JDK 8 printed without its compiler, level and time.
// It reports whether the tag belongs to such a method:
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
