# Flow of control.
b .+16			# jump
b .-4			# jump
ba 0x100		# jump
bl .+0x100		# call
bla 0x200		# call
bcl 20,31,.+4		# call
blr			# return
blrl			# call
bctr			# jump
bctrl			# call
bctar 20,0,0		# jump
beq .+16		# condjump
bne cr7,.-8		# condjump
blt+ cr1,.+0x40		# condjump
bdnz .-12		# condjump
bdz .+8			# condjump
bc 20,0,.+8		# jump
bdnzt eq,.+16		# condjump
beql .+16		# call
beqa 0x40		# condjump
beqlr			# condjump
bnelr cr6		# condjump
bdnzlr			# condjump
beqctr			# condjump
bnectrl cr2		# call
sc
trap
tdi 4,r3,17
twllei r4,100
# Moves, constants.
li r3,-1
lis r12,0x7fff
mr r30,r3
nop
addi r1,r1,-112
addis r2,r12,2
ori r4,r4,0x8000
mflr r0
mtlr r0
mtctr r12
mfctr r5
mfcr r6
mtcrf 0xff,r6
isel r3,r4,r5,2
# Memory.
ld r3,-8(r4)
ldu r5,8(r1)
ldx r6,r7,r8
std r31,-8(r1)
stdu r1,-112(r1)
lwz r9,0(r10)
lwa r9,4(r10)
lbz r3,3(r3)
lhz r3,2(r3)
lha r3,2(r3)
stb r3,0(r4)
sth r3,0(r4)
stw r3,0(r4)
stwx r3,r4,r5
ldbrx r3,0,r4
lwarx r3,0,r4
ldarx r3,r4,r5
stwcx. r3,0,r4
stdcx. r3,r4,r5
dcbz 0,r3
dcbt 0,r3
icbi 0,r3
sync
lwsync
isync
# Arithmetic.
add r3,r4,r5
add. r3,r4,r5
subf r3,r4,r5
subfic r3,r4,10
neg r3,r4
mulld r3,r4,r5
mulhdu r3,r4,r5
divd r3,r4,r5
divwu r3,r4,r5
modsd r3,r4,r5
and r3,r4,r5
or. r3,r4,r5
xor r3,r4,r5
nand r3,r4,r5
not r3,r4
andi. r3,r4,255
xoris r3,r4,1
sldi r3,r4,3
srdi r3,r4,3
sradi r3,r4,63
slwi r3,r4,2
clrldi r3,r4,32
rldicr r3,r4,8,55
rldimi r3,r4,32,0
rlwinm r3,r4,5,6,7
sld r3,r4,r5
sraw r3,r4,r5
extsw r3,r4
extsb r3,r4
cntlzd r3,r4
cnttzd r3,r4
popcntd r3,r4
cmpd r3,r4
cmpdi cr6,r3,-1
cmpldi cr7,r3,10
cmpw r3,r4
cmplwi r3,0
cror 2,1,0
crclr 6
# Floating point, vectors.
lfd f1,8(r1)
stfs f1,8(r1)
fadd f1,f2,f3
fmadd f1,f2,f3,f4
fcmpu cr0,f1,f2
fctidz f1,f2
fcfid f1,f2
fmr f1,f2
vaddubm v1,v2,v3
vperm v1,v2,v3,v4
vspltw v1,v2,3
vcipher v1,v2,v3
lvx v1,0,r4
lxvd2x vs34,0,r4
stxvd2x vs34,0,r4
xxlxor vs1,vs2,vs3
xvadddp vs1,vs2,vs3
xxpermdi vs1,vs2,vs3,2
mtvsrd vs1,r3
mfvsrd r3,vs1
lxv vs1,16(r3)
# Prefixed instructions have 8 bytes.
pli r3,0x12345678
paddi r3,r4,-100000
pld r3,0x12345(r4)
pstd r3,-8(r4)
