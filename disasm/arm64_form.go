package disasm

import (
	"strings"
	"sync"
)

// An arm64Row is a row of a table of instructions: one instruction, or several with the same text. It matches the
// encodings x with x&mask == value, unless one of the operands refuses x.
//
// The text has operands in angle brackets: "ldr <Xt>, [<Xn|SP>]". The glossary of their names is in arm64_operand.go.
type arm64Row struct {
	mask, value uint32
	text        string
}

// An arm64Op appends an operand, or another variable part of the text, of the instruction x at address pc. It returns
// false to refuse x, because the encoding is not allocated or because another row has the preferred spelling.
type arm64Op func(b []byte, x uint32, pc uint64) ([]byte, bool)

// An arm64Piece is a part of a form's text: fixed text and the operand after it. "[<Xn|SP>]" has two pieces: "[" with
// the operand <Xn|SP>, and "]" without an operand.
type arm64Piece struct {
	fixed string
	op    arm64Op // nil if no operand follows
}

// An arm64Form is a row whose text has been split into pieces.
type arm64Form struct {
	mask, value uint32
	mnemonic    []arm64Piece
	args        []arm64Piece
}

// An arm64Index finds the forms that an instruction may have by its bits 28 to 21, which distinguish most
// instructions. The forms of an entry are in the order of the tables, and the first one that matches is taken.
type arm64Index [256][]*arm64Form

const arm64IndexShift, arm64IndexMask = 21, 0xff

// arm64Forms returns the index of all tables. It is built when it is first needed.
var arm64Forms = sync.OnceValue(func() *arm64Index {
	var index arm64Index
	for _, table := range [][]arm64Row{
		arm64Integer, arm64System, arm64Memory(), arm64Atomic(),
		arm64Float(), arm64Vector(), arm64Crypto, arm64Scalable,
	} {
		for _, r := range table {
			index.add(r)
		}
	}
	return &index
})

func (index *arm64Index) add(r arm64Row) {
	mnemonic, args, _ := strings.Cut(r.text, " ")
	form := &arm64Form{r.mask, r.value, arm64Pieces(mnemonic), arm64Pieces(args)}
	mask := r.mask >> arm64IndexShift & arm64IndexMask
	value := r.value >> arm64IndexShift & arm64IndexMask
	for i := range uint32(len(index)) {
		if i&mask == value {
			index[i] = append(index[i], form)
		}
	}
}

func arm64Pieces(text string) []arm64Piece {
	var pieces []arm64Piece
	for text != "" {
		fixed, rest, found := strings.Cut(text, "<")
		p := arm64Piece{fixed: fixed}
		if found {
			var name string
			name, rest, _ = strings.Cut(rest, ">")
			p.op = arm64Operand(name)
		}
		pieces = append(pieces, p)
		text = rest
	}
	return pieces
}

// print appends the text of x. If x is not an instruction, it returns false and the buffer unchanged.
func (index *arm64Index) print(b []byte, x uint32, pc uint64) ([]byte, bool) {
	start := len(b)
	for _, f := range index[x>>arm64IndexShift&arm64IndexMask] {
		if x&f.mask != f.value {
			continue
		}
		var ok bool
		if b, ok = appendPieces(b, f.mnemonic, x, pc); ok {
			if len(f.args) == 0 {
				return b, true
			}
			b = append(b, ' ')
			for len(b) < start+7 {
				b = append(b, ' ')
			}
			if b, ok = appendPieces(b, f.args, x, pc); ok {
				return b, true
			}
		}
		b = b[:start]
	}
	return b, false
}

func appendPieces(b []byte, pieces []arm64Piece, x uint32, pc uint64) ([]byte, bool) {
	for i := range pieces {
		p := &pieces[i]
		b = append(b, p.fixed...)
		if p.op == nil {
			continue
		}
		var ok bool
		if b, ok = p.op(b, x, pc); !ok {
			return b, false
		}
	}
	return b, true
}
