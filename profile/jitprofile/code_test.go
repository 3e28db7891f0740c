package jitprofile

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/printassembly"
)

func frame(method string, bci int) printassembly.Frame {
	return printassembly.Frame{Method: method, BCI: bci, Line: 10 + bci}
}

// inst returns an instruction with debug info of its own.
func inst(at uint64, kind disasm.Kind, comment string, frames ...printassembly.Frame) printassembly.Instruction {
	in := printassembly.Instruction{Lo: at, Hi: at + 4, Kind: kind, Frames: frames, OwnFrames: true}
	if comment != "" {
		in.Comments = []string{comment}
	}
	return in
}

func site(bci int, s printassembly.ProfileSite) printassembly.ProfileSite {
	s.BCI, s.Line = bci, 10+bci
	return s
}

// profiles are the profiles of two methods: run, which has three calls, a branch and a type check, and a method that it
// calls.
var profiles = []*printassembly.MethodProfile{
	{Method: "a.Main::run", Traps: []printassembly.Trap{{Reason: "unstable_if", Count: 1},
		{Reason: "class_check", Count: 255}}, Sites: []printassembly.ProfileSite{
		site(1, printassembly.ProfileSite{Bytecode: "invokeinterface",
			Types: []printassembly.ProfileType{{Class: "a.Circle", Count: 500}, {Class: "a.Square", Count: 300}}, Others: 200}),
		site(6, printassembly.ProfileSite{Bytecode: "invokevirtual",
			Types: []printassembly.ProfileType{{Class: "a.Cat", Count: 749}, {Class: "a.Bird", Count: 251}}}),
		site(9, printassembly.ProfileSite{Bytecode: "ifne", Taken: 999, NotTaken: 1}),
		site(12, printassembly.ProfileSite{Bytecode: "checkcast",
			Types: []printassembly.ProfileType{{Class: "[I", Count: 80}, {Class: "[[Ljava.lang.String;", Count: 20}},
			More:  true}),
		site(15, printassembly.ProfileSite{Bytecode: "invokevirtual",
			Types: []printassembly.ProfileType{{Class: "a.Rare", Count: 2}}}),
	}},
	{Method: "a.Cat::legs", Sites: []printassembly.ProfileSite{site(3,
		printassembly.ProfileSite{Bytecode: "ifeq", NotTaken: 50})}},
}

func notesOf(insts []printassembly.Instruction, mixed bool) map[uint64]string {
	texts := map[uint64]string{}
	for at, n := range Of(insts, profiles, func(string) bool { return mixed }).At {
		texts[at] = n.String()
	}
	return texts
}

func TestNotes(t *testing.T) {
	run := func(bci int) printassembly.Frame { return frame("a.Main::run", bci) }
	inherited := inst(0x18, disasm.Plain, "", run(6))
	inherited.OwnFrames = false
	insts := []printassembly.Instruction{
		inst(0x10, disasm.Call, "{virtual_call}", run(1)),
		inst(0x14, disasm.Plain, "", run(1)),
		inherited,
		inst(0x1c, disasm.Plain, "*invokevirtual legs {reexecute=0}", run(6)),
		inst(0x20, disasm.CondJump, "", frame("a.Cat::legs", 3), run(6)),
		inst(0x24, disasm.Plain, "", frame("a.Bird::legs", 0), run(6)),
		inst(0x28, disasm.CondJump, "", run(9)),
		inst(0x2c, disasm.Plain, "", run(9)),
		inst(0x30, disasm.Plain, "", run(12)),
		inst(0x34, disasm.Call, "{virtual_call}", run(15)),
		inst(0x38, disasm.Call, "{runtime_call UncommonTrapBlob}", run(6)),
	}
	want := map[uint64]string{
		0x10: "receivers while profiled: Circle 50 %, Square 30 %, others 20 %: not inlined",
		0x18: "receivers of legs while profiled: Cat 75 %, Bird 25 %: Bird::legs, Cat::legs inlined",
		0x20: "ifeq never taken while profiled",
		0x28: "ifne taken >99 % while profiled",
		0x30: "classes while profiled: int[] 80 %, String[][] 20 % of those counted",
		0x38: "receivers of legs while profiled: Cat 75 %, Bird 25 %: Bird::legs, Cat::legs inlined",
	}
	assert.Equal(t, want, notesOf(insts, false))
	assert.Equal(t, "ifne taken >99 % while profiled (all callers)", notesOf(insts, true)[0x28])

	// One receiver is inlined, and a call is left for the others.
	both := []printassembly.Instruction{
		inst(0x20, disasm.Plain, "", frame("a.Cat::legs", 0), run(6)),
		inst(0x24, disasm.Call, "{virtual_call}", run(6)),
	}
	assert.Equal(t, map[uint64]string{0x24: "receivers while profiled: Cat 75 %, Bird 25 %: Cat::legs inlined, a call for the rest"}, notesOf(both, false))

	// C2 has chosen one class and calls its method without looking for it.
	direct := []printassembly.Instruction{inst(0x24, disasm.Call, "{optimized virtual_call}", run(6))}
	assert.Equal(t, map[uint64]string{0x24: "receivers while profiled: Cat 75 %, Bird 25 %: a direct call, not inlined"},
		notesOf(direct, false))

	// A method that is inlined at two places of the code has two callers.
	twice := []printassembly.Instruction{
		inst(0x20, disasm.CondJump, "", frame("a.Cat::legs", 3), run(6)),
		inst(0x24, disasm.CondJump, "", frame("a.Cat::legs", 3), run(30)),
	}
	assert.Equal(t, "ifeq never taken while profiled (all callers)", notesOf(twice, false)[0x24])
}

