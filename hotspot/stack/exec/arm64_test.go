package exec

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/disasm/arm64"
	"github.com/gasm-profiler/gasm/disasm/asm"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// An armBlob is a piece of code of a JVM on aarch64, with what HotSpot says about it.
type armBlob struct {
	file       string
	kind, name string
	method     Method
	lo         uint64
	code       []byte
}

// armBlobs returns the code in testdata; see the README there.
func armBlobs(t testing.TB) (all []armBlob) {
	t.Helper()
	eachLine(t, "testdata/*.hex.gz", func(file, line string) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		require.Len(t, f, 8)
		b := armBlob{file: file}
		_, err := fmt.Sscan(strings.Join(f[2:7], " "), &b.method.FrameSize, &b.method.FrameComplete, &b.lo,
			&b.method.VerifiedEntry, &b.method.OSREntry)
		require.NoError(t, err)
		b.kind, b.name, b.method.Native = f[0], f[1], f[0] == "native"
		b.code, err = hex.DecodeString(f[7])
		require.NoError(t, err)
		all = append(all, b)
	})
	return all
}

func (b *armBlob) arch() *Arch {
	if strings.HasSuffix(b.file, "jdk17-arm64.hex.gz") {
		return ARM64JDK17
	}
	return ARM64
}

// make returns the blob's Code.
func (b *armBlob) make() Code {
	switch b.kind {
	case "nmethod", "native":
		return b.arch().NMethod(b.lo, b.code, b.method)
	case "codelet":
		return b.arch().Codelet(b.lo, b.code, b.name)
	case "adapter":
		return b.arch().Adapter(b.lo, b.code)
	}
	return b.arch().Stub(b.lo, b.code, b.name)
}

// TestBlobsARM64 compares the frames of HotSpot's code with those of an emulator. The code is that of this package's
// testdata, where each piece has its name, and that of disasm/arm64's testdata.
func TestBlobsARM64(t *testing.T) {
	var ran emulated
	counts := map[string]*share{}
	for _, b := range armBlobs(t) {
		if counts[b.kind] == nil {
			counts[b.kind] = &share{}
		}
		c := b.make()
		table := Analyze(c)
		counts[b.kind].add(table, c)
		got := emulateAll(t, c, table, 5)
		ran.all, ran.known, ran.returns = ran.all+got.all, ran.known+got.known, ran.returns+got.returns
		require.False(t, t.Failed(), "%s %s at %#x", b.kind, b.name, b.lo)
	}
	for kind, n := range counts {
		t.Logf("%s: %+v", kind, *n)
		assert.Greater(t, float64(n.known), 0.8*float64(n.all), kind)
	}
	t.Logf("emulated %+v", ran)
	assert.Greater(t, float64(ran.known), 0.95*float64(ran.all))
}

// TestCompleteARM64 checks that the frames at all calls of methods have the size that HotSpot says.
func TestCompleteARM64(t *testing.T) {
	calls := 0
	for _, b := range armBlobs(t) {
		if b.kind != "nmethod" {
			continue
		}
		c := b.make()
		table := Analyze(c)
		for _, in := range disassemble(c) {
			if in.Kind == asm.Call {
				calls++
				frame, ok := table.At(in.Addr)
				assert.True(t, ok)
				assert.Equal(t, ARM64.Complete(b.method.FrameSize).CFA, frame.CFA, "%s: %#x: %s", b.name, in.Addr, in.Text)
			}
		}
	}
	assert.Greater(t, calls, 100)
}

// TestWritesARM64 compares the registers that instructions write with the first operand that disasm/arm64 prints, for
// each form of an instruction.
func TestWritesARM64(t *testing.T) {
	forms := gasmtest.Gunzip(t, "../../../disasm/arm64/testdata/forms.txt.gz")
	found := 0
	for line := range strings.Lines(string(forms)) {
		word, _, _ := strings.Cut(line, " ")
		x, err := strconv.ParseUint(word, 16, 32)
		require.NoError(t, err)
		code := binary.LittleEndian.AppendUint32(nil, uint32(x))
		decoded := arm64.Decode(code, testLo)[0]
		in := decodeARM64(code)
		if decoded.Bad {
			continue
		}
		text := parseARM64(decoded.Text)
		checkKindARM64(t, decoded, &in)
		wrote := in.writes
		switch in.op {
		case opMove, opLoad, opLea, opAlign, opAdd2, opConstant:
			wrote |= 1 << in.dst
		case opLoadPair:
			for _, r := range []reg{in.dst, in.dst2} {
				if r != noReg {
					wrote |= 1 << r
				}
			}
		}
		if in.update != noUpdate {
			wrote |= 1 << in.mem.base
		}
		want := writtenARM64(&text)
		if want != 0 {
			found++
		}
		if wrote != want {
			t.Errorf("%08x: %s: writes %x, want %x", x, decoded.Text, wrote, want)
		}
	}
	assert.Greater(t, found, 5_000)
}

