package safepoints

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/printassembly"
)

var kinds = map[string]disasm.Kind{"op": disasm.Plain, "nop": disasm.Plain, "call": disasm.Call, "jmp": disasm.Jump,
	"jcc": disasm.CondJump, "ret": disasm.Return}

// parse reads a method, an instruction a line: its address, its kind and the target of a jump, then the chain of its
// record, and its comment.
//
//	3 jcc 9
//	4 call | T.b@1 < T.a@7 ; {runtime_call UncommonTrapBlob}
func parse(t testing.TB, text string) (insts []printassembly.Instruction) {
	t.Helper()
	for line := range strings.Lines(strings.TrimSpace(text)) {
		line, note, _ := strings.Cut(strings.TrimSpace(line), ";")
		line, chain, _ := strings.Cut(line, "|")
		words := strings.Fields(line)
		at, err := strconv.ParseUint(words[0], 10, 64)
		require.NoError(t, err)
		in := printassembly.Instruction{Lo: at, Hi: at + 1, Kind: kinds[words[1]], Text: words[1]}
		if len(words) > 2 {
			in.Target, err = strconv.ParseUint(words[2], 10, 64)
			require.NoError(t, err)
		}
		if note = strings.TrimSpace(note); note != "" {
			in.Comments = []string{note}
		}
		if chain = strings.TrimSpace(chain); chain != "" {
			in.OwnFrames = true
			for f := range strings.SplitSeq(chain, " < ") {
				method, bci, _ := strings.Cut(f, "@")
				n, err := strconv.Atoi(bci)
				require.NoError(t, err)
				in.Frames = append(in.Frames, printassembly.Frame{Method: method, BCI: n})
			}
		}
		insts = append(insts, in)
	}
	return insts
}

// show writes the frames of instructions, with marks: ~b@~1 < a@7.
func show(in *printassembly.Instruction) string {
	var s []string
	for _, f := range in.Frames {
		text := f.Name() + "@"
		if f.Guess != printassembly.Certain {
			text += "~"
		}
		s = append(s, text+strconv.Itoa(f.BCI))
	}
	return strings.Join(s, " < ")
}

