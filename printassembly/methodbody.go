package printassembly

import (
	"bytes"
	"slices"
	"strconv"
)

// Without DebugNonSafepoints, package safepoints has to find out which inlined method an instruction belongs to. One
// clue is the field that the instruction accesses. So for each method, gasm writes the offsets of the fields that it
// accesses, and the methods that it calls. Each method has a number. A reference consists of the bci of a bytecode, a
// letter for its kind, and an offset or a number:
//
//	<method_body id='7' method='Shapes::sum' refs='1g16 5a 9c6 14p24'/>
//
// g reads and p writes a field at an offset in its object, a reads the length of an array or checks an index against
// it, and c calls the method with that number.
var methodBodyTag = []byte("<method_body ")

// A MethodBody has the references of a method's bytecodes.
type MethodBody struct {
	Method string // "pkg.Class::method"
	Refs   []BodyRef
}

// A BodyRef is a bytecode that refers to a field, an array or a method.
type BodyRef struct {
	BCI    int
	Kind   RefKind
	Offset int         // of an instance field in its object, or of a static field in its class's java.lang.Class
	Callee *MethodBody // the method that a CallRef calls; nil if it is not known
}

// A RefKind says what a bytecode refers to. Its value is the letter in the log.
type RefKind byte

// The kinds of references.
const (
	FieldRead  RefKind = 'g'
	FieldWrite RefKind = 'p'
	ArrayRef   RefKind = 'a' // refers to an array's length or to its elements
	CallRef    RefKind = 'c'
)

// AppendMethodBody appends a method's line to text. No other method of the log may have the number id. The Offset of a
// CallRef is the callee's number.
func AppendMethodBody(text []byte, id int, m *MethodBody) []byte {
	text = appendNumber(append(text, methodBodyTag[:len(methodBodyTag)-1]...), "id", int64(id))
	text = append(append(append(text, " method='"...), Escape(m.Method)...), "' refs='"...)
	for i, r := range m.Refs {
		if i > 0 {
			text = append(text, ' ')
		}
		text = append(strconv.AppendInt(text, int64(r.BCI), 10), byte(r.Kind))
		if r.Kind != ArrayRef {
			text = strconv.AppendInt(text, int64(r.Offset), 10)
		}
	}
	return append(text, "'/>\n"...)
}

// Bodies are the bodies of methods in a log.
type Bodies struct {
	byID map[int]*MethodBody
	by   map[string][]*MethodBody
	refs int
}

// Any reports whether there are any bodies. b may be nil.
func (b *Bodies) Any() bool { return b != nil && len(b.by) > 0 }

// Of returns the bodies of all methods with the given name. There may be several, because overloaded methods have the
// same name.
func (b *Bodies) Of(method string) []*MethodBody { return b.by[method] }

// maxBodyRefs limits the number of references of one method. Further ones are ignored.
const maxBodyRefs = 1 << 12

func (b *Bodies) tag(line []byte) bool {
	if !bytes.HasPrefix(line, methodBodyTag) {
		return false
	}
	id, err := strconv.Atoi(string(attr(line, "id")))
	name := attr(line, "method")
	if err != nil || len(name) == 0 || len(name) > maxName || len(b.byID) >= maxProfiles || b.refs >= maxProfileSites {
		return true
	}
	if b.byID == nil {
		b.byID, b.by = map[int]*MethodBody{}, map[string][]*MethodBody{}
	}
	m := &MethodBody{Method: nameText(name)}
	for word := range bytes.FieldsSeq(attr(line, "refs")) {
		r, ok := b.ref(word)
		if !ok || len(m.Refs) == maxBodyRefs {
			break
		}
		m.Refs = append(m.Refs, r)
	}
	b.refs += len(m.Refs)
	b.byID[id] = m
	b.by[m.Method] = append(b.by[m.Method], m)
	return true
}

// ref reads a reference: "9c6".
func (b *Bodies) ref(word []byte) (r BodyRef, ok bool) {
	at := slices.IndexFunc(word, func(c byte) bool { return c < '0' || c > '9' })
	if at <= 0 {
		return r, false
	}
	bci, err := strconv.ParseUint(string(word[:at]), 10, 16)
	if err != nil {
		return r, false
	}
	r.BCI, r.Kind = int(bci), RefKind(word[at])
	if r.Kind == ArrayRef {
		return r, len(word) == at+1
	}
	n, err := strconv.ParseUint(string(word[at+1:]), 10, 31)
	if err != nil {
		return r, false
	}
	r.Offset = int(n)
	if r.Kind == CallRef {
		r.Callee = b.byID[r.Offset]
	}
	return r, r.Kind == FieldRead || r.Kind == FieldWrite || r.Kind == CallRef
}
