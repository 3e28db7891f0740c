// Package vmstructs reads the memory of a running HotSpot. To find things there, it uses tables in which HotSpot
// describes its own data structures.
//
// HotSpot has these tables for the serviceability agent and similar tools (vmStructs.cpp). libjvm.so exports them as
// variables:
//
//	gHotSpotVMStructs       nmethod::_compile_id is 308 bytes from the start of an nmethod;
//	                        CodeCache::_heaps is a static field at address 0x7f…
//	gHotSpotVMTypes         a ConstMethod has 56 bytes
//	gHotSpotVMIntConstants  ConstMethodFlags::_misc_has_linenumber_table is 1
//
// A [VM] holds these tables, the release of the JDK, and access to the process's memory:
//
//	vm, err := vmstructs.Open(pid)
//	offset, ok := vm.Offset("Method::_constMethod")
//	constMethod, err := vm.Uint64(method + offset)
//
// The size of a [Field] comes from these tables, too, because sizes change from release to release:
// nmethod::_comp_level had four bytes in old releases and has one in new ones.
//
// [VM.Symbols] finds variables that libjvm.so does not export. [VM.Flags] returns the JVM's flags, with their values
// and the addresses of the values.
//
// Some things are not in the tables, such as the encoding of debug info. The packages that import this one know
// these things for certain releases of the JDK.
//
// # How memory is read
//
// The exported variables of libjvm.so are found in its image in memory, not in its file, because a package update may
// have replaced the file. Only [VM.Symbols] needs the file. Each system call costs time, so [Memory.Gather] reads many
// pieces of the tables at once: opening a JVM takes about 30 system calls and 2 ms, and another 5 ms for symbols.
//
// Memory is read with process_vm_readv, which does not stop the threads of the process. So the memory may change
// between two reads, and also during a read. A caller must therefore check that it has read a consistent state. For
// an nmethod, for example, it reads the compile id again and compares.
//
// The kernel lets gasm read the memory of a JVM if gasm may trace the JVM. In general, both must run as the same user,
// and the JVM must not have made itself undumpable. If the kernel has the Yama module, gasm may also have to be the
// parent or another ancestor of the JVM (see [Allowed]).
//
// The package works on Linux. Elsewhere [Open] and [Allowed] return errors.ErrUnsupported.
package vmstructs
