package native

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// longestDictionary is an upper bound for the dictionary of a packed section, in bytes; a larger one is an error. `xz
// -9` has one of this size, and what is packed here is not larger.
const longestDictionary = longestDebugData

var errXZ = errors.New("it is not in the form of xz, or damaged")

// checkXZ returns an error if unpacking a file of xz would take a dictionary that is too large: package xz allocates
// the size that the file states for a block, up to 4 GB. The format is described in the xz-file-format.txt of xz, and
// that of the chunks of LZMA2 in the comments of xz's lzma2_decoder.c. What is not checked here is checked by package
// xz.
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

// checkSizes are the sizes of the checksum after a block, by its kind, in bytes.
var checkSizes = [16]int{0, 4, 4, 4, 8, 8, 8, 16, 16, 16, 32, 32, 32, 64, 64, 64}

// checkBlock checks the header of a block: its size, flags, optional sizes, and filters, of which LZMA2 must be the only
// one.
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

// packedSize returns the size of the chunks of a block, in bytes.
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
			if control >= 0xc0 { // with new properties
				size++
			}
		default:
			return 0, errXZ
		}
		at += size
	}
	return 0, errXZ
}

// checkEnd checks that no further stream follows the index. The file's last eight bytes have its size.
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
