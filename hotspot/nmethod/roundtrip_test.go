package nmethod

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/printassembly"
)

// insts are 35 bytes of x86-64 code: a full row and a short one.
var insts = fromHex(`
	8b4608           # 0  mov    0x8(%rsi),%eax
	55               # 3  push   %rbp
	4889e5           # 4  mov    %rsp,%rbp
	8b460c           # 7  mov    0xc(%rsi),%eax
	03c2             # 10 add    %edx,%eax
	e800000000       # 12 call
	4863d0           # 17 movslq %eax,%rdx
	48b80102030405060708 # 20 movabs
	488b00           # 30 mov    (%rax),%rax
	5d               # 33 pop    %rbp
	c3               # 34 ret`)

// stubs are 10 bytes of x86-64 code.
var stubs = fromHex(`
	e900000000 # 35 jmp
	e900000000 # 40 jmp`)

// fromHex decodes lines of hexadecimal digits, which may end with comments.
func fromHex(text string) []byte {
	var digits strings.Builder
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		digits.WriteString(strings.TrimSpace(line))
	}
	data, err := hex.DecodeString(digits.String())
	if err != nil {
		panic(err)
	}
	return data
}

// sum has the bytecodes aload_0, getfield #0, iload_1, iadd, invokevirtual #1, ireturn; HotSpot has rewritten the
// operands to its own indices. fastGet has HotSpot's own bytecode for getfield of an int.
var (
	sum     = []byte{0x2a, 0xb4, 0, 0, 0x1b, 0x60, 0xb6, 1, 0, 0xac}
	fastGet = []byte{0x2a, 203 + 5, 0, 0, 0xac}
)

