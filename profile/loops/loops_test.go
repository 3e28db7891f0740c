package loops

import (
	"bufio"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/code"
	"github.com/gasm-profiler/gasm/profile/tally"
)

var (
	logLine  = regexp.MustCompile(`^\s*(\d*)\s+0x([0-9a-f]+):\s+([^;]*?)\s*(?:;(.*))?$`)
	logFrame = regexp.MustCompile(`^\s*; - (\S+)@(-?\d+)`)
	target   = regexp.MustCompile(`^0x([0-9a-f]+)$`)
)

// readLog reads a method in the form of --save-log.
func readLog(t testing.TB, name string) []code.Line {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name+".txt"))
	require.NoError(t, err)
	defer f.Close()
	var lines []code.Line
	for s := bufio.NewScanner(f); s.Scan(); {
		if m := logLine.FindStringSubmatch(s.Text()); m != nil {
			addr, err := strconv.ParseUint(m[2], 16, 64)
			require.NoError(t, err)
			n, _ := strconv.ParseInt(m[1], 10, 64)
			l := asm(addr, m[3])
			l.Counts[0] = n
			l.Comments = []string{m[4]}
			lines = append(lines, l)
		} else if m := logFrame.FindStringSubmatch(s.Text()); m != nil {
			last := &lines[len(lines)-1]
			bci, _ := strconv.Atoi(m[2])
			last.Frames, last.OwnFrames = append(last.Frames, printassembly.Frame{Method: m[1], BCI: bci}), true
		} else if c := strings.TrimSpace(s.Text()); strings.HasPrefix(c, ";") {
			lines[len(lines)-1].Comments = append(lines[len(lines)-1].Comments, c[1:])
		}
	}
	link(lines)
	return lines
}

// asm returns a line with an instruction of x86-64 or aarch64. Its length is not known.
func asm(addr uint64, text string) code.Line {
	l := code.Line{Instruction: printassembly.Instruction{Lo: addr, Text: text}, Counts: tally.Counts{0}}
	name, operands, _ := strings.Cut(text, " ")
	switch {
	case name == "jmp" || name == "b":
		l.Kind = disasm.Jump
	case strings.HasPrefix(name, "j") || strings.HasPrefix(name, "b.") || name == "cbz" || name == "cbnz":
		l.Kind = disasm.CondJump
	case name == "call" || name == "bl" || name == "blr":
		l.Kind = disasm.Call
	case name == "ret":
		l.Kind = disasm.Return
	}
	fields := strings.Fields(strings.ReplaceAll(operands, ",", " "))
	if l.Kind != disasm.Plain && len(fields) > 0 {
		if m := target.FindStringSubmatch(fields[len(fields)-1]); m != nil {
			l.Target, _ = strconv.ParseUint(m[1], 16, 64)
		}
	}
	return l
}

// link completes lines from the lines after them: it sets their end addresses, and the frames of instructions that have
// none.
func link(lines []code.Line) {
	for i := len(lines) - 1; i >= 0; i-- {
		l := &lines[i]
		l.Hi = l.Lo + 4
		if i+1 < len(lines) {
			l.Hi = lines[i+1].Lo
			if !l.OwnFrames {
				l.Frames = lines[i+1].Frames
			}
		}
	}
}

// assemble returns lines from a source in which each line is an instruction. A line that ends in a colon is a label; a
// number before an instruction is its number of samples.
func assemble(source string) []code.Line {
	const base, length = 0x1000, 4
	labels := map[string]string{}
	var texts []string
	for text := range strings.Lines(source) {
		if text = strings.TrimSpace(text); strings.HasSuffix(text, ":") {
			labels[strings.TrimSuffix(text, ":")] = "0x" + strconv.FormatUint(base+length*uint64(len(texts)), 16)
		} else if text != "" {
			texts = append(texts, text)
		}
	}
	var lines []code.Line
	for i, text := range texts {
		number, rest, _ := strings.Cut(text, " ")
		samples, err := strconv.ParseInt(number, 10, 64)
		if err == nil {
			text = strings.TrimSpace(rest)
		}
		text, comment, _ := strings.Cut(text, ";")
		text = strings.TrimSpace(text)
		words := strings.Fields(text)
		if to := labels[words[len(words)-1]]; to != "" {
			text = strings.TrimSuffix(text, words[len(words)-1]) + to
		}
		l := asm(base+length*uint64(i), text)
		l.Counts[0] = samples
		if comment != "" {
			l.Comments = []string{strings.TrimSpace(comment)}
		}
		lines = append(lines, l)
	}
	link(lines)
	return lines
}

// describe returns the facts about all loops of some code.
func describe(lines []code.Line) []*Facts {
	blocks := code.BlocksOf(lines, 1)
	all, _ := code.FindLoops(lines, blocks, 1)
	c := New(lines, blocks, all)
	var facts []*Facts
	for i := range all {
		facts = append(facts, c.Describe(i))
	}
	return facts
}

