package codecache

import (
	"fmt"
	"strings"

	"github.com/gasm-profiler/gasm/printassembly"
)

// AppendTo appends the line that a HotSpot log would have for the blob. The blob appeared between uptimeMillis and
// seenMillis, in milliseconds since the JVM's start. Only the line of a method contains these times.
//
//	<nmethod compile_id='138' compile_kind='osr' compiler='c2' level='4' size='…' address='0x…' insts_offset='…' … method='Hot sum ()V' bytes='28' stamp='0.579' seen='0.589'/>
//	StubRoutines::libmLog [0x…, 0x…] (631 bytes)
//	invokehandle  [0x…, 0x…]  768 bytes
//	Decoding RuntimeStub - wrong_method_stub 0x… [0x…, 0x…] (1136 bytes)
//	Decoding VtableStub itbl[0]@0 [0x…, 0x…] (152 bytes)
//	Decoding I2C/C2I adapters 0x… [0x…, 0x…] (616 bytes)
func (b *Blob) AppendTo(text []byte, uptimeMillis, seenMillis int64) []byte {
	size := b.Hi - b.Lo
	switch {
	case b.Method != nil:
		return appendTag(text, b.Method, uptimeMillis, seenMillis)
	case b.Kind == printassembly.Interpreter:
		return fmt.Appendf(text, "%s  [%#016x, %#016x]  %d bytes\n", printassembly.Escape(b.Name), b.Lo, b.Hi, size)
	case b.Kind == printassembly.Stub:
		return fmt.Appendf(text, "%s [%#016x, %#016x] (%d bytes)\n", printassembly.Escape(b.Name), b.Lo, b.Hi, size)
	}
	name := printassembly.Escape(b.Name)
	switch {
	case b.Kind == printassembly.VtableStub:
		name = "VtableStub " + name + "@0"
	case b.Kind == printassembly.Adapter, isSingleton(b.Name):
		name += fmt.Sprintf(" %#016x", b.Lo)
	default:
		name = fmt.Sprintf("RuntimeStub - %s %#016x", name, b.Lo)
	}
	return fmt.Appendf(text, "Decoding %s [%#016x, %#016x] (%d bytes)\n", name, b.Lo, b.Hi, size)
}

// safepointPrefix comes before the names of SafepointBlobs in the output of JDK 28. In older JDKs, all of them have the
// name SafepointBlob, and there is no prefix.
const safepointPrefix = "SafepointBlob - "

// isSingleton reports whether HotSpot prints a blob's name without "RuntimeStub".
func isSingleton(name string) bool {
	switch name {
	case "DeoptimizationBlob", "ExceptionBlob", "SafepointBlob", "UncommonTrapBlob":
		return true
	}
	return strings.HasPrefix(name, safepointPrefix)
}

// appendTag appends the tag <nmethod> as LogCompilation writes it. All offsets are relative to the nmethod's address,
// even those of tables that lie outside the nmethod. oops_offset is the offset at which the code ends. HotSpot's tag
// does not have the attribute seen, because its stamp is exact.
func appendTag(text []byte, t *printassembly.Installed, uptimeMillis, seenMillis int64) []byte {
	text = fmt.Appendf(text, "<nmethod compile_id='%d'", t.ID)
	if t.Kind != "" {
		text = fmt.Appendf(text, " compile_kind='%s'", t.Kind)
	}
	text = fmt.Appendf(text, " compiler='%s' level='%d' size='%d' address='%#016x' insts_offset='%d'",
		t.Compiler, t.Level, t.Size, t.Address, t.Lo-t.Address)
	offset := func(name string, at uint64) {
		if at != 0 {
			text = fmt.Appendf(text, " %s_offset='%d'", name, int64(at-t.Address))
		}
	}
	if t.Stub < t.Hi {
		offset("stub", t.Stub)
	}
	if t.Hi < t.Address+t.Size {
		offset("oops", t.Hi)
	}
	offset("scopes_data", t.ScopesData)
	offset("scopes_pcs", t.ScopesPCs)
	offset("metadata", t.Metadata)
	return fmt.Appendf(text, " method='%s' bytes='%d' stamp='%d.%03d' seen='%d.%03d'/>\n", taggedName(t.Name),
		t.BytecodeSize, uptimeMillis/1000, uptimeMillis%1000, seenMillis/1000, seenMillis%1000)
}

// taggedName converts "pkg.Class::method" to "pkg/Class method ()V". The method's own descriptor is not known, so ()V
// stands in for it. Names of method handles' methods, such as "linkToStatic(LLIJ)D", contain a signature. It becomes
// the descriptor "(Lo;Lo;IJ)D", so that a reader of the tag gets the same name back.
func taggedName(name string) string {
	class, method, _ := strings.Cut(name, "::")
	descriptor := "()V"
	if i := strings.LastIndexByte(method, '('); i > 0 && printassembly.HasBasicSignature(class, method[:i]) {
		descriptor = strings.ReplaceAll(method[i:], "L", "Lo;")
		method = method[:i]
	}
	class, hidden, ok := strings.Cut(class, "/0x")
	class = strings.ReplaceAll(class, ".", "/")
	if ok {
		class += "/0x" + hidden
	}
	return printassembly.Escape(class + " " + method + " " + descriptor)
}