// kindsARM64 are disasm's kinds for the operations after which execution may continue elsewhere.
var kindsARM64 = map[operation]asm.Kind{opJump: asm.Jump, opJumpOther: asm.Jump, opCondJump: asm.CondJump,
	opCall: asm.Call, opCallOther: asm.Call, opReturn: asm.Return}

func checkKindARM64(t *testing.T, want asm.Inst, in *inst) {
	t.Helper()
	if want.Bad || strings.HasPrefix(want.Text, "eret") || strings.HasPrefix(want.Text, "drps") {
		return
	}
	assert.Equal(t, want.Kind, kindsARM64[in.op], want.Text)
	if want.Target != 0 && in.op != opOther {
		assert.Equal(t, want.Target, uint64(int64(testLo+armLen)+int64(in.rel)), want.Text)
	}
}

// atomicARM64 are the instructions that load into their second operand.
var atomicARM64 = regexp.MustCompile(`^(ld(add|clr|eor|set|[su]max|[su]min)|swp)`)

// writtenARM64 returns the registers that an instruction writes according to its text.
func writtenARM64(t *armText) (want uint32) {
	bit := func(i int) uint32 {
		if n, _, ok := t.general(i); ok && n <= sp {
			return 1 << n
		}
		return 0
	}
	memory := slices.IndexFunc(t.operands, func(s string) bool { return s[0] == '[' })
	if memory >= 0 {
		base, _, ok := armRegister(strings.Split(strings.Trim(t.operands[memory], "[]!"), ",")[0])
		if ok && (strings.HasSuffix(t.operands[memory], "!") || len(t.operands) > memory+1) {
			want |= 1 << base
		}
	}
	switch {
	case strings.HasPrefix(t.name, "ldp"), strings.HasPrefix(t.name, "ldnp"), strings.HasPrefix(t.name,
		"ldxp"), strings.HasPrefix(t.name, "ldaxp"):
		want |= bit(0) | bit(1)
	case t.name == "svc", t.name == "hvc", t.name == "smc":
		want = 1 << 0
	case strings.HasPrefix(t.name, "casp"):
		want |= bit(0) | bit(1)
	case atomicARM64.MatchString(t.name):
		want |= bit(1)
	case strings.HasPrefix(t.name, "stx"), strings.HasPrefix(t.name, "stlx"): // the status
		want |= bit(0)
	case !notWriting.MatchString(t.name):
		want |= bit(0)
	}
	return want
}

// listedARM64 are the pieces of code of which TestFramesARM64 lists the frames. They are from the newest JDK.
var listedARM64 = []string{
	"nmethod Stacks::recurse", "nmethod java.lang.String::isLatin1", "native jdk.internal.vm.Continuation::enterSpecial",
	"stub StubRoutines::call_stub", "stub StubRoutines::forward_exception", "adapter I2C/C2I adapters",
	"blob ExceptionBlob", "blob SafepointBlob", "blob C1 Runtime handle_exception_from_callee_blob",
	"blob C1 Runtime slow_subtype_check_blob",
	"codelet method entry point (kind = zerolocals)", "codelet native method entry point (kind = native)",
	"codelet ireturn",
}

// TestFramesARM64 lists where the frames of some code are. Of consecutive instructions with the same frame, it lists
// the first.
func TestFramesARM64(t *testing.T) {
	var b strings.Builder
	blobs := armBlobs(t)
	for _, listed := range listedARM64 {
		i := slices.IndexFunc(blobs, func(b armBlob) bool {
			return b.kind+" "+b.name == listed && strings.HasSuffix(b.file, "jdk25-arm64.hex.gz")
		})
		require.GreaterOrEqual(t, i, 0, listed)
		fmt.Fprintf(&b, "%s\n", listed)
		c := blobs[i].make()
		table := Analyze(c)
		last := ""
		for _, in := range disassemble(c) {
			text := "-"
			if f, ok := table.At(in.Addr); ok {
				text = f.String()
			}
			if text != last {
				fmt.Fprintf(&b, "%6x: %-36s %s\n", in.Addr-c.Lo, parseARM64(in.Text), text)
			}
			last = text
		}
		b.WriteByte('\n')
	}
	gasmtest.Golden(t, "frames-arm64.golden", []byte(b.String()))
}

