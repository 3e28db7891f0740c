#include "textflag.h"

// func rowsEndAVX2(data *byte, n int) int
TEXT ·rowsEndAVX2(SB), NOSPLIT, $0-24
	MOVQ data+0(FP), SI
	MOVQ n+8(FP), CX
	XORQ AX, AX
	SUBQ $34, CX // the last offset with two bytes behind its vector
	JLT  done
	MOVL $0x0a, DX
	MOVD DX, X0
	VPBROADCASTB X0, Y0
	MOVL $0x20, DX
	MOVD DX, X1
	VPBROADCASTB X1, Y1

loop:
	VMOVDQU   (SI)(AX*1), Y2
	VMOVDQU   1(SI)(AX*1), Y3
	VPCMPEQB  Y0, Y2, Y2           // the end of a line,
	VPCMPEQB  Y0, Y3, Y4           // with an empty one behind it,
	VPCMPEQB  Y1, Y3, Y3
	VPCMPEQB  2(SI)(AX*1), Y1, Y5
	VPAND     Y5, Y3, Y3           // or one with two blanks
	VPOR      Y4, Y3, Y3
	VPANDN    Y2, Y3, Y3           // or neither
	VPMOVMSKB Y3, DX
	TESTL     DX, DX
	JNE       found
	ADDQ      $32, AX
	CMPQ      AX, CX
	JLE       loop
	JMP       done

found:
	BSFL DX, DX
	ADDQ DX, AX

done:
	VZEROUPPER
	MOVQ AX, ret+16(FP)
	RET
