# The machine code of the shared object on x86-64. TestCode assembles it and compares it with machine.go:
#
#   as -o amd64.o amd64.s
#   ld -N -Ttext 0x400 --defsym … -o amd64.bin --oformat binary amd64.o
#
# The symbols that are not defined here are addresses in layout.go. The offsets in the table of JNI's functions are
# their numbers in the JNI specification, times eight.

	.text
# jint JNI_OnLoad(JavaVM *vm, void *reserved)
	push	%rbx
	sub	$16, %rsp
	mov	(%rdi), %rax
	lea	8(%rsp), %rsi
	mov	$0x10006, %edx			# JNI_VERSION_1_6
	call	*(6*8)(%rax)			# GetEnv
	test	%eax, %eax
	jne	1f
	mov	8(%rsp), %rbx
	mov	(%rbx), %rax
	mov	%rbx, %rdi
	lea	classname(%rip), %rsi
	call	*(6*8)(%rax)			# FindClass
	test	%rax, %rax
	je	1f
	mov	%rax, %rsi
	mov	%rbx, %rdi
	mov	(%rbx), %rax
	lea	methods(%rip), %rdx
	mov	$2, %ecx
	call	*(215*8)(%rax)			# RegisterNatives
	test	%eax, %eax
	jne	1f
	mov	$0x10006, %eax
	jmp	2f
1:	xor	%eax, %eax			# no version, so that System.load fails
2:	add	$16, %rsp
	pop	%rbx
	ret

	.org	0x80, 0xcc
# static native ByteBuffer semaphores()
	mov	(%rdi), %rax
	lea	semaphores(%rip), %rsi
	mov	$(slots*4), %edx
	jmp	*(229*8)(%rax)			# NewDirectByteBuffer

	.org	0xc0, 0xcc
# static native void fire(int site, long v0, … long v7, String s0, … String s7)
#
# A string that is not null replaces the value of the same index by its address: it is copied to the stack. At the site
# the values are in registers.
	push	%rbp
	mov	%rsp, %rbp
	push	%rbx
	push	%r12
	push	%r13
	push	%r14
	sub	$(64+8*768), %rsp
	mov	%rdi, %rbx
	mov	%edx, %r12d
	mov	%rcx, (%rsp)
	mov	%r8, 8(%rsp)
	mov	%r9, 16(%rsp)
	mov	16(%rbp), %rax
	mov	%rax, 24(%rsp)
	mov	24(%rbp), %rax
	mov	%rax, 32(%rsp)
	mov	32(%rbp), %rax
	mov	%rax, 40(%rsp)
	mov	40(%rbp), %rax
	mov	%rax, 48(%rsp)
	mov	48(%rbp), %rax
	mov	%rax, 56(%rsp)
	xor	%r13d, %r13d
	lea	64(%rsp), %r14
1:	mov	56(%rbp,%r13,8), %rsi
	test	%rsi, %rsi
	je	2f
	mov	%rbx, %rdi
	mov	(%rbx), %rax
	call	*(164*8)(%rax)			# GetStringLength
	mov	$255, %ecx
	cmp	%ecx, %eax
	cmovl	%eax, %ecx
	movb	$0, (%r14)
	xor	%edx, %edx
	mov	56(%rbp,%r13,8), %rsi
	mov	%r14, %r8
	mov	%rbx, %rdi
	mov	(%rbx), %rax
	call	*(221*8)(%rax)			# GetStringUTFRegion
	mov	%r14, (%rsp,%r13,8)
2:	add	$768, %r14
	inc	%r13d
	cmp	$8, %r13d
	jne	1b
	cmp	$slots, %r12d
	jae	3f
	lea	sites(%rip), %r11
	lea	(%r11,%r12,8), %r11
	mov	(%rsp), %rdi
	mov	8(%rsp), %rsi
	mov	16(%rsp), %rdx
	mov	24(%rsp), %rcx
	mov	32(%rsp), %r8
	mov	40(%rsp), %r9
	mov	48(%rsp), %rax
	mov	56(%rsp), %r10
	call	*%r11
3:	lea	-32(%rbp), %rsp
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbx
	pop	%rbp
	ret
	.org	0x200, 0xcc
