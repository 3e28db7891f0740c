package methoddata

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
)

// A Method is a method whose profile is to be read.
type Method struct {
	Address  uint64 // address of HotSpot's Method
	Data     uint64 // address of its MethodData (Method::_method_data); 0 if unknown, or if it was null
	Bytecode []byte // as it is in the JVM's memory, with HotSpot's own bytecodes
}

// A Profile is what HotSpot has counted in one method.
type Profile struct {
	Sites []Site // ordered by BCI
	Traps []Trap // in HotSpot's order of reasons
}

// A Trap counts the deoptimisations at the bytecodes of a method for one reason.
type Trap struct {
	Reason string // "class_check", "unstable_if"
	Count  int    // at most MaxTraps, which means that many or more
}

// MaxTraps is the number at which HotSpot stops counting deoptimisations.
const MaxTraps = 255

// A Reader reads the profiles of one JVM's methods. It must not be used by several goroutines at once.
type Reader struct {
	vm     vmstructs.Memory
	layout layout
	java   *[256]byte
	extra  uint64 // the value of walk.extra that fitted last; it is tried first
}

// New returns a Reader for a JVM. java maps the JVM's bytecodes to those of the JVM Specification that they replace.
// The error says why gasm does not know the profiles of this JVM.
func New(vm *vmstructs.VM, java *[256]byte) (*Reader, error) {
	l, err := newLayout(vm)
	if err != nil {
		return nil, err
	}
	return &Reader{vm: vm.Memory, layout: l, java: java}, nil
}

// maxSize limits the size of one method's records in bytes. A method has at most 64 kB of bytecode, and at most one
// record for every two bytes of it. Its records may exceed the limit, but HotSpot does not compile methods with so many
// records.
const maxSize = 1 << 20

// maxTotal limits the size in bytes of the records that one call of Read reads. Methods beyond it have no profile.
const maxTotal = 16 << 20

// A reading is the state of reading one MethodData.
type reading struct {
	index  int    // index of the method
	data   uint64 // the address of the MethodData
	starts []byte // the bytecode at each bytecode index; see function starts
	buf    []byte // what was read so far; how much is read at first is estimated from the bytecode
	ok     bool   // buf was read successfully
}

// Read returns the profiles of methods, in the same order. A profile is nil if the method has none, or if it can't be
// read or is not valid. The error says why nothing more of the process can be read.
//
// Read reads all methods together. One or two system calls suffice if every Method.Data is set.
func (r *Reader) Read(methods []Method) ([]*Profile, error) {
	profiles := make([]*Profile, len(methods))
	if err := r.read(profiles, methods); err != nil {
		return profiles, fmt.Errorf("reading profiles: %w", err)
	}
	return profiles, nil
}

func (r *Reader) read(profiles []*Profile, methods []Method) error {
	readings, err := r.find(methods)
	if err != nil {
		return err
	}
	if err := r.readFirst(readings); err != nil {
		return err
	}
	if err := r.readRest(readings, methods); err != nil {
		return err
	}
	for i := range readings {
		if d := &readings[i]; d.ok {
			profiles[d.index] = r.profile(d.buf[:r.layout.records], d.buf[r.layout.records:], d.starts)
		}
	}
	return nil
}

// find returns a reading for each method with a MethodData. If Method.Data is not set, find reads the MethodData's
// address from the JVM.
func (r *Reader) find(methods []Method) ([]reading, error) {
	readings := make([]reading, 0, len(methods))
	var pointers []vmstructs.Piece
	var of []int // for each element of pointers, its index in readings
	for i, m := range methods {
		at, ok := starts(m.Bytecode, r.java)
		if !ok {
			continue
		}
		if m.Data == 0 {
			pointers, of = append(pointers, vmstructs.Piece{Addr: m.Address + r.layout.pointer,
				Buf: make([]byte, 8)}), append(of, len(readings))
		}
		readings = append(readings, reading{index: i, data: m.Data, starts: at})
	}
	known, err := r.vm.GatherSome(pointers)
	if err != nil {
		return nil, err
	}
	for i, ok := range known {
		if ok {
			readings[of[i]].data = binary.LittleEndian.Uint64(pointers[i].Buf)
		}
	}
	return slices.DeleteFunc(readings, func(d reading) bool { return d.data == 0 || d.data%8 != 0 }), nil
}

