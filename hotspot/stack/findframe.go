package stack

import "github.com/gasm-profiler/gasm/hotspot/nmethod"

// mostSearched is how many words above the stack pointer findFP searches for the part of an interpreter frame that has
// a fixed layout. Below this part there are only the values that the method has pushed, and the monitors that it holds.
const mostSearched = 1 << 12

// findFP searches for the frame pointer of an interpreter frame if it is unknown, because the walk began with only a
// program counter and a stack pointer. It searches the stack upwards from the stack pointer for the words that such a
// frame has around its frame pointer: a Method, the address of one of its bytecodes, the caller's stack pointer, and a
// return address. It takes the first place that has all of them.
func (k *walk) findFP(c *code) {
	if _, known := k.at.Get(k.fp); known || k.late {
		return
	}
	if k.exact { // the frame may not be complete yet, or already be gone
		frame, ok := k.frameAt(c)
		if !ok || frame.RA != k.arch().Interpreted().RA {
			return
		}
	}
	sp := k.at.Values[k.sp]
	for fp := sp + 8*k.ownWords(); fp < sp+8*mostSearched; fp += 8 {
		if k.isFP(fp) {
			k.at.Set(k.fp, fp)
			return
		}
		if k.late {
			return
		}
	}
}

// ownWords returns the smallest number of words that an interpreter frame has below its frame pointer.
func (k *walk) ownWords() uint64 { return k.bcpAt() / 8 }

// isFP reports whether fp is the frame pointer of an interpreter frame of a method that is not native.
func (k *walk) isFP(fp uint64) bool {
	pc, ok := k.dump.Word(fp + 8)
	if !ok || !k.isCode(pc&k.mask) {
		return false
	}
	sender, ok1 := k.dump.Word(fp - senderSP)
	method, ok2 := k.dump.Word(fp - k.methodSlot)
	bcp, ok3 := k.dump.Word(fp - k.bcpAt())
	if !ok1 || !ok2 || !ok3 || method == 0 || method%8 != 0 || sender%8 != 0 || !k.low &&
		(sender < fp+8 || sender > fp+farthestSender) {
		return false
	}
	view := k.jvm.view
	return ask(k, func() (is bool) {
		view.Copy(func(copier *nmethod.Copier) {
			f, err := copier.Interpreted(method, bcp)
			is = err == nil && f.BCI >= 0
		})
		return is
	})
}

// farthestSender is an upper bound for the distance from a frame's frame pointer up to its caller's stack pointer, in
// bytes. Between them are the method's local variables, of which there are at most 65535.
const farthestSender = 8 * (1<<16 + 16)
