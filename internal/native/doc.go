// Package native finds the names of native functions. The input is a program counter (PC) that a sampler has recorded.
// The PC lies in a file that a process has mapped. This package looks up the function at that PC in the file's symbol
// table.
//
// The names that samplers have are not enough. DTrace on Linux has only addresses. Some of perf's names are wrong: if
// no symbol covers an address, perf uses the nearest symbol below it. For example, a libjvm.so without its symbol table
// still exports about 200 functions. So perf shows a whole garbage collector under the name of an exported function
// that happens to come before its code, such as GCTraceTimeDriver::~GCTraceTimeDriver. This package gives a function's
// name only to addresses inside that function. All other addresses are in gaps. A gap is a [Range] without a symbol.
//
// A [Resolver] gets the mappings of processes from [ReadMaps], from a saved text ([ParseMaps]) or from a sampler's
// records. It resolves one PC at a time:
//
//	r := native.NewResolver()
//	r.Add(mappings...)
//	found, ok := r.Resolve(pid, pc, claim)
//
// A file must still exist when the first PC in it is resolved. [Resolver.Table] returns a [Table] of all ranges that
// were resolved. It can be stored with a capture as text, and read later without any of the files.
//
// An attacker may try to exhaust gasm with files that are too large, too many or too slow to read. So all Resolvers
// together use only a limited amount of memory and time. When a limit is reached, the functions of further files have
// no names, and [Resolver.Notes] says so. [Resolver.GiveUp] stops all reading.
//
// # Where the functions are found
//
//   - In the file's .symtab, if it has functions.
//   - Otherwise in a debug file. It is found by the file's build id (/usr/lib/debug/.build-id/ab/cdef….debug), or by
//     the name in .gnu_debuglink. That name is looked up in the file's folder, in the folder .debug below that, and
//     below /usr/lib/debug. A debug file that was found by its name must have the right checksum, and if both files
//     have a build id, the ids must be equal. In the file's folder and in .debug, a debug file is opened only if nobody
//     but root and gasm's own user could have put it there.
//   - Otherwise in .gnu_debugdata, a packed symbol table that Fedora and related distributions add to stripped files.
//     It leaves out the functions that are dynamic symbols (.dynsym).
//   - In any case, functions are also taken from .dynsym.
//
// If functions were found in one of the first three places, they and those of .dynsym are all functions of the file.
// Then an address that none of these functions covers is not in a function, whatever the sampler says.
//
// # A sampler's claim
//
// A claim is the name that a sampler has for a PC. If this package has found only .dynsym, the sampler may know more:
// it may have found a debug file in a place where this package does not look (debuginfod, a build-id cache). So a claim
// for a PC in a gap is believed, but only for that PC. There is one exception: if the claim is the name of one of the
// file's dynamic symbols, the sampler has just used the nearest symbol, and the claim is not believed. Names are
// compared with and without mangling, parameters and versions.
//
// Claims such as memset@plt are believed in all files if the PC is in the stub of an imported function. No symbol table
// has these names; samplers derive them from the relocations.
//
// # Traps
//
//   - Functions may overlap. Several may start at the same address with different sizes, and a function may start
//     inside another one. If several functions cover an address, it belongs to the one that starts last. If several of
//     them start at the same address, global functions win over weak ones, and weak ones over local ones. Among equally
//     strong ones, the function with fewer leading underscores in its name wins. If that is equal too, the one with the
//     shorter name wins.
//   - HotSpot's assembler functions (_Copy_conjoint_jlongs_atomic, SpinPause) are hot, and their symbols have no size.
//     If all functions are known, such a function is taken to end where the next one starts, at the end of its section,
//     or after 4 KiB, whichever comes first. So it includes padding, but it never hides a part of a function that has a
//     size. Labels, which have neither a type nor a size, are left out. gcc's start-up functions, such as frame_dummy,
//     are left out too. They come before the first function of every program.
//   - A file may still have .symtab after some of its symbols were stripped. Then a function without a size may seem to
//     cover the next function too, because the next function's symbol is missing.
//   - To convert an offset in a file to an address, one has to find the segment that contains the offset. One cannot
//     just add the same difference for the whole file, because with most linkers, the distances between segments in
//     memory are not the same as in the file.
//   - After an upgrade or a build, a path may lead to a different file than the mapped one. A Resolver notices that by
//     the device number and the inode number in the mapping. But on btrfs, and on overlays of older kernels, the
//     numbers from stat differ from those in the maps even for the same file. So if the numbers differ, the Resolver
//     maps the file itself, and compares the numbers in the two maps. If the new file has the same inode number as the
//     old file, the Resolver only notices the change if the maps say "(deleted)" for the old file.
//   - The files of another mount namespace (a container) are opened through the process that has mapped them
//     ([OpenMapped]). Once that process has ended, the same path is looked up in gasm's own namespace, where it leads
//     to no file or to a different one.
//   - When a process has ended, the paths of its mappings may lead anywhere. For example, another user may have
//     replaced a file with a link to a file that only root can read. So a Resolver notes the user of each process while
//     the process runs. If gasm runs as root, it later opens the path as that user, or without following links. If a
//     process ended before its user could be noted, the user of its parent is taken. If that is unknown too, root does
//     not open the file.
//   - The vDSO is not a file. A Resolver reads the vDSO of gasm itself instead of that of the process. It does so only
//     if both have the same size and the process is not a 32-bit process. 32-bit processes have a different vDSO.
//   - Code in a memfd or in shared memory belongs to a JIT: there is no file with symbols.
//   - A process that calls exec loses its mappings, and a forked process gets those of its parent. The caller must
//     report both, with [Resolver.Exec] and [Resolver.Fork].
//   - Compilers split functions into parts (f.cold, f.constprop.0). For C++, each part gets the function's name without
//     the suffix, as in perf. For C, the parts keep their suffixes.
//   - The name of a function says nothing about what was inlined into it.
package native
