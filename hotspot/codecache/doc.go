// Package codecache knows which code is in the code cache of a running HotSpot, and since
// when: compiled methods, wrappers of native methods, adapters, stubs, the interpreter.
package codecache
