package methoddata

import "encoding/binary"

// A Kind says what a Site counts.
type Kind uint8

const (
	Call      Kind = iota + 1 // a virtual or an interface call
	Branch                    // a conditional branch
	TypeCheck                 // a checkcast, an instanceof or an aastore
)

// A Site is what HotSpot has counted at one bytecode.
type Site struct {
	BCI      int
	Bytecode byte // its number in the JVM Specification
	Kind     Kind

	Taken, NotTaken int64 // how often a branch was taken and not taken

	// Types are the classes of receivers, or of the objects that were checked, in the order of their rows. Others is
	// the number of receivers or objects of all other classes.
	Types  []Type
	Others int64
	// More is true if objects of further classes may have been checked but not counted. Failed counts the checks that
	// failed. The objects in failed checks may be missing from the counts of Types. More and Failed are set only for
	// type checks, up to JDK 24.
	More   bool
	Failed int64

	NullSeen bool // null was checked at least once
}

// A Type is a class, and how often it occurred.
type Type struct {
	Class uint64 // the address of the Klass
	Count int64
}

// The tags of records (DataLayout). They are the same in JDK 8 to 28, but only JDK 28 has the last three, for value
// classes.
const (
	tagBit             = 1
	tagCounter         = 2
	tagJump            = 3
	tagReceiverType    = 4
	tagVirtualCall     = 5
	tagRet             = 6
	tagBranch          = 7
	tagMultiBranch     = 8
	tagCallType        = 10
	tagVirtualCallType = 11
	tagArrayStore      = 14
	tagArrayLoad       = 15
	tagACmp            = 16
)

// nullSeen is the flag of a record that is set when null was seen.
const nullSeen = 1

// maxCount is the largest number that is accepted as a count. Real counts do not reach it.
const maxCount = 1 << 48

// A walk goes through the records of a MethodData.
type walk struct {
	*layout
	records []byte
	at      []byte // the bytecode at each index; see function starts
	extra   uint64 // number of additional cells before the rows of records with types, as in JDKs with JVMCI
	rows    []Type // memory for the rows of all sites; the sites have parts of it
}

// sites returns the sites of all records. ok is false if the bytes can't be records of this layout, or if there is no
// record for a bytecode that needs one.
func (w *walk) sites() (sites []Site, ok bool) {
	last, missing := -1, 0
	for _, op := range w.at {
		if counts(op) {
			missing++
		}
	}
	sites = make([]Site, 0, missing)
	for rest := w.records; len(rest) > 0; {
		if len(rest) < 8 {
			return nil, false
		}
		tag, flags, bci := rest[0], rest[1], int(binary.LittleEndian.Uint16(rest[2:]))
		cells, ok := w.cells(tag, rest[8:])
		if !ok || bci <= last || bci >= len(w.at) || !fits(tag, w.at[bci]) {
			return nil, false
		}
		if last = bci; counts(w.at[bci]) {
			missing--
		}
		site := Site{BCI: bci, Bytecode: w.at[bci], NullSeen: flags&nullSeen != 0}
		if !w.read(&site, tag, rest[8:8+8*cells]) {
			return nil, false
		}
		if site.Kind != 0 {
			sites = append(sites, site)
		}
		rest = rest[8+8*cells:]
	}
	return sites, missing == 0
}

// expectedSize returns the approximate size of a method's records, in bytes. The parameter at holds the method's
// bytecodes; see function starts. extra is walk.extra. The actual size is larger if records also have the types of
// arguments.
func (l *layout) expectedSize(at []byte, extra uint64) (size uint64) {
	types := 1 + extra + 2*l.types
	for i := 0; i < len(at); {
		op, next := at[i], i+1
		for next < len(at) && at[next] == noBytecode {
			next++
		}
		cells := uint64(0)
		switch {
		case op == opInvokevirtual || op == opInvokeinterface || op == opCheckcast || op == opInstanceof || op == opAastore:
			cells = types
		case op == opInvokespecial || op == opInvokestatic || op == opInvokedynamic:
			cells = 1
		case op == opGoto || op == opJsr || op == opGotoW || op == opJsrW:
			cells = 2
		case op == opTableswitch || op == opLookupswitch:
			cells = 3 + uint64(next-i)/2 // two cells for each case, which has four or eight bytes of bytecode
		case op == opRet:
			cells = 1 + 3*l.returns
		case counts(op):
			cells = 3
		}
		if cells > 0 {
			size += 8 + 8*cells
		}
		i = next
	}
	return min(size, maxSize)
}

