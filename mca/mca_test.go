package mca

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/internal/fix"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/code"
	"github.com/gasm-profiler/gasm/profile/loops"
	"github.com/gasm-profiler/gasm/profile/tally"
)

// sum is a loop that adds up an array: vaddsd 0x10(%rsi,%r9,8),%xmm0,%xmm0; inc %r9d; cmp %r11d,%r9d; jl.
var sum = []byte{0xc4, 0xa1, 0x7b, 0x58, 0x44, 0xce, 0x10, 0x41, 0xff, 0xc1, 0x45, 0x39, 0xd9, 0x7c, 0xf1}

// facts returns what is known about a loop.
func facts(t *testing.T, machineCode []byte, syntax disasm.Syntax) *loops.Facts {
	t.Helper()
	insts, err := disasm.Decode(disasm.AMD64, syntax, machineCode, 0x1000)
	require.NoError(t, err)
	lines := []code.Line{{Instruction: printassembly.Instruction{Lo: 0xffc, Hi: 0x1000,
		Text: map[disasm.Syntax]string{disasm.ATT: "mov %eax,%eax", disasm.Intel: "mov eax,eax"}[syntax]},
		Counts: tally.Counts{0}}}
	for _, in := range insts {
		lines = append(lines, code.Line{Counts: tally.Counts{1},
			Instruction: printassembly.Instruction{Lo: in.Addr, Hi: in.Addr + uint64(in.Len), Text: in.Text, Kind: in.Kind,
				Target: in.Target, Bad: in.Bad}})
	}
	blocks := code.BlocksOf(lines, 1)
	all, _ := code.FindLoops(lines, blocks, 1)
	require.Len(t, all, 1)
	return loops.New(lines, blocks, all).Describe(0)
}

// fake returns a tool that is a script.
func fake(t *testing.T, name, script string) *Tool {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o755))
	return &Tool{name: name, path: path}
}

func TestFind(t *testing.T) {
	for _, c := range []string{"", "perf", "llvm-mca:", "llvm-mca:-o=/etc/passwd", "osaca:a b", "auto,osaca"} {
		_, err := Find(c)
		assert.ErrorAs(t, err, new(*ChoiceError), c)
	}
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	for _, c := range []string{Auto, "llvm-mca", "osaca:ZEN3"} {
		_, err := Find(c)
		assert.ErrorAs(t, err, new(*fix.Error), c)
		assert.NotEmpty(t, fix.Of(err), c)
	}
	program := func(name string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), 0o755))
	}
	found := func(choice, want string) {
		t.Helper()
		tool, err := Find(choice)
		require.NoError(t, err)
		assert.Equal(t, want, tool.String())
	}
	program("osaca")
	found(Auto, "osaca")
	found("osaca:ZEN3", "osaca --arch ZEN3")
	program("llvm-mca-14")
	found(Auto, "llvm-mca -mcpu=native")
	found("auto:znver3", "llvm-mca -mcpu=znver3")
	program("llvm-mca-9")
	program("llvm-mca-19")
	tool, err := Find("llvm-mca")
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(dir, "llvm-mca-19"), tool.path)
}

func TestVerdicts(t *testing.T) {
	llvm, err := os.ReadFile("testdata/llvm-mca.txt")
	require.NoError(t, err)
	assert.Equal(t, "48.1 cycles a round; 8 by ports alone; 96% waits for registers", llvmVerdict(string(llvm)))
	osaca, err := os.ReadFile("testdata/osaca.txt")
	require.NoError(t, err)
	assert.Equal(t, "ports 8 cycles a round; longest carried chain 48: 16 instructions, from vaddsd 0x10(%rsi,%r9,8),%xmm0,%xmm0", osacaVerdict(string(osaca)))
	short := shortened(string(osaca))
	assert.NotContains(t, short, "Timestamp")
	assert.NotContains(t, short, "Analyzed file")
	assert.True(t, strings.HasPrefix(short, "Architecture:       ZEN3\n\nCombined"), short)
	for _, text := range []string{"", "Total Cycles: 99999999999999999999999999999x", "1 2 3", "\x1b[31m"} {
		_, _, _ = llvmVerdict(text), osacaVerdict(text), shortened(text)
	}
}

