// Package methoddata reads what HotSpot has counted while a method ran in the interpreter or in C1's code: its
// MethodData, on which C2 bases its decisions. It has the classes of receivers at calls and of objects at type checks,
// how often branches were taken, and how often the method was deoptimised, by reason.
//
//	r, err := methoddata.New(vm)
//	profiles, err := r.Read([]methoddata.Method{{Address: at, Code: bytecode}})
//
// # Layout
//
// A Method points to its MethodData, if it has one. The MethodData has a list of records. Each begins with a header of
// eight bytes (DataLayout in methodData.hpp) with a tag, flags, the bytecode index, and traps. A number of cells
// follows, of eight bytes each, which depends on the tag:
//
//	tag    bytecode                           cells
//	1      any                                none; the flags say whether null was seen
//	2      static and special calls           count
//	3      goto, jsr                          count, displacement
//	4      checkcast, instanceof, aastore     count, TypeProfileWidth times the address of a class and a count
//	5      virtual and interface calls        the same; count is that of the calls whose class has no row
//	6      ret                                count, BciProfileWidth times three cells
//	7      if…                                count if taken, displacement, count if not taken
//	8      switches                           number of further cells, these cells
//	10     as 2, with types of arguments      the cells of 2, number of further cells, these cells
//	11     as 5, with types of arguments      the cells of 5, number of further cells, these cells
//	14     aastore, in JDK 28                 the cells of 4, the class of the array
//	15     aaload, in JDK 28                  the classes of the array and of the element
//	16     if_acmp…, in JDK 28                the cells of 7, the classes of both objects
//
// With JVMCI, JDK 11 to 20 have one cell more after the count of records 4 and 5. HotSpot's tables do not say whether a
// build has JVMCI. The tables of JDK 28 do not even say where the records are. So a reader tries the layouts that there
// are, and checks each: the records must end exactly where the MethodData says, their bytecode indexes must rise, and
// each must be the index of such a bytecode as the table above says. If no layout passes, the method has no profile.
//
// # What the counts are
//
// Nothing is counted in C2's code, nor in C1's code of the tiers 1 and 2, and nothing in the first some 200 calls. So
// counts are those of the time before C2 compiled the method, and only their ratios mean something.
//
// Up to JDK 24, C1's code counts a type check only if it passes and the object's class has a row or gets one. The first
// cell counts downwards for each check that fails. From JDK 25 on, type checks count like calls.
package methoddata
