package nmethod

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/hotspot/vmstructs/vmtest"
	"github.com/gasm-profiler/gasm/printassembly"
)

// relocInsts are 343 bytes of x86-64 code.
var relocInsts = slices.Concat(fromHex(`
	48b80000000000000000 # 0 movabs
	e800000000           # 10 call
	e800000000           # 15 call
	0f8400000000         # 20 je
	e9fbffffff           # 26 jmp to itself
	49bb7856341200000000 # 31 movabs
	85c0                 # 41 test`), slices.Repeat([]byte{0x90}, 298), fromHex(`85c0 # 341`))

// nativeFunction is the constant of the second movabs.
const nativeFunction = 0x12345678

// relocCode returns a method with relocations of all kinds of JDK 11. Its metadata are two methods, classes, the
// MethodData of a method, and something unknown.
func relocCode(j *fakeJVM) (code fakeCode, profiled uint64) {
	profiled = j.addMethod(fakeMethod{class: "p/Profiled", name: "<clinit>", bytecode: sum})
	data := j.AddUint64(j.virtualTable("_ZTV10MethodData"), profiled)
	return fakeCode{compiler: "c2", level: 4, insts: relocInsts,
		methods: []fakeMethod{{class: "p/Hot", name: "sum", bytecode: sum},
			{class: "java/util/Größe", name: "<init>", bytecode: sum}},
		metadata: []uint64{j.class("java/util/ArrayList"), j.class("[B"), j.class("[[Lp/Hot;"), data, j.AddUint64(7)},
		relocs: []fakeReloc{
			{0, relocMetadata, 0, []uint16{2}}, {0, relocMetadata, 0, []uint16{3}}, {0, relocMetadata, 0, []uint16{4}},
			{0, relocMetadata, 0, []uint16{5}}, {0, relocMetadata, 0, []uint16{6}}, {0, relocMetadata, 0, []uint16{7}},
			{0, relocMetadata, 0, nil}, {0, relocMetadata, 0, []uint16{0x7fff}}, {0, relocMetadata, 0, []uint16{1, 2}},
			{10, relocRuntimeCall, 0, nil}, {15, relocVirtualCall, 0, []uint16{0xffff, 0xfffb, 0, 2}},
			{15, relocStaticCall, 0, nil}, {15, relocOptVirtualCall, 0, []uint16{1}},
			{20, relocRuntimeCallWithPool, 0, nil}, {26, relocRuntimeCall, 0, nil},
			{31, relocRuntimeCall, 2, nil}, {31, relocOop, 0, []uint16{5}}, {31, relocExternalWord, 0, []uint16{0, 1}},
			{41, relocPoll, 1, nil}, {41, relocPollReturn, 0, nil}, {41, relocInternalWord, 0, nil},
			{41, relocSectionWord, 0, nil},
			{341, relocStaticStub, 0, nil}, {341, relocTrampolineStub, 0, nil}, {5000, relocPoll, 0, nil},
		},
		patch: func(code []byte, lo uint64) {
			put(code, 11, uint32(j.blob+200-(lo+15)))
			put(code, 22, uint32(j.blob+7-(lo+26)))
		}}, profiled
}

// relocNames names a stub and a function.
func relocNames(j *fakeJVM) Names {
	return Names{
		Stub: func(addr uint64) string { return map[uint64]string{j.blob + 7: "jbyte_arraycopy"}[addr] },
		Function: func(addr uint64) string {
			return map[uint64]string{nativeFunction: "void os::breakpoint<int>()"}[addr]
		},
	}
}

// comments returns the comments of a copy's instructions, by offset.
func comments(t *testing.T, text string) map[int][]string {
	t.Helper()
	l, err := printassembly.NewLog(strings.NewReader(text), int64(len(text)), "log")
	require.NoError(t, err)
	require.Len(t, l.Blobs, 1)
	insts, err := l.Code(&l.Blobs[0], disasm.ATT)
	require.NoError(t, err)
	found := map[int][]string{}
	for _, in := range insts {
		if len(in.Comments) > 0 {
			found[int(in.Lo-l.Blobs[0].Lo)] = in.Comments
		}
	}
	return found
}

// TestRelocations checks the comments of relocations on each release, in the release's words.
func TestRelocations(t *testing.T) {
	require.NotEmpty(t, releases)
	for _, release := range releases {
		t.Run(fmt.Sprintf("jdk%d", release), func(t *testing.T) {
			j := newFakeJVM(release)
			code, profiled := relocCode(j)
			_, tag := j.addCode(code)
			installed, ok := printassembly.ParseInstalled([]byte(tag))
			require.True(t, ok)
			second := binary.LittleEndian.Uint64(j.Data[installed.Metadata+8-vmtest.Base:])

			null, stub, modifiers, filler := "nullptr", fakeBlob, "", []string{"{other}"}
			switch {
			case release < 20: // offsets have more bits
				null, filler = "NULL", nil
			case release == 21:
				filler = []string{"{no_reloc}"}
			}
			if release >= 25 {
				stub = "Stub::jbyte_arraycopy"
			}
			if release >= 28 {
				modifiers = "public static "
			}
			copier := j.copier(t)
			copier.SetNames(relocNames(j))
			got := comments(t, copied(t, copier, tag))
			assert.Equal(t, filler, got[296], "between offsets that are far apart")
			delete(got, 296)
			assert.Equal(t, map[int][]string{
				0: {fmt.Sprintf("{metadata({method} {%#016x} %s'<init>' '(I)V' in 'java/util/Größe')}",
					second, modifiers),
					"{metadata('java/util/ArrayList')}", "{metadata({type array byte})}", "{metadata('p/Hot'[][])}",
					fmt.Sprintf("{metadata(method data for {method} {%#016x} %s'<clinit>' '(I)V' in 'p/Profiled')}",
						profiled, modifiers),
					"{metadata}", "{metadata(" + null + ")}", "{metadata}", "{metadata}"},
				10:  {"{runtime_call " + fakeBlob + "}"},
				15:  {"{virtual_calljava.util.Größe::<init>}", "{static_call}", "{optimized virtual_callp.Hot::sum}"},
				20:  {"{runtime_call " + stub + "}"},
				26:  {"{runtime_call}"},
				31:  {"{runtime_call void os::breakpoint<int>()}", "{oop}", "{external_word}"},
				41:  {"{poll}", "{poll_return}", "{internal_word}", "{section_word}"},
				341: {"{static_stub}", "{trampoline_stub}"},
			}, got)
		})
	}
}