// hottestLoop returns the facts about the innermost loop with the most samples.
func hottestLoop(t testing.TB, name string) *Facts {
	t.Helper()
	lines := readLog(t, name)
	blocks := code.BlocksOf(lines, 1)
	all, whole := code.FindLoops(lines, blocks, 1)
	require.True(t, whole)
	c := New(lines, blocks, all)
	best, most := -1, int64(-1)
	for i := range all {
		if !c.outer[i] && all[i].Counts[0] > most {
			best, most = i, all[i].Counts[0]
		}
	}
	require.GreaterOrEqual(t, best, 0, "no loop")
	return c.Describe(best)
}

// The files are methods of testdata/Loops.java that Temurin 25 has compiled, with the samples of a run on a Zen 3.
func TestCompiledLoops(t *testing.T) {
	for _, c := range []struct{ name, words, limit string }{
		{"chase", "scalar, unrolled 8 times, 8 range checks, no polls, calls or spills",
			"no faster than 32 cycles a round: a chain of 8 loads; ports would allow 2.2 cycles"},
		{"sum", "scalar floating point, unrolled 16 times, no range checks, polls, calls or spills",
			"no faster than 48 cycles a round (32 on Zen 5 and Golden Cove): a chain of 16 vaddsd; ports would allow 8 cycles"},
		{"hash", "scalar, unrolled 8 times, no range checks, polls, calls or spills",
			"no faster than 24 cycles a round: a chain of 8 add, 8 shl and 8 sub; ports would allow 5.7 cycles"},
		{"hashInts", "scalar, unrolled 8 times, no range checks, polls, calls or spills",
			"no faster than 24 cycles a round: a chain of 8 add, 8 shl and 8 sub; ports would allow 4.2 cycles"},
		{"saxpy", "vectors of 256 bits (ymm), unrolled 8 times, no range checks, polls, calls or spills",
			"no faster than 5.3 cycles a round: 16 vector loads; the longest chain takes 1 cycle"},
		{"find", "scalar, 1 range check, 1 poll, no calls or spills",
			"no faster than 3 cycles a round (2 on Zen 5 and Golden Cove): a chain of 2 lea and 1 shr; ports would allow 1.5 cycles"},
		{"list", "scalar, 1 poll, no range checks, calls or spills",
			"no faster than 5 cycles a round: a chain of 1 lea and 1 load; ports would allow 1 cycle"},
		{"lcg", "scalar, no range checks, polls, calls or spills", // C2 has joined 16 rounds into one
			"no faster than 4 cycles a round: a chain of 1 imul and 1 add; ports would allow 0.5 cycles"},
		{"div", "scalar, unrolled 2 times, no range checks, polls, calls or spills", // no check for -1
			"on its usual path, no faster than 18 cycles a round: a chain of 2 cqto, 2 idiv and 2 add; ports would allow 8 cycles"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := hottestLoop(t, c.name)
			assert.Equal(t, c.words, f.Words())
			assert.Equal(t, c.limit, f.Limit())
		})
	}
}

// The facts about a loop include those of its inner loops, whose lines are read only once.
func TestNested(t *testing.T) {
	lines :=
		assemble("top:\n vaddps %ymm0,%ymm1,%ymm1\ninner:\n mov %rax,0x8(%rsp)\n addsd (%rsi),%xmm1\n call 0x1\n dec %ecx\n jne inner\n mov 0x8(%rsp),%rax\n test %eax,(%r10) ;{poll}\n dec %edx\n jne top\n")
	blocks := code.BlocksOf(lines, 1)
	all, _ := code.FindLoops(lines, blocks, 1)
	require.Len(t, all, 2)
	c := New(lines, blocks, all)
	inner := c.Describe(1)
	assert.Equal(t, [...]int{0, 1, 0, 1, 0}, [...]int{inner.Vector, inner.Calls, inner.Polls, inner.Spills, inner.Reloads})
	for _, b := range all[1].Blocks {
		for i := blocks[b].From; i < blocks[b].To; i++ {
			lines[i] = code.Line{}
		}
	}
	outer := c.Describe(0)
	assert.Equal(t, [...]int{256, 1, 1, 1, 1}, [...]int{outer.Vector, outer.Calls, outer.Polls, outer.Spills,
		outer.Reloads})
	assert.True(t, inner.Scalar && outer.Scalar)
	assert.False(t, outer.Innermost)

	// The width of some vectors of a loop is not known.
	sve :=
		assemble("top:\n add z0.s, z0.s, z1.s\ninner:\n add v0.4s, v0.4s, v1.4s\n subs w0, w0, w1\n b.ne inner\n subs w1, w1, w2\n b.ne top\n")
	facts := describe(sve)
	require.Len(t, facts, 2)
	assert.Equal(t, []int{-1, 128}, []int{facts[0].Vector, facts[1].Vector})
}
