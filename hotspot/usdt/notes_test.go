package usdt

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/event/usdt"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// probed reports whether the builds of a JDK have probes: Debian's JDK 8 has none.
func probed(j gasmtest.JDK) bool { return j.Feature >= 11 }

// probesOf reads the probes of a JDK.
func probesOf(t testing.TB, j gasmtest.JDK) []Probe {
	t.Helper()
	f, err := os.Open(j.LibJVM())
	require.NoError(t, err)
	defer f.Close()
	probes, err := Probes(f)
	require.NoError(t, err)
	return probes
}

// TestNotesLikeReadelf checks that a library's probes are those that readelf shows, with their
// operands.
func TestNotesLikeReadelf(t *testing.T) {
	readelf := gasmtest.NeedTool(t, "readelf", "scripts/setup.sh test installs it")
	shown :=
		regexp.MustCompile(`Provider: (\S+)\s+Name: (\S+)\s+Location: (\S+), Base: \S+, Semaphore: \S+\s+Arguments: ?(.*)`)
	for _, j := range gasmtest.NeedJDKs(t, probed) {
		t.Run(j.Name(), func(t *testing.T) {
			out, err := exec.Command(readelf, "-nW", j.LibJVM()).Output()
			require.NoError(t, err)
			f, err := elf.Open(j.LibJVM())
			require.NoError(t, err)
			defer f.Close()
			want := shown.FindAllStringSubmatch(string(out), -1)
			probes := probesOf(t, j)
			require.Len(t, probes, len(want))
			assert.Greater(t, len(want), 500)
			for i, w := range want {
				p := &probes[i]
				assert.Equal(t, w[1]+":"+w[2], p.FullName())
				addr, err := strconv.ParseUint(w[3], 0, 64)
				require.NoError(t, err)
				offset, ok := fileOffset(f, addr)
				assert.True(t, ok)
				assert.Equal(t, offset, p.Offset)
				var texts []string
				for k := range p.Args {
					texts = append(texts, p.Args[k].Text)
					assert.NotEqual(t, UnknownForm, p.Args[k].Form, "%s: %s", p.FullName(), p.Args[k].Text)
				}
				assert.Equal(t, w[4], strings.Join(texts, " "))
				if p.Provider == usdt.Provider || p.Provider == usdt.PrivateProvider {
					assert.Contains(t, usdt.Known(), p.FullName())
					width := 0
					for _, par := range parametersOf(p) {
						assert.NotEmpty(t, par.Name, "%s has %d arguments, which is not what is known", p.FullName(), len(p.Args))
						width += par.Kind.Width()
					}
					assert.Len(t, p.Args, width)
				}
			}
		})
	}
}

// TestOperands parses operands of both machines. The operands of aarch64 are from Temurin's libjvm.so of JDK 21 for
// that machine.
func TestOperands(t *testing.T) {
	check := func(machine elf.Machine, text string, want Operand) {
		t.Helper()
		set, err := operandsOf(machine)
		require.NoError(t, err)
		got := parseOperands(text, set)
		require.Len(t, got, 1, text)
		want.Text = text
		assert.Equal(t, want, got[0], text)
	}
	x86, arm := elf.EM_X86_64, elf.EM_AARCH64
	check(x86, "8@%rax", Operand{Size: 8, Form: RegisterForm, Register: 80, Index: -1})
	check(x86, "-4@%r13d", Operand{Size: 4, Signed: true, Form: RegisterForm, Register: 16, Index: -1})
	check(x86, "1@%dil", Operand{Size: 1, Form: RegisterForm, Register: 112, Index: -1})
	check(x86, "1@%al", Operand{Size: 1, Form: RegisterForm, Register: 80, Index: -1})
	check(x86, "2@%si", Operand{Size: 2, Form: RegisterForm, Register: 104, Index: -1})
	check(x86, "-4@$-1", Operand{Size: 4, Signed: true, Form: ConstantForm, Register: -1, Index: -1, Number: -1})
	check(x86, "8@$18446744073709551615", Operand{Size: 8, Form: ConstantForm, Register: -1, Index: -1, Number: -1})
	check(x86, "8@152(%rdi)", Operand{Size: 8, Form: MemoryForm, Register: 112, Index: -1, Scale: 1, Number: 152})
	check(x86, "-8@-60(%rbp)", Operand{Size: 8, Signed: true, Form: MemoryForm, Register: 32, Index: -1, Scale: 1,
		Number: -60})
	check(x86, "8@(%rsp)", Operand{Size: 8, Form: MemoryForm, Register: 152, Index: -1, Scale: 1})
	check(x86, "4@8(%rax,%rcx,4)", Operand{Size: 4, Form: MemoryForm, Register: 80, Index: 88, Scale: 4, Number: 8})
	check(x86, "8f@%xmm0", Operand{Register: -1, Index: -1})
	check(x86, "8@stderr(%rip)", Operand{Register: -1, Index: -1})
	check(x86, "8@99999999999(%rax)", Operand{Register: 80, Index: -1, Scale: 1})
	check(arm, "8@x22", Operand{Size: 8, Form: RegisterForm, Register: 176, Index: -1})
	check(arm, "-4@w3", Operand{Size: 4, Signed: true, Form: RegisterForm, Register: 24, Index: -1})
	check(arm, "-4@-1", Operand{Size: 4, Signed: true, Form: ConstantForm, Register: -1, Index: -1, Number: -1})
	check(arm, "1@xzr", Operand{Size: 1, Form: ConstantForm, Register: -1, Index: -1})
	check(arm, "8@[x0, 152]", Operand{Size: 8, Form: MemoryForm, Register: 0, Index: -1, Scale: 1, Number: 152})
	check(arm, "8@[x1]", Operand{Size: 8, Form: MemoryForm, Register: 8, Index: -1, Scale: 1})
	check(arm, "8@[sp, -24]", Operand{Size: 8, Form: MemoryForm, Register: 248, Index: -1, Scale: 1, Number: -24})
	check(arm, "8@[x1, x2, lsl 3]", Operand{Size: 8, Form: MemoryForm, Register: 8, Index: 16, Scale: 8})

	set, err := operandsOf(arm)
	require.NoError(t, err)
	assert.Len(t, parseOperands("8@x3 -4@w2 8@[x0, 152] 1@x1", set), 4)
	assert.Empty(t, parseOperands("", set))
	_, err = operandsOf(elf.EM_RISCV)
	assert.Error(t, err)
}

