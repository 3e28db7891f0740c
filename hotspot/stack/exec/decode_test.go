package exec

import (
	"encoding/hex"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/disasm/amd64"
	"github.com/gasm-profiler/gasm/disasm/asm"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// A blob is a piece of HotSpot's code.
type blob struct {
	nmethod bool
	lo      uint64
	code    []byte
}

// blobs returns the code in the testdata of disasm/amd64: nmethods, stubs, adapters and codelets.
func blobs(t testing.TB) (all []blob) {
	t.Helper()
	eachLine(t, "../../../disasm/amd64/testdata/*.hex.gz", func(_, line string) {
		words := strings.Fields(line) // "nmethod 7f0523ef2180 55488b…"
		require.Len(t, words, 3)
		lo, err := strconv.ParseUint(words[1], 16, 64)
		require.NoError(t, err)
		code, err := hex.DecodeString(words[2])
		require.NoError(t, err)
		all = append(all, blob{words[0] == "nmethod", lo, code})
	})
	return all
}

// eachLine calls see for each line of the compressed files that match a pattern. It fails the test if no file
// matches.
func eachLine(t testing.TB, pattern string, see func(file, line string)) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		for line := range strings.Lines(string(gasmtest.Gunzip(t, file))) {
			see(file, line)
		}
	}
}

// TestLengths compares lengths and kinds of all instructions with those of disasm/amd64.
func TestLengths(t *testing.T) {
	insts := 0
	for _, b := range blobs(t) {
		for _, want := range amd64.Decode(asm.ATT, b.code, b.lo) {
			insts++
			compareInst(t, want, b.code[want.Addr-b.lo:])
		}
	}
	t.Logf("%d instructions", insts)
	assert.Greater(t, insts, 100_000)
}

// TestRandomLengths does the same as TestLengths with random bytes after prefixes and opcode escapes.
func TestRandomLengths(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	starts := []string{"", "48", "41", "66", "f3", "f2", "0f", "480f", "f30f", "660f", "f20f",
		"0f38", "660f38", "f2480f38", "0f3a", "660f3a",
		"c5f8", "c4e178", "c4e2f9", "c4e37d", "62f17c48", "62f2fd48", "62f37d28", "62f57c08", "6766", "64", "4c0f",
		"d5", "66d5", "d598", "d519", "62f47c08", "62f47d08", "62f4ec1c", "62dcb410", "62e27c08", "62da6d00", "62f77f08"}
	for i := range 70_000 {
		start := starts[i%len(starts)]
		code, err := hex.DecodeString(start)
		require.NoError(t, err)
		for len(code) < 24 {
			code = append(code, byte(random.Uint32()))
		}
		compareInst(t, amd64.Decode(asm.ATT, code, 0x1000)[0], code)
	}
}

// compareInst compares the instruction at the start of code with what disasm/amd64 says.
func compareInst(t *testing.T, want asm.Inst, code []byte) {
	t.Helper()
	// objdump decodes moves of the 386's test registers, and takes an fwait for a part of the x87 instruction after
	// it.
	if want.Bad || prefixAlone(want) || strings.Contains(want.Text, "%tr") || code[0] == 0x9b {
		return
	}
	got := decode(code)
	kind := map[operation]asm.Kind{opCall: asm.Call, opCallOther: asm.Call, opJump: asm.Jump, opJumpOther: asm.Jump,
		opCondJump: asm.CondJump, opReturn: asm.Return}[got.op]
	if got.op == opStop || traps.MatchString(want.Text) {
		kind = want.Kind
	}
	if int(got.len) != want.Len || kind != want.Kind {
		t.Errorf("% x: %s: %d bytes, kind %d, want %d, %d",
			code[:min(len(code), 15)], want.Text, got.len, kind, want.Len, want.Kind)
	}
}

// traps are instructions whose kind does not matter, because HotSpot's code does not have them, or ends there.
var traps = regexp.MustCompile(`\b(hlt|ud2|brk|udf|dcps1|int3|xbegin|into|int1|sysexit\w*|iret\w*|int)\b`)

// prefixWords are the prefixes that disasm/amd64 prints as words.
const prefixWords = " data16 addr32 lock rep repz repnz es cs ss ds fs gs bnd notrack "

// prefixAlone reports whether an instruction consists only of prefixes.
func prefixAlone(in asm.Inst) bool {
	for word := range strings.FieldsSeq(in.Text) {
		switch {
		case strings.HasPrefix(word, "rex"), strings.Contains(prefixWords, " "+word+" "):
		default:
			return false
		}
	}
	return true
}

