package nmethod

import (
	"bytes"
	"encoding/binary"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/hotspot/unsigned5"
	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
	"github.com/gasm-profiler/gasm/hotspot/vmstructs/vmtest"
	"github.com/gasm-profiler/gasm/printassembly"
)

// A damagedMethod is a method in the memory of a JVM.
type damagedMethod struct {
	*testing.T
	*fakeJVM
	address uint64
	tag     string
}

func (m *damagedMethod) nmethod() []byte { return m.Data[m.address-vmtest.Base:] }

// section returns the bytes from the start of a section to the end of the memory. The tag has the section's offset.
func (m *damagedMethod) section(name string) []byte {
	m.Helper()
	_, rest, ok := strings.Cut(m.tag, " "+name+"_offset='")
	require.True(m, ok, "%s: %s", name, m.tag)
	digits, _, _ := strings.Cut(rest, "'")
	offset, err := strconv.Atoi(digits)
	require.NoError(m, err)
	return m.nmethod()[offset:]
}

// constMethod returns the bytes of the ConstMethod of the first method in the metadata.
func (m *damagedMethod) constMethod() []byte {
	method := binary.LittleEndian.Uint64(m.section("metadata"))
	return m.Data[binary.LittleEndian.Uint64(m.Data[method-vmtest.Base+constMethodPointer:])-vmtest.Base:]
}

// TestDamaged: a method with damaged memory counts as missed, with a reason. Its machine code is copied anyway if its
// sections were found. A method counts as late if its nmethod was replaced.
func TestDamaged(t *testing.T) {
	cases := map[string]struct {
		damage func(m *damagedMethod)
		why    string // why it was missed
		late   bool
	}{
		"not at all": {func(m *damagedMethod) {}, "", false},
		"another nmethod is there": {func(m *damagedMethod) { put(m.nmethod(), compileIDOffset, uint32(2)) }, "",
			true},
		"it is freed": {func(m *damagedMethod) { m.Data[m.address-vmtest.Base-blockHeaderSize+blockUsedOffset] = 0 }, "",
			true},
		"its method's memory is unmapped": {func(m *damagedMethod) { put(m.section("metadata"), 0, uint64(8)) },
			"a method of its debug info: reading 28 bytes at 0x8: unexpected EOF", false},
		"a scope of no method": {func(m *damagedMethod) { m.section("scopes_data")[2] = 0 },
			"a scope is of method 0 of ", false},
		"a scope that calls itself": {func(m *damagedMethod) { m.section("scopes_data")[1] = 1 },
			"its debug info refers to a scope at offset 1, where there is none", false},
		"a PcDesc of no scope": {func(m *damagedMethod) {
			put(m.section("scopes_pcs"), pcDescSize+4,
				uint32(1<<30))
		}, "its debug info refers to a scope at offset 1073741824, where there is none", false},
		"PcDescs in disorder": {func(m *damagedMethod) { put(m.section("scopes_pcs"), 2*pcDescSize, uint32(3)) },
			"a PcDesc at 3 follows one at 3", false},
		"the debug info of another method": {func(m *damagedMethod) {
			other := m.addMethod(fakeMethod{class: "p/Cold", name: "sum"})
			put(m.section("metadata"), 0, other)
		}, "its debug info is that of p.Cold::sum", false},
		"PcDescs elsewhere": {func(m *damagedMethod) {
			m.tag = strings.Replace(m.tag, "scopes_pcs_offset='", "scopes_pcs_offset='9999", 1)
		}, "its PcDescs lie outside the nmethod and the memory that it points to; HotSpot's layout may have changed: please report this build of JDK 17", false},
		"scopes elsewhere": {func(m *damagedMethod) {
			m.tag = strings.Replace(m.tag, "scopes_data_offset='", "scopes_data_offset='-", 1)
		}, "its scopes lie outside the nmethod", false},
		"metadata elsewhere": {func(m *damagedMethod) {
			m.tag = strings.Replace(m.tag, "metadata_offset='", "metadata_offset='9999", 1)
		}, "its metadata lies outside the nmethod", false},
		"relocations beyond the nmethod": {func(m *damagedMethod) { put(m.nmethod(), dataEndOffset+16, m.address+1<<20) },
			"its relocations lie outside the nmethod", false},
		"relocations that end before their start": {func(m *damagedMethod) { put(m.nmethod(), dataEndOffset+16, m.address) },
			"its relocations lie outside the nmethod", false},
		"relocations of other code": {func(m *damagedMethod) { put(m.nmethod(), contentBeginOffset, m.address+1<<20) },
			"its relocations lie outside the nmethod", false},
		"a ConstMethod that is too small": {func(m *damagedMethod) { put(m.constMethod(), wordsOffset, uint32(4)) },
			"a method of its debug info: the ConstMethod at 0x", false},
		"a ConstMethod that is too large": {func(m *damagedMethod) { put(m.constMethod(), wordsOffset, uint32(1<<31)) },
			"are more than any structure of HotSpot has", false},
		"a chain of frames without end": {func(m *damagedMethod) {
			scopes := []byte{0xff} // each scope has the one before as its caller
			at := 0
			for range maxFrames + 2 {
				next := len(scopes)
				scopes = slices.Concat(scopes, unsigned5.Append(nil, uint32(at), 17), unsigned5.Append(nil, 1, 17),
					unsigned5.Append(nil, 1, 17))
				at = next
			}
			put(m.section("scopes_pcs"), pcDescSize+4, uint32(at))
			scopesAt := m.Add(scopes...) // after the nmethod, which is made longer to contain them
			m.tag = strings.Replace(m.tag, " size='", " size='9", 1)
			m.tag = strings.Replace(m.tag, " scopes_data_offset='",
				" scopes_data_offset='"+strconv.Itoa(int(scopesAt-m.address))+"' was='", 1)
			m.Add(make([]byte, 10000)...)
		}, "a chain of more than 500 inlined methods", false},
	}
	require.NotEmpty(t, cases)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			j := newFakeJVM(17)
			_, tag := j.addCode(roundTrips["inlined"].code)
			installed, ok := printassembly.ParseInstalled([]byte(tag))
			require.True(t, ok)
			m := &damagedMethod{t, j, installed.Address, tag}
			c.damage(m)
			f := tagFollower{compilers: C1, copier: j.copier(t)}
			f.take([]byte(m.tag))
			copied := readPrinted(t, bytes.NewReader(f.text))
			switch {
			case c.late:
				assert.Equal(t, tagResult{Late: 1}, f.result)
				assert.Empty(t, copied)
				return
			case c.why == "":
				assert.Equal(t, tagResult{Copied: 1}, f.result)
			default:
				require.ErrorContains(t, f.result.Why, "p.Hot::sum (compile id 1): ")
				require.ErrorContains(t, f.result.Why, c.why)
				assert.Equal(t, 1, f.result.Missed)
			}
			if strings.HasSuffix(name, "elsewhere") {
				assert.Empty(t, copied)
				return
			}
			require.Len(t, copied, 1)
			for _, p := range copied {
				assert.Equal(t, slices.Concat(insts, stubs), p.code)
			}
		})
	}
}

