// Package nativecode has the machine code of native functions that a capture keeps: functions in libraries, in the vDSO
// and in the kernel. With it, a report can annotate these functions on a machine that has none of the libraries.
// Package native reads the code when the recording ends, but only for functions with samples.
//
// # The text
//
// A [Table] is written as text. The lines about one function look like this:
//
//	name 1 /home/me/zip.c
//	name 2 crc32_z
//	function libzip.so amd64 0x2a40 crc32_z
//	at 24997 0x7f27b3c81a40
//	code f30f1efa4885f60f84b8000000
//	code 554889e5
//	line 0x2a40 0x2a4d 1:84:2
//	target 0x2980 2
//
// A function has a module, an instruction set ([disasm.Arch]), the address of its first byte in the library, and a
// symbol, which is missing if no symbol covers the code. A line "at" says at which address a process had the function.
// Lines "code" have the bytes, in hexadecimal digits. A line "line" has a range of addresses, and the frames of the
// code in it, from the innermost inlined function to the outermost one: the number of the file's name, the line, and
// the number of the function's name. The file's number is 0 if the file is unknown. A line "target" has the address of
// another function to which the code jumps, or which it calls, and the number of its name.
//
// # Hostile input
//
// Captures come from other people, and the code in them from any process. [Read] limits everything that it keeps, and
// counts and skips lines that it can't parse.
package nativecode