func TestSpread(t *testing.T) {
	for _, c := range []struct {
		name, code string
		compiler   string
		want       string // address: frames, of the instructions that the case is about
	}{
		{"before a call", `
			0 op
			1 call | b@1 < a@7
			2 ret`, "", `
			0: ~b@~1 < a@~7
			1: b@1 < a@7`},
		{"four calls agree on their outer frames", `
			0 call | b@1 < a@7
			1 call | c@2 < b@3 < a@7
			2 op
			3 call | b@5 < a@7
			4 call | b@6 < a@7
			5 call | a@9
			6 ret`, "", `
			2: b@~5 < a@7`},
		{"two calls agree, but control comes from elsewhere", `
			0 call | a@1
			1 call | b@1 < a@7
			2 op
			3 call | b@5 < a@7
			4 call | b@6 < a@7
			5 ret`, "", `
			2: ~b@~5 < a@~7`},
		{"the next address is in a block that control never reaches", `
			0 call | a@1
			1 op
			2 jmp 5
			3 op
			4 call | b@1 < a@9
			5 op
			6 call | c@3 < a@5
			7 ret`, "", `
			1: ~c@~3 < a@~5
			2: ~c@~3 < a@~5
			3: ~b@~1 < a@~9`},
		{"a loop keeps its own record", `
			0 call | a@1
			1 op
			2 op
			3 op
			4 op
			5 op | s@20 < a@3
			6 op ; {poll}
			7 op
			8 jcc 1
			9 op | m@2 < a@6
			10 op ; {poll}
			11 ret`, "", `
			6: s@20 < a@3
			7: ~s@~20 < a@~3
			8: ~s@~20 < a@~3`},
		{"a record in the loop around is nearer than one after it", `
			0 op
			1 op
			2 jcc 1
			3 op
			4 call | b@4 < a@1
			5 jcc 1
			6 call | c@4 < a@2
			7 ret`, "", `
			1: ~b@~4 < a@~1
			2: ~b@~4 < a@~1
			5: ~b@~4 < a@~1`},
		{"a loop without a record has that of the check before it", `
			0 op
			1 jcc 9
			2 op
			3 op
			4 jcc 2
			5 op
			6 op
			7 call | mismatch@3 < s@9 < a@4
			8 ret
			9 call | s@5 < a@4 ; {runtime_call UncommonTrapBlob}`, "", `
			2: ~s@~5 < a@~4
			3: ~s@~5 < a@~4
			4: ~s@~5 < a@~4
			5: ~mismatch@~3 < ~s@~9 < a@~4`},
		{"padding is no way into a loop", `
			0 op
			1 jcc 12
			2 jmp 4
			3 nop
			4 op
			5 jcc 4
			6 op
			7 op
			8 call | mismatch@3 < s@9 < a@4
			9 op
			10 jcc 1
			11 ret
			12 call | s@5 < a@4 ; {runtime_call UncommonTrapBlob}`, "", `
			4: ~s@~5 < a@~4
			5: ~s@~5 < a@~4`},
		{"an uncommon trap names the bytecode", `
			0 op
			1 jcc 8
			2 op
			3 op
			4 op
			5 op
			6 call | a@9
			7 ret
			8 op
			9 call | b@3 < a@4 ; {runtime_call UncommonTrapBlob}`, "", `
			0: ~b@~3 < a@~4
			1: ~b@~3 < a@~4
			4: a@~9
			8: b@3 < a@4`},
		{"an implicit exception names the bytecode", `
			0 op
			1 op ; implicit exception: dispatches to 0x9
			2 op
			3 op
			4 op
			5 op
			6 op
			7 call | a@9
			8 ret
			9 call | b@3 < a@4 ; {runtime_call UncommonTrapBlob}`, "", `
			1: ~b@~3 < a@~4`},
		{"a slow path names the bytecode", `
			0 op
			1 jcc 8
			2 op
			3 op
			4 op
			5 op
			6 call | a@9
			7 ret
			8 op
			9 call | new@0 < a@4 ; {runtime_call _new_instance_Java}
			10 jmp 2`, "", `
			1: ~new@~0 < a@~4
			2: ~new@~0 < a@~4
			5: a@~9`},
		{"the entry of the method", `
			0 op
			1 op
			2 op
			3 call | b@1 < a@7
			4 ret`, "", `
			0: a@~7
			1: a@~7
			2: ~b@~1 < a@~7`},
		{"back in the calling method", `
			0 call | b@1 < a@7
			1 op
			2 ret`, "", `
			1: ~b@~1 < a@~7`},
		{"an excerpt", `
			0 op ; (only sampled instructions have lines: the method was gone before the others were read)
			1 op
			2 op | b@1 < a@7
			3 ret`, "", `
			2: ~b@~1 < a@~7`},
		{"with records between safepoints, too", `
			0 op | a@1
			1 op
			2 op | b@1 < a@7
			3 call | a@9
			4 ret`, "", `
			1: `},
		{"a JVMCI compiler has such records anyway", `
			0 op | a@1
			1 op
			2 op | b@1 < a@7
			3 call | a@9
			4 ret`, "jvmci", `
			1: ~b@~1 < a@~7`},
		{"without records", `
			0 op
			1 ret`, "", `
			0: `},
		{"C1 keeps to the next record", `
			0 call | a@1
			1 op
			2 op
			3 op
			4 op
			5 op
			6 op
			7 op
			8 op
			9 op
			10 call | b@1 < a@3
			11 ret`, "c1", `
			1: a@~3
			3: ~b@~1 < a@~3`},
		{"C2 is at the bytecodes between two records", `
			0 call | b@5 < a@7
			1 op
			2 op
			3 op
			4 op
			5 op
			6 op
			7 op
			8 op
			9 op
			10 call | c@2 < a@30
			11 ret`, "c2", `
			1: ~b@~5 < a@~7
			2: a@~7
			3: a@~7
			4: a@~30
			6: a@~30
			7: ~c@~2 < a@~30`},
		{"C2 enters one inlined method after the other", `
			0 call | a@1
			1 op
			2 op
			3 op
			4 op
			5 op
			6 op
			7 op
			8 op
			9 op
			10 op
			11 op
			12 call | c@3 < b@40 < a@2
			13 ret`, "c2", `
			1: ~b@~40 < a@~2
			8: ~b@~40 < a@~2
			9: ~c@~3 < ~b@~40 < a@~2`},
		{"the padding after a call belongs to the call", `
			0 call | b@1 < a@7
			1 nop
			2 op
			3 call | c@2 < a@9
			4 ret`, "c2", `
			1: ~b@~1 < a@~7
			2: ~c@~2 < a@~9`},
		{"counts name a method without a record", `
			0 call | a@1
			1 op ; {metadata(method data for {method} {0x00007f011b57d540} 'x' '()V' in 'p/C')}
			2 op
			3 op
			4 op ; {metadata(method data for {method} {0x00007f011b57d540} 'x' '()V' in 'p/C')}
			5 op ; {metadata(method data for {method} {0x00007f011b57d541} 'y' '()V' in 'p/C$$Lambda+0x1')}
			6 op
			7 op
			8 op
			9 call | a@9
			10 ret`, "c1", `
			1: ~p.C::x@~-1 < a@~1
			3: ~p.C::x@~-1 < a@~9
			5: ~p.C$$Lambda/0x1::y@~-1 < a@~9
			7: a@~9`},
		{"counts name one of the methods of a record", `
			0 call | p.C::x@4 < a@1
			1 op ; {metadata(method data for {method} {0x00007f011b57d540} 'x' '()V' in 'p/C')}
			2 op
			3 op
			4 op ; {metadata(method data for {method} {0x00007f011b57d540} 'x' '()V' in 'p/C')}
			5 call | a@9
			6 ret`, "c1", `
			2: ~p.C::x@~4 < a@~1
			3: ~p.C::x@~4 < a@~1`},
		{"counts of the caller do not name an inlined method without counts", `
			0 op ; {metadata(method data for {method} {0x00007f011b57d540} 'x' '()V' in 'p/C')}
			1 op ; implicit exception: dispatches to 0x11
			2 op
			3 op
			4 op ; {metadata(method data for {method} {0x00007f011b57d540} 'x' '()V' in 'p/C')}
			5 op
			6 op
			7 op
			8 call | b@1 < p.C::x@40
			9 ret
			10 ret
			17 call | p.C::x@10 ; {runtime_call UncommonTrapBlob}`, "c1", `
			3: ~b@~1 < p.C::x@~40
			4: p.C::x@~40`},
	} {
		t.Run(c.name, func(t *testing.T) {
			insts := parse(t, c.code)
			Spread(&printassembly.Blob{Name: "a", Compiler: c.compiler}, insts, nil)
			for line := range strings.Lines(strings.TrimSpace(c.want)) {
				at, want, _ := strings.Cut(strings.TrimSpace(line), ":")
				i, err := strconv.Atoi(at)
				require.NoError(t, err)
				assert.Equal(t, strings.TrimSpace(want), show(&insts[i]), "at %d", i)
			}
		})
	}
}

