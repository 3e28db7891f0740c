package printassembly

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/internal/javaname"
)

// attr returns the value of name='…' in a tag's line, or nil if the tag does not have it.
func attr(line []byte, name string) []byte {
	for from := 0; ; {
		i := bytes.Index(line[from:], []byte(name))
		if i < 0 {
			return nil
		}
		i += from
		from = i + len(name)
		rest := line[from:]
		if i == 0 || line[i-1] != ' ' || len(rest) < 2 || rest[0] != '=' || rest[1] != '\'' {
			continue
		}
		value, _, ok := bytes.Cut(rest[2:], []byte{'\''})
		if !ok {
			return nil
		}
		return value
	}
}

// stampMillis converts a stamp in seconds ("0.364") to milliseconds.
func stampMillis(stamp []byte) (int64, bool) {
	whole, frac, _ := bytes.Cut(stamp, []byte{'.'})
	if len(whole) == 0 {
		return 0, false // the usual case, as most tags have no stamp; an error of strconv would cost an allocation
	}
	ms, err := strconv.ParseInt(string(whole), 10, 64)
	if err != nil || ms < 0 || ms > 1<<50 {
		return 0, false
	}
	ms *= 1000
	for i, unit := 0, int64(100); i < len(frac) && unit > 0; i, unit = i+1, unit/10 {
		if frac[i] < '0' || frac[i] > '9' {
			return 0, false
		}
		ms += int64(frac[i]-'0') * unit
	}
	return ms, true
}

// hexAddr reads "0x00007fae08938080" at the start of b. n is its length, or 0 if b does not start with an address.
func hexAddr(b []byte) (addr uint64, n int) {
	if len(b) < 3 || b[0] != '0' || b[1] != 'x' {
		return 0, 0
	}
	for n = 2; n < len(b) && n < 18; n++ {
		d := hexDigit(b[n])
		if d < 0 {
			break
		}
		addr = addr<<4 | uint64(d)
	}
	if n == 2 {
		return 0, 0
	}
	return addr, n
}

func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// addrRange finds "[0xLO, 0xHI]", "[0xLO,0xHI]" or "[0xLO, 0xHI[" in a line. The range with its brackets is
// line[at:after].
func addrRange(line []byte) (lo, hi uint64, at, after int, ok bool) {
	for from := 0; ; {
		i := bytes.Index(line[from:], []byte("[0x"))
		if i < 0 {
			return 0, 0, 0, 0, false
		}
		at = from + i
		from = at + 1
		lo, n := hexAddr(line[from:])
		p := from + n
		if p >= len(line) || line[p] != ',' {
			continue
		}
		for p++; p < len(line) && line[p] == ' '; p++ {
		}
		hi, n := hexAddr(line[p:])
		p += n
		if n == 0 || p >= len(line) || line[p] != ']' && line[p] != '[' || lo >= hi {
			continue
		}
		return lo, hi, at, p + 1, true
	}
}

var unescaper = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&apos;", "'", "&quot;", `"`, "&amp;", "&")

// unescape undoes the XML escaping of text between tags.
func unescape(b []byte) string {
	if bytes.IndexByte(b, '&') < 0 {
		return string(b)
	}
	return unescaper.Replace(string(b))
}

// Escape escapes the characters that must not be in the text of a log. These are the characters that are special in
// XML, which HotSpot escapes in the same way (xmlTextStream::write), and control characters. HotSpot itself does not
// escape control characters, but a line feed in the name of a class would end the line.
func Escape(text string) string {
	special := func(r rune) bool {
		switch r {
		case '<', '>', '&', '\'', '"', 0x7f:
			return true
		}
		return r < ' '
	}
	if !strings.ContainsFunc(text, special) {
		return text
	}
	var s strings.Builder
	for _, r := range text {
		switch {
		case r == '<':
			s.WriteString("&lt;")
		case r == '>':
			s.WriteString("&gt;")
		case r == '&':
			s.WriteString("&amp;")
		case r == '\'':
			s.WriteString("&apos;")
		case r == '"':
			s.WriteString("&quot;")
		case special(r):
			fmt.Fprintf(&s, `\u%04x`, r)
		default:
			s.WriteRune(r)
		}
	}
	return s.String()
}

