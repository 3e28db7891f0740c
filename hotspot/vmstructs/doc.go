// Package vmstructs reads the memory of a running HotSpot, and what HotSpot tells
// in it of itself.
//
// HotSpot keeps tables of its own data structures for the serviceability agent and
// similar tools (vmStructs.cpp). libjvm.so exports them as variables:
//
//	gHotSpotVMStructs       nmethod::_compile_id is 308 bytes from the start of an nmethod;
//	                        CodeCache::_heaps is a static field at address 0x7f…
//	gHotSpotVMTypes         a ConstMethod has 56 bytes
//	gHotSpotVMIntConstants  ConstMethodFlags::_misc_has_linenumber_table is 1
//
// A [VM] has these tables, the release of the JDK, and the process's memory:
//
//	vm, err := vmstructs.Open(pid)
//	offset, ok := vm.Offset("Method::_constMethod")
//	constMethod, err := vm.Uint64(method + offset)
//
// A [Field] has the width that HotSpot has for it, because that changes from release to
// release: nmethod::_comp_level had four bytes and has one.
//
// [VM.Symbols] finds variables that libjvm.so does not export. [VM.Flags] reads the JVM's
// flags, and tells where they are.
//
// What the tables do not tell, such as how debug info is packed, is the business of
// the packages above this one, which know it for some releases of the JDK.
//
// # How memory is read
//
// What libjvm.so exports is read from its image in memory, not from its file, which a
// package's update may have replaced. Only [VM.Symbols] needs the file. Each system call
// has its price, so the tables are read by [Memory.Gather], many pieces at once: opening a
// JVM takes some 30 system calls and 2 ms, and another 5 ms for symbols.
//
// The memory is read by process_vm_readv, which stops no thread of the process. So
// what is read may change between two reads, and within one: a reader must check that
// what it read is still the same thing (an nmethod has its compile id for that).
//
// The kernel lets those read the memory of a process who may trace it. That is the
// same user, unless the process gave up the right, and where the kernel has the Yama
// module only the process's parent and its ancestors (see [Allowed]).
//
// This is for Linux alone. Elsewhere [Open] and [Allowed] give errors.ErrUnsupported.
package vmstructs
