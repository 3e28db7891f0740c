package native

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// longestDictionary limits the size of a packed section's dictionary, in bytes. A larger dictionary is an error. `xz
// -9` uses a dictionary of this size. The unpacked data is not larger than this either, so no section needs a larger
// dictionary.
const longestDictionary = longestDebugData

var errXZ = errors.New("it is not in the form of xz, or damaged")

// checkXZ returns an error if the dictionary for unpacking the data is too large. Package xz would allocate whatever
// size a block's header states, up to 4 GB. checkXZ checks the rest only superficially, because package xz does that
// thoroughly. The format of the file is described in xz's xz-file-format.txt, and the format of LZMA2 chunks in the
// comments of xz's lzma2_decoder.c.
func checkXZ(data []byte) error {
	const streamHeader = 12
	if len(data) < streamHeader || string(data[:6]) != "\xfd7zXZ\x00" {
		return errXZ
	}
	check := checkSizes[data[7]&0xf]
	for at := streamHeader; ; {
		if at >= len(data) {
			return errXZ
		}
		if data[at] == 0 { // the index follows the last block
			return checkEnd(data[at:])
		}
		header := (int(data[at]) + 1) * 4
		if at+header > len(data) {
			return errXZ
		}
		if err := checkBlock(data[at : at+header]); err != nil {
			return err
		}
		packed, err := packedSize(data[at+header:])
		if err != nil {
			return err
		}
		at += header + packed + -packed&3 + check
	}
}

// checkSizes has the size of each kind of checksum, in bytes. Each block is followed by a checksum, and the header of
// the stream says which kind of checksum it is.
var checkSizes = [16]int{0, 4, 4, 4, 8, 8, 8, 16, 16, 16, 32, 32, 32, 64, 64, 64}

// checkBlock checks the header of a block. It returns an error if the header is malformed, if there are filters other
// than LZMA2, or if the dictionary is too large.
func checkBlock(header []byte) error {
	const filters, hasPacked, hasUnpacked, lzma2 = 3, 0x40, 0x80, 0x21
	flags, rest := header[1], header[2:]
	if flags&filters != 0 {
		return errXZ
	}
	for _, has := range []byte{hasPacked, hasUnpacked} {
		if flags&has != 0 {
			_, n := binary.Uvarint(rest)
			if n <= 0 {
				return errXZ
			}
			rest = rest[n:]
		}
	}
	if len(rest) < 3 || rest[0] != lzma2 || rest[1] != 1 {
		return errXZ
	}
	size := uint64(2|rest[2]&1) << (rest[2]/2 + 11)
	if rest[2] > 40 || size > longestDictionary {
		return fmt.Errorf("its dictionary has %d MiB, and at most %d MiB are read", size>>20, longestDictionary>>20)
	}
	return nil
}

// packedSize returns how many bytes the LZMA2 chunks of a block take. data begins with the first chunk.
func packedSize(data []byte) (int, error) {
	for at := 0; at < len(data); {
		control := data[at]
		size := 0
		switch {
		case control == 0:
			return at + 1, nil
		case len(data)-at < 6:
			return 0, errXZ
		case control <= 2: // not packed
			size = 3 + int(binary.BigEndian.Uint16(data[at+1:])) + 1
		case control >= 0x80:
			size = 5 + int(binary.BigEndian.Uint16(data[at+3:])) + 1
			if control >= 0xc0 { // the chunk has a byte of new properties
				size++
			}
		default:
			return 0, errXZ
		}
		at += size
	}
	return 0, errXZ
}

// checkEnd checks that nothing but the footer follows the index, so that there is no second stream in the file. The
// size of the index is in the footer, eight bytes before the end of the file.
func checkEnd(index []byte) error {
	const footer = 12
	if len(index) < footer {
		return errXZ
	}
	size := (uint64(binary.LittleEndian.Uint32(index[len(index)-8:])) + 1) * 4
	if size+footer != uint64(len(index)) {
		return errXZ
	}
	return nil
}
