package safepoints

import (
	"strings"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/printassembly"
)

// maxBarrier is the maximum distance, in instructions, from an instruction of a barrier to the barrier's store.
const maxBarrier = 16

// guarded returns the index of the store to which instruction i belongs, if i is a part of the barrier that G1 needs at
// the store of a reference. It returns none if i is not such an instruction. C2 makes the code of a barrier for the
// bytecode of the store, but there are no records in that code.
//
// Before the store, the code reads a flag in the thread to see whether the old value must be logged. After the store,
// it computes which card the object is in, and reads the byte of that card. guarded knows only the barriers of x86-64.
func (s *spreader) guarded(i int) int {
	if card := s.cardAfter(i); card >= 0 {
		return s.storeBefore(card)
	}
	for k := i; k >= 0 && k >= i-2; k-- { // instruction i reads the flag, tests it, or branches
		s.need(k, k)
		in := &s.insts[k]
		switch base, offset := byteRead(in); {
		case base == thread && offset:
			return s.storeAfter(i)
		case k < i && in.Hi != s.insts[k+1].Lo, in.Kind != disasm.CondJump && !strings.HasPrefix(in.Text, "test "):
			return none
		}
	}
	return none
}

// thread is the register of x86-64 that has the address of HotSpot's data about the current thread.
const thread = "r15"

// cardAfter returns the instruction that reads the byte of a card, if all instructions from i up to it compute the
// address of the card.
func (s *spreader) cardAfter(i int) int {
	for k := i; k < len(s.insts) && k <= i+maxBarrier; k++ {
		s.need(k, k)
		in := &s.insts[k]
		if base, offset := byteRead(in); base != "" && base != thread && !offset {
			return k
		}
		name, operands := split(in)
		switch {
		case k+1 == len(s.insts) || s.insts[k+1].Lo != in.Hi || strings.ContainsAny(operands, "(["):
			return none
		case in.Kind == disasm.CondJump, name == "test", name == "xor", name == "shr", name == "movabs", name == "add":
		default:
			return none
		}
	}
	return none
}

// storeAfter returns the first store to an object that control reaches after instruction i without taking a branch.
func (s *spreader) storeAfter(i int) int {
	for k := i + 1; k <= i+maxBarrier && s.falls(k-1) && s.insts[k].Kind != disasm.Call; k++ {
		if s.stores(k) {
			return k
		}
	}
	return none
}

// storeBefore returns the last store to an object that control has passed before instruction i, which reads the byte of
// a card. In between, the object's address must have been divided by 512, the size of a card.
func (s *spreader) storeBefore(i int) int {
	divided := false
	for k, n := i, 0; n < maxBarrier; n++ {
		before := none
		for _, e := range s.into.of(int32(k)) {
			if before == none || int(e.to) == k-1 {
				before = int(e.to)
			}
		}
		if before == none || s.insts[before].Kind == disasm.Call {
			return none
		}
		k = before
		if s.stores(k) {
			if divided {
				return k
			}
			return none
		}
		name, operands := split(&s.insts[k])
		divided = divided || name == "shr" && (strings.HasPrefix(operands, "$0x9,") || strings.HasSuffix(operands, ",0x9"))
	}
	return none
}

// stores reports whether an instruction writes to an object.
func (s *spreader) stores(i int) bool {
	s.need(i, i)
	a, ok := accessOf(&s.insts[i])
	return ok && a.store
}

// byteRead returns the register at whose address an instruction of x86-64 reads a byte, to compare it with a constant
// or to load it. offset is true if the address has an offset. base is "" for other instructions, and for elements of
// arrays.
func byteRead(in *printassembly.Instruction) (base string, offset bool) {
	name, operands := split(in)
	var inside string
	switch name {
	case "cmpb", "movsbl": // $0x0,0x40(%r15), and 0x40(%r15),%r11d
		before, rest, _ := strings.Cut(operands, "(%")
		inside, _, _ = strings.Cut(rest, ")")
		offset = before != "" && !strings.HasSuffix(before, ",")
	case "cmp", "movsx": // BYTE PTR [r15+0x40],0x0, and r11d,BYTE PTR [r15+0x40]
		_, rest, _ := strings.Cut(operands, "BYTE PTR [")
		rest, _, _ = strings.Cut(rest, "]")
		var number string
		inside, number, offset = strings.Cut(rest, "+")
		if offset && !strings.HasPrefix(number, "0x") {
			return "", false
		}
	}
	if strings.ContainsAny(inside, ",*-") {
		return "", false
	}
	return inside, offset
}
