// Package exec finds out where the frame of each instruction in HotSpot's generated code is, on x86-64 and aarch64. It
// executes the code symbolically: of all values in registers and memory, it follows only the frame's address, the
// return address, and the values that the caller had in its registers.
//
//	code := exec.AMD64.NMethod(lo, bytes, exec.Method{VerifiedEntry: entry, FrameSize: 48, FrameComplete: 12})
//	table := exec.Analyze(code)
//	if frame, ok := table.At(pc); ok { // cfa=rsp+24 ra=[cfa-8] rbp=[cfa-16]
//		caller, ok := frame.Caller(&registers, readStack)
//	}
//
// A walk of the stack needs this for the innermost frame, because a thread may be interrupted at any instruction. At a
// call, the frame of an nmethod is complete, and its size is in the nmethod's header. But a method may have been
// interrupted before it has made its frame, or after it has removed it:
//
//	mov    %eax,-0x14000(%rsp)  cfa=rsp+8
//	push   %rbp                 cfa=rsp+8
//	sub    $0x20,%rsp           cfa=rsp+16 rbp=[cfa-16]
//	…                           cfa=rsp+48 rbp=[cfa-16]
//	add    $0x20,%rsp           cfa=rsp+48 rbp=[cfa-16]
//	pop    %rbp                 cfa=rsp+16 rbp=[cfa-16]
//	cmp    0x448(%r15),%rsp     cfa=rsp+8
//	ja     …                    cfa=rsp+8
//	ret                         cfa=rsp+8
//
// For the other frames on the stack, which are in calls, [Table.Return] has the frame after the call. It differs from
// [Arch.Complete] at calls of leaf functions that come between pushes.
//
// # How code is executed
//
// Execution begins at seeds (see [Seed]): the entries of the code, with what HotSpot's conventions say about the stack
// there. It follows all jumps. A value is the sum of a constant and a number that is not known, like "the canonical
// frame address − 16" or "what the caller has in rbp". Each general register has a value or is unknown, and so does
// each slot of the stack. Where two paths meet, a register or slot whose value differs between them becomes unknown.
// The execution ends when no state changes any more. This happens because each change makes something unknown. The
// number of steps is limited in case the code is not HotSpot's.
//
// Only instructions that move values are understood. On x86-64 they are push, pop, mov, lea, add and sub of a constant,
// xchg, enter, leave, and "and $-16", also with APX's prefixes and a separate destination. On aarch64 they are ldr,
// str, ldp, stp, mov, add, sub, and "and #-16". When any other instruction writes a register or a slot, its value
// becomes unknown. APX's registers r16 to r31 are always unknown. If the stack pointer becomes unknown, its value
// becomes a new unknown number, so that slots pushed after that can still be found relative to it. This is needed for
// the frame of an interpreted method, which begins after an unknown number of local variables.
//
// A call is assumed to return with the same stack pointer, and with the registers that C functions preserve. In
// codelets, calls that lead into the code itself are executed as jumps, because the interpreter uses such calls to make
// return addresses (InterpreterMacroAssembler::call_VM). A call of the next instruction is executed as a jump in all
// code. Some calls do not return, and the code after them is an out-of-line stub that only jumps reach. A call is
// assumed not to return if a jump reaches the code after the call with another stack pointer.
//
// # What is not reached
//
// Handlers of exceptions and of deoptimization are entered from other code. Code that was not reached from the seeds is
// executed afterwards, from the state that is most likely there: a complete frame in an nmethod and in a codelet, and a
// return address on top of the stack, or in x30, in a stub. Frames that are found in this way are marked as
// [Frame.Assumed]. They don't influence the frames of code that was reached.
//
// A few pieces of code have no frame in their Table:
//
//   - DeoptimizationBlob and UncommonTrapBlob, while they replace the frame of their caller: see [Arch.ByFramePointer].
//   - InlineCacheBuffer, and vtable stubs whose bounds are not known: see [Arch.NoFrame].
//   - A codelet that removes its frame before it calls the runtime, and the entry of abstract methods, which uses the
//     frame of its caller: see [Arch.Interpreted].
//   - SafepointBlob, before it has stored the return address.
//   - The stubs that thaw the frames of virtual threads. Their caller is in the heap.
//
// # Architectures
//
// An [Arch] has what differs between x86-64 and aarch64: the decoder of instructions, the registers with a meaning,
// where a call leaves the return address, how HotSpot fills gaps and makes methods not entrant. Values, states, paths
// and tables are the same for all.
package exec