// TestNotEntrantARM64: HotSpot has overwritten the nop at the start of a method with a branch or an illegal
// instruction.
func TestNotEntrantARM64(t *testing.T) {
	const (
		b, dcps1           = 0x14000400, 0xd4bbd5a1 // the latter is NativeInstruction::not_entrant_illegal_instruction
		sub, stp, ret, nop = 0xd10083ff, 0xa9017bfd, 0xd65f03c0, 0xd503201f
	)
	for _, first := range []uint32{b, dcps1, nop} {
		var code []byte
		for _, x := range []uint32{first, sub, stp, ret} {
			code = binary.LittleEndian.AppendUint32(code, x)
		}
		table := Analyze(ARM64.NMethod(testLo, code, Method{VerifiedEntry: testLo, FrameSize: 32, FrameComplete: 12}))
		for i, want := range []string{"cfa=sp ra=x30", "cfa=sp ra=x30", "cfa=sp+32 ra=x30",
			"cfa=sp+32 ra=[cfa-8] x29=[cfa-16]"} {
			f, ok := table.At(testLo + uint64(4*i))
			assert.True(t, ok)
			assert.Equal(t, want, f.String(), "%#x: +%d", first, 4*i)
		}
	}
}

// TestLargeFrameARM64: the size of a large frame comes from a register, and signing the return address does not change
// it.
func TestLargeFrameARM64(t *testing.T) {
	var code []byte
	for _, x := range []uint32{
		0xd503233f, // paciasp
		0xa9bf7bfd, // stp x29, x30, [sp, #-16]!
		0xd2840008, // mov x8, #0x2000
		0xcb2863ff, // sub sp, sp, x8
		0x94000400, // bl
		0xd2840008, // mov x8, #0x2000
		0x8b2863ff, // add sp, sp, x8
		0xa8c17bfd, // ldp x29, x30, [sp], #16
		0xd50323bf, // autiasp
		0xd65f03c0, // ret
	} {
		code = binary.LittleEndian.AppendUint32(code, x)
	}
	c := ARM64.NMethod(testLo, code, Method{FrameSize: 0x2010, FrameComplete: 16})
	table := Analyze(c)
	emulateAll(t, c, table, 5)
	want := []string{"sp", "sp", "sp+16", "sp+16", "sp+8208", "sp+8208", "sp+8208", "sp+16", "sp", "sp"}
	for i := range want {
		f, ok := table.At(testLo + uint64(4*i))
		assert.True(t, ok)
		assert.Equal(t, want[i], ARM64.text(f.CFA), "+%d", 4*i)
	}
	f, ok := table.Return(testLo + 20)
	assert.True(t, ok)
	assert.Equal(t, ARM64.Complete(0x2010), f)
}

// TestCallersARM64 finds the caller with each of the frames that need no Table.
func TestCallersARM64(t *testing.T) {
	read := func(addr uint64) (uint64, bool) { return addr + 1, addr < 1<<32 }
	var r Registers
	r.Set(int(sp), 0x1000)
	r.Set(x30, 0x77)
	for _, c := range []struct {
		frame      Frame
		pc, sp, fp uint64
	}{
		{ARM64.NoFrame(), 0x77, 0x1000, 0x2000},
		{ARM64.Complete(48), 0x1029, 0x1030, 0x1021},
		{ARM64.Interpreted(), 0x2009, 0x1ff9, 0x2001},
		{ARM64.ByFramePointer(), 0x2009, 0x2010, 0x2001},
	} {
		r.Set(x29, 0x2000)
		caller, ok := c.frame.Caller(&r, read)
		assert.True(t, ok, c.frame)
		assert.Equal(t, []uint64{c.pc, c.sp, c.fp}, []uint64{caller.PC, caller.R[sp], caller.R[x29]}, c.frame.String())
	}
	frame := ARM64.NoFrame()
	_, ok := frame.Caller(&Registers{}, read)
	assert.False(t, ok)
}

// TestRandomARM64 executes random words, and instructions of HotSpot's code in random order.
func TestRandomARM64(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	blobs := armBlobs(t)
	for i := range 40 {
		var code []byte
		for range 100 {
			if i%2 == 0 {
				code = binary.LittleEndian.AppendUint32(code, random.Uint32())
				continue
			}
			from := blobs[random.IntN(len(blobs))].code
			at := random.IntN(len(from)/armLen) * armLen
			code = append(code, from[at:at+armLen]...)
		}
		code = code[:len(code)-i%armLen]
		m := Method{VerifiedEntry: testLo + uint64(random.IntN(400)), OSREntry: testLo + uint64(random.IntN(400)),
			FrameSize:     random.IntN(1 << 20),
			FrameComplete: random.IntN(200) - 1}
		for _, c := range []Code{ARM64.NMethod(testLo, code, m), ARM64.Adapter(testLo, code),
			ARM64.Stub(testLo, code, "SafepointBlob"),
			ARM64.Codelet(testLo, code, ""), ARM64JDK17.Codelet(testLo, code, "method entry point")} {
			checkTable(t, ARM64, Analyze(c))
		}
	}
}