// roundTrips are methods as HotSpot compiles them, with the comments and frames that a reader must get back.
var roundTrips = map[string]struct {
	code fakeCode
	name string // of the method
	// comments and frames at the ends of instructions
	want map[int]string
}{
	"inlined": {
		code: fakeCode{compiler: "c1", level: 3, insts: insts, stubs: stubs, verified: 3,
			methods: []fakeMethod{
				{class: "p/Hot", name: "sum", bytecode: sum, lines: []lineNumber{{0, 10}, {4, 12}, {6, 11}},
					members: []string{"count", "size"}},
				{class: "java/util/List", name: "size", bytecode: fastGet, lines: []lineNumber{{0, 99999}},
					members: []string{"length"}},
			},
			debugInfo: []fakeDebugInfo{
				{3, []fakeFrame{{0, -1}}},
				{10, []fakeFrame{{0, 1}}},
				{12, []fakeFrame{{0, 5}}},
				{17, []fakeFrame{{1, 1}, {0, 6}}},
				{20, []fakeFrame{{1, 1}, {0, 6}}},
				{35, []fakeFrame{{0, 9}}},
				{45, []fakeFrame{{0, 6}}},
			}},
		name: "p.Hot::sum",
		want: map[int]string{
			3:  "*synchronization entry; p.Hot::sum@-1 (line 10)",
			10: "*getfield count; p.Hot::sum@1 (line 10)",
			12: "*iadd; p.Hot::sum@5 (line 12)",
			17: "*getfield length; java.util.List::size@1 (line 99999); p.Hot::sum@6 (line 11)",
			20: "*getfield length; java.util.List::size@1 (line 99999); p.Hot::sum@6 (line 11)",
			35: "*ireturn; p.Hot::sum@9 (line 11)",
			45: "*invokevirtual size; p.Hot::sum@6 (line 11)",
		},
	},
	"osr": {
		code: fakeCode{compiler: "c2", kind: "osr", level: 4, insts: insts, verified: 0, osrBCI: 7,
			methods:   []fakeMethod{{class: "Main", name: "main", bytecode: sum}},
			debugInfo: []fakeDebugInfo{{12, []fakeFrame{{0, 5}}}}},
		name: "Main::main",
		want: map[int]string{12: "*iadd; Main::main@5"},
	},
	"native wrapper": {
		code: fakeCode{kind: "c2n", insts: insts, verified: 4,
			methods: []fakeMethod{{class: "java/lang/System", name: "arraycopy", bytecode: sum}}},
		name: "java.lang.System::arraycopy",
	},
	"JVMCI": {
		code: fakeCode{compiler: "jvmci", level: 4, insts: insts, stubs: stubs[:5], verified: 34,
			methods:   []fakeMethod{{class: "A", name: "<init>", bytecode: []byte{0xb1}, lines: []lineNumber{{0, 1}}}},
			debugInfo: []fakeDebugInfo{{10, []fakeFrame{{0, -3}}}, {12, []fakeFrame{{0, -5}}}, {35, []fakeFrame{{0, 0}}}}},
		name: "A::<init>",
		want: map[int]string{10: "* unwind (locked if synchronized); A::<init>@-3", 12: "* unknown; A::<init>@-5",
			35: "*return; A::<init>@0 (line 1)"},
	},
	"no debug info": {
		code: fakeCode{compiler: "c1", level: 1, insts: insts[:3], verified: 0,
			methods: []fakeMethod{{class: "A", name: "get", bytecode: fastGet}}},
		name: "A::get",
	},
	"names": {
		code: fakeCode{compiler: "c2", level: 4, insts: insts, verified: 0,
			methods: []fakeMethod{
				{class: "p/größe/日本$\xed\xa0\xb5\xed\xb2\x9c&<T>", name: "λ<&'\"@7)", bytecode: sum,
					members: []string{"mal_µ", "a<b>"}},
				{class: "p/A$$Lambda+0x00007f00120a", name: "run", bytecode: []byte{0x00}},
				{class: "p/Line\nbreak", name: "two\nlines", bytecode: []byte{0xff}}, // no bytecode has this number
			},
			debugInfo: []fakeDebugInfo{
				{10, []fakeFrame{{0, 1}}},
				{12, []fakeFrame{{1, 0}, {0, 6}}},
				{17, []fakeFrame{{2, 0}, {1, 0}, {0, 6}}},
			}},
		name: `p.größe.日本$𝒜&<T>::λ<&'"@7)`,
		want: map[int]string{
			10: `*getfield mal_µ; p.größe.日本$𝒜&<T>::λ<&'"@7)@1`,
			12: `*nop; p.A$$Lambda/0x00007f00120a::run@0; p.größe.日本$𝒜&<T>::λ<&'"@7)@6`,
			17: "p.Line\nbreak::two\nlines@0; p.A$$Lambda/0x00007f00120a::run@0; p.größe.日本$𝒜&<T>::λ<&'\"@7)@6",
		},
	},
	"implicit exceptions": {
		code: fakeCode{compiler: "c2", level: 4, insts: insts, stubs: stubs, verified: 0,
			methods:   []fakeMethod{{class: "p/Hot", name: "sum", bytecode: sum}},
			debugInfo: []fakeDebugInfo{{10, []fakeFrame{{0, 1}}}, {17, []fakeFrame{{0, 6}}}},
			implicit:  []implicitException{{0, 30}, {7, 7}, {30, 40}}},
		name: "p.Hot::sum",
		want: map[int]string{
			3:  "implicit exception: dispatches to +30",
			10: "implicit exception: deoptimizes; *getfield; p.Hot::sum@1",
			17: "*invokevirtual; p.Hot::sum@6",
			33: "implicit exception: dispatches to +40",
		},
	},
	"hidden class": {
		code: fakeCode{compiler: "c1", level: 2, insts: insts, verified: 0,
			methods:   []fakeMethod{{class: "p/A$$Lambda+0x00007f00120a", name: "run", bytecode: sum}},
			debugInfo: []fakeDebugInfo{{12, []fakeFrame{{0, 5}}}}},
		name: "p.A$$Lambda/0x00007f00120a::run",
		want: map[int]string{12: "*iadd; p.A$$Lambda/0x00007f00120a::run@5"},
	},
}

// TestRoundTrip copies methods out of the memory of a HotSpot of each known release, and reads the copies with
// printassembly.
func TestRoundTrip(t *testing.T) {
	require.NotEmpty(t, releases)
	require.NotEmpty(t, roundTrips)
	for _, release := range releases {
		j := newFakeJVM(release)
		log := "<hotspot_log version='160 1' process='7' time_ms='1000'>\n"
		ids := map[string]int{}
		for name, c := range roundTrips {
			id, tag := j.addCode(c.code)
			log, ids[name] = log+tag, id
		}
		log += "<hotspot_log_done stamp='9.000'/>\n</hotspot_log>\n"
		f := tagFollower{compilers: C1 | C2, copier: j.copier(t)}
		f.take([]byte(log))
		require.Equal(t, tagResult{Copied: len(roundTrips)}, f.result)
		log += "\n<writer thread='gasm'/>\n" + string(f.text)

		l, err := printassembly.NewLog(strings.NewReader(log), int64(len(log)), "log")
		require.NoError(t, err)
		assert.Zero(t, l.Damaged)
		require.Len(t, l.Blobs, len(roundTrips))
		rows := map[string][]byte{}
		for _, m := range readPrinted(t, bytes.NewReader(f.text)) {
			rows[m.id] = m.code
		}
		for name, c := range roundTrips {
			t.Run(fmt.Sprintf("jdk%d %s", release, name), func(t *testing.T) {
				i := slices.IndexFunc(l.Blobs, func(b printassembly.Blob) bool { return b.ID == ids[name] })
				require.GreaterOrEqual(t, i, 0)
				b := &l.Blobs[i]
				assert.Equal(t, c.name, b.Name)
				checkBlob(t, b, c.code)
				checkCode(t, l, b, c.code, c.want)
				assert.Equal(t, slices.Concat(c.code.insts, c.code.stubs), rows[strconv.Itoa(b.ID)])
			})
		}
	}
}