// TestLayout removes each field, size and constant from HotSpot's tables in turn.
func TestLayout(t *testing.T) {
	require.NotEmpty(t, releases)
	for _, release := range releases {
		tables := fakeTables(release)
		tables.Statics["CodeCache::_heaps"] = vmtest.Base
		check := func(name string) {
			t.Helper()
			memory := vmtest.New()
			tables.Statics["Abstract_VM_Version::_vm_major_version"] = memory.Add(byte(release), 0, 0, 0)
			symbols := memory.AddTables(tables)
			symbols[javaCodes] = memory.Add(codesOf(release)...)
			vm, err := vmstructs.New(memory, symbols.Address)
			require.NoError(t, err)
			c, err := NewCopier(vm)
			if err == nil {
				err = c.Frames()
			}
			switch name {
			case "nmethod::_immutable_data", "":
				require.NoError(t, err, "without %q the data lies in the nmethod", name)
			case "InstanceKlass::_source_file_name_index", "ConstantPool::_source_file_name_index":
				require.NoError(t, err, "without %q the names of files are guessed", name)
			case "nmethod::_nul_chk_table_offset", "nmethod::_nmethod_end_offset", "nmethod::_handler_table_offset", "int",
				"uint16_t":
				require.NoError(t, err, "without %q copies lack implicit exceptions", name)
			default:
				require.ErrorContains(t, err, "HotSpot's tables have no ", "JDK %d without %s", release, name)
			}
		}
		check("")
		for _, offset := range slices.Collect(maps.Keys(tables.Offsets)) {
			value := tables.Offsets[offset]
			delete(tables.Offsets, offset)
			check(offset)
			tables.Offsets[offset] = value
		}
		for _, size := range slices.Collect(maps.Keys(tables.Sizes)) {
			value := tables.Sizes[size]
			delete(tables.Sizes, size)
			check(size)
			tables.Sizes[size] = value
		}
		for _, constant := range slices.Collect(maps.Keys(tables.Ints)) {
			value := tables.Ints[constant]
			delete(tables.Ints, constant)
			check(constant)
			tables.Ints[constant] = value
		}
	}
}