// nameText returns the name in text between tags: it undoes the XML escaping and HotSpot's escaping
// of names.
func nameText(b []byte) string { return javaname.Decode(unescape(b)) }

// parseCompiled reads a method's first line after its "Compiled method (":
//
//	c2) 363   73 %     4       Workload::dot @ 4 (28 bytes)
//	n/a) 124    7     n 0       java.lang.System::arraycopy (native)
//
// Between the id and the level are letters of CompileTask::print_impl: % is OSR, s is synchronized, ! has exception
// handlers, b is blocking, n is a native wrapper. The position of the words can't be relied on, because JDK 28 prints
// one blank less before the time.
func parseCompiled(rest []byte) (b Blob, ok bool) {
	compiler, rest, ok := bytes.Cut(rest, []byte{')'})
	if !ok {
		return b, false
	}
	var from, word []byte // from begins with the current word, which is also in word
	next := func() []byte {
		from = bytes.TrimLeft(rest, " ")
		word, rest, _ = bytes.Cut(from, []byte{' '})
		return word
	}
	ms, err := strconv.ParseInt(string(next()), 10, 64)
	if err != nil {
		return b, false
	}
	b.UptimeMillis, b.Stamped = ms, true
	if b.ID, err = strconv.Atoi(string(next())); err != nil {
		return b, false
	}
	for next(); len(word) > 0 && strings.Trim(string(word), "%s!bn") == ""; next() {
		b.OSR = b.OSR || bytes.IndexByte(word, '%') >= 0
		if bytes.IndexByte(word, 'n') >= 0 {
			b.Kind = Native
		}
	}
	// Without tiered compilation the level is missing or "-".
	if level, err := strconv.Atoi(string(word)); err == nil {
		b.Level = level
		next()
	} else if string(word) == "-" {
		next()
	}
	if len(word) == 0 {
		return b, false
	}
	b.Name, b.OSRBCI, b.BytecodeSize = compiledName(from, word)
	b.Compiler = strings.ToLower(string(compiler))
	if b.Compiler == "n/a" || b.Compiler == "nm" { // nm: JDK 8
		b.Kind, b.Compiler = Native, ""
	}
	return b, true
}

// compiledName reads "Workload::dot @ 4 (28 bytes)", which may be followed by "   (static)". A name may contain blanks,
// as the names of tests in Kotlin do. If the line is cut off, compiledName returns only word, the first word of the
// name.
func compiledName(text, word []byte) (name string, osrBCI, size int) {
	text, _, _ = bytes.Cut(text, []byte(")   "))
	end := bytes.LastIndex(text, []byte(" ("))
	if end < 0 {
		return nameText(word), 0, 0
	}
	bytecode, _, _ := bytes.Cut(text[end+2:], []byte{' '})
	if n, err := strconv.ParseUint(string(bytecode), 10, 16); err == nil {
		size = int(n)
	}
	text = text[:end]
	if at := bytes.LastIndex(text, []byte(" @ ")); at >= 0 {
		if bci, err := strconv.Atoi(string(text[at+3:])); err == nil {
			return nameText(text[:at]), bci, size
		}
	}
	return nameText(text), 0, size
}

// parseDecoding reads the first line of a blob that is not a method:
//
//	Decoding RuntimeStub - wrong_method_stub 0x… [0x…, 0x…] (1136 bytes)
//	Decoding ExceptionBlob 0x… [0x…, 0x…] (128 bytes)
//	Decoding VtableStub itbl[0]@0x000000000000000c [0x…, 0x…] (152 bytes)
//
// JDK 8 does not print the range, so Lo and Hi are 0.
func parseDecoding(rest []byte) (b Blob, ok bool) {
	name := rest
	if lo, hi, at, _, ok := addrRange(rest); ok {
		b.Lo, b.Hi, name = lo, hi, rest[:at]
	} else if bytes.IndexByte(rest, '[') >= 0 && !bytes.HasPrefix(rest, []byte("VtableStub ")) {
		return b, false // an impossible range
	}
	name = bytes.TrimRight(name, " ")
	if i := bytes.LastIndexByte(name, ' '); i >= 0 && bytes.HasPrefix(name[i+1:], []byte("0x")) {
		name = name[:i] // drop the address of the blob itself
	}
	b.Kind, b.Name = RuntimeBlob, unescape(name)
	switch {
	case strings.HasPrefix(b.Name, "RuntimeStub - "):
		b.Name = strings.TrimPrefix(b.Name, "RuntimeStub - ")
	case strings.HasPrefix(b.Name, "VtableStub "):
		b.Kind = VtableStub
		b.Name = strings.TrimPrefix(b.Name, "VtableStub ")
		b.Name, _, _ = strings.Cut(b.Name, "@")
	case strings.Contains(b.Name, "dapter"):
		b.Kind = Adapter
	}
	return b, len(b.Name) > 0
}