// Loops in loops: what is left is counted.
func TestLoops(t *testing.T) {
	g := newGraph(parse(t, `
		0 op
		1 op
		2 op
		3 jcc 2
		4 jcc 4
		5 jcc 1
		6 call | a@1
		7 ret`), nil)
	g.findLoops()
	assert.Equal(t, "-1 0 1 1 2 0 -1 -1", strings.Trim(fmt.Sprint(renumbered(g.loop)), "[]"))
	assert.EqualValues(t, 2, g.left(g.loop[3], g.loop[6]))
	assert.EqualValues(t, 1, g.left(g.loop[3], g.loop[4]))
	assert.EqualValues(t, 0, g.left(g.loop[0], g.loop[2]))
}

// renumbered numbers loops in the order of their addresses.
func renumbered(loops []int32) (out []int) {
	number := map[int32]int{none: none}
	for _, l := range loops {
		if _, ok := number[l]; !ok {
			number[l] = len(number) - 1
		}
		out = append(out, number[l])
	}
	return out
}

// Any bytes may be in a damaged log: jumps into nowhere, loops that are entered anywhere, records that contradict the
// method's name.
func FuzzSpread(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15})
	f.Add([]byte("\x03\x80\x03\x81\x03\x00\x43\x22\x91\x10\xff\xfe"))
	f.Fuzz(func(t *testing.T, code []byte) {
		insts := fuzzed(code)
		Spread(&printassembly.Blob{Name: "a", Compiler: "c2"}, insts, nil)
		records := 0
		for i := range insts {
			if insts[i].OwnFrames {
				records++
			}
		}
		for i := range insts {
			in := &insts[i]
			if records > 0 && len(in.Frames) == 0 && !newGraph(insts, nil).detailed() {
				t.Fatalf("instruction %d has no frames", i)
			}
			last := printassembly.GuessedAll
			for _, f := range in.Frames { // the outer frames are not less certain than the inner ones
				if f.Guess > last {
					t.Fatalf("instruction %d: %s", i, show(in))
				}
				last = f.Guess
			}
			if last == printassembly.GuessedAll && len(in.Frames) > 0 {
				t.Fatalf("instruction %d: the method itself is a guess", i)
			}
		}
	})
}

