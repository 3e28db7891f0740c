// Package stack walks the call stacks of samples: from the sampled instruction to the function that the thread began
// with, through the kernel's entry, libraries, HotSpot's stubs, the interpreter and compiled methods. This needs
// neither an option nor an agent of the JVM.
//
//	w := stack.NewWalker(shared.NewJVMs())
//	id := w.Walk(tree, record, mappings) // record: a sample with a copy of its registers and of the top of its stack
//	pc := w.Caller()                     // an address in a method that is a caller in many samples; or 0
//
// A walk reads the stack only from the copy in the sample, so the result is exact although the thread has gone on by
// then. It reads the code from the JVM's memory (packages codecache and nmethod), where code remains much longer than
// the time between a sample and its walk. Package callstack says which frames a stack has.
//
// [Walker.WalkState] walks the stack of a thread that does not run. It needs a stack pointer and a program counter. If
// the first frame is an interpreter frame and its frame pointer is unknown, the walk searches the stack for it
// (findframe.go).
//
// # How a frame is unwound
//
// How the caller of a frame is found depends on the frame's code:
//
//	compiled method, calling   CodeBlob::_frame_size: the return address is the last word of the frame, and below it
//	                           is the caller's frame pointer
//	compiled method, sampled   symbolic execution (package exec), because the frame may not be there yet, or be gone
//	interpreter                by the frame pointer: the frame has the caller's frame pointer, return address and sp,
//	                           and its own Method and the address of the bytecode (frame_x86.hpp)
//	stub, adapter, codelet     symbolic execution
//	RuntimeStub, SafepointBlob CodeBlob::_frame_size, unless it is sampled
//	library                    .eh_frame (package internal/cfi)
//
// The processor's conventions are in processor.go. On aarch64, the leaf may have its return address in x30, and return
// addresses may be signed: their upper bits are cleared when a frame becomes the current one.
//
// If a method was deoptimized while it called other code, the stack has the address of a handler in place of its return
// address. The true return address is in the method's frame (nmethod::_orig_pc_offset).
//
// When a virtual thread is mounted, only its innermost frames are copied to the carrier thread's stack. The other
// frames remain in the heap until the thread returns to them. In place of the return address to the first of these
// frames, the stack has the address of the stub cont_returnBarrier. The walk continues with the frame of
// Continuation.enterSpecial, which is on the carrier thread's stack.
//
// # What is read when
//
// A walk reads the JVM's memory only when it comes to something new: a piece of code, a return address, or a method
// that the interpreter executes. The frames found for a return address are kept until the code cache or the mappings
// change, so most walks read nothing but the copy of the stack, and allocate nothing. Other goroutines do the reading.
// A walk waits for them, but not for long, because the memory may be mapped from a file system that does not answer.
//
// # Traps
//
//   - A return address may be the first byte after the caller's code. So code is looked up one byte before it.
//   - Deoptimization makes interpreter frames that return to the first byte of a codelet. The byte before it belongs to
//     no code, or to another stub.
//   - While cont_thaw moves frames, the space that it has reserved for them on the stack still has old return
//     addresses.
//   - When the interpreter returns from a method, it removes the method's frame a few instructions before the end of
//     the codelet. After that, gasm can't find out which method it was.
//   - Code of C1 pushes arguments before it calls the stub slow_subtype_check, so its sp is not at the end of its
//     frame.
//   - Names of methods of hidden classes, and of classes that are being unloaded, may not be readable. A frame has no
//     name then.
//   - A JVM that ends takes its code with it. Methods that were first seen in the last samples have no inlined frames.
//   - In a sample of a precise hardware event, the registers are those of an instruction a little after the sampled
//     one.
//
// # Hostile processes
//
// The sampled process may have changed anything that is read. So the number of frames, the size of code and names, and
// the time are limited, and a process whose walks take too long is not walked any more.
package stack
