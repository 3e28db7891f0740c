package decisions

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/jitprofile"
)

// call returns a call instruction: its relocation, the bytecode's comment, and the frames as "method@bci", innermost
// first.
func call(lo uint64, relocation, bytecode string, frames ...string) printassembly.Instruction {
	in := printassembly.Instruction{Lo: lo, Hi: lo + 5, Kind: disasm.Call, OwnFrames: true,
		Comments: []string{"*" + bytecode + " {reexecute=0}", "{" + relocation + "}"}}
	for _, f := range frames {
		method, bci, _ := strings.Cut(f, "@")
		in.Frames = append(in.Frames, printassembly.Frame{Method: method, BCI: int(bci[0] - '0'), Line: 20 + int(bci[0]-'0')})
	}
	return in
}

func TestOf(t *testing.T) {
	no := func(caller string, bci int, callee, message string) event.Inlined {
		return event.Inlined{CompileID: 7, Caller: caller, BCI: bci, Callee: callee, Message: message}
	}
	yes := func(caller string, bci int, callee, message string) event.Inlined {
		d := no(caller, bci, callee, message)
		d.Done = true
		return d
	}
	note := &jitprofile.Note{Method: "p.A::m", ProfileSite: &printassembly.ProfileSite{Bytecode: "invokevirtual",
		Types: []printassembly.ProfileType{{Class: "p.X", Count: 50}, {Class: "p.Y", Count: 30}}, Others: 20}}
	sizes := map[string][]int{"p.B::big": {412}, "p.B::overloaded": {10, 400}, "p.B::ambiguous": {400, 500},
		"p.B::tooBig": {60}}
	limits := Limits{"FreqInlineSize": 325, "MaxInlineSize": 35, "InlineSmallCode": 2500}
	cases := []struct {
		name     string
		in       printassembly.Instruction
		decided  []event.Inlined
		early    bool
		note     *jitprofile.Note
		outcome  Outcome
		reason   string
		comment  string
		contains string // in the advice about what would change it
	}{
		{"refused, with size and limit", call(1, "static_call", "invokestatic big", "p.A::m@3"),
			[]event.Inlined{no("p.A::m", 3, "p.B::big", "hot method too big")}, false, nil,
			Refused, "hot method too big: 412 bytecodes, FreqInlineSize 325",
			"not inlined: hot method too big: 412 bytecodes, FreqInlineSize 325", "CompileCommand=inline,p.B::big"},
		{"the size that agrees", call(1, "static_call", "invokestatic overloaded", "p.A::m@3"),
			[]event.Inlined{no("p.A::m", 3, "p.B::overloaded", "hot method too big")}, false, nil,
			Refused, "hot method too big: 400 bytecodes, FreqInlineSize 325",
			"not inlined: hot method too big: 400 bytecodes, FreqInlineSize 325", ""},
		{"two sizes that agree", call(1, "static_call", "invokestatic ambiguous", "p.A::m@3"),
			[]event.Inlined{no("p.A::m", 3, "p.B::ambiguous", "hot method too big")}, false, nil,
			Refused, "hot method too big: FreqInlineSize 325", "not inlined: hot method too big: FreqInlineSize 325", ""},
		{"part of a limit", call(1, "static_call", "invokestatic f", "p.A::m@3"),
			[]event.Inlined{no("p.A::m", 3, "p.B::f", "already compiled into a medium method")}, false, nil,
			Refused, "already compiled into a medium method: InlineSmallCode / 4 = 625",
			"not inlined: already compiled into a medium method: InlineSmallCode / 4 = 625", "InlineSmallCode"},
		{"a limit that the JVM did not say", call(1, "static_call", "invokestatic f", "p.A::m@3"),
			[]event.Inlined{no("p.A::m", 3, "p.B::f", "inlining too deep")}, false, nil,
			Refused, "inlining too deep", "not inlined: inlining too deep", "MaxInlineLevel"},
		{"an unknown reason", call(1, "static_call", "invokestatic f", "p.A::m@3"),
			[]event.Inlined{no("p.A::m", 3, "p.B::f", "because")}, false, nil,
			Refused, "because", "not inlined: because", ""},
		{"no reason", call(1, "static_call", "invokestatic f", "p.A::m@3"), []event.Inlined{no("p.A::m", 3, "p.B::f", "")},
			false, nil,
			Refused, "the compiler gives no reason", "not inlined: the compiler gives no reason", ""},
		{"reasons that contradict", call(1, "static_call", "invokestatic tooBig", "p.A::m@3", "p.A::n@1"),
			[]event.Inlined{no("p.A::m", 3, "p.B::tooBig", "too big"), no("p.A::m", 3, "p.B::tooBig", "never executed"),
				yes("p.A::m", 3, "p.B::tooBig", "inline (hot)")}, false, nil,
			Refused, "too big: 60 bytecodes, MaxInlineSize 35; at another place: never executed",
			"not inlined: too big: 60 bytecodes, MaxInlineSize 35; at another place: never executed", ""},
		{"another callee's decision", call(1, "static_call", "invokestatic f", "p.A::m@3"),
			[]event.Inlined{no("p.A::m", 3, "p.B::f", "too big"), no("p.A::m", 3, "p.B::g", "native method")}, false, nil,
			Refused, "too big: MaxInlineSize 35", "not inlined: too big: MaxInlineSize 35", ""},
		{"a hidden class", call(1, "static_call", "invokestatic f",
			"java.lang.invoke.LambdaForm$MH/0x00007f5a1c000000::invoke@3"),
			[]event.Inlined{no("java.lang.invoke.LambdaForm$MH+0x00007f5a1c000000::invoke", 3, "p.B::f", "native method")},
			false, nil, Refused, "native method", "not inlined: native method", "intrinsic"},
		{"virtual", call(1, "virtual_call", "invokevirtual v", "p.A::m@3"), nil, false, note, Virtual,
			"virtual: receivers while profiled: X 50 %, Y 30 %, others 20 %", "", "two classes"},
		{"virtual, without a profile", call(1, "virtual_call", "invokevirtual v", "p.A::m@3"), nil, false, nil, Virtual,
			"virtual: which receivers it has is not known", "not inlined: virtual", ""},
		{"an interface call", call(1, "virtual_call", "invokeinterface v", "p.A::m@3"), nil, false, note, Virtual,
			"interface call: receivers while profiled: X 50 %, Y 30 %, others 20 %", "", "two classes"},
		{"an interface call, without a profile", call(1, "virtual_call", "invokeinterface v", "p.A::m@3"), nil, false, nil,
			Virtual,
			"interface call: which receivers it has is not known", "not inlined: interface call", ""},
		{"virtual, compiled before the recording", call(1, "virtual_call", "invokevirtual v", "p.A::m@3"), nil, true, note,
			Virtual,
			"virtual: receivers while profiled: X 50 %, Y 30 %, others 20 %", "", "two classes"},
		{"nothing is known", call(1, "virtual_call", "invokevirtual v", "p.A::m@3"), nil, true, nil, Unknown, "", "", ""},
		{"a direct call without a decision", call(1, "static_call", "invokestatic f", "p.A::m@3"), nil, false, nil, Unknown,
			"", "", ""},
		{"the rest of the receivers", call(1, "virtual_call", "invokevirtual v", "p.A::m@3"),
			[]event.Inlined{yes("p.A::m", 3, "p.X::v", "inline (hot)")}, false, note, Rest,
			"for receivers other than those of X::v; receivers while profiled: X 50 %, Y 30 %, others 20 %", "", ""},
		{"reversed", call(1, "optimized virtual_call", "invokevirtual v", "p.A::m@3"),
			[]event.Inlined{yes("p.A::m", 3, "p.X::v", "inline (hot)")}, false, nil, Reversed,
			"the compiler has decided to inline X::v, and yet there is a call",
			"not inlined: the compiler has decided to inline X::v, and yet there is a call", ""},
		{"a method handle", call(1, "optimized virtual_call", "invokevirtual invokeBasic", "p.A::m@3"), nil, false, nil,
			Refused, "method handle is not constant", "not inlined: method handle is not constant", "static final"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := Source{Decided: c.decided, Complete: !c.early, Sizes: func(m string) []int { return sizes[m] }, Limits: limits,
				Notes: map[uint64]*jitprofile.Note{1: c.note}}
			code := Of([]printassembly.Instruction{c.in, {Lo: 6, Hi: 7}}, &s)
			require.Len(t, code.Calls, 1)
			got := code.CallAt(1)
			require.Same(t, code.Calls[0], got)
			assert.Equal(t, c.outcome, got.Outcome, got.Outcome.String())
			assert.Equal(t, c.reason, got.Reason())
			assert.Equal(t, c.comment, got.String())
			assert.Contains(t, got.Change(), c.contains)
			assert.NotContains(t, got.Change(), "%!")
			assert.Equal(t, len(c.in.Frames)-1, code.Inlined)
		})
	}
}