// counts reports whether HotSpot makes a record for every occurrence of the bytecode op in a method.
func counts(op byte) bool {
	return op >= opIfeq && op <= opLookupswitch || op >= opInvokevirtual && op <= opInvokedynamic || op == opAastore ||
		op == opCheckcast || op == opInstanceof || op >= opIfnull && op <= opJsrW
}

// cells returns the number of cells of a record. The parameter rest has the bytes after the record's header. ok is
// false if there are fewer bytes than that, or if the tag is unknown.
func (w *walk) cells(tag byte, rest []byte) (n uint64, ok bool) {
	// length returns the number of cells of a list whose first cell has the index from. That cell holds the number of
	// the cells after it.
	length := func(from uint64) uint64 {
		if uint64(len(rest)) < 8*from+8 {
			return 1 << 32
		}
		return 1 + min(binary.LittleEndian.Uint64(rest[8*from:]), 1<<32)
	}
	types := 1 + w.extra + 2*w.types
	switch tag {
	case tagBit:
	case tagCounter:
		n = 1
	case tagJump:
		n = 2
	case tagReceiverType, tagVirtualCall:
		n = types
	case tagRet:
		n = 1 + 3*w.returns
	case tagBranch:
		n = 3
	case tagMultiBranch:
		n = length(0)
	case tagCallType:
		n = 1 + length(1)
	case tagVirtualCallType:
		n = types + length(types)
	case tagArrayStore:
		n = types + 1
	case tagArrayLoad:
		n = 2
	case tagACmp:
		n = 5
	default:
		return 0, false
	}
	return n, n <= uint64(len(rest))/8
}

// fits reports whether HotSpot makes records with a tag for a bytecode (MethodData::initialize_data).
func fits(tag, op byte) bool {
	switch tag {
	case tagBit:
		return op != noBytecode
	case tagCounter, tagCallType:
		return op == opInvokespecial || op == opInvokestatic || op == opInvokedynamic
	case tagJump:
		return op == opGoto || op == opJsr || op == opGotoW || op == opJsrW
	case tagReceiverType:
		return op == opCheckcast || op == opInstanceof || op == opAastore
	case tagVirtualCall, tagVirtualCallType:
		return op == opInvokevirtual || op == opInvokeinterface
	case tagRet:
		return op == opRet
	case tagBranch:
		return op >= opIfeq && op <= opIfAcmpne || op == opIfnull || op == opIfnonnull
	case tagArrayStore:
		return op == opAastore
	case tagArrayLoad:
		return op == opAaload
	case tagACmp:
		return op == opIfAcmpeq || op == opIfAcmpne
	}
	return op == opTableswitch || op == opLookupswitch
}

// read sets the fields of a site from the cells of its record. It returns false if the cells have impossible values.
func (w *walk) read(s *Site, tag byte, cells []byte) bool {
	cell := func(n uint64) int64 { return int64(binary.LittleEndian.Uint64(cells[8*n:])) }
	switch tag {
	case tagBranch, tagACmp:
		s.Kind, s.Taken, s.NotTaken = Branch, cell(0), cell(2)
		return isCount(s.Taken) && isCount(s.NotTaken)
	case tagVirtualCall, tagVirtualCallType:
		s.Kind = Call
	case tagReceiverType, tagArrayStore:
		s.Kind = TypeCheck
	default:
		return true
	}
	s.Others, s.More = cell(0), s.Kind == TypeCheck && !w.othersChecked
	if s.Kind == TypeCheck && !w.othersChecked {
		s.Failed, s.Others = max(0, -s.Others), 0
	}
	first := len(w.rows)
	for row := range w.types {
		class, count := uint64(cell(1+w.extra+2*row)), cell(2+w.extra+2*row)
		if class == 0 {
			s.More = false
			continue
		}
		if class%8 != 0 || !isCount(count) {
			return false
		}
		w.rows = append(w.rows, Type{class, count})
	}
	if here := w.rows[first:]; len(here) > 0 {
		s.Types = here[:len(here):len(here)]
	}
	s.More = s.More || s.Failed > 0
	return isCount(s.Others) && isCount(s.Failed)
}

func isCount(n int64) bool { return n >= 0 && n <= maxCount }
