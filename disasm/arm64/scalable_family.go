package arm64

const (
	sveMerged    = "z<d>.<e>, p<g>/m, z<d>.<e>, z<n>.<e>"
	sveUnary     = "z<d>.<e>, p<g>/m, z<n>.<e>"
	sveFloat     = "z<d>.<f>, p<g>/m, z<d>.<f>, z<n>.<f>"
	sveReduced   = "<Ed>, p<g>, z<n>.<e>"
	sveBinary    = "z<d>.<e>, z<n>.<e>, z<m>.<e>"
	sveFloat3    = "z<d>.<f>, z<n>.<f>, z<m>.<f>"
	sveCompared  = "p<pd>.<e>, p<g>/z, z<n>.<e>, z<m>.<e>"
	sveWide      = "p<pd>.<e!d>, p<g>/z, z<n>.<e>, z<m>.d"
	sveSigned    = "p<pd>.<e>, p<g>/z, z<n>.<e>, #<simm5 m>"
	sveUnsigned  = "p<pd>.<e>, p<g>/z, z<n>.<e>, #<uimm7>"
	sveFloatTest = "p<pd>.<f>, p<g>/z, z<n>.<f>, z<m>.<f>"
	sveFloatZero = "p<pd>.<f>, p<g>/z, z<n>.<f>, #0.0"
)

