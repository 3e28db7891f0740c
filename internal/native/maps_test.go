package native

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const mapsText = `55f41f340000-55f41f342000 r--p 00000000 fe:00 247026                     /usr/bin/cat
55f41f342000-55f41f347000 r-xp 00002000 fe:00 247026                     /usr/bin/cat
7f27b0000000-7f27b0270000 rwxp 00000000 00:00 0 
7f27b3000000-7f27b3001000 r-xp 00000000 fe:00 17 /tmp/a b (deleted)
7f27b3001000-7f27b3002000 r-xs 00001000 103:0a 18                         /tmp/line\012break
7f27b3002000-7f27b3003000 rwxs 00000000 00:01 19                         /memfd:doublemapper (deleted)
7f27b3003000-7f27b3004000 rwxp 00000000 00:05 20                         /dev/zero (deleted)
7f4027c94000-7f4027c96000 r-xp 00000000 00:00 0                          [vdso]
7ffd0877e000-7ffd0879f000 rwxp 00000000 00:00 0                          [stack]
ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]
`

func TestParseMaps(t *testing.T) {
	got, err := ParseMaps(strings.NewReader(mapsText), 7)
	require.NoError(t, err)
	assert.Equal(t, []Mapping{
		{PID: 7, Lo: 0x55f41f342000, Hi: 0x55f41f347000, FileOffset: 0x2000, Path: "/usr/bin/cat", DevMajor: 0xfe,
			Inode: 247026},
		{PID: 7, Lo: 0x7f27b3000000, Hi: 0x7f27b3001000, Path: "/tmp/a b", DevMajor: 0xfe, Inode: 17, Deleted: true},
		{PID: 7, Lo: 0x7f27b3001000, Hi: 0x7f27b3002000, FileOffset: 0x1000, Path: "/tmp/line\nbreak", DevMajor: 0x103,
			DevMinor: 10, Inode: 18},
		{PID: 7, Lo: 0x7f4027c94000, Hi: 0x7f4027c96000, Path: "[vdso]"},
	}, got)
}

func TestParseMapsBadLines(t *testing.T) {
	const good = "1000-2000 r-xp 0 fe:00 1 /a\n"
	check := func(line, want string) {
		t.Helper()
		got, err := ParseMaps(strings.NewReader(good+line+"\n"+good), 7)
		var bad *SyntaxError
		if assert.ErrorAs(t, err, &bad, line) {
			assert.Equal(t, 2, bad.Line)
			assert.Contains(t, err.Error(), "/proc/7/maps:2: "+want)
		}
		assert.Len(t, got, 2, line)
	}
	check("2000-1000 r-xp 0 fe:00 1 /a", "bad address range")
	check("1000 r-xp 0 fe:00 1 /a", "bad address range")
	check("1000-12345678901234567 r-xp 0 fe:00 1 /a", "bad address range")
	check("1000-2000 r-x 0 fe:00 1 /a", "bad permissions")
	check("1000-2000 r-xp z fe:00 1 /a", "bad offset")
	check("1000-2000 r-xp 0 fe 1 /a", "bad device")
	check("1000-2000 r-xp 0 fe:00 x /a", "bad inode")
	check("1000-2000 r-xp 0 fe:00", "bad inode")
	check("cut", "bad address range")

	broken := errors.New("broken")
	got, err := ParseMaps(io.MultiReader(strings.NewReader(good), iotest.ErrReader(broken)), 7)
	assert.ErrorIs(t, err, broken)
	assert.Len(t, got, 1)
}

func FuzzMaps(f *testing.F) {
	f.Add(mapsText)
	for line := range strings.Lines(mapsText) {
		f.Add(line)
	}
	f.Add("1000-2000 r-xp 0 fe:00 1 /a\ncut")
	f.Fuzz(func(t *testing.T, text string) {
		mappings, err := ParseMaps(strings.NewReader(text), 7)
		var bad *SyntaxError
		if err != nil && len(text) < 1<<20 && !errors.As(err, &bad) {
			t.Fatal(err)
		}
		r := NewResolver()
		for _, m := range mappings {
			if m.PID != 7 || m.Lo >= m.Hi || !m.file() {
				t.Fatalf("%+v", m)
			}
			r.Add(m)
			if p := r.processes[7].find(m.Lo); p == nil || p.Mapping != m {
				t.Fatalf("%+v is not there", m)
			}
		}
		if p := r.processes[7]; p != nil {
			for i, at := range p.parts {
				if at.Lo >= at.Hi || i > 0 && p.parts[i-1].Hi > at.Lo {
					t.Fatalf("part %d: %+v", i, at.Mapping)
				}
			}
		}
	})
}
