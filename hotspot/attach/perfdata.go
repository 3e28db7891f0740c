package attach

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// Offsets and sizes in bytes (PerfDataPrologue and PerfDataEntry in perfMemory.hpp).
const (
	prologueSize = 32
	byteOrderAt  = 4  // 0 big, 1 little
	usedAt       = 8  // number of bytes in the file that are in use
	firstEntryAt = 24 // offset of the first entry
	entriesAt    = 28 // number of entries

	entrySize    = 20
	nameAt       = 4 // offset of the name in the entry
	vectorLenAt  = 8 // for a string: how many bytes are reserved for it
	dataTypeAt   = 12
	dataOffsetAt = 16
)

var perfDataMagic = []byte{0xca, 0xfe, 0xc0, 0xc0}

// maxPerfData limits the number of bytes that are read from the file. By default HotSpot makes the file 32 kB large
// (PerfDataMemorySize). Even in a file larger than maxPerfData, the strings are at the beginning.
const maxPerfData = 1 << 20

// perfStrings returns the strings in HotSpot's file of performance data, by name. If the file is truncated or damaged,
// it returns the strings before the damage.
func perfStrings(file []byte) (map[string]string, error) {
	found := map[string]string{}
	err := eachEntry(file, func(entry []byte, order binary.ByteOrder) bool {
		if name, value, ok := stringEntry(entry, order); ok {
			found[name] = value
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// perfLong returns the number that has this name in HotSpot's file of performance data. The result found is false if
// there is no such number.
func perfLong(file []byte, name string) (value int64, found bool) {
	_ = eachEntry(file, func(entry []byte, order binary.ByteOrder) bool { // a file of another format has no numbers
		n, number, ok := longEntry(entry, order)
		if found = ok && n == name; found {
			value = number
		}
		return !found
	})
	return value, found
}

// eachEntry calls see(entry, order) for each entry. It stops when see returns false.
func eachEntry(file []byte, see func(entry []byte, order binary.ByteOrder) bool) error {
	if len(file) < prologueSize || !bytes.HasPrefix(file, perfDataMagic) {
		return errors.New("not HotSpot's performance data")
	}
	var order binary.ByteOrder = binary.LittleEndian
	if file[byteOrderAt] == 0 {
		order = binary.BigEndian
	}
	// The part of the file after the last entry is unused, so the loop ends after the number of entries that the file
	// states. While a JVM is starting, that number may be too low.
	number := func(at int) int { return int(int32(order.Uint32(file[at:]))) }
	at := number(firstEntryAt)
	for range number(entriesAt) {
		if at < prologueSize || at > len(file)-entrySize {
			break
		}
		size := number(at)
		if size < entrySize || size > len(file)-at || !see(file[at:at+size], order) {
			break
		}
		at += size
	}
	return nil
}

// stringEntry decodes an entry that is a string. Both the name and the value end with a zero.
func stringEntry(entry []byte, order binary.ByteOrder) (name, value string, ok bool) {
	nameOffset, dataOffset := order.Uint32(entry[nameAt:]), order.Uint32(entry[dataOffsetAt:])
	length := order.Uint32(entry[vectorLenAt:])
	if entry[dataTypeAt] != 'B' || length == 0 || uint64(nameOffset) > uint64(len(entry)) ||
		uint64(dataOffset)+uint64(length) > uint64(len(entry)) {
		return "", "", false
	}
	name, terminated := untilZero(entry[nameOffset:])
	value, _ = untilZero(entry[dataOffset : dataOffset+length])
	return name, value, terminated
}

func untilZero(text []byte) (s string, terminated bool) {
	before, _, found := bytes.Cut(text, []byte{0})
	return string(before), found
}
