// Package threaddump reads the stacks of all threads of a running JVM, with their locks and states, as jstack prints
// them. The JVM does nothing for that: it gets no signal, needs no safepoint and is not stopped. So this also works if
// the JVM hangs.
//
//	d, err := threaddump.Read(ctx, pid)
//	err = threaddump.WriteText(os.Stdout, d, threaddump.TextOptions{})
//
// # How a stack is read while the JVM runs
//
// The stack of a blocked thread does not change, so it can be read from outside. /proc/PID/task/TID/syscall has its
// stack pointer and program counter, and the kernel counts how often a thread has begun to run (schedstat). A copied
// stack is used only if the thread was blocked and if registers and count are the same before and after the copying.
// Otherwise the stack is read again. If all attempts fail, the thread is reported as Moved.
//
// The stack of a thread that runs changes all the time, so it can't be copied from outside. Such a thread is sampled:
// the kernel copies registers and stack at a moment while the thread runs (package sampler/perfevent). If the kernel
// refuses that, the thread has no stack in the Dump.
//
// # Which frames there are
//
// The kernel shows only two registers of a blocked thread. So the native frames are walked from the system call
// outwards, by call frame information, as far as no other register is needed. When a Java thread leaves Java code, it
// stores the place: its JavaFrameAnchor has the stack pointer and the program counter of the innermost Java frame. From
// there the walk is exact (package hotspot/stack). If the native walk ends before it gets there, a frame of the kind
// [callstack.Unwalked] marks the gap.
//
// A thread that is stopped or waits for a page may have been interrupted in Java code, without an anchor. Its walk
// begins with the interrupted instruction.
//
// # Locks
//
// The monitors of an interpreted frame are on the stack, and those of a compiled frame are in its debug info, unless
// the compiler has eliminated the lock. For a native method that is synchronized, nothing in the frame of its wrapper
// shows the monitor. What a thread waits for is stored in its JavaThread: the ObjectMonitor that it wants to enter, or
// in which it waits; and in java.lang.Thread.parkBlocker. The owner of an ObjectMonitor is a JavaThread, a place on a
// thread's stack, or the id of a java.lang.Thread, depending on the release. The owner of a synchronizer is its field
// exclusiveOwnerThread.
//
// The objects are read later than the stacks. A collector may have moved an object by then. If so, there is no object
// with a class at the old address, and the lock is left out.
package threaddump
