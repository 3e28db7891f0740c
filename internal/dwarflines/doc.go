// Package dwarflines reads DWARF debug information. For each instruction of a native function, it finds the source line
// and the functions that the compiler has inlined there. The result is what addr2line -i prints.
//
// Go's package debug/dwarf parses the data. Of the compilation units (libjvm.so has 1000 of them), this package reads
// only those that contain a wanted function.
//
// # Traps
//
//   - A function may consist of several ranges (f and f.cold). The same is true of inlined functions and of units.
//   - The line program may have several rows for the same address. The last of them counts, as in addr2line.
//   - The entry of an inlined function has no name. It refers to the function's abstract instance, which may be in
//     another unit, and may in turn refer to a declaration that has the name.
//   - Units without ranges (type units, partial units of dwz) have no code. dwz may move names into another file, which
//     debug/dwarf does not read: then a frame has no name.
//   - Line 0 means that the compiler does not know the line.
package dwarflines