var (
	generalName = regexp.MustCompile(`^(?:[re]?(ax|cx|dx|bx|sp|bp|si|di)|([abcd])[lh]|(sp|bp|si|di)l|r(\d+)[bwd]?)$`)
	generals    = []string{"ax", "cx", "dx", "bx", "sp", "bp", "si", "di"}

	// readOnly are instructions that do not write their first operand.
	readOnly = regexp.MustCompile(`^(cmp|test|bt|push|call|jmp|j\w+|nop\w*|prefetch\w*|` +
		`i?mul|i?div|loop\w*|outs|verr|verw|l[gil]dt|lmsw|ret|out|` +
		`umwait|tpause|xrstor\w*|fxrstor\w*|wr[fg]sbase|incssp\w|ptwrite|rdpmc|invpcid|endbr64|u?comis[sd])$`)
	// implied are instructions that write registers that are not their first operand.
	implied = regexp.MustCompile(`mul|div|cdq|cqo|movs|stos|lods|cmps|scas|cpuid|rdtsc|xgetbv|xchg|xadd|in|out|loop|jrcxz|pcmp[ei]stri`)
)

// general returns the number of the general register that has the given name in Intel syntax.
func general(text string) (reg, bool) {
	m := generalName.FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	if m[4] != "" {
		n, _ := strconv.Atoi(m[4])
		return reg(n), true
	}
	if m[2] != "" {
		return reg(slices.Index(generals, m[2]+"x")), true
	}
	return reg(slices.Index(generals, m[1]+m[3])), true
}

// TestWrites compares the registers that instructions write with the first operand that disasm/amd64 prints.
func TestWrites(t *testing.T) {
	found := 0
	for _, b := range blobs(t) {
		for _, want := range amd64.Decode(asm.Intel, b.code, b.lo) {
			words := strings.Fields(want.Text)
			for len(words) > 1 && (strings.HasPrefix(words[0], "rex") || strings.Contains(prefixWords, " "+words[0]+" ")) {
				words = words[1:]
			}
			if want.Bad || len(words) < 2 || words[1] == "ax,ax" { // a nop
				continue
			}
			operand, _, _ := strings.Cut(words[1], ",")
			r, ok := general(operand)
			in := decode(b.code[want.Addr-b.lo:])
			wrote := in.writes>>r&1 != 0
			switch in.op {
			case opMove, opLoad, opLea, opAdd, opAlign, opPop:
				wrote = in.dst == r
			case opSwap:
				wrote = in.dst == r || in.src == r
			case opSwapMem:
				continue
			}
			code := b.code[want.Addr-b.lo:][:want.Len]
			if r >= tracked {
				continue
			}
			if ok && !readOnly.MatchString(words[0]) || strings.HasPrefix(words[0], "imul") && strings.Contains(words[1], ",") {
				if found++; !wrote {
					t.Errorf("% x: %s: the register is not written", code, want.Text)
				}
			} else if in.op == opOther && in.writes != 0 && !implied.MatchString(words[0]) {
				t.Errorf("% x: %s: writes %x", code, want.Text, in.writes)
			}
		}
	}
	assert.Greater(t, found, 50_000)
}

// TestImplied checks instructions that write registers that are not among their operands.
func TestImplied(t *testing.T) {
	check := func(want uint32, code string) {
		t.Helper()
		b, err := hex.DecodeString(code)
		require.NoError(t, err)
		in := decode(b)
		assert.Equal(t, want, in.writes, code)
		assert.EqualValues(t, len(b), in.len, code)
	}
	check(1<<rcx, "660f3a61030c")              // pcmpestri
	check(1<<rcx, "660f3a63030c")              // pcmpistri
	check(1<<rcx, "c4e37961030c")              // vpcmpestri
	check(1<<rcx, "c4e37963030c")              // vpcmpistri
	check(0, "660f3a60030c")                   // pcmpestrm
	check(1<<rax|1<<rdx, "0fc70e")             // cmpxchg8b
	check(1<<rax|1<<rbx|1<<rcx|1<<rdx, "0fa2") // cpuid
	check(1<<rax|1<<rdx, "48f7e3")             // mul
	check(1<<rsi|1<<rdi|1<<rcx, "f348a5")      // rep movs
}
