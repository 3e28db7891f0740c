// Package stack walks the call stacks of samples: from the sampled instruction to the function that the thread began
// with, through the kernel's entry, libraries, HotSpot's stubs, the interpreter and compiled methods. The JVM needs no
// option and no agent for that.
//
//	w := stack.NewWalker(shared.NewJVMs())
//	id := w.Walk(tree, record, mappings) // record: a sample with a copy of its registers and of the top of its stack
//	pc := w.Caller()                     // an address in a method that calls much, whose code is worth copying; or 0
//
// A walk reads only the copy of the thread's stack, so it is exact although it is done later. The code is read from
// the JVM's memory (packages codecache and nmethod), where it remains much longer than the time between a sample and
// its walk. Package callstack says which frames a stack has.
//
// [Walker.WalkState] walks the stack of a thread that does not run. It needs a stack pointer and a program counter.
// If the frame pointer of an interpreter frame is unknown there, it is searched for on the stack (findframe.go).
//
// # How a frame is unwound
//
// How the caller is found depends on the code that the frame belongs to:
//
//	compiled method, calling   CodeBlob::_frame_size: the return address is the last word of the frame, and below it is
//	                           the caller's frame pointer
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
// If a method was deoptimized while it called other code, the stack has the address of a handler in place of its
// return address. The true return address is in the method's frame (nmethod::_orig_pc_offset).
//
// When a virtual thread is mounted, only its innermost frames are copied to the carrier thread's stack. The other
// frames remain in the heap until the thread returns to them. In place of the return address to the first of these
// frames, the stack has the address of the stub cont_returnBarrier. The walk continues with the frame of
// Continuation.enterSpecial, which is on the carrier thread's stack.
//
// # What is read when
//
// A walk reads the JVM's memory only when it comes to something new: a piece of code, a return address, or a method
// that the interpreter executes. What is known about a return address is kept until the code cache or the mappings
// change, so most walks read nothing but the copy of the stack, and allocate nothing. All reading is done by other
// goroutines. A walk waits for them, but not for long: the memory may be mapped from a file system that does not
// answer.
//
// # Traps
//
//   - A return address may be the first byte after the code that called. So code is looked up one byte before it.
//   - Deoptimization makes interpreter frames that return to the first byte of a codelet. The byte before it belongs to
//     no code, or to another stub.
//   - While cont_thaw moves frames, the space that it has reserved for them on the stack still has old return
//     addresses.
//   - When the interpreter returns from a method, it gives up the method's frame some instructions before the end. From
//     then on, it is not known which method that was.
//   - Code of C1 pushes arguments before it calls the stub slow_subtype_check, so its sp is not at the end of its
//     frame.
//   - Names of methods of hidden classes, and of classes that are being unloaded, may not be readable. A frame has no
//     name then.
//   - A JVM that ends takes its code with it. Methods that were first seen in the last samples have no inlined frames.
//   - Samples of precise hardware events have registers from some instructions after the sampled one.
//
// # Hostile processes
//
// All that is read belongs to the sampled process. So the number of frames, the size of code and names, and the time
// are limited, and a process whose walks take too long is not walked any more.
package stack