// TestNewRelocations checks the kinds that were added in JDK 20, and renumbered in JDK 28.
func TestNewRelocations(t *testing.T) {
	cases := map[int][]string{
		21: {"{other}", "{other}", "{other}"},
		25: {"{post_call_nop}", "{entry_guard}", "{barrier format=5}"},
		28: {"{post_call_nop}", "{barrier format=5}", "{patchable_barrier metadata=0x101 target=0x%016x}"},
	}
	require.NotEmpty(t, cases)
	for release, want := range cases {
		j := newFakeJVM(release)
		list := []fakeReloc{{41, relocPostCallNop, 0, nil}, {41, relocEntryGuard, 0, nil}, {41, relocBarrier, 5, nil}}
		if release >= 28 {
			list = []fakeReloc{list[0], list[2], {41, relocPatchableBarrier, 0, []uint16{1, 2, 0x101}}}
		}
		_, tag := j.addCode(fakeCode{compiler: "c2", insts: relocInsts, relocs: list,
			methods: []fakeMethod{{class: "A", name: "a", bytecode: sum}}})
		installed, ok := printassembly.ParseInstalled([]byte(tag))
		require.True(t, ok)
		if release >= 28 {
			want[2] = fmt.Sprintf(want[2], installed.Lo+0x10002)
		}
		assert.Equal(t, want, comments(t, copied(t, j.copier(t), tag))[41], "JDK %d", release)
	}
}

// TestTargetARM64 finds the addresses in aarch64 code.
func TestTargetARM64(t *testing.T) {
	for _, c := range []struct {
		code []uint32
		want uint64 // 0 for none
	}{
		{[]uint32{0x14000040}, 0x1234_5100},                                        // b .+0x100
		{[]uint32{0x97ffffc0}, 0x1234_4f00},                                        // bl .-0x100
		{[]uint32{0x90000008}, 0x1234_5000},                                        // adrp x8, this page
		{[]uint32{0xb0000008, 0x9119e108}, 0x1234_6678},                            // adrp x8, next; add x8, x8, #0x678
		{[]uint32{0xf0ffffe8, 0x9119e108}, 0x1234_4678},                            // adrp x8, the one before
		{[]uint32{0x90000008, 0x9119e129}, 0x1234_5000},                            // add x9, x9, #0x678
		{[]uint32{0x90000008, 0xf2c00fe8, 0x9119e108}, 0x7f_1234_5678},             // movk x8, #0x7f, lsl #32
		{[]uint32{0xd2824688, 0xf2aacf08, 0xf2c00fe8, 0xd63f0100}, 0x7f_5678_1234}, // movz x8; movk; movk; blr x8
		{[]uint32{0xd2824688, 0xf2aacf08, 0xf2c00fe9}, 0},                          // the last movk is for x9
		{[]uint32{0xd2824688, 0xf2aacf08}, 0},
		{[]uint32{0xd63f0100}, 0}, // blr x8
		{nil, 0},
	} {
		var code []byte
		for _, word := range c.code {
			code = binary.LittleEndian.AppendUint32(code, word)
		}
		got, ok := targetARM64(code, 0x1234_5000)
		assert.Equal(t, c.want, got, "%x", c.code)
		assert.Equal(t, c.want != 0, ok, "%x", c.code)
	}
	_, ok := targetARM64([]byte{1, 2, 3}, 0)
	assert.False(t, ok)
}

// FuzzRelocations reads arbitrary bytes as relocations.
func FuzzRelocations(f *testing.F) {
	for _, release := range releases {
		code, _ := relocCode(newFakeJVM(release))
		f.Add(packRelocations(code.relocs, release), release, false)
		f.Add(packRelocations(code.relocs, release), release, true)
	}
	f.Fuzz(func(t *testing.T, data []byte, release int, arm64 bool) {
		r := relocReader{packing: packingOf(release, arm64), data: data}
		last, left := 0, len(data)
		for rel, ok := r.next(); ok; rel, ok = r.next() {
			if rel.offset < last || len(r.data) >= left || len(rel.words()) > len(data) {
				t.Fatalf("%+v after %d, %d of %d bytes left", rel, last, len(r.data), left)
			}
			last, left = rel.offset, len(r.data)
			for numbers := range 3 {
				for n := range numbers + 1 {
					if x := rel.number(n, numbers); x != int(int32(x)) {
						t.Fatalf("%+v has number %d", rel, x)
					}
				}
			}
			relocText(rel.kind, release)
		}
	})
}