// FuzzCopy changes the memory of a JVM, because a JVM changes it while it is read. A patch has four bytes: three of an
// address, and the new byte.
func FuzzCopy(f *testing.F) {
	type jvm struct {
		*fakeJVM
		whole []byte
		tags  []printassembly.Installed
	}
	jvms := map[int]*jvm{}
	for _, release := range releases {
		j := &jvm{fakeJVM: newFakeJVM(release)}
		for _, name := range slices.Sorted(maps.Keys(roundTrips)) {
			_, text := j.addCode(roundTrips[name].code)
			tag, ok := printassembly.ParseInstalled([]byte(text))
			require.True(f, ok)
			j.tags = append(j.tags, tag)
		}
		code, _ := relocCode(j.fakeJVM)
		_, text := j.addCode(code)
		tag, ok := printassembly.ParseInstalled([]byte(text))
		require.True(f, ok)
		j.tags = append(j.tags, tag)
		j.whole = slices.Clone(j.Data)
		jvms[release] = j
		for i, tag := range j.tags {
			f.Add(release, i, []byte{})
			for at := tag.Address - vmtest.Base; at < tag.Address-vmtest.Base+tag.Size; at += 4 {
				f.Add(release, i, []byte{byte(at), byte(at >> 8), byte(at >> 16), byte(at * 7)})
			}
		}
	}
	f.Fuzz(func(t *testing.T, release, method int, patches []byte) {
		j := jvms[release]
		if j == nil || method < 0 || method >= len(j.tags) {
			return
		}
		j.Data = append(j.Data[:0], j.whole...)
		c := j.copier(t)
		c.SetNames(relocNames(j.fakeJVM))
		for ; len(patches) >= 4; patches = patches[4:] {
			if at := int(patches[0]) | int(patches[1])<<8 | int(patches[2])<<16; at < len(j.Data) {
				j.Data[at] = patches[3]
			}
		}
		code, err := c.Copy(&j.tags[method])
		if err != nil {
			assert.Nil(t, code)
			return
		}
		text, err := code.AppendTo([]byte("<writer thread='gasm'/>\n"))
		require.Less(t, len(text), maxText+1<<20, "the head and the code come on top of the bound")
		if err != nil {
			return
		}
		checkReadable(t, string(text), code)
	})
}

// checkReadable reads the text of one method with printassembly.
func checkReadable(t *testing.T, text string, code *Code) {
	t.Helper()
	l, err := printassembly.NewLog(strings.NewReader(text), int64(len(text)), "fuzz")
	require.NoError(t, err)
	require.Len(t, l.Blobs, 1)
	b := &l.Blobs[0]
	require.Equal(t, []uint64{code.Lo, code.Hi}, []uint64{b.Lo, b.Hi})
	require.Equal(t, code.Name, b.Name)
	got, err := l.Code(b, disasm.ATT)
	require.NoError(t, err)
	require.NotEmpty(t, got)
	at := b.Lo
	for _, in := range got {
		require.Equal(t, at, in.Lo)
		require.Less(t, in.Lo, in.Hi)
		at = in.Hi
		if in.OwnFrames {
			require.Equal(t, code.Name, in.Frames[len(in.Frames)-1].Method)
		}
	}
	require.Equal(t, b.Hi, at)
}

