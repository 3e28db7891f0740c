package perfevent

import (
	"encoding/binary"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A Ring is the ring buffer into which the kernel writes the records of one CPU. It begins with a page that has the
// positions of the first and the last record. The records follow, in a part whose size is a power of two.
type Ring struct {
	memory []byte
	page   *unix.PerfEventMmapPage
	data   []byte
	// whole is a copy of a record that was split: it began at the end of the buffer and continued at the start.
	whole []byte
}

// MapRing maps the ring buffer of an event. size is the number of bytes for the records.
func MapRing(fd, size int) (*Ring, error) {
	page := os.Getpagesize()
	memory, err := unix.Mmap(fd, 0, page+size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	return &Ring{memory: memory, page: (*unix.PerfEventMmapPage)(unsafe.Pointer(&memory[0])), data: memory[page:]}, nil
}

// Unmap releases the buffer.
func (r *Ring) Unmap() { _ = unix.Munmap(r.memory) }

// Head returns how many bytes the kernel has written to the ring since it was mapped.
func (r *Ring) Head() uint64 { return atomic.LoadUint64(&r.page.Data_head) }

// Read calls each(record) for every record that ends at or before the position head. A record is valid only during this
// call. At the end, Read frees the space of these records for the kernel.
func (r *Ring) Read(head uint64, each func(record []byte)) {
	tail := r.page.Data_tail
	for {
		record, next := r.record(tail, head)
		if tail = next; record == nil {
			break
		}
		each(record)
	}
	r.free(tail)
}

// record returns the record at the position tail, and the position after it. If there is no record that ends at or
// before head, it returns nil and the position at which to continue the next time. A record that was split at the end
// of the buffer is valid until the next such record. Other records are valid until their space is freed.
func (r *Ring) record(tail, head uint64) (record []byte, next uint64) {
	if tail+headerSize > head {
		return nil, tail
	}
	size := uint64(len(r.data))
	at := tail % size
	// The sizes of records and of the buffer are multiples of 8, so the end of the buffer never splits a header.
	length := uint64(binary.NativeEndian.Uint16(r.data[at+6:]))
	if length < headerSize || tail+length > head {
		return nil, head // not a record of the kernel, so no record after it can be found
	}
	if at+length <= size {
		return r.data[at : at+length], tail + length
	}
	r.whole = append(append(r.whole[:0], r.data[at:]...), r.data[:at+length-size]...)
	return r.whole, tail + length
}

// free frees the space before a position, so that the kernel can write new records there.
func (r *Ring) free(tail uint64) { atomic.StoreUint64(&r.page.Data_tail, tail) }