// TestOtherCopies: what was inlined in one copy of a method need not be inlined in another one.
func TestOtherCopies(t *testing.T) {
	yes := event.Inlined{Caller: "A::b", BCI: 2, Callee: "X::v", Done: true}
	sizes := func(string) []int { return nil }
	inlined := call(20, "poll", "return", "X::v@1", "A::b@2", "A::a@3")
	inlined.Kind = disasm.Plain
	here, other := call(1, "virtual_call", "invokevirtual v", "A::b@2", "A::a@3"), call(9, "virtual_call",
		"invokevirtual v", "A::b@2", "A::a@4")
	code := Of([]printassembly.Instruction{here, other, inlined},
		&Source{Decided: []event.Inlined{yes}, Complete: true, Sizes: sizes})
	assert.Equal(t, Rest, code.CallAt(1).Outcome)
	assert.Equal(t, Virtual, code.CallAt(9).Outcome)
	assert.Equal(t, "virtual, or for receivers other than those of X::v, inlined here or in another copy of the method",
		code.CallAt(9).Reason())
}

func TestInlinedOncePerPlace(t *testing.T) {
	plain := func(lo uint64, frames ...string) printassembly.Instruction {
		in := call(lo, "poll", "return", frames...)
		in.Kind = disasm.Plain
		return in
	}
	code := Of([]printassembly.Instruction{plain(1, "A::c@1", "A::b@2", "A::a@3"), plain(2, "A::c@4", "A::b@2", "A::a@3"),
		plain(3, "A::c@1", "A::b@5", "A::a@3"), plain(4, "A::a@6")},
		&Source{Sizes: func(string) []int { return nil }})
	assert.Equal(t, 3, code.Inlined, "a calls b, which calls c at two places")
	assert.Empty(t, code.Calls)
	assert.Nil(t, (*Code)(nil).CallAt(1))
}

