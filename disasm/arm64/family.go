package arm64

const (
	simdU = 1 << 29 // usually distinguishes unsigned from signed
	simdA = 1 << 23 // part of the opcode of floating-point instructions

	threeD = "<Dd>, <Dn>, <Dm>"
	vsZero = ", #0"
)

// families has the groups of vector instructions that have the same operands (see type family).
var families = []family{
	// Three registers of the same type.
	{0xbf20fc00, 0x0e200400, 11, "v<d>.<T>, v<n>.<T>, v<m>.<T>", map[uint32]string{
		1: "sqadd", 5: "sqsub", 6: "cmgt", 7: "cmge", 8: "sshl", 9: "sqshl", 10: "srshl", 11: "sqrshl", 16: "add",
		17: "cmtst", 23: "addp"}},
	{0xbf20fc00, 0x0e200400 | simdU, 11, "v<d>.<T>, v<n>.<T>, v<m>.<T>", map[uint32]string{
		1: "uqadd", 5: "uqsub", 6: "cmhi", 7: "cmhs", 8: "ushl", 9: "uqshl", 10: "urshl", 11: "uqrshl", 16: "sub",
		17: "cmeq"}},
	{0xbf20fc00, 0x0e200400, 11, "v<d>.<T3>, v<n>.<T3>, v<m>.<T3>", map[uint32]string{
		0: "shadd", 2: "srhadd", 4: "shsub", 12: "smax", 13: "smin", 14: "sabd", 15: "saba", 18: "mla", 19: "mul",
		20: "smaxp", 21: "sminp"}},
	{0xbf20fc00, 0x0e200400 | simdU, 11, "v<d>.<T3>, v<n>.<T3>, v<m>.<T3>", map[uint32]string{
		0: "uhadd", 2: "urhadd", 4: "uhsub", 12: "umax", 13: "umin", 14: "uabd", 15: "uaba", 18: "mls", 20: "umaxp",
		21: "uminp"}},
	{0xbf20fc00, 0x0e200400, 11, "v<d>.<T12>, v<n>.<T12>, v<m>.<T12>", map[uint32]string{22: "sqdmulh"}},
	{0xbf20fc00, 0x0e200400 | simdU, 11, "v<d>.<T12>, v<n>.<T12>, v<m>.<T12>", map[uint32]string{22: "sqrdmulh"}},
	{0xbf20fc00, 0x0e000400 | simdU, 11, "v<d>.<T12>, v<n>.<T12>, v<m>.<T12>", map[uint32]string{
		16: "sqrdmlah", 17: "sqrdmlsh"}},
	{0xbfe0fc00, 0x0e200400 | simdU, 11, "v<d>.<B>, v<n>.<B>, v<m>.<B>", map[uint32]string{19: "pmul"}},

	// Three scalars of the same type, in vector registers.
	{0xff20fc00, 0x5e200400, 11, "<Ed>, <En>, <Em>", map[uint32]string{
		1: "sqadd", 5: "sqsub", 9: "sqshl", 11: "sqrshl"}},
	{0xff20fc00, 0x5e200400 | simdU, 11, "<Ed>, <En>, <Em>", map[uint32]string{
		1: "uqadd", 5: "uqsub", 9: "uqshl", 11: "uqrshl"}},
	{0xffe0fc00, 0x5ee00400, 11, threeD, map[uint32]string{
		6: "cmgt", 7: "cmge", 8: "sshl", 10: "srshl", 16: "add", 17: "cmtst"}},
	{0xffe0fc00, 0x5ee00400 | simdU, 11, threeD, map[uint32]string{
		6: "cmhi", 7: "cmhs", 8: "ushl", 10: "urshl", 16: "sub", 17: "cmeq"}},
	{0xff20fc00, 0x5e200400, 11, "<no B or D><Ed>, <En>, <Em>", map[uint32]string{22: "sqdmulh"}},
	{0xff20fc00, 0x5e200400 | simdU, 11, "<no B or D><Ed>, <En>, <Em>", map[uint32]string{22: "sqrdmulh"}},

	// Three floating-point registers.
	{0xbfa0fc00, 0x0e200400, 11, "v<d>.<F>, v<n>.<F>, v<m>.<F>", float3[0]},
	{0xbfa0fc00, 0x0e200400 | simdA, 11, "v<d>.<F>, v<n>.<F>, v<m>.<F>", float3[1]},
	{0xbfa0fc00, 0x0e200400 | simdU, 11, "v<d>.<F>, v<n>.<F>, v<m>.<F>", float3[2]},
	{0xbfa0fc00, 0x0e200400 | simdU | simdA, 11, "v<d>.<F>, v<n>.<F>, v<m>.<F>", float3[3]},
	// The same instructions in half precision. Their opcode field lacks the two upper bits, which are always 1 in
	// float3. So opcode 24 of float3 is 0 in the encoding, which is why 24<<11 is subtracted here.
	{0xbfe0fc00, 0x0e400400 - 24<<11, 11, "v<d>.<H>, v<n>.<H>, v<m>.<H>", float3[0]},
	{0xbfe0fc00, 0x0ec00400 - 24<<11, 11, "v<d>.<H>, v<n>.<H>, v<m>.<H>", float3[1]},
	{0xbfe0fc00, 0x2e400400 - 24<<11, 11, "v<d>.<H>, v<n>.<H>, v<m>.<H>", float3[2]},
	{0xbfe0fc00, 0x2ec00400 - 24<<11, 11, "v<d>.<H>, v<n>.<H>, v<m>.<H>", float3[3]},
	{0xffa0fc00, 0x5e200400, 11, "<Gd>, <Gn>, <Gm>", map[uint32]string{27: "fmulx", 28: "fcmeq", 31: "frecps"}},
	{0xffa0fc00, 0x5ea00400, 11, "<Gd>, <Gn>, <Gm>", map[uint32]string{31: "frsqrts"}},
	{0xffa0fc00, 0x7e200400, 11, "<Gd>, <Gn>, <Gm>", map[uint32]string{28: "fcmge", 29: "facge"}},
	{0xffa0fc00, 0x7ea00400, 11, "<Gd>, <Gn>, <Gm>", map[uint32]string{26: "fabd", 28: "fcmgt", 29: "facgt"}},

	// Three registers, two different widths.
	{0xbf20fc00, 0x0e200000, 12, "v<d>.<wide>, v<n>.<T3>, v<m>.<T3>", map[uint32]string{
		0: "saddl<2>", 2: "ssubl<2>", 5: "sabal<2>", 7: "sabdl<2>", 8: "smlal<2>", 10: "smlsl<2>", 12: "smull<2>"}},
	{0xbf20fc00, 0x0e200000 | simdU, 12, "v<d>.<wide>, v<n>.<T3>, v<m>.<T3>", map[uint32]string{
		0: "uaddl<2>", 2: "usubl<2>", 5: "uabal<2>", 7: "uabdl<2>", 8: "umlal<2>", 10: "umlsl<2>", 12: "umull<2>"}},
	{0xbf20fc00, 0x0e200000, 12, "v<d>.<wide>, v<n>.<T12>, v<m>.<T12>", map[uint32]string{
		9: "sqdmlal<2>", 11: "sqdmlsl<2>", 13: "sqdmull<2>"}},
	{0xbf20fc00, 0x0e200000, 12, "v<d>.<wide>, v<n>.<wide>, v<m>.<T3>", map[uint32]string{
		1: "saddw<2>", 3: "ssubw<2>"}},
	{0xbf20fc00, 0x0e200000 | simdU, 12, "v<d>.<wide>, v<n>.<wide>, v<m>.<T3>", map[uint32]string{
		1: "uaddw<2>", 3: "usubw<2>"}},
	{0xbf20fc00, 0x0e200000, 12, "v<d>.<T3>, v<n>.<wide>, v<m>.<wide>", map[uint32]string{
		4: "addhn<2>", 6: "subhn<2>"}},
	{0xbf20fc00, 0x0e200000 | simdU, 12, "v<d>.<T3>, v<n>.<wide>, v<m>.<wide>", map[uint32]string{
		4: "raddhn<2>", 6: "rsubhn<2>"}},

	// Two registers.
	{0xbf3ffc00, 0x0e200800, 12, "v<d>.<T3>, v<n>.<T3>", map[uint32]string{0: "rev64", 4: "cls"}},
	{0xbf3ffc00, 0x0e200800 | simdU, 12, "v<d>.<T3>, v<n>.<T3>", map[uint32]string{4: "clz"}},
	{0xbfbffc00, 0x0e200800 | simdU, 12, "v<d>.<T3>, v<n>.<T3>", map[uint32]string{0: "rev32"}},
	{0xbf3ffc00, 0x0e200800, 12, "v<d>.<T>, v<n>.<T>", map[uint32]string{3: "suqadd", 7: "sqabs", 11: "abs"}},
	{0xbf3ffc00, 0x0e200800 | simdU, 12, "v<d>.<T>, v<n>.<T>", map[uint32]string{3: "usqadd", 7: "sqneg", 11: "neg"}},
	{0xbf3ffc00, 0x0e200800, 12, "v<d>.<T>, v<n>.<T>" + vsZero, map[uint32]string{8: "cmgt", 9: "cmeq", 10: "cmlt"}},
	{0xbf3ffc00, 0x0e200800 | simdU, 12, "v<d>.<T>, v<n>.<T>" + vsZero, map[uint32]string{8: "cmge", 9: "cmle"}},
	{0xbf3ffc00, 0x0e200800, 12, "v<d>.<pairs>, v<n>.<T3>", map[uint32]string{2: "saddlp", 6: "sadalp"}},
	{0xbf3ffc00, 0x0e200800 | simdU, 12, "v<d>.<pairs>, v<n>.<T3>", map[uint32]string{2: "uaddlp", 6: "uadalp"}},
	{0xbf3ffc00, 0x0e200800, 12, "v<d>.<T3>, v<n>.<wide>", map[uint32]string{18: "xtn<2>", 20: "sqxtn<2>"}},
	{0xbf3ffc00, 0x0e200800 | simdU, 12, "v<d>.<T3>, v<n>.<wide>", map[uint32]string{18: "sqxtun<2>", 20: "uqxtn<2>"}},
	{0xff3ffc00, 0x5e200800, 12, "<Ed>, <En>", map[uint32]string{3: "suqadd", 7: "sqabs"}},
	{0xff3ffc00, 0x7e200800, 12, "<Ed>, <En>", map[uint32]string{3: "usqadd", 7: "sqneg"}},
	{0xfffffc00, 0x5ee00800, 12, "<Dd>, <Dn>", map[uint32]string{11: "abs"}},
	{0xfffffc00, 0x7ee00800, 12, "<Dd>, <Dn>", map[uint32]string{11: "neg"}},
	{0xfffffc00, 0x5ee00800, 12, "<Dd>, <Dn>" + vsZero, map[uint32]string{8: "cmgt", 9: "cmeq", 10: "cmlt"}},
	{0xfffffc00, 0x7ee00800, 12, "<Dd>, <Dn>" + vsZero, map[uint32]string{8: "cmge", 9: "cmle"}},
	{0xff3ffc00, 0x5e200800, 12, "<Ed>, <wide n>", map[uint32]string{20: "sqxtn"}},
	{0xff3ffc00, 0x7e200800, 12, "<Ed>, <wide n>", map[uint32]string{18: "sqxtun", 20: "uqxtn"}},

	// Two floating-point registers.
	{0xbfbffc00, 0x0e200800, 12, "v<d>.<F>, v<n>.<F>", float2[0]},
	{0xbfbffc00, 0x0e200800 | simdA, 12, "v<d>.<F>, v<n>.<F>", float2[1]},
	{0xbfbffc00, 0x0e200800 | simdU, 12, "v<d>.<F>, v<n>.<F>", float2[2]},
	{0xbfbffc00, 0x0e200800 | simdU | simdA, 12, "v<d>.<F>, v<n>.<F>", float2[3]},
	{0xbffffc00, 0x0e780800, 12, "v<d>.<H>, v<n>.<H>", float2[0]},
	{0xbffffc00, 0x0ef80800, 12, "v<d>.<H>, v<n>.<H>", float2[1]},
	{0xbffffc00, 0x2e780800, 12, "v<d>.<H>, v<n>.<H>", float2[2]},
	{0xbffffc00, 0x2ef80800, 12, "v<d>.<H>, v<n>.<H>", float2[3]},
	{0xbfbffc00, 0x0e200800, 12, "v<d>.<F>, v<n>.<F>", map[uint32]string{30: "frint32z", 31: "frint64z"}},
	{0xbfbffc00, 0x2e200800, 12, "v<d>.<F>, v<n>.<F>", map[uint32]string{30: "frint32x", 31: "frint64x"}},
	{0xbfbffc00, 0x0ea00800, 12, "v<d>.<F>, v<n>.<F>, #0.0", map[uint32]string{12: "fcmgt", 13: "fcmeq", 14: "fcmlt"}},
	{0xbfbffc00, 0x2ea00800, 12, "v<d>.<F>, v<n>.<F>, #0.0", map[uint32]string{12: "fcmge", 13: "fcmle"}},
	{0xbffffc00, 0x0ef80800, 12, "v<d>.<H>, v<n>.<H>, #0.0", map[uint32]string{12: "fcmgt", 13: "fcmeq", 14: "fcmlt"}},
	{0xbffffc00, 0x2ef80800, 12, "v<d>.<H>, v<n>.<H>, #0.0", map[uint32]string{12: "fcmge", 13: "fcmle"}},
	{0xffbffc00, 0x5e200800, 12, "<Gd>, <Gn>", map[uint32]string{
		26: "fcvtns", 27: "fcvtms", 28: "fcvtas", 29: "scvtf"}},
	{0xffbffc00, 0x7e200800, 12, "<Gd>, <Gn>", map[uint32]string{
		26: "fcvtnu", 27: "fcvtmu", 28: "fcvtau", 29: "ucvtf"}},
	{0xffbffc00, 0x5ea00800, 12, "<Gd>, <Gn>", map[uint32]string{
		26: "fcvtps", 27: "fcvtzs", 29: "frecpe", 31: "frecpx"}},
	{0xffbffc00, 0x7ea00800, 12, "<Gd>, <Gn>", map[uint32]string{26: "fcvtpu", 27: "fcvtzu", 29: "frsqrte"}},
	{0xffbffc00, 0x5ea00800, 12, "<Gd>, <Gn>, #0.0", map[uint32]string{12: "fcmgt", 13: "fcmeq", 14: "fcmlt"}},
	{0xffbffc00, 0x7ea00800, 12, "<Gd>, <Gn>, #0.0", map[uint32]string{12: "fcmge", 13: "fcmle"}},

	// Reductions of all elements to one.
	{0xbf3ffc00, 0x0e300800, 12, "<Ed>, v<n>.<across>", map[uint32]string{10: "smaxv", 26: "sminv", 27: "addv"}},
	{0xbf3ffc00, 0x2e300800, 12, "<Ed>, v<n>.<across>", map[uint32]string{10: "umaxv", 26: "uminv"}},
	{0xbf3ffc00, 0x0e300800, 12, "<wide d>, v<n>.<across>", map[uint32]string{3: "saddlv"}},
	{0xbf3ffc00, 0x2e300800, 12, "<wide d>, v<n>.<across>", map[uint32]string{3: "uaddlv"}},

	// Permutations.
	{0xbf20fc00, 0x0e000800, 12, "v<d>.<T>, v<n>.<T>, v<m>.<T>", map[uint32]string{
		1: "uzp1", 2: "trn1", 3: "zip1", 5: "uzp2", 6: "trn2", 7: "zip2"}},

	// Shifts by a constant.
	{0xbf80fc00, 0x0f000400, 11, "v<d>.<shiftT>, v<n>.<shiftT>, #<right>", map[uint32]string{
		0: "sshr", 2: "ssra", 4: "srshr", 6: "srsra"}},
	{0xbf80fc00, 0x2f000400, 11, "v<d>.<shiftT>, v<n>.<shiftT>, #<right>", map[uint32]string{
		0: "ushr", 2: "usra", 4: "urshr", 6: "ursra", 8: "sri"}},
	{0xbf80fc00, 0x0f000400, 11, "v<d>.<shiftT>, v<n>.<shiftT>, #<left>", map[uint32]string{10: "shl", 14: "sqshl"}},
	{0xbf80fc00, 0x2f000400, 11, "v<d>.<shiftT>, v<n>.<shiftT>, #<left>", map[uint32]string{
		10: "sli", 12: "sqshlu", 14: "uqshl"}},
	{0xbf80fc00, 0x0f000400, 11, "v<d>.<shiftN>, v<n>.<shiftW>, #<right>", map[uint32]string{
		16: "shrn<2>", 17: "rshrn<2>", 18: "sqshrn<2>", 19: "sqrshrn<2>"}},
	{0xbf80fc00, 0x2f000400, 11, "v<d>.<shiftN>, v<n>.<shiftW>, #<right>", map[uint32]string{
		16: "sqshrun<2>", 17: "sqrshrun<2>", 18: "uqshrn<2>", 19: "uqrshrn<2>"}},
	{0xbf80fc00, 0x0f000400, 11, "v<d>.<shiftW>, v<n>.<shiftN><longer>", map[uint32]string{20: "sxtl<2>"}},
	{0xbf80fc00, 0x2f000400, 11, "v<d>.<shiftW>, v<n>.<shiftN><longer>", map[uint32]string{20: "uxtl<2>"}},
	{0xbf80fc00, 0x0f000400, 11, "v<d>.<shiftW>, v<n>.<shiftN>, #<left>", map[uint32]string{20: "sshll<2>"}},
	{0xbf80fc00, 0x2f000400, 11, "v<d>.<shiftW>, v<n>.<shiftN>, #<left>", map[uint32]string{20: "ushll<2>"}},
	{0xbf80fc00, 0x0f000400, 11, "v<d>.<shiftF>, v<n>.<shiftF>, #<right>", map[uint32]string{
		28: "scvtf", 31: "fcvtzs"}},
	{0xbf80fc00, 0x2f000400, 11, "v<d>.<shiftF>, v<n>.<shiftF>, #<right>", map[uint32]string{
		28: "ucvtf", 31: "fcvtzu"}},
	{0xffc0fc00, 0x5f400400, 11, "<Dd>, <Dn>, #<right>", map[uint32]string{
		0: "sshr", 2: "ssra", 4: "srshr", 6: "srsra"}},
	{0xffc0fc00, 0x7f400400, 11, "<Dd>, <Dn>, #<right>", map[uint32]string{
		0: "ushr", 2: "usra", 4: "urshr", 6: "ursra", 8: "sri"}},
	{0xffc0fc00, 0x5f400400, 11, "<Dd>, <Dn>, #<left>", map[uint32]string{10: "shl"}},
	{0xffc0fc00, 0x7f400400, 11, "<Dd>, <Dn>, #<left>", map[uint32]string{10: "sli"}},
	{0xff80fc00, 0x5f000400, 11, "<shift d>, <shift n>, #<left>", map[uint32]string{14: "sqshl"}},
	{0xff80fc00, 0x7f000400, 11, "<shift d>, <shift n>, #<left>", map[uint32]string{12: "sqshlu", 14: "uqshl"}},
	{0xff80fc00, 0x5f000400, 11, "<shift d>, <wideshift n>, #<right>", map[uint32]string{18: "sqshrn", 19: "sqrshrn"}},
	{0xff80fc00, 0x7f000400, 11, "<shift d>, <wideshift n>, #<right>", map[uint32]string{
		16: "sqshrun", 17: "sqrshrun", 18: "uqshrn", 19: "uqrshrn"}},
	{0xff80fc00, 0x5f000400, 11, "<fshift d>, <fshift n>, #<right>", map[uint32]string{28: "scvtf", 31: "fcvtzs"}},
	{0xff80fc00, 0x7f000400, 11, "<fshift d>, <fshift n>, #<right>", map[uint32]string{28: "ucvtf", 31: "fcvtzu"}},

	// Instructions whose third operand is one element of a vector register.
	{0xbf00f400, 0x0f000000, 12, "v<d>.<T12>, v<n>.<T12>, <indexed>", map[uint32]string{
		8: "mul", 12: "sqdmulh", 13: "sqrdmulh"}},
	{0xbf00f400, 0x2f000000, 12, "v<d>.<T12>, v<n>.<T12>, <indexed>", map[uint32]string{
		0: "mla", 4: "mls", 13: "sqrdmlah", 15: "sqrdmlsh"}},
	{0xbf00f400, 0x0f000000, 12, "v<d>.<wide>, v<n>.<T12>, <indexed>", map[uint32]string{
		2: "smlal<2>", 3: "sqdmlal<2>", 6: "smlsl<2>", 7: "sqdmlsl<2>", 10: "smull<2>", 11: "sqdmull<2>"}},
	{0xbf00f400, 0x2f000000, 12, "v<d>.<wide>, v<n>.<T12>, <indexed>", map[uint32]string{
		2: "umlal<2>", 6: "umlsl<2>", 10: "umull<2>"}},
	{0xbf80f400, 0x0f800000, 12, "v<d>.<F>, v<n>.<F>, <findexed>", map[uint32]string{1: "fmla", 5: "fmls", 9: "fmul"}},
	{0xbf80f400, 0x2f800000, 12, "v<d>.<F>, v<n>.<F>, <findexed>", map[uint32]string{9: "fmulx"}},
	{0xff80f400, 0x5f800000, 12, "<Gd>, <Gn>, <findexed>", map[uint32]string{1: "fmla", 5: "fmls", 9: "fmul"}},
	{0xff80f400, 0x7f800000, 12, "<Gd>, <Gn>, <findexed>", map[uint32]string{9: "fmulx"}},
	{0xbfc0f400, 0x0f000000, 12, "v<d>.<H>, v<n>.<H>, <hindexed>", map[uint32]string{1: "fmla", 5: "fmls", 9: "fmul"}},
	{0xbfc0f400, 0x2f000000, 12, "v<d>.<H>, v<n>.<H>, <hindexed>", map[uint32]string{9: "fmulx"}},
}

