// Package native names the functions of native code. It takes the program counters (PCs) that a sampler saw in files
// that a process had mapped, and finds their functions in the symbol tables of these files.
//
// Samplers have names too, and some of these are wrong. DTrace on Linux has only addresses. If no symbol covers an
// address, perf uses the name of the nearest symbol below it. A libjvm.so without its symbol table still exports some
// hundred functions. So perf shows whole garbage collectors under the name of an exported function that happens to
// precede them, such as GCTraceTimeDriver::~GCTraceTimeDriver. This package gives a function's name only to addresses
// inside that function. All other addresses are in gaps: a gap is a [Range] without a symbol.
//
// A [Resolver] gets the mappings of processes from [ReadMaps], from a saved text ([ParseMaps]) or from a sampler's
// records. It resolves one PC at a time:
//
//	r := native.NewResolver()
//	r.Add(mappings...)
//	found, ok := r.Resolve(pid, pc, claim)
//
// The files must still exist when their first PC is resolved. [Resolver.Table] returns a [Table] of all that was
// resolved, so that the names can be kept with a capture. A Table is written as text, and reading it needs no other
// files.
//
// Files may have been made to exhaust gasm, by their size, their number or their slowness. So all Resolvers together
// have limits for memory and time. The functions of files beyond them have no names, and [Resolver.Notes] says so.
// [Resolver.GiveUp] ends all reading.
//
// # Where the functions are found
//
//   - In .symtab, if the file has one with functions in it.
//   - Otherwise in a debug file. It is found by the file's build id (/usr/lib/debug/.build-id/ab/cdef….debug), or by
//     the name in .gnu_debuglink. That name is looked up in the file's folder, in the folder .debug below that, and
//     below /usr/lib/debug. A debug file that was found by its name must have the right checksum. Any debug file must
//     have the file's build id, if both have one. Beside the file, a debug file is only opened if nobody but root and
//     gasm's user can change where its path leads to.
//   - Otherwise in .gnu_debugdata, a packed symbol table that Fedora and related distributions leave in stripped files.
//     It lacks the functions that are among the dynamic symbols.
//   - In any case also in .dynsym.
//
// If one of the first three was found, all functions of the file are known. An address without a function is then in no
// function, whatever the sampler says.
//
// # A sampler's claim
//
// A claim is the name that a sampler has for a PC. If a file has only .dynsym, the sampler may know more than this
// package: it may have found a debug file in a place where this package does not look (debuginfod, a build-id cache).
// So a claim for a PC in a gap is believed, for that PC only, unless it is the name of one of the file's dynamic
// symbols. Such a claim is that of the nearest symbol. Names are compared with and without mangling, parameters and
// versions.
//
// Claims such as memset@plt are believed in any file, for PCs in the stubs of imported functions. Samplers make these
// names from the relocations; they are in no symbol table.
//
// # Traps
//
//   - Several symbols may start at one address and have different sizes. Functions may start inside others. The
//     function that starts last wins. If several start at the same address, global ones win over weak ones and these
//     over local ones, then the one with fewer leading underscores wins, then the one with the shorter name.
//   - HotSpot's assembler functions (_Copy_conjoint_jlongs_atomic, SpinPause) are hot, and their symbols have no size.
//     If all symbols are known, such a function ends where the next one starts, at the end of its section, or after 4
//     KiB, whichever comes first. So it includes padding. It never hides a part of a function that has a size. Labels
//     are left out, and so are the start-up functions of gcc (frame_dummy), which precede the first function of every
//     program.
//   - A file may have lost some of its symbols and still have .symtab. Then a function without a size may cover a
//     neighbour that has no name any more.
//   - Addresses in a file follow from segments and not from sections: most linkers place the parts of a file at
//     distances in memory that differ from those in the file.
//   - After an upgrade or a build, a path may lead to another file than the mapped one. This shows by the device and
//     the inode of the mapping. On btrfs, and on overlays of older kernels, stat returns numbers that differ from those
//     in the maps. Then the file is mapped here and looked up in this process's own maps. If a new file at the same
//     path got the same inode, this is not noticed, unless the kernel said "(deleted)".
//   - The files of another mount namespace (a container) are opened through the process that has mapped them
//     ([OpenMapped]). Once that has ended, they are looked up at the same path in this namespace. There they are
//     missing, or are other files.
//   - A process that has ended may have left anything at the paths that it had mapped: another user's process may have
//     left a link to a file of root's. So the user of each process is noted while it runs. Later, root opens a path as
//     that user and follows no link. If a process had ended before it was looked at, its user is taken to be that of
//     its parent; if that is unknown, too, root opens nothing.
//   - The vDSO is not a file. This process's own serves for every vDSO of the same size. A 32-bit process has another
//     one.
//   - Code in a memfd or in shared memory belongs to a JIT: there is no file with symbols.
//   - A process that calls exec has new mappings. The old ones stay in the resolver until new ones overlap them. A
//     forked process has no mappings until its own are added.
//   - C++ compilers split functions (f.cold, f.constprop.0). Each part gets the function's name without the suffix, as
//     in perf. Parts of C functions keep the suffix.
//   - The name of a function says nothing about what was inlined into it.
package native