func TestChanges(t *testing.T) {
	for message, r := range reasons {
		assert.LessOrEqual(t, strings.Count(r.change, "%"), 1, "%s: only %%s stands for the callee", message)
	}
}

// FuzzOf checks that no recording makes Of panic, and that the length of the result is bounded.
func FuzzOf(f *testing.F) {
	f.Add("p.A::m", "p.B::big", "hot method too big", "big", 3, 412, true)
	f.Add("p.A::m", "p.B::%s%n", "too big", "", -1, -5, false)
	f.Add("::", "", "", "invokeBasic", 0, 0, false)
	f.Add("a/0x::b", "+0x1::", "already compiled into a medium method", "x {", 1<<30, 1, true)
	f.Fuzz(func(t *testing.T, caller, callee, message, bytecode string, bci, size int, done bool) {
		d := []event.Inlined{{Caller: caller, BCI: bci, Callee: callee, Message: message, Done: done},
			{Caller: "p.A::m", BCI: 3, Callee: callee, Message: message, Done: done}}
		in := []printassembly.Instruction{call(1, "virtual_call", "invokevirtual "+bytecode, "p.A::m@3"),
			call(9, "static_call", "invokestatic "+bytecode, "p.A::m@3"),
			{Lo: 20, Hi: 25, Kind: disasm.Call, OwnFrames: true, Comments: []string{"{static_call}"},
				Frames: []printassembly.Frame{{Method: caller, BCI: bci}}}}
		code := Of(in, &Source{Decided: d, Sizes: func(string) []int { return []int{size} },
			Limits: Limits{"FreqInlineSize": int64(bci)}})
		require.Len(t, code.Calls, 3)
		most := 4*(len(caller)+len(callee)+len(message)+len(bytecode)) + 500
		for _, c := range code.Calls {
			assert.LessOrEqual(t, len(c.Reason())+len(c.String())+len(c.Change()), 4*most)
			assert.NotEmpty(t, c.At())
		}
	})
}
