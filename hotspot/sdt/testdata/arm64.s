// The machine code of the shared object on aarch64; see amd64.s.

	.text
// jint JNI_OnLoad(JavaVM *vm, void *reserved)
	stp	x29, x30, [sp, #-32]!
	mov	x29, sp
	ldr	x8, [x0]
	add	x1, sp, #24
	mov	w2, #6
	movk	w2, #1, lsl #16			// JNI_VERSION_1_6
	ldr	x8, [x8, #(6*8)]		// GetEnv
	blr	x8
	cbnz	w0, 1f
	ldr	x0, [sp, #24]
	ldr	x8, [x0]
	adr	x1, classname
	ldr	x8, [x8, #(6*8)]		// FindClass
	blr	x8
	cbz	x0, 1f
	mov	x1, x0
	ldr	x0, [sp, #24]
	ldr	x8, [x0]
	adr	x2, methods
	mov	w3, #2
	ldr	x8, [x8, #(215*8)]		// RegisterNatives
	blr	x8
	cbnz	w0, 1f
	mov	w0, #6
	movk	w0, #1, lsl #16
	b	2f
1:	mov	w0, #0				// no version, so that System.load fails
2:	ldp	x29, x30, [sp], #32
	ret

	.org	0x80
// static native ByteBuffer semaphores()
	ldr	x8, [x0]
	adr	x1, semaphores
	mov	x2, #(slots*4)
	ldr	x8, [x8, #(229*8)]		// NewDirectByteBuffer
	br	x8

	.org	0xc0
// static native void fire(int site, long v0, … long v7, String s0, … String s7)
	stp	x29, x30, [sp, #-48]!
	mov	x29, sp
	stp	x19, x20, [sp, #16]
	stp	x21, x22, [sp, #32]
	sub	sp, sp, #0x1000
	sub	sp, sp, #(64+8*768-0x1000)
	mov	x19, x0
	mov	w20, w2
	stp	x3, x4, [sp]
	stp	x5, x6, [sp, #16]
	ldp	x9, x10, [x29, #48]
	ldr	x11, [x29, #64]
	stp	x7, x9, [sp, #32]
	stp	x10, x11, [sp, #48]
	mov	x21, #0
	add	x22, sp, #64
1:	add	x9, x29, #72
	ldr	x1, [x9, x21, lsl #3]
	cbz	x1, 2f
	mov	x0, x19
	ldr	x8, [x19]
	ldr	x8, [x8, #(164*8)]		// GetStringLength
	blr	x8
	mov	w3, #255
	cmp	w0, w3
	csel	w3, w0, w3, lt
	strb	wzr, [x22]
	mov	w2, #0
	add	x9, x29, #72
	ldr	x1, [x9, x21, lsl #3]
	mov	x4, x22
	mov	x0, x19
	ldr	x8, [x19]
	ldr	x8, [x8, #(221*8)]		// GetStringUTFRegion
	blr	x8
	str	x22, [sp, x21, lsl #3]
2:	add	x22, x22, #768
	add	x21, x21, #1
	cmp	x21, #8
	b.ne	1b
	cmp	w20, #slots
	b.hs	3f
	adr	x9, sites
	add	x9, x9, w20, uxtw #3
	ldp	x0, x1, [sp]
	ldp	x2, x3, [sp, #16]
	ldp	x4, x5, [sp, #32]
	ldp	x6, x7, [sp, #48]
	blr	x9
3:	mov	sp, x29
	ldp	x19, x20, [sp, #16]
	ldp	x21, x22, [sp, #32]
	ldp	x29, x30, [sp], #48
	ret
	.org	0x200
