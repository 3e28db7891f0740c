package loops

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/code"
	"github.com/gasm-profiler/gasm/profile/tally"
)

// The bound of a loop is at most the number of cycles that llvm-mca computes, and equal to it if a chain of additions
// limits the loop. llvm-mca's loads take a cycle longer than those in our table.
func TestAgainstLLVM(t *testing.T) {
	t.Parallel()
	llvm := gasmtest.NeedTool(t, "llvm-mca", "apt install llvm")
	total := regexp.MustCompile(`(?m)^Total Cycles:\s+(\d+)`)
	const rounds = 100
	for _, c := range []struct {
		name string
		same bool // on znver3
	}{{"chase", false}, {"sum", true}, {"hash", true}, {"saxpy", false}, {"list", false}, {"lcg", true}, {"div", false}} {
		f := hottestLoop(t, c.name)
		for _, cpu := range []string{"znver3", "skylake"} {
			cmd := exec.Command(llvm, "-mtriple=x86_64", "-mcpu="+cpu, "-iterations="+strconv.Itoa(rounds))
			cmd.Stdin = strings.NewReader(f.Assembly())
			out, err := cmd.Output()
			require.NoError(t, err)
			m := total.FindSubmatch(out)
			require.NotNil(t, m, "%s", out)
			cycles, err := strconv.ParseFloat(string(m[1]), 64)
			require.NoError(t, err)
			cycles /= rounds
			ours := max(f.Bound.Cycles, f.Bound.Ports)
			assert.LessOrEqual(t, ours, cycles, "%s on %s", c.name, cpu)
			if c.same && cpu == "znver3" {
				assert.InDelta(t, cycles, ours, 0.5, "%s: the first round takes a little longer", c.name)
			}
		}
	}
}

// Large loops and many paths take a bounded time. If they did not, the test would run into its time limit.
func TestLarge(t *testing.T) {
	t.Parallel()
	straight := "top:\n" + strings.Repeat(" imul %ebx,%eax\n add (%rsi),%eax\n", maxBoundLines/2-1) + " jmp top\n"
	facts := describe(assemble(straight))
	assert.Equal(t, float64(4*(maxBoundLines/2-1)), facts[0].Bound.Cycles)
	assert.Empty(t, facts[0].Assembly(), "nobody reads that much")

	larger := "top:\n" + strings.Repeat(" imul %ebx,%eax\n", maxBoundLines) + " jmp top\n"
	assert.Equal(t, "no bound: it is too large", describe(assemble(larger))[0].Limit())

	// Each diamond doubles the number of paths.
	var diamonds strings.Builder
	diamonds.WriteString("top:\n")
	for i := range 600 {
		fmt.Fprintf(&diamonds, " test %%ecx,%%ecx\n je other%d\n imul %%ebx,%%eax\n jmp end%d\nother%d:\n imul %%edx,%%eax\nend%d:\n", i, i, i, i)
	}
	diamonds.WriteString(" jmp top\n")
	assert.Equal(t, "no faster than 1800 cycles a round: a chain of 600 imul; ports would allow 200 cycles",
		describe(assemble(diamonds.String()))[0].Limit())

	// All branches stay open until the end.
	var open strings.Builder
	open.WriteString("top:\n")
	for i := range maxBoundBlocks/2 - 2 {
		fmt.Fprintf(&open, " test %%ecx,%%ecx\n je other%d\n", i)
	}
	open.WriteString(" jmp top\n")
	for i := range maxBoundBlocks/2 - 2 {
		fmt.Fprintf(&open, "other%d:\n imul %%ebx,%%eax\n jmp top\n", i)
	}
	assert.Equal(t, "no faster than 0.3 cycles a round: 3 instructions; no chain",
		describe(assemble(open.String()))[0].Limit())
}

// TestWorstCycle compares the cycle with the largest mean to the means of all cycles, in small graphs.
func TestWorstCycle(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		const n = 5 // registers that matter
		d := new(delays)
		for to := range d {
			for from := range d[to] {
				d[to][from] = never
			}
		}
		for to := range n {
			for from := range n {
				if random.IntN(3) == 0 {
					d[to][from] = int32(random.IntN(20))
				}
			}
		}
		best := -1.0
		var walk func(path []int, cycles int32)
		walk = func(path []int, cycles int32) {
			last := path[len(path)-1]
			for to := range n {
				w := d[to][last]
				if w == never {
					continue
				}
				if to == path[0] {
					best = max(best, float64(cycles+w)/float64(len(path)))
				} else if to > path[0] && !slices.Contains(path, to) {
					walk(append(path[:len(path):len(path)], to), cycles+w)
				}
			}
		}
		for from := range n {
			walk([]int{from}, 0)
		}
		cycle, cycles := worst(d)
		if best <= 0 {
			assert.Empty(t, cycle)
			continue
		}
		require.NotEmpty(t, cycle)
		assert.InDelta(t, best, mean(cycle, cycles), 1e-9)
	}
}

