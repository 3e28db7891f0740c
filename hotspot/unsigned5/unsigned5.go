// Package unsigned5 reads HotSpot's compressed numbers (unsigned5.hpp; compressedStream.hpp in JDK 17 and older). Debug
// info, line numbers and, in JDK 21 and newer, the fields of classes are encoded like this.
package unsigned5

// A Reader reads numbers from data. A number has one to five bytes. Each byte is a digit in base 64, and the lowest
// digit is first. If a byte is 192 or more, another byte follows, unless it is already the fifth.
type Reader struct {
	data []byte
	at   int // index of the next byte in data
	// excluded is 1 in JDK 20 and newer, where numbers have no zero bytes and each digit is its byte minus one. It is 0
	// in older JDKs.
	excluded uint32
	short    bool // the data ended too early
}

// New returns a Reader that begins at an index of data. release is the JDK's feature release.
func New(data []byte, at, release int) *Reader {
	r := &Reader{data: data, at: at}
	if release >= 20 {
		r.excluded = 1
	}
	return r
}

// Short reports whether a read went beyond the end of the data.
func (r *Reader) Short() bool { return r.short }

// Byte returns the next byte, or 0 after the last one.
func (r *Reader) Byte() byte {
	if r.at < 0 || r.at >= len(r.data) {
		r.short = true
		return 0
	}
	b := r.data[r.at]
	r.at++
	return b
}

// Unsigned reads a number that has no sign.
func (r *Reader) Unsigned() uint32 {
	var sum uint32
	for i := range 5 {
		b := uint32(r.Byte())
		sum += (b - r.excluded) << (6 * i)
		if b < 192 || r.short {
			break
		}
	}
	return sum
}

// Signed reads a number whose lowest bit is its sign (UNSIGNED5::decode_sign).
func (r *Reader) Signed() int {
	n := r.Unsigned()
	return int(int32(n>>1) ^ -int32(n&1))
}
