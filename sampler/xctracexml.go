package sampler

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"
)

// An xmlReader splits XML into tags. It supports only the part of XML that `xctrace export` writes. It has one buffer,
// and returns slices of it. The package encoding/xml would take ten times as long, and copy all text.
type xmlReader struct {
	in   io.Reader
	buf  []byte // the text from the start of the current tag on
	next int    // index in buf after the current tag
	line int    // number of the line with the current tag, from 1
	err  error  // the error that ended the reading; io.EOF at the end of the file

	text []byte // the first keptText bytes of the text before the current tag, without blanks around them
	tag  []byte // the current tag without its brackets: "frame id="3"", "/row", "sentinel/"
	bad  string // why there is no complete tag: the tag is too long, or the file ends within it
}

const (
	xmlBuffer = 256 << 10
	// maxTag is the maximum length in bytes of a tag that is read. Tags can be long because they contain the names of
	// functions.
	maxTag = maxLine
	// keptText is the maximum number of bytes of the text before a tag that are kept. The texts that matter are numbers
	// and single words.
	keptText = 256
)

func newXMLReader(in io.Reader) *xmlReader { return &xmlReader{in: in, line: 1} }

// scan reads the next tag. If the tag is too long or incomplete, the field bad is set to a text that says so. The
// result is false at the end of the file and on an I/O error.
func (x *xmlReader) scan() bool {
	x.bad, x.text = "", x.text[:0]
	for {
		if !x.skipTo('<') {
			return false
		}
		end := x.tagEnd()
		if end < 0 {
			x.advance(len(x.buf))
			return true
		}
		x.tag = x.buf[x.next+1 : end]
		if c := x.tag; len(c) == 0 || c[0] != '!' && c[0] != '?' {
			x.advance(end + 1)
			return true
		}
		x.advance(end + 1) // skip a comment or a declaration
	}
}

// skipTo goes to the next byte c, and keeps the start of the text before that byte in x.text. It returns false if there
// is no such byte.
func (x *xmlReader) skipTo(c byte) bool {
	for {
		rest := x.buf[x.next:]
		i := bytes.IndexByte(rest, c)
		passed := rest
		if i >= 0 {
			passed = rest[:i]
		}
		x.text = append(x.text, passed[:min(len(passed), keptText-len(x.text))]...)
		x.advance(x.next + len(passed))
		if i >= 0 {
			x.text = bytes.TrimSpace(x.text)
			return true
		}
		if !x.fill() {
			return false
		}
	}
}

// advance moves on to an index in the buffer, and counts the lines that it passes.
func (x *xmlReader) advance(to int) {
	x.line += bytes.Count(x.buf[x.next:to], []byte{'\n'})
	x.next = to
}

// tagEnd returns the index of the bracket that ends the tag at x.next, or -1 if there is none. Brackets in quotes, as
// in name="a<b>", and brackets in a comment are skipped.
func (x *xmlReader) tagEnd() int {
	quote := byte(0)
	for i := x.next + 1; ; i++ {
		if i >= len(x.buf) {
			start := i - x.next
			if start > maxTag {
				x.bad = "a tag is longer than 1 MB, which no name is"
				return -1
			}
			if !x.fill() {
				x.bad = "the file ends in the middle of a tag"
				return -1
			}
			i = x.next + start
		}
		tag := x.buf[x.next+1 : i]
		switch c := x.buf[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '>' && endsTag(tag):
			return i
		case (c == '"' || c == '\'') && len(tag) > 0 && tag[0] != '!' && tag[0] != '?':
			quote = c
		}
	}
}

// endsTag reports whether a bracket after this text ends the tag. <?x ?> ends only with "?>", and <!-- --> only with
// "-->".
func endsTag(tag []byte) bool {
	switch {
	case bytes.HasPrefix(tag, []byte("?")):
		return len(tag) > 1 && tag[len(tag)-1] == '?'
	case bytes.HasPrefix(tag, []byte("!--")):
		return len(tag) >= 5 && bytes.HasSuffix(tag, []byte("--"))
	}
	return true
}