// parseRanged reads the first line of a stub or of an interpreter codelet. The line of a stub ends with the size in
// parentheses, that of a codelet does not:
//
//	StubRoutines::libmLog [0x…, 0x…] (631 bytes)
//	invokehandle  233 invokehandle  [0x…, 0x…]  768 bytes
func parseRanged(line []byte) (b Blob, ok bool) {
	lo, hi, at, after, ok := addrRange(line)
	if !ok {
		return b, false
	}
	b.Lo, b.Hi = lo, hi
	name := bytes.TrimSpace(line[:at])
	if bytes.HasPrefix(line[after:], []byte(" (")) {
		b.Kind, b.Name = Stub, nameText(name)
		return b, len(name) > 0
	}
	// A codelet's description is followed by two blanks and the name of its bytecode.
	name, _, _ = bytes.Cut(name, []byte("  "))
	b.Kind, b.Name = Interpreter, nameText(name)
	// JDK 11 prints a method's name in this form: Workload.dot([I[I)I  [0x…. But
	// "method entry point (kind = zerolocals)  [0x…" is a codelet.
	if paren := strings.IndexByte(b.Name, '('); paren > 0 && b.Name[paren-1] != ' ' {
		b.Kind = Native // or NMethod, if the previous lines name a compiled method; see indexer.ranged
		class, method, ok := cutLast(b.Name[:paren], ".")
		b.Name = javaClass(class) + "::" + method
		return b, ok
	}
	return b, len(name) > 0
}

// parseMethod reads the comment that HotSpot prints above the entry point of a method. JDK 7 does not print the
// address:
//
//	# {method} {0x00007f0a22805000} 'hashCode' '()I' in 'java/lang/String'
func parseMethod(comment string) (name string, ok bool) {
	rest, ok := strings.CutPrefix(comment, "{method} ")
	if !ok {
		return "", false
	}
	quoted := strings.Split(rest, "'")
	if len(quoted) < 7 || quoted[1] == "" || quoted[5] == "" {
		return "", false
	}
	return javaClass(quoted[5]) + "::" + quoted[1], true
}

// javaClass converts java/lang/String to java.lang.String. A hidden class keeps the slash before its number, as in
// "Foo/0x00007f0a".
func javaClass(internal string) string {
	class, hidden, ok := cutLast(internal, "/0x")
	if !ok {
		class = internal
	}
	class = strings.ReplaceAll(class, "/", ".")
	if ok {
		class += "/0x" + hidden
	}
	return class
}

// cutLast is like strings.Cut, but cuts at the last sep. If there is none, it returns "", s, false.
func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return "", s, false
	}
	return s[:i], s[i+len(sep):], true
}

// parseFrame reads one frame of debug info, as HotSpot's nmethod::print_code_comment_on prints it after "; -":
//
//	Workload::dot@13 (line 12)
//	(reexecute) java.lang.Object::<init>@-1 (line 44)
func parseFrame(s string) (f Frame, ok bool) {
	s = strings.TrimPrefix(strings.TrimLeft(s, " "), "(reexecute) ")
	at := strings.LastIndexByte(s, '@')
	if at <= 0 || at > maxName || !strings.Contains(s[:at], "::") {
		return f, false
	}
	bci, rest, _ := strings.Cut(s[at+1:], " ")
	n, err := strconv.Atoi(bci)
	if err != nil {
		return f, false
	}
	f = Frame{Method: s[:at], BCI: n}
	if line, ok := strings.CutPrefix(rest, "(line "); ok {
		line, _, _ = strings.Cut(line, ")")
		f.Line, _ = strconv.Atoi(line)
	}
	return f, true
}
