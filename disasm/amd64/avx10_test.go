package amd64

import "testing"

// TestAVX10 checks instructions that are new in AVX10.2: on bfloat16 and 8-bit floating-point numbers, conversions that
// saturate, and more.
func TestAVX10(t *testing.T) {
	check := checker(t)
	check("6205154058f4", "vaddbf16 %zmm28,%zmm29,%zmm30", "vaddbf16 zmm30,zmm29,zmm28")
	check("62061440b8f4", "vfmadd231bf16 %zmm28,%zmm29,%zmm30", "vfmadd231bf16 zmm30,zmm29,zmm28")
	check("62037f4826f57b", "vgetmantbf16 $0x7b,%zmm29,%zmm30", "vgetmantbf16 zmm30,zmm29,0x7b")
	check("62931740c2ec7b", "vcmpbf16 $0x7b,%zmm28,%zmm29,%k5", "vcmpbf16 k5,zmm29,zmm28,0x7b")
	check("62b37f4f66acf5000000107b",
		"vfpclassbf16z $0x7b,0x10000000(%rbp,%r14,8),%k5{%k7}",
		"vfpclassbf16 k5{k7},ZMMWORD PTR [rbp+r14*8+0x10000000],0x7b")
	check("62057e4874f5", "vcvtph2bf8s %zmm29,%ymm30", "vcvtph2bf8s ymm30,zmm29")
	check("6205144018f4", "vcvtbiasph2hf8 %zmm28,%zmm29,%ymm30", "vcvtbiasph2hf8 ymm30,zmm29,zmm28")
	check("6205174018f4", "vcvt2ph2hf8 %zmm28,%zmm29,%zmm30", "vcvt2ph2hf8 zmm30,zmm29,zmm28")
	check("620514401bf4", "vcvtbiasph2hf8s %zmm28,%zmm29,%ymm30", "vcvtbiasph2hf8s ymm30,zmm29,zmm28")
	check("620517401bf4", "vcvt2ph2hf8s %zmm28,%zmm29,%zmm30", "vcvt2ph2hf8s zmm30,zmm29,zmm28")
	check("62057f481ef5", "vcvthf82ph %ymm29,%zmm30", "vcvthf82ph zmm30,ymm29")
	check("6202144052f4", "vdpphps %zmm28,%zmm29,%zmm30", "vdpphps zmm30,zmm29,zmm28")
	check("6203144052f47b", "vminmaxph $0x7b,%zmm28,%zmm29,%zmm30", "vminmaxph zmm30,zmm29,zmm28,0x7b")
	check("62057f4868f5", "vcvttbf162ibs %zmm29,%zmm30", "vcvttbf162ibs zmm30,zmm29")
	check("6205fc486df5", "vcvttpd2dqs %zmm29,%ymm30", "vcvttpd2dqs ymm30,zmm29")
	check("62057c486bf5", "vcvtph2iubs %zmm29,%zmm30", "vcvtph2iubs zmm30,zmm29")
	check("62057d486cf5", "vcvttps2uqqs %ymm29,%zmm30", "vcvttps2uqqs zmm30,ymm29")
	check("62257e4f6fb4f500000010",
		"vmovrsd 0x10000000(%rbp,%r14,8),%zmm30{%k7}",
		"vmovrsd zmm30{k7},ZMMWORD PTR [rbp+r14*8+0x10000000]")
	check("6203140052f47b", "vminmaxph $0x7b,%xmm28,%xmm29,%xmm30", "vminmaxph xmm30,xmm29,xmm28,0x7b")
	check("62017e087ef5", "vmovd  %xmm29,%xmm30", "vmovd  xmm30,xmm29")
	check("62057e086ef5", "vmovw  %xmm29,%xmm30", "vmovw  xmm30,xmm29")
	check("6201ff082ff5", "vcomxsd %xmm29,%xmm30", "vcomxsd xmm30,xmm29")
	check("62057e082ef5", "vucomxsh %xmm29,%xmm30", "vucomxsh xmm30,xmm29")
	check("62d3562842f67b", "{evex} vmpsadbw $0x7b,%ymm14,%ymm5,%ymm6", "{evex} vmpsadbw ymm6,ymm5,ymm14,0x7b")
}
