package printassembly

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/internal/javaname"
)

// An Installed is what LogCompilation's tag tells of a method that was
// installed: all but the code (nmethod::log_new_nmethod).
//
//	<nmethod compile_id='71' compile_kind='osr' compiler='c2' level='4' entry='0x…' size='3176' address='0x…'
//	  insts_offset='400' stub_offset='1584' … metadata_offset='1616' method='Shares heavy (I)I' bytes='28' … stamp='0.182'/>
type Installed struct {
	ID       int
	Compiler string // "c1", "c2"; "" for the wrappers of native methods
	Kind     string // "osr", "c2n", "cnt"; "" for the rest
	Level    int    // tier
	Name     string // "pkg.Class::method"
	// BytecodeSize is the size of the method's bytecode, in bytes.
	BytecodeSize int
	UptimeMillis int64 // when it was installed, since the JVM's start

	// The nmethod itself is Size bytes from Address on. Its code is in [Lo, Hi),
	// with its stubs from Stub on, which is Hi where it has none.
	Address, Size uint64
	Lo, Stub, Hi  uint64
	// Addresses of its tables. JDK 22 and older have all of them within the nmethod;
	// newer ones keep more and more of them elsewhere. 0 for what the tag lacks.
	ScopesPCs, ScopesData, Metadata uint64
}

// ParseInstalled reads a tag, a line of a log with "<nmethod " at its start. It
// is false for one that does not tell where the method's code is.
func ParseInstalled(tag []byte) (t Installed, ok bool) {
	t.Address, _ = hexAddr(attr(tag, "address"))
	t.Size, _ = strconv.ParseUint(string(attr(tag, "size")), 10, 26)
	insts, _ := strconv.ParseUint(string(attr(tag, "insts_offset")), 10, 26)
	if t.Address == 0 || insts == 0 || insts >= t.Size || t.Address+t.Size < t.Address {
		return t, false
	}
	if t.UptimeMillis, ok = stampMillis(attr(tag, "stamp")); !ok {
		return t, false
	}
	if t.Name, ok = taggedName(unescape(attr(tag, "method"))); !ok {
		return t, false
	}
	t.Lo, t.Hi = t.Address+insts, t.Address+codeEnd(tag, insts, t.Size)
	t.Stub = t.Hi
	if stub := t.Address + offset(tag, "stub_offset"); stub > t.Lo && stub < t.Hi {
		t.Stub = stub
	}
	t.ID, _ = strconv.Atoi(string(attr(tag, "compile_id")))
	t.Level, _ = strconv.Atoi(string(attr(tag, "level")))
	t.BytecodeSize, _ = strconv.Atoi(string(attr(tag, "bytes")))
	t.Compiler, t.Kind = string(bytes.ToLower(attr(tag, "compiler"))), string(attr(tag, "compile_kind"))
	table := func(name string) uint64 {
		if n := offset(tag, name); n != 0 {
			return t.Address + n
		}
		return 0
	}
	t.ScopesPCs, t.ScopesData, t.Metadata = table("scopes_pcs_offset"), table("scopes_data_offset"), table("metadata_offset")
	return t, true
}

// describe puts into a blob by what, how and when the method was compiled.
func (t *Installed) describe(b *Blob) {
	b.ID, b.Compiler, b.Level = t.ID, t.Compiler, t.Level
	b.UptimeMillis, b.Stamped = t.UptimeMillis, true
	switch t.Kind {
	case "osr":
		b.OSR = true
	case "c2n", "cnt": // cnt: the JVM's own wrappers of continuations
		b.Kind, b.Compiler = Native, ""
	}
}

// taggedName reads "pkg/Class method (I)V". The name of a method may have blanks.
func taggedName(text string) (name string, ok bool) {
	names, descriptor, ok := cutLast(text, " (")
	class, method, ok2 := strings.Cut(names, " ")
	class, method = javaname.Decode(javaClass(class)), javaname.Decode(method)
	if name = class + "::" + method; HasBasicSignature(class, method) {
		name += BasicSignature("(" + descriptor)
	}
	return name, ok && ok2
}

// HasBasicSignature tells whether a method is one of those that HotSpot makes for method
// handles: it makes several of one name, and appends a [BasicSignature] to tell them apart.
func HasBasicSignature(class, method string) bool {
	return class == "java.lang.invoke.MethodHandle" && (method == "invokeBasic" || strings.HasPrefix(method, "linkTo"))
}

// BasicSignature makes of a method's descriptor what HotSpot appends to its name,
// "(LIL)V": one letter for each argument, L for all objects and I for all small integers
// (MethodHandles::print_as_basic_type_signature_on).
func BasicSignature(descriptor string) string {
	var s strings.Builder
	for rest := descriptor; rest != "" && rest != "?"; {
		switch c := rest[0]; c {
		case '(', ')', 'V':
			s.WriteByte(c)
			rest = rest[1:]
			continue
		case 'L', '[':
			s.WriteByte('L')
		case 'Z', 'B', 'C', 'S', 'I':
			s.WriteByte('I')
		default:
			s.WriteByte(c)
		}
		rest = cutType(rest)
	}
	return s.String()
}

// offset reads a difference to an address, which may be negative; 0 without one.
func offset(tag []byte, name string) uint64 {
	n, err := strconv.ParseInt(string(attr(tag, name)), 10, 64)
	if err != nil {
		return 0
	}
	return uint64(n)
}

// codeEnd gives the offset at which an nmethod's code ends: the code is from
// insts_offset on, stubs behind it, and ends where the next part begins. JDK 23
// and newer keep some parts elsewhere, whose offsets are not within the size.
func codeEnd(tag []byte, insts, size uint64) uint64 {
	from := insts
	if stub := offset(tag, "stub_offset"); stub > insts && stub < size {
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