// readFirst reads the beginning of each MethodData, with about as many records as the method's bytecode needs. If the
// MethodData is smaller and the memory after it can't be read, readFirst reads only the part before the records.
func (r *Reader) readFirst(readings []reading) error {
	sizes, total := make([]uint64, len(readings)), uint64(0)
	for i := range readings {
		sizes[i] = r.layout.records + r.layout.expectedSize(readings[i].starts, r.extra)
		total += sizes[i]
	}
	buf := make([]byte, total)
	pieces := make([]vmstructs.Piece, len(readings))
	for i := range readings {
		d := &readings[i]
		d.buf, buf = buf[:sizes[i]:sizes[i]], buf[sizes[i]:]
		pieces[i] = vmstructs.Piece{Addr: d.data, Buf: d.buf}
	}
	known, err := r.vm.GatherSome(pieces)
	if err != nil {
		return err
	}
	var heads []vmstructs.Piece
	var of []int // for each element of heads, its index in readings
	for i, ok := range known {
		d := &readings[i]
		if d.ok = ok; !ok {
			d.buf = d.buf[:r.layout.records]
			heads, of = append(heads, vmstructs.Piece{Addr: d.data, Buf: d.buf}), append(of, i)
		}
	}
	known, err = r.vm.GatherSome(heads)
	for i, ok := range known {
		readings[of[i]].ok = ok
	}
	return err
}

// readRest checks the part of each MethodData that was read, and reads the records that were not read yet.
func (r *Reader) readRest(readings []reading, methods []Method) error {
	var rest []vmstructs.Piece
	var of []int // for each element of rest, its index in readings
	total := uint64(0)
	for i := range readings {
		d := &readings[i]
		if !d.ok {
			continue
		}
		size, there := r.dataSize(d.buf), uint64(len(d.buf))
		if d.ok = size <= min(maxSize, maxTotal-total) &&
			binary.LittleEndian.Uint64(d.buf[r.layout.method:]) == methods[d.index].Address; !d.ok {
			continue
		}
		total += size
		if size += r.layout.records; size > there {
			d.buf = append(d.buf, make([]byte, size-there)...)
			rest, of = append(rest, vmstructs.Piece{Addr: d.data + there, Buf: d.buf[there:]}), append(of, i)
		}
		d.buf = d.buf[:size]
	}
	known, err := r.vm.GatherSome(rest)
	for i, ok := range known {
		readings[of[i]].ok = ok
	}
	return err
}

// dataSize returns the size of the records in bytes.
func (r *Reader) dataSize(head []byte) uint64 {
	return uint64(binary.LittleEndian.Uint32(head[r.layout.dataSize:]))
}

// profile decodes a MethodData. The parameter at holds the bytecodes of its method; see function starts. The result is
// nil if the records do not have any known layout.
func (r *Reader) profile(head, records, at []byte) *Profile {
	if len(records)%8 != 0 {
		return nil
	}
	var p Profile
	for range 2 {
		w := walk{layout: &r.layout, records: records, at: at, extra: r.extra}
		if sites, ok := w.sites(); ok {
			p.Sites = sites
			p.Traps = r.traps(head)
			return &p
		}
		r.extra = 1 - r.extra
	}
	return nil
}

// traps returns the deoptimisations by reason.
func (r *Reader) traps(head []byte) (traps []Trap) {
	for _, reason := range r.layout.reasons {
		if n := head[r.layout.traps+reason.number]; n > 0 {
			traps = append(traps, Trap{reason.name, int(n)})
		}
	}
	return traps
}
