// Package chains turns chains of return addresses into call stacks. A sampler such as perf finds a chain by following
// frame pointers, without knowing which code keeps one. See package callstack for how a capture stores chains.
//
//	stacks := chains.New(tree, code)
//	id := stacks.Of(chains.Sample{PID: s.PID, PC: s.PC, MonoNanos: s.MonoNanos, Stack: s.Stack})
//
// # What is trusted
//
// Code that HotSpot compiles uses the frame pointer's register for other values, unless the JVM runs with
// -XX:+PreserveFramePointer. So without that option, all callers of the innermost Java frame are left out, and the
// stack is cut there. With the option, a chain goes on through Java code, and through libjvm, which has frame pointers,
// too.
//
// A stack is whole if its outermost frame is the function that a thread or a process begins with: start_thread of the C
// library, for example. Any addresses beyond that function are left out. If a chain contains an address that is in no
// file and surely in no code of HotSpot, then that address and all later ones are wrong, because the register did not
// hold a frame pointer. The stack then has the mark Unwalked. A chain that ends without such a function is cut if it
// has as many addresses as perf records, and otherwise Unwalked.
//
// # What can be wrong
//
//   - A function of a library without frame pointers (the C library of most distributions) leaves the register as it
//     was, or changes it. In the first case its caller is missing from the chain. In the second case the chain ends
//     there.
//   - In the first and last instructions of a method, the register has the frame pointer of the caller. The next
//     address in the chain is then where the caller itself was called, so the caller is missing. The same is true of
//     those stubs of HotSpot that have no frame. [Place].Frameless is true where this is so, and the stack then has the
//     mark Unwalked in place of all callers.
//   - Interpreted methods have no names, because the chain does not say which method a frame of the interpreter belongs
//     to.
package chains