// checkBlob compares a method with what the log's index says about it.
func checkBlob(t *testing.T, b *printassembly.Blob, c fakeCode) {
	t.Helper()
	kind := printassembly.NMethod
	if c.kind == "c2n" {
		kind = printassembly.Native
	}
	assert.Equal(t, kind, b.Kind)
	assert.Equal(t, c.compiler, b.Compiler)
	assert.Equal(t, c.level, b.Level)
	assert.Equal(t, c.kind == "osr", b.OSR)
	assert.Equal(t, c.osrBCI, b.OSRBCI)
	assert.Equal(t, int64(100*b.ID), b.UptimeMillis)
	assert.True(t, b.Stamped && b.HasCode)
	assert.Equal(t, uint64(len(c.insts)+len(c.stubs)), b.Hi-b.Lo)
}

// checkCode compares the instructions, the marks, and the debug info at the ends of the instructions.
func checkCode(t *testing.T, l *printassembly.Log, b *printassembly.Blob, c fakeCode, want map[int]string) {
	t.Helper()
	got, err := l.Code(b, disasm.ATT)
	require.NoError(t, err)
	decoded, err := disasm.Decode(disasm.AMD64, disasm.ATT, slices.Concat(c.insts, c.stubs), b.Lo)
	require.NoError(t, err)
	require.Len(t, got, len(decoded))
	told := map[int]string{}
	for i, in := range got {
		assert.Equal(t, decoded[i].Addr, in.Lo)
		assert.Equal(t, decoded[i].Text, in.Text)
		section := ""
		switch offset := int(in.Lo - b.Lo); {
		case offset == c.verified:
			section = "Verified Entry Point"
		case offset == len(c.insts):
			section = "Stub Code"
		}
		assert.Equal(t, section, in.Section, in.Text)
		parts := slices.Clone(in.Comments)
		for k, text := range parts {
			if target, ok := strings.CutPrefix(text, "implicit exception: dispatches to 0x"); ok {
				address, err := strconv.ParseUint(target, 16, 64)
				require.NoError(t, err)
				parts[k] = fmt.Sprintf("implicit exception: dispatches to +%d", address-b.Lo)
			}
		}
		if in.OwnFrames {
			for _, f := range in.Frames {
				parts = append(parts, f.String())
			}
		}
		if len(parts) > 0 {
			told[int(in.Hi-b.Lo)] = strings.Join(parts, "; ")
		}
	}
	if want == nil {
		want = map[int]string{}
	}
	assert.Equal(t, want, told)
}

// TestAnonymousClass: JDK 14 and older have anonymous classes, which share the name of another class. HotSpot prints
// their address after the name.
func TestAnonymousClass(t *testing.T) {
	j := newFakeJVM(11)
	anonymous := fakeMethod{class: "p/Anonymous$1", name: "run", bytecode: sum}
	_, tag := j.addCode(fakeCode{compiler: "c1", level: 3, insts: insts, methods: []fakeMethod{anonymous},
		debugInfo: []fakeDebugInfo{{12, []fakeFrame{{0, 5}}}}})
	text := copied(t, j.copier(t), tag)
	frame := fmt.Sprintf("; - p.Anonymous$1/%#016x::run@5\n", j.classes["p/Anonymous$1"])
	assert.Equal(t, 1, strings.Count(text, frame), text)
}

// copied returns the text of a copy of the method that a tag describes.
func copied(t *testing.T, c *Copier, tag string) string {
	t.Helper()
	installed, ok := printassembly.ParseInstalled([]byte(tag))
	require.True(t, ok, tag)
	code, err := c.Copy(&installed)
	require.NoError(t, err)
	text, err := code.AppendTo(nil)
	require.NoError(t, err)
	return string(text)
}
