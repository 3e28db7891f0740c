package methoddata

import (
	"encoding/binary"
	"fmt"

	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
)

// A Method is a method whose profile is to be read.
type Method struct {
	Address  uint64 // of HotSpot's Method
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
	Count  int    // MaxTraps for that or more
}

// MaxTraps is the number at which HotSpot stops counting deoptimisations.
const MaxTraps = 255

// A Reader reads the profiles of one JVM's methods. It must not be used by several goroutines at once.
type Reader struct {
	vm     vmstructs.Memory
	layout layout
	java   *[256]byte
	extra  uint64 // that of the last layout that passed; the first that is tried
}

// New returns a Reader for a JVM. java maps the JVM's bytecodes to those of the JVM Specification that they replace. The
// error says why gasm does not know the profiles of this JVM.
func New(vm *vmstructs.VM, java *[256]byte) (*Reader, error) {
	l, err := newLayout(vm)
	if err != nil {
		return nil, err
	}
	return &Reader{vm: vm.Memory, layout: l, java: java}, nil
}

// maxSize limits the size of the records of one method in bytes. The bytecodes of a method, 64 kB at most, have at most
// a record of some hundred bytes for every two of them; methods that large are not compiled.
const maxSize = 1 << 20

// maxTotal limits the size of the records of all methods of one call of Read. Methods beyond it have no profile.
const maxTotal = 16 << 20

// Read returns the profiles of some methods. It is nil for a method that has none, or none that can be read or that
// passes the checks. The error says that nothing more can be read of the process.
//
// All methods are read together, so that three system calls suffice.
func (r *Reader) Read(methods []Method) ([]*Profile, error) {
	profiles := make([]*Profile, len(methods))
	pointers := make([]vmstructs.Piece, len(methods))
	for i, m := range methods {
		pointers[i] = vmstructs.Piece{Addr: m.Address + r.layout.pointer, Buf: make([]byte, 8)}
	}
	known, err := r.vm.GatherSome(pointers)
	if err != nil {
		return profiles, fmt.Errorf("reading profiles: %w", err)
	}
	var heads []vmstructs.Piece
	var of []int // the indexes of the methods that heads are of
	for i, ok := range known {
		if at := binary.LittleEndian.Uint64(pointers[i].Buf); ok && at != 0 && at%8 == 0 {
			heads, of = append(heads, vmstructs.Piece{Addr: at, Buf: make([]byte, r.layout.records)}), append(of, i)
		}
	}
	if known, err = r.vm.GatherSome(heads); err != nil {
		return profiles, fmt.Errorf("reading profiles: %w", err)
	}
	var records []vmstructs.Piece
	var withHead []int // the indexes in heads that records are of
	total := uint64(0)
	for i, ok := range known {
		size := r.dataSize(heads[i].Buf)
		if ok && size <= min(maxSize, maxTotal-total) && binary.LittleEndian.Uint64(heads[i].Buf[r.layout.method:]) == methods[of[i]].Address {
			records = append(records, vmstructs.Piece{Addr: heads[i].Addr + r.layout.records, Buf: make([]byte, size)})
			withHead = append(withHead, i)
			total += size
		}
	}
	if known, err = r.vm.GatherSome(records); err != nil {
		return profiles, fmt.Errorf("reading profiles: %w", err)
	}
	for i, ok := range known {
		if head := withHead[i]; ok {
			profiles[of[head]] = r.profile(heads[head].Buf, records[i].Buf, methods[of[head]].Bytecode)
		}
	}
	return profiles, nil
}

// dataSize returns the size of the records in bytes.
func (r *Reader) dataSize(head []byte) uint64 {
	return uint64(binary.LittleEndian.Uint32(head[r.layout.dataSize:]))
}

// profile decodes a MethodData. It returns nil if the records have none of the known layouts.
func (r *Reader) profile(head, records, bytecode []byte) *Profile {
	at, ok := starts(bytecode, r.java)
	if !ok || len(records)%8 != 0 {
		return nil
	}
	var p Profile
	for range 2 {
		w := walk{layout: &r.layout, records: records, at: at, extra: r.extra}
		if p.Sites, ok = w.sites(); ok {
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
