// Package native names the functions of native code. It takes the program counters (PCs) that a sampler saw in files
// that a process had mapped, and finds their functions in the symbol tables of these files.
//
// Samplers have names too, and some of these are wrong. DTrace on Linux has only addresses. If no symbol covers an
// address, perf uses the name of the nearest symbol below it. A libjvm.so without its symbol table still exports some
// hundred functions. So perf shows a whole garbage collector under the name of an exported function that happens to
// precede its code, such as GCTraceTimeDriver::~GCTraceTimeDriver. This package gives a function's name only to
// addresses inside that function. All other addresses are in gaps: a gap is a [Range] without a symbol.
//
// A [Resolver] gets the mappings of processes from [ReadMaps], from a saved text ([ParseMaps]) or from a sampler's
// records. It resolves one PC at a time:
//
//	r := native.NewResolver()
//	r.Add(mappings...)
//	found, ok := r.Resolve(pid, pc, claim)
//
// A file must still exist when the first PC in it is resolved. [Resolver.Table] returns a [Table] of all ranges that
// were resolved, so that the names can be stored with a capture. A Table is written as text, and reading it needs no
// other files.
//
// An attacker may have made files that exhaust gasm, because they are too large, too many or too slow to read. So there
// are limits for the memory and the time of all Resolvers together. The functions of files beyond these limits have no
// names, and [Resolver.Notes] says so. [Resolver.GiveUp] ends all reading.
//
// # Where the functions are found
//
//   - In the file's .symtab, if it has functions.
//   - Otherwise in a debug file. It is found by the file's build id (/usr/lib/debug/.build-id/ab/cdef….debug), or by
//     the name in .gnu_debuglink. That name is looked up in the file's folder, in the folder .debug below that, and
//     below /usr/lib/debug. A debug file that was found by its name must have the right checksum. Any debug file must
//     have the file's build id, if both have one. In the file's folder and in .debug below it, a debug file is opened
//     only if nobody but root and gasm's user can change which file its path leads to.
//   - Otherwise in .gnu_debugdata, a packed symbol table that Fedora and related distributions leave in stripped files.
//     It does not have the functions that are among the dynamic symbols (.dynsym).
//   - In .dynsym, in addition to the functions from one of these.
//
// If functions were found in one of the first three places, all functions of the file are known. Then an address that
// none of them covers is not in a function, whatever the sampler says.
//
// # A sampler's claim
//
// A claim is the name that a sampler has for a PC. If a file has only .dynsym, the sampler may know more than this
// package: it may have found a debug file in a place where this package does not look (debuginfod, a build-id cache).
// So a claim for a PC in a gap is believed, but for that PC only. It is not believed if it is the name of one of the
// file's dynamic symbols, because the sampler then just used the nearest symbol. Names are compared with and without
// mangling, parameters and versions.
//
// Claims such as memset@plt are believed in every file, for PCs in the stubs of imported functions. Samplers derive
// these names from the relocations, because no symbol table has them.
//
// # Traps
//
//   - Functions may overlap: several may start at the same address with different sizes, and a function may start
//     inside another one. An address belongs to that one of its functions that starts last. If several start at the
//     same address, global functions win over weak ones, and weak ones over local ones. Among equals, the function
//     whose name has fewer leading underscores wins, and after that the one with the shorter name.
//   - HotSpot's assembler functions (_Copy_conjoint_jlongs_atomic, SpinPause) are hot, and their symbols have no size.
//     If all functions are known, such a function is taken to end where the next one starts, at the end of its section,
//     or after 4 KiB, whichever comes first. So it includes padding, but it never hides a part of a function that has a
//     size. Labels, which have neither a type nor a size, are left out. The start-up functions of gcc (frame_dummy) are
//     left out too; they precede the first function of every program.
//   - A file may have been stripped of some symbols and still have .symtab. Then a function without a size may cover
//     the next function, whose symbol is missing.
//   - An offset in a file is converted to an address with the file's segments, one by one. A single difference for the
//     whole file is not enough, because most linkers place the parts of a file at other distances in memory than in the
//     file.
//   - After an upgrade or a build, a path may lead to a different file than the mapped one. A Resolver notices that by
//     the device and the inode in the mapping. On btrfs, and on overlays of older kernels, stat returns different
//     numbers than the maps for the same file. If the numbers differ, the Resolver maps the file itself and compares
//     with the numbers in its own maps. A new file with the same path and inode is only noticed if the maps have
//     "(deleted)" for the old one.
//   - The files of another mount namespace (a container) are opened through the process that has mapped them
//     ([OpenMapped]). Once that process has ended, the same path is looked up in gasm's own namespace, where it leads
//     to no file or to a different one.
//   - When a process has ended, the paths that it had mapped may lead anywhere. For example, a process of another user
//     may have replaced a file with a link to a file that only root can read. So the user of each process is noted
//     while it runs. Later, root opens a path as that user and follows no link. If a process ended before its user
//     could be noted, the user of its parent is used instead. If that is unknown too, root does not open the file.
//   - The vDSO is not a file. In place of a process's vDSO, a Resolver reads that of gasm itself if both have the same
//     size and the process is not a 32-bit process, which has a different vDSO.
//   - Code in a memfd or in shared memory belongs to a JIT: there is no file with symbols.
//   - A process that calls exec loses its mappings, and a forked process gets those of its parent. The caller must
//     report both, with [Resolver.Exec] and [Resolver.Fork].
//   - C++ compilers split functions (f.cold, f.constprop.0). Each part gets the function's name without the suffix, as
//     in perf. Parts of C functions keep the suffix.
//   - The name of a function says nothing about what was inlined into it.
package native
