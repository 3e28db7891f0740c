package perfevent

import (
	"bytes"
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// sampleType selects the fields that the kernel writes with each record.
const sampleType = unix.PERF_SAMPLE_IDENTIFIER | unix.PERF_SAMPLE_IP | unix.PERF_SAMPLE_TID | unix.PERF_SAMPLE_TIME |
	unix.PERF_SAMPLE_CPU

// Sizes in bytes. Each record begins with a header. A sample has sampleSize bytes, and then its registers and stacks,
// if it has any. Every other record ends with the fields of struct sample_id: pid, tid, time, cpu, identifier.
const (
	headerSize = 8
	sampleSize = headerSize + 40
	idSize     = 32
)

// Bits of perf_event_header.misc.
const (
	miscModeMask   = 7
	miscKernel     = 1
	miscUser       = 2
	miscCommExec   = 1 << 13
	miscMmapNoPath = 1 << 14 // PERF_RECORD_MISC_MMAP_BUILD_ID: a build id in place of device and inode
)

// decode decodes a whole record with its header. It returns false for kinds of records that are not used, and for
// records that are shorter than they should be.
func decode(data []byte, r *Record) bool {
	kind, misc := binary.NativeEndian.Uint32(data), binary.NativeEndian.Uint16(data[4:])
	*r = Record{}
	if kind == unix.PERF_RECORD_SAMPLE {
		return decodeSample(data, misc, r)
	}
	if len(data) < headerSize+idSize {
		return false
	}
	body, id := data[headerSize:len(data)-idSize], data[len(data)-idSize:]
	r.PID, r.TID, r.by = int32At(id, 0), int32At(id, 4), int32At(id, 4)
	r.MonoNanos, r.CPU = int64(uint64At(id, 8)), int32At(id, 16)
	switch kind {
	case unix.PERF_RECORD_MMAP2:
		return decodeMapping(body, misc, r)
	case unix.PERF_RECORD_COMM:
		if len(body) < 8 {
			return false
		}
		r.Kind, r.Exec = Comm, misc&miscCommExec != 0
		r.PID, r.TID, r.Name = int32At(body, 0), int32At(body, 4), text(body[8:])
	case unix.PERF_RECORD_FORK, unix.PERF_RECORD_EXIT:
		if len(body) < 24 {
			return false
		}
		r.Kind = Fork
		if kind == unix.PERF_RECORD_EXIT {
			r.Kind = Exit
		}
		r.PID, r.PPID, r.TID, r.PTID = int32At(body, 0), int32At(body, 4), int32At(body, 8), int32At(body, 12)
	case unix.PERF_RECORD_LOST:
		if len(body) < 16 {
			return false
		}
		r.Kind, r.Count = Lost, uint64At(body, 8)
	case unix.PERF_RECORD_THROTTLE:
		r.Kind = Throttle
	default:
		return false
	}
	return true
}

func decodeSample(data []byte, misc uint16, r *Record) bool {
	if len(data) < sampleSize {
		return false
	}
	r.Kind, r.Mode = Sample, Other
	switch misc & miscModeMask {
	case miscKernel:
		r.Mode = Kernel
	case miscUser:
		r.Mode = User
	}
	r.IP = uint64At(data, 16)
	r.PID, r.TID, r.by = int32At(data, 24), int32At(data, 28), int32At(data, 28)
	r.MonoNanos, r.CPU = int64(uint64At(data, 32)), int32At(data, 40)
	return true
}

func decodeMapping(body []byte, misc uint16, r *Record) bool {
	if len(body) < 64 {
		return false
	}
	r.Kind, r.PID, r.TID = Mapping, int32At(body, 0), int32At(body, 4)
	start := uint64At(body, 8)
	r.Map = &Mapped{Lo: start, Hi: start + uint64At(body, 16), FileOffset: uint64At(body, 24), Path: text(body[64:])}
	if misc&miscMmapNoPath == 0 {
		r.Map.Major, r.Map.Minor, r.Map.Inode = uint32(int32At(body, 32)), uint32(int32At(body, 36)), uint64At(body, 40)
	}
	return true
}

// identifier returns the id of the event that a record belongs to.
func identifier(data []byte) uint64 {
	if binary.NativeEndian.Uint32(data) == unix.PERF_RECORD_SAMPLE {
		if len(data) < sampleSize {
			return 0
		}
		return uint64At(data, headerSize)
	}
	return uint64At(data, len(data)-8)
}

func uint64At(data []byte, at int) uint64 { return binary.NativeEndian.Uint64(data[at:]) }

func int32At(data []byte, at int) int32 { return int32(binary.NativeEndian.Uint32(data[at:])) }

// text returns the text before the first zero byte.
func text(data []byte) string {
	if end := bytes.IndexByte(data, 0); end >= 0 {
		data = data[:end]
	}
	return string(data)
}