// TestGuesses: there are no notes at instructions whose frames are guesses, and none about a method that has the same
// name but other lines.
func TestGuesses(t *testing.T) {
	guessed, other := frame("a.Main::run", 9), frame("a.Main::run", 9)
	guessed.Guess, other.Line = printassembly.GuessedLine, 77
	assert.Empty(t, notesOf([]printassembly.Instruction{inst(0x10, disasm.CondJump, "", guessed),
		inst(0x14, disasm.CondJump, "", other)}, false))
	assert.Empty(t, notesOf(nil, false))
	assert.Empty(t, Of([]printassembly.Instruction{inst(0x10, disasm.CondJump, "", frame("a.Main::run", 9))}, nil, nil).At)
}

func TestTrapsAndLoose(t *testing.T) {
	c := Of([]printassembly.Instruction{{Lo: 0x10, Hi: 0x14}}, profiles, func(string) bool { return false })
	assert.Empty(t, c.At)
	assert.Len(t, c.Loose, 2, "of calls, without those that ran hardly ever")
	assert.Equal(t, "receivers while profiled: Circle 50 %, Square 30 %, others 20 %", c.Loose[0].String())
	assert.Len(t, c.Traps, 1)
	assert.Equal(t, "class_check 255 or more, unstable_if 1", c.Traps[0].String())
}

func TestNames(t *testing.T) {
	for class, want := range map[string]string{
		"java.util.HashMap$Node": "HashMap$Node", "[J": "long[]", "[Ljava.lang.String;": "String[]", "Plain": "Plain",
		"org.acme.Svc$$Lambda/0x00007f5a1c0d": "Svc$$Lambda/…1c0d", "a.Svc$$Lambda$14/0x000c00": "Svc$$Lambda$14/…0c00",
		"": "", "[": "[]",
	} {
		assert.Equal(t, want, shortClass(class), class)
	}
	assert.Equal(t, []string{"a.Node", "b.Node"}, classNames([]printassembly.ProfileType{{Class: "a.Node"},
		{Class: "b.Node"}}))
	for part, want := range map[int64]string{0: "0 %", 1: "<1 %", 10: "1 %", 994: "99 %", 999: ">99 %", 1000: "100 %"} {
		assert.Equal(t, want, percent(part, 1000))
	}
	n := Note{ProfileSite: &printassembly.ProfileSite{Bytecode: "instanceof",
		Types: []printassembly.ProfileType{{Class: "a.B", Count: 9}}, More: true, Failed: 3}}
	assert.Equal(t, "classes while profiled: B; some failed the check", n.String())
}

// The memory for long chains of long names grows neither with the length of the names nor with the square of the
// chains' length.
func TestLongChains(t *testing.T) {
	name := strings.Repeat("n", 1000)
	frames := slices.Repeat([]printassembly.Frame{{Method: name, BCI: 6, Line: 16}}, 100)
	insts := make([]printassembly.Instruction, 100)
	for i := range insts {
		insts[i] = inst(uint64(i), disasm.Plain, "", slices.Clone(frames)...)
	}
	long := []*printassembly.MethodProfile{{Method: name, Sites: []printassembly.ProfileSite{
		site(6, printassembly.ProfileSite{Bytecode: "invokevirtual",
			Types: []printassembly.ProfileType{{Class: "a.Cat", Count: 749}}})}}}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	c := Of(insts, long, func(string) bool { return false })
	runtime.ReadMemStats(&after)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20))
	assert.Len(t, c.At, 1)
	assert.Empty(t, c.At[0].Inlined, "the innermost one")

	c = Of(append(insts, inst(1000, disasm.Plain, "", frames[1:]...)), long, func(string) bool { return false })
	assert.Equal(t, []string{name}, c.At[1000].Inlined)
}