// FuzzLoops describes the loops of any bytes, as code of x86-64 in both syntaxes and of aarch64. Both syntaxes must
// lead to the same bounds.
func FuzzLoops(f *testing.F) {
	f.Add([]byte{0x48, 0x8b, 0x40, 0x10, 0x48, 0x85, 0xc0, 0x75, 0xf7}, uint16(3))
	f.Add([]byte{0xc5, 0xfb, 0x58, 0x06, 0xff, 0xc1, 0x39, 0xd1, 0x7c, 0xf6}, uint16(500))
	f.Add([]byte{0x48, 0xf7, 0xe3, 0x8b, 0x04, 0x88, 0x74, 0xf8, 0xeb, 0xf6}, uint16(0))
	f.Fuzz(func(t *testing.T, bytes []byte, samples uint16) {
		var bounds [][]*Facts
		for _, arch := range []struct {
			arch   disasm.Arch
			syntax disasm.Syntax
		}{{disasm.AMD64, disasm.ATT}, {disasm.AMD64, disasm.Intel}, {disasm.ARM64, disasm.ATT}} {
			insts, err := disasm.Decode(arch.arch, arch.syntax, bytes, 0x1000)
			require.NoError(t, err)
			lines := make([]code.Line, len(insts))
			for i, in := range insts {
				lines[i] = code.Line{Counts: tally.Counts{int64(samples) * int64(i%7)},
					Instruction: printassembly.Instruction{Lo: in.Addr, Hi: in.Addr + uint64(in.Len), Text: in.Text, Kind: in.Kind,
						Target: in.Target, Bad: in.Bad}}
			}
			facts := describe(lines)
			for _, fact := range facts {
				_, _, _ = fact.Words(), fact.Limit(), fact.Assembly()
			}
			bounds = append(bounds, facts)
		}
		require.Len(t, bounds[1], len(bounds[0]))
		for i, att := range bounds[0] {
			assert.Equal(t, withoutNames(att.Bound), withoutNames(bounds[1][i].Bound))
		}
	})
}

// If the only instructions that write the loop's counter have no operands, it is unknown by how much the counter
// changes.
func TestCounterWithoutOperands(t *testing.T) {
	for counter, names := range map[string][]string{"%rax": {"cltq", "cdqe", "cwtl", "cwde"},
		"%rdx": {"cltd", "cdq", "cqto", "cqo"}} {
		for _, name := range names {
			facts := describe(assemble("top:\n " + name + "\n cmp %rcx," + counter + "\n jl top\n"))
			require.Len(t, facts, 1)
			assert.Zero(t, facts[0].Unrolled, name)
		}
	}
}

// The memory for long chains of long names does not grow with the length of the names. Loops that are too large are
// skipped.
func TestLongChains(t *testing.T) {
	frames := slices.Repeat([]printassembly.Frame{{Method: strings.Repeat("n", 1000)}}, 100)
	of := func(adds int) []*Facts {
		lines := assemble("top:\n" + strings.Repeat(" add (%rsi),%eax\n", adds) + " add $100,%ecx\n cmp %edx,%ecx\n jl top\n")
		for i := range adds {
			lines[i].Frames = slices.Clone(frames)
		}
		return describe(lines)
	}
	used := func(adds int) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		assert.Equal(t, adds, of(adds)[0].Unrolled)
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	assert.Less(t, used(100), uint64(5<<20))

	facts := describe(assemble("top:\n" + strings.Repeat(" nop\n", maxBoundLines-2) +
		" inc %ecx\n cmp %edx,%ecx\n jl top\n"))
	assert.Zero(t, facts[0].Unrolled)
}

// FuzzText describes loops of instructions with any text.
func FuzzText(f *testing.F) {
	f.Add("mov 0x10(%rax),%rax", "vaddsd %xmm1{%k1}{z},%xmm2,%xmm0")
	f.Add("lea [rax+rbx*8-0x10],rcx", "shld $1,%eax")
	f.Add("imul", "((,")
	f.Add("cltq", "cmp %rcx,%rax")
	f.Fuzz(func(_ *testing.T, first, second string) {
		for _, fact := range describe(lines(first, second, "cmp %eax,%ebx", "jl 0x1000")) {
			_, _, _ = fact.Words(), fact.Limit(), fact.Assembly()
		}
	})
}

// lines returns code with these instructions.
func lines(texts ...string) []code.Line {
	var all []code.Line
	for i, text := range texts {
		all = append(all, asm(0x1000+4*uint64(i), text))
	}
	link(all)
	return all
}
