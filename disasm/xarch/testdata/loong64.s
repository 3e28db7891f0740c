# Flow of control.
b .+16			# jump
b .-16			# jump
bl .+0x1000		# call
bl .-4			# call
jr $ra			# return
jr $t0			# jump
jirl $zero,$a0,8	# jump
jirl $zero,$ra,4	# jump
jirl $ra,$t0,0		# call
jirl $ra,$a0,-16	# call
beq $a0,$a1,.+16	# condjump
bne $a0,$a1,.-16	# condjump
blt $s0,$s8,.+0x1000	# condjump
bge $t8,$fp,.-4		# condjump
bltu $a0,$a1,.+8	# condjump
bgeu $a0,$a1,.+8	# condjump
blt $a0,$zero,.+8	# condjump
blt $zero,$a0,.+8	# condjump
beqz $a0,.+0x10000	# condjump
bnez $a0,.-0x10000	# condjump
bceqz $fcc0,.+8		# condjump
bcnez $fcc7,.-8		# condjump
syscall 0
break 5
# Integers.
nop
move $a0,$a1
ori $a0,$zero,5
addi.d $sp,$sp,-64
addi.w $a0,$a1,2047
addu16i.d $a0,$a1,1
lu12i.w $a0,0x12345
lu32i.d $a0,-1
lu52i.d $a0,$a0,0x7f
pcaddi $a0,4
pcaddu12i $a0,1
pcalau12i $a0,1
add.d $a0,$a1,$a2
add.w $a0,$a1,$a2
sub.d $a0,$a1,$a2
mul.d $a0,$a1,$a2
mulh.du $a0,$a1,$a2
mulw.d.w $a0,$a1,$a2
div.d $a0,$a1,$a2
mod.wu $a0,$a1,$a2
and $a0,$a1,$a2
or $a0,$a1,$a2
nor $a0,$a1,$zero
xor $a0,$a1,$a2
andn $a0,$a1,$a2
orn $a0,$a1,$a2
andi $a0,$a1,0xff
ori $a0,$a1,0xfff
xori $a0,$a1,1
slt $a0,$a1,$a2
sltu $a0,$a1,$a2
slti $a0,$a1,-5
sltui $a0,$a1,1
maskeqz $a0,$a1,$a2
masknez $a0,$a1,$a2
sll.d $a0,$a1,$a2
srl.w $a0,$a1,$a2
slli.d $a0,$a1,32
srli.d $a0,$a1,3
srai.w $a0,$a1,31
rotri.d $a0,$a1,7
alsl.d $a0,$a1,$a2,3
alsl.wu $a0,$a1,$a2,2
bstrpick.d $a0,$a1,31,0
bstrins.d $a0,$a1,15,8
bstrpick.w $a0,$a1,7,0
ext.w.b $a0,$a1
ext.w.h $a0,$a1
clz.d $a0,$a1
ctz.w $a0,$a1
revb.d $a0,$a1
revb.2h $a0,$a1
bitrev.d $a0,$a1
bytepick.d $a0,$a1,$a2,3
crc.w.d.w $a0,$a1,$a2
# Memory.
ld.d $a0,$sp,8
ld.w $a0,$a1,-4
ld.wu $a0,$a1,4
ld.h $a0,$a1,2
ld.bu $a0,$a1,1
st.d $ra,$sp,56
st.w $a0,$a1,0
st.b $zero,$a1,-1
ldx.d $a0,$a1,$a2
stx.w $a0,$a1,$a2
ldptr.d $a0,$a1,0x1000
ldptr.w $a0,$a1,-4
stptr.d $a0,$a1,8
ll.d $a0,$a1,0
ll.w $a0,$a1,4
sc.d $a0,$a1,0
amadd.d $a0,$a1,$a2
amswap_db.w $a0,$a1,$a2
amcas.d $a0,$a1,$a2
dbar 0
dbar 0x14
ibar 0
preld 0,$a0,64
preldx 8,$a0,$a1
rdtime.d $a0,$zero
# Floating point, vectors.
fld.d $fa0,$sp,8
fst.s $fs7,$a0,-4
fldx.d $fa0,$a0,$a1
fadd.d $fa0,$fa1,$fa2
fmul.s $fa0,$fa1,$ft0
fmadd.d $fa0,$fa1,$fa2,$fa3
fneg.d $fa0,$fa1
fabs.d $fa0,$fa1
fsqrt.d $fa0,$fa1
fmov.d $fa0,$fa1
movgr2fr.d $fa0,$a0
movfr2gr.d $a0,$fa0
movcf2gr $a0,$fcc0
movgr2fcsr $fcsr0,$a0
ftintrz.l.d $fa0,$fa1
ffint.d.l $fa0,$fa1
fcvt.s.d $fa0,$fa1
fcmp.clt.d $fcc0,$fa0,$fa1
fcmp.cueq.s $fcc1,$fa0,$fa1
fsel $fa0,$fa1,$fa2,$fcc0
vld $vr0,$a0,16
vst $vr0,$a0,-16
vadd.d $vr0,$vr1,$vr2
xvadd.w $xr0,$xr1,$xr2
