# Flow of control.
j .+16			# jump
j .-16			# jump
jg .+0x10000		# jump
brasl %r14,.+0x100	# call
bras %r14,.+0x100	# call
basr %r14,%r1		# call
basr %r14,%r0
balr %r14,%r1		# call
bas %r14,8(%r1)		# call
br %r14			# return
br %r1			# jump
b 16(%r1)		# jump
b 16(%r2,%r1)		# jump
je .+16			# condjump
jne .-16		# condjump
jgl .+0x1000		# condjump
jghe .-0x1000		# condjump
jo .+8			# condjump
ber %r14		# condjump
bnhr %r1		# condjump
be 8(%r1)		# condjump
nopr
nop 0
jnop .+8
bcr 14,%r0
bcr 15,%r0
brct %r1,.-8		# condjump
brctg %r1,.-8		# condjump
brcth %r1,.+8		# condjump
bct %r1,8(%r2)		# condjump
bctg %r1,8(%r2)		# condjump
bctr %r1,%r2		# condjump
bctr %r1,%r0
bctgr %r1,%r2		# condjump
bctgr %r1,%r0
brxh %r1,%r3,.+8	# condjump
brxle %r1,%r3,.-8	# condjump
brxhg %r1,%r3,.+8	# condjump
brxlg %r1,%r3,.-8	# condjump
bxh %r1,%r3,8(%r2)	# condjump
bxle %r1,%r3,8(%r2)	# condjump
bxhg %r1,%r3,8(%r2)	# condjump
bxleg %r1,%r3,8(%r2)	# condjump
cgrje %r1,%r2,.+16	# condjump
crjne %r1,%r2,.-16	# condjump
clgrjl %r1,%r2,.+16	# condjump
clrjh %r1,%r2,.+16	# condjump
cgijne %r1,-1,.+16	# condjump
cijl %r1,5,.+16		# condjump
clgijh %r1,200,.+16	# condjump
clije %r1,0,.+16	# condjump
cgrbe %r1,%r2,8(%r3)	# condjump
crbne %r1,%r2,8(%r3)	# condjump
clgrbl %r1,%r2,8(%r3)	# condjump
clrbh %r1,%r2,8(%r3)	# condjump
cgibne %r1,-1,8(%r3)	# condjump
cible %r1,5,8(%r3)	# condjump
clgibh %r1,200,8(%r3)	# condjump
clibe %r1,0,8(%r3)	# condjump
bi 8(%r1)		# jump
bine 8(%r1)		# condjump
bsm %r0,%r14		# jump
bassm %r14,%r1		# call
svc 1
# Integers.
lr %r1,%r2
lgr %r1,%r2
ltgr %r2,%r2
lghi %r2,-1
lgfi %r2,0x12345678
llilf %r2,0x12345678
iihf %r2,1
lcgr %r2,%r3
agr %r2,%r3
ar %r2,%r3
agrk %r2,%r3,%r4
aghi %r15,-160
aghik %r2,%r3,7
agfi %r2,100000
sgr %r2,%r3
slgr %r2,%r3
msgr %r2,%r3
mlgr %r2,%r3
dsgr %r2,%r3
ngr %r2,%r3
ogr %r2,%r3
xgr %r2,%r3
xgrk %r2,%r3,%r4
nilf %r2,255
oill %r2,1
sllg %r2,%r3,3
srlg %r2,%r3,3(%r4)
srag %r2,%r3,63
sll %r2,3
risbg %r2,%r3,0,191,5
rosbg %r2,%r3,0,31,32
cgr %r2,%r3
clgr %r2,%r3
cghi %r2,-5
cgfi %r2,100000
clgfi %r2,100000
locgre %r2,%r3
flogr %r2,%r3
popcnt %r2,%r3
lgfr %r2,%r3
llgcr %r2,%r3
larl %r1,.+0x100
# Memory.
lg %r1,8(%r15)
lg %r1,-8(%r2,%r3)
l %r1,4(%r2)
ly %r1,-4(%r2)
lgf %r1,4(%r2)
llgc %r1,1(%r2)
lgrl %r1,.+0x100
stg %r14,112(%r15)
st %r1,4(%r2,%r3)
stc %r1,0(%r2)
stmg %r6,%r15,48(%r15)
lmg %r6,%r15,208(%r15)
la %r1,8(%r2)
lay %r1,-160(%r15)
mvi 0(%r1),255
mvghi 8(%r15),0
mvc 0(8,%r1),0(%r2)
clc 0(256,%r1),8(%r2)
xc 160(200,%r15),160(%r15)
mvc 82(200),3688(%r13)
cs %r1,%r2,0(%r3)
csg %r1,%r2,0(%r3)
laag %r1,%r2,0(%r3)
lrvg %r1,0(%r2)
ex %r1,0(%r2)
exrl %r1,.+0x20
pfd 2,64(%r1)
cghsi 8(%r1),0
tm 0(%r1),128
ag %r1,8(%r2)
cg %r1,8(%r2)
# Floating point, vectors.
ld %f0,8(%r1)
std %f8,8(%r15)
ldr %f0,%f2
adbr %f0,%f2
mdb %f0,8(%r1)
madbr %f0,%f2,%f4
cdbr %f0,%f2
cdgbr %f0,%r2
cgdbr %r2,5,%f0
lgdr %r2,%f0
vl %v1,16(%r2)
vst %v17,0(%r2),3
vlr %v1,%v2
vaf %v1,%v2,%v3
vx %v1,%v2,%v3
vceqgs %v1,%v2,%v3
vlgvg %r2,%v1,1
vistrbs %v1,%v2
vfadb %v1,%v2,%v3
vperm %v1,%v2,%v3,%v4
