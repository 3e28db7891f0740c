// Package methoddata reads HotSpot's MethodData: what HotSpot counts about a method while it runs in the interpreter or
// in C1's code. C2 bases its decisions on these counts. HotSpot counts the classes of receivers at calls and of objects
// at type checks, how often branches were taken, and how often the method was deoptimised for each reason.
//
//	r, err := methoddata.New(vm, &java) // java maps HotSpot's bytecodes to those of the Specification
//	profiles, err := r.Read([]methoddata.Method{{Address: at, Bytecode: bytecode}})
//
// # Layout
//
// A Method points to its MethodData, if it has one. The MethodData has a list of records. Each record begins with a
// header of eight bytes (DataLayout in methodData.hpp): a tag, flags, the bytecode index, and traps. Cells of eight
// bytes follow. Their number depends on the tag:
//
//	tag    bytecode                           cells
//	1      any                                none; the flags say whether null was seen
//	2      static and special calls           count
//	3      goto, jsr                          count, displacement
//	4      checkcast, instanceof, aastore     count, TypeProfileWidth rows: a class's address, its count
//	5      virtual and interface calls        as 4; count is that of the calls whose class has no row
//	6      ret                                count, BciProfileWidth rows of three cells
//	7      if…                                count if taken, displacement, count if not taken
//	8      switches                           number of further cells, these cells
//	10     as 2, with types of arguments      the cells of 2, number of further cells, these cells
//	11     as 5, with types of arguments      the cells of 5, number of further cells, these cells
//	14     aastore, in JDK 28                 the cells of 4, the class of the array
//	15     aaload, in JDK 28                  the classes of the array and of the element
//	16     if_acmp…, in JDK 28                the cells of 7, the classes of both objects
//
// Builds of JDK 11 to 20 with JVMCI have one more cell in the records 4 and 5, after the count. HotSpot's tables do not
// say whether a build has JVMCI. The tables of JDK 28 do not even say where the records are. So a Reader tries each
// known layout and checks the result: the records must end exactly where the MethodData says, their bytecode indexes
// must rise, and at each index there must be one of the bytecodes that the table above lists for the record's tag. If
// no layout passes, the method has no profile.
//
// # What the counts are
//
// HotSpot counts nothing in C2's code, in C1's code of the tiers 1 and 2, and during about the first 200 calls of a
// method. So the counts are from the time before C2 compiled the method, and only their ratios are meaningful.
//
// Up to JDK 24, C1's code counts a type check only if the check passes and the object's class has a row or gets one.
// Each check that fails decrements the first cell. From JDK 25 on, type checks are counted like calls.
package methoddata
