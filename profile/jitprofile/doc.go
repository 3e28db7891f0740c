// Package jitprofile finds out what HotSpot's own profile says about the instructions of a piece of code, and what C2
// made of it: which classes a call has seen, and whether it was inlined.
//
// The profile ([printassembly.MethodProfile]) is that of a method, not of a place in the code: of everything that called
// the method while it was profiled. So a method that is inlined into several others has the mix of all of them, which a
// [Note] says. And it is of the time before C2 compiled the method, because nothing is counted in C2's code.
//
// A Note says that a call was inlined, or was not, only where the code shows it: frames of the callee at the call's
// bytecode, or a call instruction.
package jitprofile