// Whatever a program prints, its verdict is one line, no longer than the output and some words.
func FuzzVerdict(f *testing.F) {
	for _, name := range []string{"llvm-mca.txt", "osaca.txt"} {
		text, err := os.ReadFile("testdata/" + name)
		require.NoError(f, err)
		f.Add(string(text))
	}
	f.Add("Total Cycles: 1e999\nBlock RThroughput: ...\n - Register Dependencies [ 1.2.3% ]")
	f.Add("1 2 3\n1 | NaN | \x1b[31m | [1, 2]\n 1 | 9999999999999999999999 | x | [,]\n")
	f.Fuzz(func(t *testing.T, output string) {
		for _, verdict := range []string{llvmVerdict(output), osacaVerdict(output)} {
			assert.LessOrEqual(t, len(verdict), len(output)+500)
			assert.NotContains(t, verdict, "\n")
		}
		assert.LessOrEqual(t, len(shortened(output)), 2*len(output)+2)
	})
}

// What a program does wrong is part of the answer, and each loop has one.
func TestAnswers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, tool, script, verdict, text string }{
		{"good", "llvm-mca", "cat >/dev/null; echo 'Total Cycles:      309'", "3 cycles a round", "Total Cycles:      309"},
		{"strange", "llvm-mca", "cat; printf 'a\\tb'", "an answer that gasm does not know",
			"gasm_top:\n vaddsd 0x10(%rsi,%r9,8),%xmm0,%xmm0\n inc    %r9d\n cmp    %r11d,%r9d\n jl gasm_top\na b"},
		{"fails", "llvm-mca", "echo no such processor >&2; exit 3", "no answer: exit status 3", "no such processor"},
		{"reads nothing", "llvm-mca", "exec <&-; echo 'Total Cycles:      100'", "1 cycles a round",
			"Total Cycles:      100"},
		{"prints without end", "llvm-mca", "cat >/dev/null; head -c 300000 /dev/zero | tr '\\0' x",
			"an answer that gasm does not know", strings.Repeat("x", maxOutput)},
		{"limits", "llvm-mca", "cat >/dev/null; ulimit -v; ulimit -t; echo $OMP_NUM_THREADS",
			"an answer that gasm does not know", "4194304\n60\n1"},
		{"osaca", "osaca", `for f; do :; done; grep -c vaddsd "$f"`, "an answer that gasm does not know", "1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := facts(t, sum, disasm.ATT)
			fake(t, c.tool, c.script).askAll(t.Context(), []*loops.Facts{f, facts(t, sum, disasm.ATT)})
			require.NotNil(t, f.Modelled)
			assert.Equal(t, c.verdict, f.Modelled.Verdict)
			assert.True(t, c.text == f.Modelled.Text, "%d bytes: %.200q", len(f.Modelled.Text), f.Modelled.Text)
		})
	}
}

// A signal ends the program, and all loops have an answer.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tool := fake(t, "llvm-mca", "echo >"+dir+"/$$; sleep 1000")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		for { // until the first program runs
			if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	all := []*loops.Facts{facts(t, sum, disasm.ATT), facts(t, sum, disasm.ATT), facts(t, sum, disasm.ATT),
		facts(t, sum, disasm.ATT)}
	tool.askAll(ctx, all)
	for _, f := range all {
		assert.Equal(t, "no answer, because of a signal", f.Modelled.Verdict)
	}
}

// The real programs take the loop in both syntaxes.
func TestLLVM(t *testing.T) {
	t.Parallel()
	gasmtest.NeedTool(t, "llvm-mca", "apt install llvm")
	tool, err := Find("llvm-mca:znver3")
	require.NoError(t, err)
	for _, syntax := range []disasm.Syntax{disasm.ATT, disasm.Intel} {
		f := facts(t, sum, syntax)
		tool.askAll(t.Context(), []*loops.Facts{f})
		assert.Regexp(t, `^3(\.\d)? cycles a round; .* by ports alone; \d+% waits for registers$`, f.Modelled.Verdict)
		assert.Contains(t, f.Modelled.Text, "Critical sequence")
	}
}

func TestOSACA(t *testing.T) {
	t.Parallel()
	gasmtest.NeedTool(t, "osaca", "pip install osaca")
	tool, err := Find("osaca:ZEN3")
	require.NoError(t, err)
	f := facts(t, sum, disasm.ATT)
	tool.askAll(t.Context(), []*loops.Facts{f})
	assert.Regexp(t, `longest carried chain 3: 1 instruction, from vaddsd`, f.Modelled.Verdict)
}
