# Flow of control.
jal zero,.+16		# jump
jal ra,.-256		# call
jal t0,.+2048		# call
j .-16			# jump
ret			# return
jr t0			# return
jr a0			# jump
jr 16(a0)		# jump
jalr a0			# call
jalr ra,-8(t1)		# call
jalr t0,0(t2)		# call
beq a0,a1,.+16		# condjump
bne a0,a1,.-16		# condjump
blt s0,s1,.+4094	# condjump
bge t3,t4,.-4096	# condjump
bltu a6,a7,.+8		# condjump
bgeu a2,a3,.+8		# condjump
beqz a0,.+8		# condjump
bnez a0,.+8		# condjump
blez a0,.+8		# condjump
bgez a0,.+8		# condjump
bltz a0,.+8		# condjump
bgtz a0,.+8		# condjump
c.j .+32		# jump
c.j .-32		# jump
c.beqz a0,.+16		# condjump
c.bnez s0,.-16		# condjump
c.jr ra			# return
c.jr t0			# return
c.jr a5			# jump
c.jalr a5		# call
ecall
ebreak
c.ebreak
unimp
# Integers.
nop
li a0,-1
mv a0,a1
addi sp,sp,-48
addiw a0,a1,1
sext.w a0,a1
lui a0,0x12345
auipc t0,0x1
slti a0,a1,5
sltiu a0,a1,5
seqz a0,a1
snez a0,a1
sltz a0,a1
sgtz a0,a1
xori a0,a1,-5
not a0,a1
neg a0,a1
negw a0,a1
andi a0,a1,255
ori a0,a1,7
slli a0,a1,32
srli a0,a1,3
srai a0,a1,63
slliw a0,a1,3
sraiw a0,a1,3
add a0,a1,a2
addw a0,a1,a2
sub a0,a1,a2
subw a0,a1,a2
sll a0,a1,a2
sra a0,a1,a2
slt a0,a1,a2
sltu a0,a1,a2
xor a0,a1,a2
mul a0,a1,a2
mulhu a0,a1,a2
mulw a0,a1,a2
div a0,a1,a2
remuw a0,a1,a2
# Memory.
ld a0,8(sp)
ld s11,-8(t6)
lw a0,0(a1)
lwu a0,4(a1)
lh a0,2(a1)
lhu a0,2(a1)
lb a0,1(a1)
lbu a0,1(a1)
sd a0,-8(sp)
sw a0,0(a1)
sh a0,0(a1)
sb zero,0(a1)
lr.d a0,(a1)
lr.w.aq a0,(a1)
sc.d.rl a0,a2,(a1)
amoadd.d a0,a1,(a2)
amoswap.w.aqrl a0,a1,(a2)
fence
fence r,rw
fence.i
fence.tso
csrr a0,fcsr
csrrw a0,fflags,a1
rdcycle a0
# Compressed.
c.addi sp,16
c.nop
c.li a0,-3
c.lui a0,0x10
c.mv a0,a1
c.add a0,a1
c.addi16sp sp,-64
c.addi4spn a0,sp,16
c.addiw a5,-1
c.slli a0,3
c.srli a0,3
c.andi a0,15
c.sub a0,a1
c.and a0,a1
c.ld a0,8(a1)
c.sd a0,8(a1)
c.ldsp a0,16(sp)
c.sdsp ra,24(sp)
c.lw a0,4(a1)
c.swsp a0,4(sp)
c.fld fa0,8(a1)
c.fsdsp fa0,8(sp)
# Floating point.
flw fa0,0(a3)
fsd fs0,8(sp)
fadd.d fa0,fa1,fa2
fadd.s fa0,fa1,fa2,rtz
fmadd.d fa0,fa1,fa2,fa3
fsqrt.d fa0,fa1
fmv.d fa0,fa1
fneg.d fa0,fa1
fabs.s fa0,fa1
fmv.x.d a0,fa0
fmv.d.x fa0,a0
fcvt.l.d a0,fa0,rtz
fcvt.d.l fa0,a0
fcvt.d.s fa0,fa1
feq.d a0,fa0,fa1
flt.s a0,fa0,fa1
fclass.d a0,fa0
# Bits.
sh1add a0,a1,a2
sh3add.uw a0,a1,a2
zext.w a0,a1
andn a0,a1,a2
clz a0,a1
ctzw a0,a1
cpop a0,a1
max a0,a1,a2
sext.b a0,a1
zext.h a0,a1
rev8 a0,a1
rori a0,a1,7
rol a0,a1,a2
bexti a0,a1,3
# Vectors.
vsetvli t0,a0,e64,m1,ta,ma
vle64.v v8,(a0)
vse32.v v8,(a0)
vadd.vv v8,v9,v10
vadd.vx v8,v9,a0
vadd.vi v8,v9,-1,v0.t
vmv.v.x v8,a0
vfadd.vv v8,v9,v10
vmseq.vi v0,v8,0