// float3 and float2 have the names of the floating-point instructions with three and with two registers. The index is
// 2*U + a, where U is bit 29 of the encoding and a is bit 23. The keys of the maps are opcodes.
var float3 = [4]map[uint32]string{
	{24: "fmaxnm", 25: "fmla", 26: "fadd", 27: "fmulx", 28: "fcmeq", 30: "fmax", 31: "frecps"},
	{24: "fminnm", 25: "fmls", 26: "fsub", 30: "fmin", 31: "frsqrts"},
	{24: "fmaxnmp", 26: "faddp", 27: "fmul", 28: "fcmge", 29: "facge", 30: "fmaxp", 31: "fdiv"},
	{24: "fminnmp", 26: "fabd", 28: "fcmgt", 29: "facgt", 30: "fminp"},
}

var float2 = [4]map[uint32]string{
	{24: "frintn", 25: "frintm", 26: "fcvtns", 27: "fcvtms", 28: "fcvtas", 29: "scvtf"},
	{15: "fabs", 24: "frintp", 25: "frintz", 26: "fcvtps", 27: "fcvtzs", 29: "frecpe"},
	{24: "frinta", 25: "frintx", 26: "fcvtnu", 27: "fcvtmu", 28: "fcvtau", 29: "ucvtf"},
	{15: "fneg", 25: "frinti", 26: "fcvtpu", 27: "fcvtzu", 29: "frsqrte", 31: "fsqrt"},
}

