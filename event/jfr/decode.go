package jfr

import (
	"encoding/binary"
	"math"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// The functions below read or skip the value at offset i in d, and return the offset after the value. If the value is
// cut off by the end of d, or if i is -1, they return the offset -1. So a caller can make several calls in a row, and
// check only the last offset.

// varint reads the compressed integer at i: seven bits per byte, lowest bits first.
func varint(d []byte, i int) (v int64, next int) {
	if uint(i) < uint(len(d)) && d[i] < 0x80 {
		return int64(d[i]), i + 1
	}
	var sum uint64
	for shift := 0; uint(i) < uint(len(d)); shift += 7 {
		b := d[i]
		i++
		if shift == 56 {
			return int64(sum | uint64(b)<<56), i
		}
		sum |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return int64(sum), i
		}
	}
	return 0, -1
}

// skipVarint returns the offset after the compressed integer at i.
func skipVarint(d []byte, i int) int {
	for last := i + 8; uint(i) < uint(len(d)); i++ {
		if d[i] < 0x80 || i == last {
			return i + 1
		}
	}
	return -1
}

// count reads the number of items in a list. Each item takes at least one byte. So if fewer bytes are left than the
// number of items, the number is wrong, and count returns -1 as the offset.
func count(d []byte, i int) (n, next int) {
	v, next := varint(d, i)
	if n := int64(int32(v)); next >= 0 && n >= 0 && n <= int64(len(d)-next) {
		return int(n), next
	}
	return 0, -1
}

// skipBytes returns the offset i+n.
func skipBytes(d []byte, i, n int) int {
	if i < 0 || n > len(d)-i {
		return -1
	}
	return i + n
}

// The encodings of strings (jdk.jfr.internal.consumer.StringParser).
const (
	nullString   = 0
	emptyString  = 1
	pooledString = 2
	utf8String   = 3
	utf16String  = 4
	latin1String = 5
)

// skipString returns the offset after the string at i.
func skipString(d []byte, i int) int {
	if uint(i) >= uint(len(d)) {
		return -1
	}
	encoding := d[i]
	i++
	switch encoding {
	case nullString, emptyString:
		return i
	case pooledString:
		return skipVarint(d, i)
	case utf8String, latin1String:
		n, next := count(d, i)
		return skipBytes(d, next, n)
	case utf16String:
		n, next := count(d, i)
		for ; n > 0 && next >= 0; n-- {
			next = skipVarint(d, next)
		}
		return next
	}
	return -1
}

// text decodes the string at the start of d. The caller has checked the string with skipString. The result is "" for
// null, and for a key in the pool of strings.
func text(d []byte) string { return textUpTo(d, len(d)) }

// textUpTo is like text, but decodes only the beginning of a long string. The limit is in bytes or, for UTF-16, in
// code units.
func textUpTo(d []byte, limit int) string {
	if len(d) < 2 {
		return ""
	}
	encoding := d[0]
	n, i := count(d, 1)
	if i < 0 {
		return ""
	}
	n = min(n, limit)
	switch encoding {
	case utf8String:
		return decodeUTF8(d[i:min(i+n, len(d))])
	case utf16String:
		return decodeUTF16(d[i:], n)
	case latin1String:
		return decodeLatin1(d[i:min(i+n, len(d))])
	}
	return ""
}

func decodeLatin1(d []byte) string {
	var b strings.Builder
	b.Grow(len(d))
	for _, c := range d {
		b.WriteRune(rune(c))
	}
	return b.String()
}

func decodeUTF16(d []byte, n int) string {
	var b strings.Builder
	b.Grow(n)
	var pending rune // the first half of a surrogate pair
	flush := func() {
		if pending != 0 {
			b.WriteRune(utf8.RuneError)
			pending = 0
		}
	}
	i := 0
	for ; n > 0 && i >= 0; n-- {
		var v int64
		v, i = varint(d, i)
		c := rune(uint16(v))
		switch {
		case pending != 0 && utf16.DecodeRune(pending, c) != utf8.RuneError:
			b.WriteRune(utf16.DecodeRune(pending, c))
			pending = 0
		case c >= 0xD800 && c < 0xDC00:
			flush()
			pending = c
		default:
			flush()
			b.WriteRune(c) // an unpaired surrogate becomes U+FFFD
		}
	}
	flush()
	return b.String()
}

// decodeUTF8 also decodes HotSpot's variant of UTF-8 in symbols and thread names (utf8.cpp): NUL is C0 80, and a
// character above U+FFFF is a surrogate pair of three bytes each. Any other invalid byte becomes U+FFFD.
func decodeUTF8(d []byte) string {
	if utf8.Valid(d) {
		return string(d)
	}
	var b strings.Builder
	b.Grow(len(d))
	for len(d) > 0 {
		r, n := utf8.DecodeRune(d)
		if r == utf8.RuneError && n == 1 {
			if len(d) > 1 && d[0] == 0xC0 && d[1] == 0x80 {
				r, n = 0, 2
			} else if pair := utf16.DecodeRune(surrogate(d), surrogate(d[min(3, len(d)):])); pair != utf8.RuneError {
				r, n = pair, 6
			}
		}
		b.WriteRune(r)
		d = d[n:]
	}
	return b.String()
}

// surrogate decodes one half of a surrogate pair at the start of d. In HotSpot's UTF-8, each half takes three bytes.
// The result is 0 if d does not begin with such a half.
func surrogate(d []byte) rune {
	if len(d) < 3 || d[0] != 0xED || d[1]&0xC0 != 0x80 || d[2]&0xC0 != 0x80 {
		return 0
	}
	return 0xD000 | rune(d[1]&0x3F)<<6 | rune(d[2]&0x3F)
}

func float32At(d []byte) float64 {
	return float64(math.Float32frombits(binary.BigEndian.Uint32(d)))
}

func float64At(d []byte) float64 { return math.Float64frombits(binary.BigEndian.Uint64(d)) }
