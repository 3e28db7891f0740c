package printassembly

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/internal/javaname"
)

// An Installed is what LogCompilation's tag says about a method whose code was installed (nmethod::log_new_nmethod).
// The tag has everything except the code:
//
//	<nmethod compile_id='71' compile_kind='osr' compiler='c2' level='4' entry='0x…' size='3176' …
//	  insts_offset='400' stub_offset='1584' … method='Shares heavy (I)I' bytes='28' … stamp='0.182'/>
type Installed struct {
	ID       int
	Compiler string // "c1", "c2"; "" for the wrappers of native methods
	Kind     string // "osr", "c2n", "cnt"; "" for other methods
	Level    int    // tier
	Name     string // "pkg.Class::method"
	// BytecodeSize is the size of the method's bytecode, in bytes.
	BytecodeSize int
	// UptimeMillis is when it was installed, in milliseconds since the JVM's start. If gasm has written the tag, it is
	// the last time at which the method was not there yet, and SeenMillis is when gasm first saw it. SeenMillis is 0 in
	// HotSpot's own logs, where UptimeMillis is exact.
	UptimeMillis, SeenMillis int64

	// The nmethod itself has Size bytes from Address on. Its code is in [Lo, Hi), and the stubs in it begin at Stub.
	// Stub is Hi if there are no stubs.
	Address, Size uint64
	Lo, Stub, Hi  uint64
	// Addresses of the nmethod's tables; 0 if the tag does not have them. In JDK 22 and older, all tables are within
	// the nmethod. Newer JDKs keep more and more of them elsewhere.
	ScopesPCs, ScopesData, Metadata uint64
}

// Key returns the key of the method's code.
func (t *Installed) Key() CodeKey { return CodeKey{t.ID, t.Kind == "osr"} }

// ParseInstalled reads a tag: a line of a log that starts with "<nmethod ". It returns false if the tag does not say
// where the method's code is.
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
	_, t.SeenMillis, _ = seenMillis(tag)
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
	t.ScopesPCs, t.ScopesData, t.Metadata = table("scopes_pcs_offset"), table("scopes_data_offset"),
		table("metadata_offset")
	return t, true
}

// seenMillis returns the times between which a method was installed: when gasm last saw that it was not there, and when
// gasm first saw it. ok is false if HotSpot has written the tag, or if the two times are equal.
func seenMillis(tag []byte) (stamp, seen int64, ok bool) {
	seen, ok = stampMillis(attr(tag, "seen"))
	if !ok {
		return 0, 0, false
	}
	if stamp, ok = stampMillis(attr(tag, "stamp")); !ok || seen <= stamp {
		return 0, 0, false
	}
	return stamp, seen, true
}

// maxBytecode is the largest size of a method's bytecode, in bytes.
const maxBytecode = 65535

// describe copies what the tag says about the compilation into a blob: its id, compiler, level,
// kind and time.
func (t *Installed) describe(b *Blob) {
	b.ID, b.Compiler, b.Level = t.ID, t.Compiler, t.Level
	b.UptimeMillis, b.SeenMillis, b.Stamped = t.UptimeMillis, t.SeenMillis, true
	if 0 < t.BytecodeSize && t.BytecodeSize <= maxBytecode {
		b.BytecodeSize = t.BytecodeSize
	}
	switch t.Kind {
	case "osr":
		b.OSR = true
	case "c2n", "cnt": // cnt: the JVM's own wrappers for continuations
		b.Kind, b.Compiler = Native, ""
	}
}

// taggedName reads a text such as "pkg/Class method (I)V" and returns "pkg.Class::method". A method's name may contain
// blanks.
func taggedName(text string) (name string, ok bool) {
	names, descriptor, ok := cutLast(text, " (")
	class, method, ok2 := strings.Cut(names, " ")
	class, method = javaname.Decode(javaClass(class)), javaname.Decode(method)
	if name = class + "::" + method; HasBasicSignature(class, method) {
		name += BasicSignature("(" + descriptor)
	}
	return name, ok && ok2
}

// HasBasicSignature reports whether a method is one of those that HotSpot generates for method handles. HotSpot
// generates several methods with the same name and appends a [BasicSignature] to tell them apart.
func HasBasicSignature(class, method string) bool {
	return class == "java.lang.invoke.MethodHandle" && (method == "invokeBasic" || strings.HasPrefix(method, "linkTo"))
}

// BasicSignature converts a method's descriptor to the form that HotSpot appends to such a method's name, for example
// "(LIL)V": one letter per argument, where L is any object and I is any integer of up to 32 bits
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

// offset returns the value of an attribute such as stub_offset, or 0 if the tag does not have it.
// The value may be negative; it is then returned in two's complement, so that it can be added to an
// address.
func offset(tag []byte, name string) uint64 {
	n, err := strconv.ParseInt(string(attr(tag, name)), 10, 64)
	if err != nil {
		return 0
	}
	return uint64(n)
}

// codeEnd returns the offset at which an nmethod's code ends. The code starts at insts_offset and includes the stubs
// that follow. It ends where the nmethod's next part begins. JDK 23 and newer keep some parts elsewhere; the offsets of
// these parts are not between insts_offset and the nmethod's size.
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