// fuzzed makes instructions of any bytes: two for each.
func fuzzed(code []byte) (insts []printassembly.Instruction) {
	comments := []string{"", "{poll}", "{runtime_call UncommonTrapBlob}", "implicit exception: dispatches to 0x7",
		"{runtime_call _new_instance_Java}",
		"{metadata(method data for {method} {0x1} 'b' '()V' in 'p/C')}"}
	for i := 0; i+1 < len(code); i += 2 {
		a, b := code[i], code[i+1]
		at := uint64(len(insts))
		in := printassembly.Instruction{Lo: at, Hi: at + 1 + uint64(a>>7)*uint64(b>>7), Kind: disasm.Kind(a % 5),
			Target: uint64(b)}
		if c := comments[int(a>>3)%len(comments)]; c != "" {
			in.Comments = []string{c}
		}
		if b%4 == 0 {
			in.OwnFrames = true
			for k := range b%3 + 1 {
				in.Frames = append(in.Frames, printassembly.Frame{Method: string('a' + rune((b>>k)%3)), BCI: int(a>>k) % 4})
			}
		}
		insts = append(insts, in)
	}
	return insts
}

// A method with deeply nested loops takes no longer than others of its size.
func BenchmarkSpread(b *testing.B) {
	for _, shape := range []string{"nested", "straight"} {
		b.Run(shape, func(b *testing.B) {
			const n = 1 << 16
			insts := make([]printassembly.Instruction, n)
			for i := range insts {
				insts[i] = printassembly.Instruction{Lo: uint64(i), Hi: uint64(i + 1)}
				switch {
				case i%8 == 0:
					insts[i].OwnFrames, insts[i].Kind = true, disasm.Call
					insts[i].Frames = []printassembly.Frame{{Method: "b", BCI: i}, {Method: "a", BCI: i % 64}}
				case i%8 == 3 && shape == "nested":
					insts[i].Kind, insts[i].Target = disasm.CondJump, uint64(n-1-i)
				}
			}
			b.SetBytes(n)
			for b.Loop() {
				again := append([]printassembly.Instruction(nil), insts...)
				Spread(&printassembly.Blob{Name: "a"}, again, nil)
			}
		})
	}
}