// crypto has the instructions for AES and SHA.
var crypto = []row{
	{0xfffffc00, 0x4e284800, "aese v<d>.16b, v<n>.16b"},
	{0xfffffc00, 0x4e285800, "aesd v<d>.16b, v<n>.16b"},
	{0xfffffc00, 0x4e286800, "aesmc v<d>.16b, v<n>.16b"},
	{0xfffffc00, 0x4e287800, "aesimc v<d>.16b, v<n>.16b"},
	{0xffe0fc00, 0x5e000000, "sha1c <Qd>, <Sn>, v<m>.4s"},
	{0xffe0fc00, 0x5e001000, "sha1p <Qd>, <Sn>, v<m>.4s"},
	{0xffe0fc00, 0x5e002000, "sha1m <Qd>, <Sn>, v<m>.4s"},
	{0xffe0fc00, 0x5e003000, "sha1su0 v<d>.4s, v<n>.4s, v<m>.4s"},
	{0xffe0fc00, 0x5e004000, "sha256h <Qd>, <Qn>, v<m>.4s"},
	{0xffe0fc00, 0x5e005000, "sha256h2 <Qd>, <Qn>, v<m>.4s"},
	{0xffe0fc00, 0x5e006000, "sha256su1 v<d>.4s, v<n>.4s, v<m>.4s"},
	{0xfffffc00, 0x5e280800, "sha1h <Sd>, <Sn>"},
	{0xfffffc00, 0x5e281800, "sha1su1 v<d>.4s, v<n>.4s"},
	{0xfffffc00, 0x5e282800, "sha256su0 v<d>.4s, v<n>.4s"},
	{0xffe0fc00, 0xce608000, "sha512h <Qd>, <Qn>, v<m>.2d"},
	{0xffe0fc00, 0xce608400, "sha512h2 <Qd>, <Qn>, v<m>.2d"},
	{0xffe0fc00, 0xce608800, "sha512su1 v<d>.2d, v<n>.2d, v<m>.2d"},
	{0xfffffc00, 0xcec08000, "sha512su0 v<d>.2d, v<n>.2d"},
	{0xffe0fc00, 0xce608c00, "rax1 v<d>.2d, v<n>.2d, v<m>.2d"},
	{0xffe08000, 0xce000000, "eor3 v<d>.16b, v<n>.16b, v<m>.16b, v<a>.16b"},
	{0xffe08000, 0xce200000, "bcax v<d>.16b, v<n>.16b, v<m>.16b, v<a>.16b"},
	{0xffe00000, 0xce800000, "xar v<d>.2d, v<n>.2d, v<m>.2d, #<xar>"},
}