func TestOperandValues(t *testing.T) {
	const raw = 0xfedcba98_fffffffe
	assert.Equal(t, int64(-2), (&Operand{Size: 4, Signed: true, Form: RegisterForm}).value(raw))
	assert.Equal(t, int64(0xfffffffe), (&Operand{Size: 4, Form: RegisterForm}).value(raw))
	assert.Equal(t, int64(0xfe), (&Operand{Size: 1, Form: RegisterForm}).value(raw))
	assert.Equal(t, int64(-0x123456700000002), (&Operand{Size: 8, Form: RegisterForm}).value(raw))
	assert.Equal(t, int64(-1), (&Operand{Size: 4, Signed: true, Form: ConstantForm, Number: -1}).value(raw))
	assert.Equal(t, int64(0xffffffff), (&Operand{Size: 4, Form: ConstantForm, Number: -1}).value(raw))
	assert.Equal(t, int64(0), (&Operand{}).value(raw))
}

// made returns the notes of a library, without an ELF file around them.
func made(location, base uint64, texts string) []byte {
	desc := binary.LittleEndian.AppendUint64(nil, location)
	desc = binary.LittleEndian.AppendUint64(desc, base)
	desc = binary.LittleEndian.AppendUint64(desc, 0)
	desc = append(desc, texts...)
	note := binary.LittleEndian.AppendUint32(nil, 8)
	note = binary.LittleEndian.AppendUint32(note, uint32(len(desc)))
	note = binary.LittleEndian.AppendUint32(note, noteType)
	note = append(append(note, "stapsdt\x00"...), desc...)
	return append(note, make([]byte, -len(note)&3)...)
}

func TestDamagedNotes(t *testing.T) {
	whole := made(16, 32, "hotspot\x00gc__begin\x001@%dil\x00")
	for cut := range len(whole) - 3 {
		desc, _, err := cutNote(binary.LittleEndian, whole[:cut])
		assert.True(t, err != nil && desc == nil, cut)
	}
	desc, rest, err := cutNote(binary.LittleEndian, append(whole, whole...))
	require.NoError(t, err)
	assert.Equal(t, whole, rest)
	set, err := operandsOf(elf.EM_X86_64)
	require.NoError(t, err)
	location, base, p, err := readNote(binary.LittleEndian, desc, set)
	require.NoError(t, err)
	assert.Equal(t, "hotspot:gc__begin", p.FullName())
	assert.Equal(t, []uint64{16, 32}, []uint64{location, base})
	_, _, _, err = readNote(binary.LittleEndian, desc[:26], set)
	assert.ErrorContains(t, err, "cut")

	_, err = Probes(strings.NewReader("no ELF"))
	assert.Error(t, err)
	self, err := os.Open("/proc/self/exe")
	require.NoError(t, err)
	defer self.Close()
	_, err = Probes(self)
	assert.ErrorIs(t, err, ErrNone)
	assert.ErrorContains(t, err, "Oracle's")
}

