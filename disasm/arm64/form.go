package arm64

import (
	"strings"
	"sync"
)

// A row of a table describes one instruction, or several that have the same text. An encoding x matches the row if
// x&mask == value and no operand in the text refuses x.
//
// The text has operands in angle brackets: "ldr <Xt>, [<Xn|SP>]". The glossary of their names is in operand.go.
type row struct {
	mask, value uint32
	text        string
}

// An operand is a function that appends the text of one operand of the instruction x at address pc, for example "x3".
// Some of these functions append another part that varies, for example a letter of the mnemonic. An operand returns
// false to refuse x. It does so if the encoding is not allocated, or if another row has the preferred spelling.
type operand func(b []byte, x uint32, pc uint64) ([]byte, bool)

// A piece is a part of a form's text: fixed text and the operand after it. "[<Xn|SP>]" has two pieces: "[" with
// the operand <Xn|SP>, and "]" without an operand.
type piece struct {
	fixed string
	op    operand // nil if no operand follows
}

// A form is a row whose text has been split into pieces.
type form struct {
	mask, value uint32
	mnemonic    []piece
	args        []piece
}

// A formIndex has a list of forms for each value of bits 28 to 21, because these bits distinguish most instructions.
// The forms of a list are in the order of the tables, and the first one that matches an instruction is used.
type formIndex [256][]*form

const indexShift, indexMask = 21, 0xff

// allForms returns the index of all tables. The first call builds it.
var allForms = sync.OnceValue(func() *formIndex {
	var index formIndex
	for _, table := range [][]row{
		integer, system, memory(), atomic(),
		float(), vector(), crypto, scalable,
	} {
		for _, r := range table {
			index.add(r)
		}
	}
	return &index
})

func (index *formIndex) add(r row) {
	mnemonic, args, _ := strings.Cut(r.text, " ")
	f := &form{r.mask, r.value, splitPieces(mnemonic), splitPieces(args)}
	mask := r.mask >> indexShift & indexMask
	value := r.value >> indexShift & indexMask
	for i := range uint32(len(index)) {
		if i&mask == value {
			index[i] = append(index[i], f)
		}
	}
}

func splitPieces(text string) []piece {
	var pieces []piece
	for text != "" {
		fixed, rest, found := strings.Cut(text, "<")
		p := piece{fixed: fixed}
		if found {
			var name string
			name, rest, _ = strings.Cut(rest, ">")
			p.op = operandNamed(name)
		}
		pieces = append(pieces, p)
		text = rest
	}
	return pieces
}

// print appends the text of x to b. If x is not an instruction, the results are b unchanged and false.
func (index *formIndex) print(b []byte, x uint32, pc uint64) ([]byte, bool) {
	start := len(b)
	for _, f := range index[x>>indexShift&indexMask] {
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

func appendPieces(b []byte, pieces []piece, x uint32, pc uint64) ([]byte, bool) {
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
