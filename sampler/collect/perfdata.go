package collect

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// The header of perf.data, as described in tools/perf/Documentation/perf.data-file-format.txt in the kernel's sources.
// It has the fields magic, size and attr_size, then offset and size of the attributes, of the data and of the event
// types, and then 256 bits that say which features follow the data. The numbers are in the byte order of the machine
// that recorded. gasm reads only files of little-endian machines.
const (
	perfMagic      = "PERFILE2"
	perfHeaderSize = 104
	dataSizeAt     = 48
	featuresAt     = 72
)

// The parts of a perf_event_attr that gasm reads (include/uapi/linux/perf_event.h).
const (
	attrMinSize       = 64
	attrFlagsAt       = 40
	typeSoftware      = 1
	softwareCPUClock  = 0
	softwareTaskClock = 1
	softwareDummy     = 9
	flagExcludeKernel = 1 << 5
)

// A perfHeader is the header of a perf.data file.
type perfHeader struct {
	attrSize             uint64 // size of one attribute in bytes
	attrsAt, attrsSize   uint64
	dataOffset, dataSize uint64
}

func readPerfHeader(f io.ReaderAt) (perfHeader, error) {
	var b [perfHeaderSize]byte
	if _, err := f.ReadAt(b[:], 0); err != nil {
		return perfHeader{}, fmt.Errorf("no header: %w", err)
	}
	if string(b[:len(perfMagic)]) != perfMagic {
		return perfHeader{}, errors.New("not a perf.data file")
	}
	return perfHeader{
		attrSize:   binary.LittleEndian.Uint64(b[16:]),
		attrsAt:    binary.LittleEndian.Uint64(b[24:]),
		attrsSize:  binary.LittleEndian.Uint64(b[32:]),
		dataOffset: binary.LittleEndian.Uint64(b[40:]),
		dataSize:   binary.LittleEndian.Uint64(b[dataSizeAt:]),
	}, nil
}

// An openedEvent is an event that the kernel opened for perf. If the kernel does not have the event that gasm wants,
// perf may open a clock instead, or an event that does not count in the kernel.
type openedEvent struct {
	clock    string // "cpu-clock" or "task-clock" if the event is one of these clocks, "" otherwise
	userOnly bool   // without the kernel
}

// openedEvents reads the events from the header of perf.data, which perf writes before it samples. It leaves out the
// event "dummy", which perf adds for its own use.
func openedEvents(path string) ([]openedEvent, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h, err := readPerfHeader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if h.attrSize < attrMinSize || h.attrSize > 4096 || h.attrsSize > 64<<20 {
		return nil, fmt.Errorf("%s: attributes of %d bytes", path, h.attrSize)
	}
	attrs := make([]byte, h.attrsSize)
	if _, err := f.ReadAt(attrs, int64(h.attrsAt)); err != nil {
		return nil, fmt.Errorf("%s: attributes: %w", path, err)
	}
	var events []openedEvent
	for ; len(attrs) >= int(h.attrSize); attrs = attrs[h.attrSize:] {
		software := binary.LittleEndian.Uint32(attrs) == typeSoftware
		config := binary.LittleEndian.Uint64(attrs[8:])
		if software && config == softwareDummy {
			continue
		}
		opened := openedEvent{userOnly: binary.LittleEndian.Uint64(attrs[attrFlagsAt:])&flagExcludeKernel != 0}
		if software && config < uint64(len(clockNames)) {
			opened.clock = clockNames[config]
		}
		events = append(events, opened)
	}
	return events, nil
}

// completePerfData repairs the file of a perf that did not end properly, so that it can be read. The header of such a
// file says that there are 0 bytes of data, and names features that perf has not written. completePerfData corrects the
// size of the data, up to the last whole record, and clears the list of features. It does not change a complete file.
func completePerfData(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	h, err := readPerfHeader(f)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if h.dataSize != 0 {
		return nil
	}
	size := wholeRecords(f, h.dataOffset)
	if size == 0 {
		return fmt.Errorf("%s: no samples", path)
	}
	tail := make([]byte, perfHeaderSize-dataSizeAt)
	if _, err := f.ReadAt(tail, dataSizeAt); err != nil {
		return err
	}
	binary.LittleEndian.PutUint64(tail, size)
	clear(tail[featuresAt-dataSizeAt:])
	_, err = f.WriteAt(tail, dataSizeAt)
	return err
}

// wholeRecords returns the size in bytes of the complete records that begin at offset. A record begins with its type
// (32 bits), misc (16) and size (16).
func wholeRecords(f *os.File, offset uint64) uint64 {
	info, err := f.Stat()
	if err != nil || offset > uint64(info.Size()) {
		return 0
	}
	left := info.Size() - int64(offset)
	in := bufio.NewReaderSize(io.NewSectionReader(f, int64(offset), left), 1<<20)
	var whole int64
	for {
		head, err := in.Peek(8)
		if err != nil {
			return uint64(whole)
		}
		size := int64(binary.LittleEndian.Uint16(head[6:]))
		if size < 8 || whole+size > left {
			return uint64(whole)
		}
		if _, err := in.Discard(int(size)); err != nil {
			return uint64(whole)
		}
		whole += size
	}
}