// FuzzUnpack reads arbitrary bytes as packed data.
func FuzzUnpack(f *testing.F) {
	for _, release := range releases {
		f.Add(packLines([]lineNumber{{0, 5}, {4, 6}, {104, 3}}, release), 1, release, 110)
		f.Add(slices.Concat([]byte{0xff}, unsigned5.Append(nil, 0, release), unsigned5.Append(nil, 3, release),
			unsigned5.Append(nil, 0, release)), 1, release, 64)
		f.Add(pcDescs([2]int{-1, 0}, [2]int{12, 1}, [2]int{65, 0}), 16, release, 64)
	}
	f.Add([]byte{0x91, 4, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 1, 2, 3, 4, 5, 6, 7, 8}, 1, 17, 8)
	f.Fuzz(func(t *testing.T, data []byte, offset, release, codeSize int) {
		lines := readLineNumbers(data, release)
		if len(lines) > len(data) {
			t.Fatalf("%d line numbers in %d bytes", len(lines), len(data))
		}
		m := method{bytecode: data, lines: lines}
		for _, l := range lines {
			if got := m.line(l.bci); l.bci >= 0 && l.bci < len(data) &&
				!slices.ContainsFunc(lines, func(o lineNumber) bool { return o.bci == l.bci && o.line == got }) {
				t.Fatalf("bci %d has line %d, which is not in the list", l.bci, got)
			}
			(&Copier{bytecodes: new([256]string)}).bytecodeName(&m, l.bci)
		}
		for range len(data) + 1 {
			s, ok := readScope(data, offset, release)
			if !ok {
				break
			}
			if s.sender < 0 || s.sender >= offset || s.bci < math.MinInt32-1 || s.bci > math.MaxInt32 || s.method < 0 {
				t.Fatalf("at %d: %+v", offset, s)
			}
			offset = s.sender
		}
		last := 0
		err := eachPCDesc(data, codeSize, func(d pcDesc) bool {
			if d.end <= last || d.end > codeSize {
				t.Fatalf("%+v after %d in %d bytes of code", d, last, codeSize)
			}
			last = d.end
			return true
		})
		if err != nil && len(data) < 2*pcDescSize {
			t.Fatal(err)
		}
	})
}

// Until HotSpot has filled its table of bytecodes, the JVM is just starting, and a later Copier has frames.
func TestStarting(t *testing.T) {
	const release = 21
	tables := fakeTables(release)
	memory := vmtest.New()
	tables.Statics["CodeCache::_heaps"] = vmtest.Base
	tables.Statics["Abstract_VM_Version::_vm_major_version"] = memory.Add(release, 0, 0, 0)
	symbols := memory.AddTables(tables)
	frames := func() error {
		vm, err := vmstructs.New(memory, symbols.Address)
		require.NoError(t, err)
		c, err := NewCopier(vm)
		require.NoError(t, err)
		return c.Frames()
	}
	symbols[javaCodes] = memory.Add(make([]byte, len(codesOf(release)))...)
	require.ErrorIs(t, frames(), ErrStarting)
	symbols[javaCodes] = memory.Add(codesOf(release)...)
	require.NoError(t, frames())
}

// TestTextBound: without a bound, names of 64 kB and long chains of frames would make an endless text.
func TestTextBound(t *testing.T) {
	long := fakeMethod{class: "A", name: strings.Repeat("\x01", 60_000), bytecode: sum} // six characters each as text
	chain := slices.Repeat([]fakeFrame{{1, 0}}, maxFrames-1)
	nops := bytes.Repeat([]byte{0x90}, 300)
	var many []fakeDebugInfo
	for i := range nops {
		many = append(many, fakeDebugInfo{i + 1, []fakeFrame{{1, 0}, {0, 0}}})
	}
	cases := map[string][]fakeDebugInfo{
		"many frames":  {{10, append(chain, fakeFrame{0, 0})}},
		"many PcDescs": many,
	}
	require.NotEmpty(t, cases)
	for name, debugInfo := range cases {
		t.Run(name, func(t *testing.T) {
			j := newFakeJVM(21)
			_, text := j.addCode(fakeCode{compiler: "c2", insts: nops, debugInfo: debugInfo,
				methods: []fakeMethod{{class: "A", name: "a", bytecode: sum}, long}})
			tag, ok := printassembly.ParseInstalled([]byte(text))
			require.True(t, ok)
			code, err := j.copier(t).Copy(&tag)
			require.NoError(t, err)
			copied, err := code.AppendTo(nil)
			require.ErrorIs(t, err, errTooLarge)
			assert.Less(t, len(copied), maxText+1<<10)
		})
	}
}

// TestUnloadedClass: another class is at the address of a class whose name was read before.
func TestUnloadedClass(t *testing.T) {
	j := newFakeJVM(17)
	_, tag := j.addCode(roundTrips["inlined"].code)
	f := tagFollower{compilers: C1, copier: j.copier(t), forgetAt: time.Now().Add(time.Hour)}
	f.take([]byte(tag))
	require.Equal(t, tagResult{Copied: 1}, f.result)

	name := bytes.Index(j.Data, []byte("p/Hot"))
	require.Positive(t, name)
	copy(j.Data[name:], "p/New")
	f.text = nil
	f.take([]byte(strings.Replace(tag, "p/Hot", "p/New", 1)))
	require.Equal(t, tagResult{Copied: 2}, f.result)
	assert.Equal(t, 7, strings.Count(string(f.text), "; - p.New::sum@"))
	assert.NotContains(t, string(f.text), "p.Hot")
}
