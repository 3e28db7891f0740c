// Package native names the functions of native code: it takes the program
// counters that a sampler saw in the files a process had mapped, and finds
// their functions in the files' own symbol tables.
//
// Samplers give names of their own, and some are wrong. DTrace on Linux gives
// bare addresses. perf gives an address that no symbol covers to the nearest
// one below it: a libjvm.so without its symbol table still exports some hundred
// functions, and whole garbage collectors run under the name of whichever
// stands before them (GCTraceTimeDriver::~GCTraceTimeDriver). Here a function
// is named only for the addresses inside it, and everything else is a gap: a
// [Range] without a symbol.
//
// A [Resolver] gets a process's mappings, from [ReadMaps], from a saved text
// ([ParseMaps]) or from a sampler's records, and answers one PC at a time:
//
//	r := native.NewResolver()
//	r.Add(mappings...)
//	where, ok := r.Resolve(pid, pc, claim)
//
// The files must still be there when their first PC is resolved. To keep names
// with a capture, [Resolver.Table] gives a [Table] of what was asked for, which
// is written as text and needs no files.
//
// # Where the functions are found
//
//   - .symtab, when the file has one with functions.
//   - Otherwise a debug file: /usr/lib/debug/.build-id/ab/cdef….debug by the
//     build id, or the one that .gnu_debuglink names, in the file's folder, in
//     .debug below it, or below /usr/lib/debug. The checksum of the latter
//     must be right, and so must any build id.
//   - Otherwise .gnu_debugdata, a packed symbol table that Fedora and its kin
//     leave in stripped files. It lacks what the dynamic symbols have.
//   - In any case .dynsym.
//
// With any but the last, the file's functions are complete, and an address
// without one is none's, whatever the sampler says.
//
// # A sampler's claim
//
// With .dynsym alone, a sampler may know more: it may have found a debug file
// that this package does not look for (debuginfod, a build-id cache). A claim
// for a gap is then believed, for that one PC, unless it is the name of one of
// the file's dynamic symbols: nearest ones are such. Names are compared
// mangled and not, with parameters and without, and without versions.
//
// Claims like memset@plt are believed in the stubs of imported functions, in any
// file: samplers make them from the relocations, and no symbol table has them.
//
// # Traps
//
//   - Several symbols may start at one address, of different sizes; functions
//     may start inside others. The innermost one wins, then global before weak
//     before local, fewer leading underscores, and the shorter name.
//   - HotSpot's assembler functions (_Copy_conjoint_jlongs_atomic, SpinPause)
//     are hot and their symbols have no size. Where all symbols are known, such
//     a function goes to the next one's start, or to the section's end, or 4 KiB,
//     whichever comes first, and so includes padding. It never hides a part of a
//     function with a size. Labels are left out, and so are gcc's start-up
//     functions (frame_dummy), which stand before every program's first one.
//   - In a file that was stripped of some symbols only, with .symtab left, a
//     function without a size may cover its nameless neighbour.
//   - Addresses in a file follow from segments, not from sections: most linkers
//     map a file's pages at other distances than they have in the file.
//   - A path may lead to another file by now, after an upgrade or a build. The
//     mapping's device and inode tell. stat disagrees with the maps on btrfs, and
//     on overlays of older kernels; then the file is mapped and looked up in this
//     process's own maps. An inode that was given to a new file at the same path
//     is not noticed, unless the kernel said "(deleted)".
//   - Files of another mount namespace (containers) are looked for at the same
//     path here, and are found replaced or missing there.
//   - The vDSO is no file. That of this process stands for all of its size; a
//     process of 32 bits has another.
//   - Code in a memfd or in shared memory is a JIT's: there is no file.
//   - A process that calls exec has new mappings. The old ones stay in the
//     resolver until new ones overlap them. A forked process has none before
//     they are added.
//   - C++ compilers split functions (f.cold, f.constprop.0). The parts have
//     the function's name without the suffix, as perf prints it; those of C
//     functions keep it.
//   - A function's name says nothing of what was inlined into it.
package native
