// Package cfi finds the callers of native functions. It reads the call frame information in the section .eh_frame of an
// ELF file (DWARF 5, section 6.4, and the Linux Standard Base, "Exception Frames"), for x86-64 and aarch64.
//
// A [Table] is the index of one file. [Table.Unwind] takes one step: it replaces the registers of a thread in a
// function with those in the function's caller. The only memory that it reads is a copy of the thread's stack, so it
// can be used long after the sample was taken:
//
//	f, err := native.NewELF(file)
//	t, err := cfi.New(f)
//	exact := true
//	for {
//		result, err := t.Unwind(r.PC-bias, exact, &r, stack)
//		if result != cfi.Caller && result != cfi.Interrupted {
//			break
//		}
//		exact = result == cfi.Interrupted
//		// r.PC is in the caller now, which may be in another file.
//	}
//
// The loop above lacks a check that the stack pointer grows. Only the caller of this package can check that, because a
// signal handler may run on a stack of its own.
//
// # Which row applies
//
// A function has a table with a row for each range of its instructions. A row says how to compute the canonical frame
// address (CFA), which is the stack pointer before the call, and where the caller's registers are. A return address may
// be the first byte after a function that ends with a call, so the row is looked up one byte before it. The program
// counter of a sample, and of a frame that a signal has interrupted, is exact.
//
// # Traps
//
//   - A sample in the kernel on its way out of rt_sigreturn has its program counter after the last byte of
//     __restore_rt. So if no function contains an exact program counter, the byte before it is looked up.
//   - GCC does not say when a function has popped a callee-saved register: the register's rule still refers to its old
//     slot, which is then below the stack pointer. Such a register has its caller's value already.
//   - The return address is undefined in functions that have no caller: clone3 in glibc, and _start.
//   - DWARF says nothing about a register without a rule. The ABI decides: a callee-saved register has its caller's
//     value, and all others are unknown in the caller.
//   - On aarch64, a return address may be signed. DW_CFA_AARCH64_negate_ra_state is accepted and ignored: whoever calls
//     Unwind must clear the upper bits of the PC.
//   - A stub of the PLT pushes a word halfway through its code, so its CFA depends on the address. One expression
//     describes all stubs: DW_OP_breg7 (rsp) 8, DW_OP_breg16 (rip) 0, DW_OP_lit15, DW_OP_and, DW_OP_lit11, DW_OP_ge,
//     DW_OP_lit3, DW_OP_shl, DW_OP_plus.
//
// # Hostile files
//
// A file may come from an attacker. Limits bound the size of a section, the number of its functions, and the
// instructions and operations of each step. A damaged record is left out, and [Table.Damage] reports it.
package cfi
