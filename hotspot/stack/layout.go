package stack

import (
	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
)

// A layout says where HotSpot's structures have the fields that a walk of the stack needs.
type layout struct {
	release   int             // of the JVM, as vmstructs.VM.Release
	blobSize  uint64          // how many bytes of a blob's header are read
	frameSize vmstructs.Field // CodeBlob::_frame_size, in words
	complete  vmstructs.Field // CodeBlob::_frame_complete_offset, from the start of the code; -1 if there is none
	// Offsets in an nmethod.
	nmethodSize      uint64
	compileID        vmstructs.Field
	origPC           vmstructs.Field // where a deoptimized frame has its true pc, in bytes from sp
	verified, osr    vmstructs.Field // entry points
	verifiedIsOffset bool            // verified is an offset from the start of the code
	deopt, deoptMH   vmstructs.Field // the handlers to which deoptimized frames return
	deoptIsOffset    bool            // deopt and deoptMH are offsets from the header; otherwise addresses
}

// senderSP is the distance in bytes from the frame pointer down to the place where an interpreter frame has the
// caller's stack pointer.
const senderSP = 8

// newLayout returns the layout of a JVM. If something is missing in HotSpot's tables, the error names it.
func newLayout(vm *vmstructs.VM) (*layout, error) {
	q := vmstructs.Query{VM: vm, Of: "the frames of "}
	l := &layout{release: vm.Release, blobSize: q.Size("CodeBlob"), nmethodSize: q.Size("nmethod"),
		frameSize: q.Field("CodeBlob::_frame_size"), complete: q.Field("CodeBlob::_frame_complete_offset"),
		compileID: q.Field("nmethod::_compile_id"), origPC: q.Field("nmethod::_orig_pc_offset"),
		osr: q.Field("nmethod::_osr_entry_point")}
	if l.verified, l.verifiedIsOffset = vm.Field("nmethod::_verified_entry_offset"); !l.verifiedIsOffset {
		l.verified = q.Field("nmethod::_verified_entry_point")
	}
	l.findDeopt(vm)
	q.Must(l.blobSize >= l.frameSize.At+4 && l.nmethodSize < 1<<12, "nmethod as it was from JDK 8 to 28")
	return l, q.Missing
}

// findDeopt sets l.deopt, l.deoptMH and l.deoptIsOffset. HotSpot has renamed its fields for the deoptimization handlers
// several times.
func (l *layout) findDeopt(vm *vmstructs.VM) {
	for _, name := range []string{"nmethod::_deopt_handler_entry_offset", "nmethod::_deopt_handler_offset",
		"nmethod::_deoptimize_offset"} {
		if l.deopt, l.deoptIsOffset = vm.Field(name); l.deoptIsOffset {
			break
		}
	}
	if l.deoptIsOffset {
		l.deoptMH = either(vm, "nmethod::_deopt_mh_handler_offset", "nmethod::_deoptimize_mh_offset")
		return
	}
	l.deopt = either(vm, "CompiledMethod::_deopt_handler_begin", "nmethod::_deopt_handler_begin")
	l.deoptMH = either(vm, "CompiledMethod::_deopt_mh_handler_begin", "nmethod::_deopt_mh_handler_begin")
}

// either returns the first of the fields that this JVM has. If it has none, the field's size is 0.
func either(vm *vmstructs.VM, names ...string) vmstructs.Field {
	for _, name := range names {
		if f, ok := vm.Field(name); ok {
			return f
		}
	}
	return vmstructs.Field{}
}