// fill reads more text into the buffer, and drops the text before the current tag. It returns false if there is no more
// text.
func (x *xmlReader) fill() bool {
	if x.err != nil {
		return false
	}
	if x.next > 0 {
		x.buf = x.buf[:copy(x.buf, x.buf[x.next:])]
		x.next = 0
	}
	if cap(x.buf)-len(x.buf) < xmlBuffer/2 {
		x.buf = append(make([]byte, 0, 2*cap(x.buf)+xmlBuffer), x.buf...)
	}
	for range 100 { // as in bufio: a reader that returns nothing 100 times is broken
		n, err := x.in.Read(x.buf[len(x.buf):cap(x.buf)])
		x.buf = x.buf[:len(x.buf)+n]
		if err != nil {
			x.err = err
		}
		if n > 0 {
			return true
		}
		if err != nil {
			return false
		}
	}
	x.err = io.ErrNoProgress
	return false
}

// failure returns the I/O error that ended the reading, or nil if the text was read to its end.
func (x *xmlReader) failure(name string) error {
	if x.err == nil || errors.Is(x.err, io.EOF) {
		return nil
	}
	return fmt.Errorf("%s:%d: %w", name, x.line, x.err)
}

// cutTag returns the name of a tag, its attributes, whether it ends an element, and whether it is an
// element without content.
func cutTag(tag []byte) (name, attributes []byte, end, empty bool) {
	if tag, end = bytes.CutPrefix(tag, []byte{'/'}); end {
		return bytes.TrimSpace(tag), nil, true, false
	}
	tag, empty = bytes.CutSuffix(tag, []byte{'/'})
	for i, c := range tag {
		if c == ' ' || c == '\t' || c == '\n' || c == '\r' {
			return tag[:i], tag[i:], false, empty
		}
	}
	return tag, nil, false, empty
}

// attributes calls give(name, value) for each attribute of a tag. Entities in the value, such as &lt;, are not
// replaced.
func attributes(text []byte, give func(name, value []byte)) {
	for {
		text = bytes.TrimLeft(text, " \t\r\n")
		name, rest, ok := bytes.Cut(text, []byte{'='})
		rest = bytes.TrimLeft(rest, " \t\r\n")
		if !ok || len(rest) == 0 || rest[0] != '"' && rest[0] != '\'' {
			return
		}
		end := bytes.IndexByte(rest[1:], rest[0])
		if end < 0 {
			return
		}
		give(bytes.TrimSpace(name), rest[1:1+end])
		text = rest[end+2:]
	}
}

// xmlEntities are the entities that XML has without a declaration.
var xmlEntities = map[string]string{"lt": "<", "gt": ">", "amp": "&", "quot": `"`, "apos": "'"}

// unescapeXML returns a value with its entities replaced: "a&lt;b" becomes "a<b". It reuses the memory of its first
// argument for the result. An & that does not begin a known entity stays as it is.
func unescapeXML(to, value []byte) []byte {
	to = to[:0]
	for {
		i := bytes.IndexByte(value, '&')
		if i < 0 {
			return append(to, value...)
		}
		to = append(to, value[:i]...)
		value = value[i:]
		end := bytes.IndexByte(value[:min(len(value), 12)], ';')
		if end < 0 {
			to, value = append(to, '&'), value[1:]
			continue
		}
		entity := string(value[1:end])
		if r, ok := numberedCharacter(entity); ok {
			to, value = utf8.AppendRune(to, r), value[end+1:]
		} else if text, ok := xmlEntities[entity]; ok {
			to, value = append(to, text...), value[end+1:]
		} else {
			to, value = append(to, '&'), value[1:]
		}
	}
}

// numberedCharacter returns the character of an entity with a number: '<' for "#60" and "#x3c".
func numberedCharacter(entity string) (rune, bool) {
	if len(entity) < 2 || entity[0] != '#' {
		return 0, false
	}
	digits, base := entity[1:], 10
	if digits[0] == 'x' {
		digits, base = digits[1:], 16
	}
	n, err := strconv.ParseUint(digits, base, 31)
	return rune(n), err == nil && n <= utf8.MaxRune
}