func FuzzNotes(f *testing.F) {
	f.Add(made(16, 32, "hotspot\x00gc__begin\x001@%dil\x00"), "8@%rax -4@$-1 8@152(%rdi)")
	f.Add([]byte{255, 255, 255, 255, 255, 255, 255, 255, 3, 0, 0, 0}, "8@[x0, 152] -4@w3")
	f.Fuzz(func(t *testing.T, notes []byte, args string) {
		for _, machine := range []elf.Machine{elf.EM_X86_64, elf.EM_AARCH64} {
			set, err := operandsOf(machine)
			require.NoError(t, err)
			for _, o := range parseOperands(args, set) {
				if o.isRead() {
					assert.True(t, o.Register >= 0 && o.Register < 33*8 && o.Register%8 == 0, o.Text)
					assert.True(t, 1 <= o.Size && o.Size <= 8, o.Text)
				}
			}
			for rest := notes; len(rest) > 0; {
				var desc []byte
				before := len(rest)
				if desc, rest, err = cutNote(binary.LittleEndian, rest); err != nil {
					break
				}
				assert.Less(t, len(rest), before)
				if desc != nil {
					_, _, p, err := readNote(binary.LittleEndian, desc, set)
					assert.True(t, err != nil || bytes.Contains(desc, []byte(p.Name)))
				}
			}
		}
	})
}

func TestSelect(t *testing.T) {
	var probes []Probe
	for _, j := range gasmtest.NeedJDKs(t, func(j gasmtest.JDK) bool { return j.Feature == 17 }) {
		probes = probesOf(t, j)
	}
	names := func(patterns ...string) (names, unknown []string) {
		chosen, unknown := Select(probes, patterns)
		for i := range chosen {
			names = append(names, chosen[i].FullName())
		}
		return names, unknown
	}
	got, unknown := names("hotspot:thread__park__begin", "hotspot:thread-sleep-*", "hotspot:no_such")
	assert.Equal(t, []string{"hotspot:thread__sleep__begin", "hotspot:thread__sleep__end", "hotspot:thread__sleep__end",
		"hotspot:thread__park__begin"}, got)
	assert.Equal(t, []string{"hotspot:no_such"}, unknown)
	got, _ = names(Patterns(Kinds())...)
	assert.Greater(t, len(got), 450)
	for _, k := range Kinds() {
		_, unknown := names(patterns[k]...)
		assert.Subset(t, []string{"hs_private:cms__*"}, unknown, k) // JDK 11 is the last with CMS
	}
	assert.Equal(t, []string{"-XX:+DTraceAllocProbes", "-XX:+DTraceMonitorProbes"},
		FlagsOf([]string{"hotspot:object__alloc", "hotspot:monitor__*", "hotspot:gc__*"}))
	assert.Empty(t, FlagsOf([]string{"hotspot_jni:*", "hotspot:thread__*"}))
	for _, bad := range []string{"", "gc__begin", "hotspot:", ":x", "hotspot:[", "hotspot:a/b"} {
		assert.ErrorContains(t, CheckPattern(bad), "names no USDT probe", bad)
	}
	assert.NoError(t, CheckPattern("hotspot:*"))
}

// libraryWith returns an ELF file with notes, whose code is at the file's beginning and at address 0.
func libraryWith(t *testing.T, notes []byte) *bytes.Reader {
	t.Helper()
	const names = "\x00.note.stapsdt\x00.shstrtab\x00"
	const at = 64 + 56 + 3*64
	var b bytes.Buffer
	for _, part := range []any{
		elf.Header64{
			Ident: [16]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
			Type:  uint16(elf.ET_DYN), Machine: uint16(elf.EM_X86_64), Version: uint32(elf.EV_CURRENT), Ehsize: 64,
			Phoff: 64, Phentsize: 56, Phnum: 1, Shoff: 120, Shentsize: 64, Shnum: 3, Shstrndx: 2,
		},
		elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_X), Filesz: 1 << 20, Memsz: 1 << 20},
		elf.Section64{},
		elf.Section64{Name: 1, Type: uint32(elf.SHT_NOTE), Off: at, Size: uint64(len(notes))},
		elf.Section64{Name: 15, Type: uint32(elf.SHT_STRTAB), Off: at + uint64(len(notes)), Size: uint64(len(names))},
		notes, []byte(names),
	} {
		require.NoError(t, binary.Write(&b, binary.LittleEndian, part))
	}
	return bytes.NewReader(b.Bytes())
}

// TestHostileNotes checks that no place of a probe makes cilium/ebpf read the symbols of the library, and that there
// are not too many places.
func TestHostileNotes(t *testing.T) {
	note := made(16, 0, "hotspot\x00gc__begin\x001@%dil\x00")
	probes, err := Probes(libraryWith(t, note))
	require.NoError(t, err)
	assert.Len(t, probes, 1)
	_, err = Probes(libraryWith(t, made(0, 0, "hotspot\x00gc__begin\x001@%dil\x00")))
	assert.ErrorContains(t, err, "probe hotspot:gc__begin is at no address of the code")
	_, err = Probes(libraryWith(t, bytes.Repeat(note, maxProbes+1)))
	assert.ErrorContains(t, err, "it has more than 8192 probes")
}
