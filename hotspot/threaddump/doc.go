// Package threaddump reads the stacks of all threads of a running JVM, with their locks and states, as jstack prints
// them. The JVM takes no part in it: there is no safepoint, no signal and no stop. So it also works if the JVM hangs.
//
//	d, err := threaddump.Read(ctx, pid)
//	err = threaddump.WriteText(os.Stdout, d, threaddump.TextOptions{})
//
// # How a stack is read while the JVM runs
//
// A thread that is blocked does not move, so its stack can be read at leisure. /proc/PID/task/TID/syscall has its stack
// pointer and program counter, and the kernel counts how often a thread has begun to run (schedstat). A stack counts
// only if both are the same before and after it was copied, and the thread was blocked. Otherwise it is read again, and
// after some attempts the thread counts as moved.
//
// A thread that runs has no stack that could be copied from outside. It is sampled: the kernel copies registers and
// stack at a moment while the thread runs (package sampler/perfevent). If the kernel refuses that, the thread has no
// stack in the Dump.
//
// # Which frames there are
//
// The kernel shows only two registers of a blocked thread. So the native frames, from the system call on, are walked by
// call frame information as far as that needs no other register. A Java thread that has left Java code has noted where:
// its JavaFrameAnchor has the stack pointer and the program counter of the innermost Java frame. From there the walk is
// exact (package hotspot/stack). If the native walk ends before it gets there, the frame [callstack.Unwalked] stands
// for what is missing.
//
// A thread that is stopped or waits for a page may have been interrupted in Java code, without an anchor. Its walk
// begins with the interrupted instruction.
//
// # Locks
//
// The monitors of an interpreted frame are on the stack, and those of a compiled frame are in its debug info, unless
// the compiler has eliminated the lock. The wrapper of a native method that is synchronized says nothing of its
// monitor. What a thread waits for is in its JavaThread: the ObjectMonitor that it wants to enter, or in which it
// waits; and in java.lang.Thread.parkBlocker. The owner of an ObjectMonitor is a JavaThread, a place on a thread's
// stack, or the id of a java.lang.Thread, depending on the release. The owner of a synchronizer is its field
// exclusiveOwnerThread.
//
// The objects are read later than the stacks. A collector may have moved an object by then. In that case no class is
// found at the old address, and the lock is left out.
package threaddump