// scalableFamilies has the groups of SVE instructions that have the same operands.
var scalableFamilies = []family{
	{0xff20fc00, 0x04200000, 10, sveBinary, map[uint32]string{
		0: "add", 1: "sub", 4: "sqadd", 5: "uqadd", 6: "sqsub", 7: "uqsub"}},
	{0xff20fc00, 0x04206000, 10, sveBinary, map[uint32]string{0: "mul", 2: "smulh", 3: "umulh"}},
	{0xff3fe000, 0x04000000, 16, sveMerged, map[uint32]string{
		0: "add", 1: "sub", 3: "subr", 8: "smax", 9: "umax", 10: "smin", 11: "umin", 12: "sabd", 13: "uabd", 16: "mul",
		18: "smulh", 19: "umulh", 24: "orr", 25: "eor", 26: "and", 27: "bic"}},
	{0xff3fe000, 0x04000000, 16, "z<d>.<e sd>, p<g>/m, z<d>.<e>, z<n>.<e>", map[uint32]string{
		20: "sdiv", 21: "udiv", 22: "sdivr", 23: "udivr"}},
	{0xff3fe000, 0x44008000, 16, sveMerged, map[uint32]string{24: "sqadd", 25: "uqadd", 26: "sqsub", 27: "uqsub"}},
	{0xff3fe000, 0x04008000, 16, sveMerged, map[uint32]string{
		16: "asr", 17: "lsr", 19: "lsl", 20: "asrr", 21: "lsrr", 23: "lslr"}},
	{0xff3fe000, 0x0400a000, 16, sveUnary, map[uint32]string{
		22: "abs", 23: "neg", 24: "cls", 25: "clz", 26: "cnt", 27: "cnot", 30: "not"}},
	{0xff3fe000, 0x0400a000, 16, "z<d>.<f>, p<g>/m, z<n>.<f>", map[uint32]string{28: "fabs", 29: "fneg"}},
	{0xff3fe000, 0x0400a000, 16, "z<d>.<e!b>, p<g>/m, z<n>.<e>", map[uint32]string{16: "sxtb", 17: "uxtb"}},
	{0xff3fe000, 0x0400a000, 16, "z<d>.<e sd>, p<g>/m, z<n>.<e>", map[uint32]string{18: "sxth", 19: "uxth"}},
	{0xffffe000, 0x04c0a000, 16, "z<d>.d, p<g>/m, z<n>.d", map[uint32]string{20: "sxtw", 21: "uxtw"}},
	{0xff3fe000, 0x04002000, 16, sveReduced, map[uint32]string{
		8: "smaxv", 9: "umaxv", 10: "sminv", 11: "uminv", 24: "orv", 25: "eorv", 26: "andv"}},
	{0xff3fe000, 0x04002000, 16, "<Dd>, p<g>, z<n>.<e>", map[uint32]string{1: "uaddv"}},
	{0xff3fe000, 0x04002000, 16, "<Dd>, p<g>, z<n>.<e!d>", map[uint32]string{0: "saddv"}},
	{0xff20e000, 0x04000000, 13, "z<d>.<e>, p<g>/m, z<n>.<e>, z<m>.<e>", map[uint32]string{2: "mla", 3: "mls"}},
	{0xff20e000, 0x04000000, 13, "z<d>.<e>, p<g>/m, z<m>.<e>, z<n>.<e>", map[uint32]string{6: "mad", 7: "msb"}},
	{0xff20fc00, 0x04209000, 10, "z<d>.<tsz>, z<n>.<tsz>, #<sveright>", map[uint32]string{0: "asr", 1: "lsr"}},
	{0xff20fc00, 0x04209000, 10, "z<d>.<tsz>, z<n>.<tsz>, #<sveleft>", map[uint32]string{3: "lsl"}},
	{0xff3fe000, 0x04008000, 16, "z<d>.<tszg>, p<g>/m, z<d>.<tszg>, #<sverightg>", map[uint32]string{
		0: "asr", 1: "lsr", 4: "asrd"}},
	{0xff3fe000, 0x04008000, 16, "z<d>.<tszg>, p<g>/m, z<d>.<tszg>, #<sveleftg>", map[uint32]string{3: "lsl"}},
	{0xff3fc000, 0x2520c000, 16, "z<d>.<e>, z<d>.<e>, #<uimm8>", map[uint32]string{
		0: "add", 1: "sub", 3: "subr", 4: "sqadd", 5: "uqadd", 6: "sqsub", 7: "uqsub"}},
	{0xff3fe000, 0x2520c000, 16, "z<d>.<e>, z<d>.<e>, #<simm8 plain>", map[uint32]string{
		8: "smax", 10: "smin", 16: "mul"}},
	{0xff3fe000, 0x2520c000, 16, "z<d>.<e>, z<d>.<e>, #<uimm8 plain>", map[uint32]string{9: "umax", 11: "umin"}},
	{0xff20fc00, 0x05206000, 10, sveBinary, map[uint32]string{
		0: "zip1", 1: "zip2", 2: "uzp1", 3: "uzp2", 4: "trn1", 5: "trn2"}},
	{0xff30fe10, 0x05204000, 10, "p<pd>.<e>, p<pn>.<e>, p<pm>.<e>", map[uint32]string{
		0: "zip1", 1: "zip2", 2: "uzp1", 3: "uzp2", 4: "trn1", 5: "trn2"}},

	{0xff20fc00, 0x65000000, 10, sveFloat3, map[uint32]string{
		0: "fadd", 1: "fsub", 2: "fmul", 3: "ftsmul", 6: "frecps", 7: "frsqrts"}},
	{0xff3fe000, 0x65008000, 16, sveFloat, map[uint32]string{
		0: "fadd", 1: "fsub", 2: "fmul", 3: "fsubr", 4: "fmaxnm", 5: "fminnm", 6: "fmax", 7: "fmin", 8: "fabd",
		9: "fscale", 10: "fmulx", 12: "fdivr", 13: "fdiv"}},
	{0xff3fe000, 0x6500a000, 16, "z<d>.<f>, p<g>/m, z<n>.<f>", map[uint32]string{
		0: "frintn", 1: "frintp", 2: "frintm", 3: "frintz", 4: "frinta", 6: "frintx", 7: "frinti",
		12: "frecpx", 13: "fsqrt"}},
	{0xff3fe000, 0x65002000, 16, "<Ed>, p<g>, z<n>.<f>", map[uint32]string{
		0: "faddv", 4: "fmaxnmv", 5: "fminnmv", 6: "fmaxv", 7: "fminv"}},
	{0xff20e000, 0x65200000, 13, "z<d>.<f>, p<g>/m, z<n>.<f>, z<m>.<f>", map[uint32]string{
		0: "fmla", 1: "fmls", 2: "fnmla", 3: "fnmls", 4: "fmad", 5: "fmsb", 6: "fnmad", 7: "fnmsb"}},

	{0xff20e010, 0x24000000, 4, sveCompared, map[uint32]string{
		0: "cmphs", 1: "cmphi", 0x800: "cmpge", 0x801: "cmpgt", 0xa00: "cmpeq", 0xa01: "cmpne"}},
	{0xff20e010, 0x24000000, 4, sveWide, map[uint32]string{
		0x200: "cmpeq", 0x201: "cmpne", 0x400: "cmpge", 0x401: "cmpgt", 0x600: "cmplt", 0x601: "cmple",
		0xc00: "cmphs", 0xc01: "cmphi", 0xe00: "cmplo", 0xe01: "cmpls"}},
	{0xff20e010, 0x25000000, 4, sveSigned, map[uint32]string{
		0: "cmpge", 1: "cmpgt", 0x200: "cmplt", 0x201: "cmple", 0x800: "cmpeq", 0x801: "cmpne"}},
	{0xff202010, 0x24200000, 4, sveUnsigned, map[uint32]string{0: "cmphs", 1: "cmphi", 0x200: "cmplo", 0x201: "cmpls"}},
	{0xff20e010, 0x65000000, 4, sveFloatTest, map[uint32]string{
		0x400: "fcmge", 0x401: "fcmgt", 0x600: "fcmeq", 0x601: "fcmne", 0xc00: "fcmuo", 0xc01: "facge",
		0xe01: "facgt"}},
	{0xff3fe010, 0x65100000, 4, sveFloatZero, map[uint32]string{
		0x200: "fcmge", 0x201: "fcmgt", 0x1200: "fcmlt", 0x1201: "fcmle", 0x2200: "fcmeq", 0x3200: "fcmne"}},
}
