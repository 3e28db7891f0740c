package printassembly

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A method that is known from LogCompilation's tag has the same properties as a method whose code was printed.
func TestNamed(t *testing.T) {
	for _, name := range []string{"jdk8-full-hsdis", "jdk17-full-hsdis", "jdk25-full-hsdis"} {
		t.Run(name, func(t *testing.T) {
			text := readCapture(t, name)
			var tags []byte
			for line := range bytes.Lines(text) {
				if line[0] == '<' {
					tags = append(tags, line...)
				}
			}
			named, err := NewLog(bytes.NewReader(tags), int64(len(tags)), name)
			require.NoError(t, err)
			byID := map[int]Blob{}
			for _, b := range named.Blobs {
				assert.True(t, b.named)
				assert.False(t, b.HasCode)
				byID[b.ID] = b
			}
			whole, err := NewLog(bytes.NewReader(text), int64(len(text)), name)
			require.NoError(t, err)
			methods := 0
			for _, b := range whole.Blobs {
				require.False(t, b.named, "%+v", b)
				if !b.Kind.Java() || b.ID == 0 {
					continue
				}
				methods++
				tag := byID[b.ID]
				require.Equal(t, []any{b.Kind, b.Name, b.Compiler, b.Level, b.OSR, b.Lo},
					[]any{tag.Kind, tag.Name, tag.Compiler, tag.Level, tag.OSR, tag.Lo})
				require.InDelta(t, b.UptimeMillis, tag.UptimeMillis, 200)
				require.GreaterOrEqual(t, tag.Hi, b.Hi)
				require.Less(t, tag.Hi-b.Hi, uint64(256), "%s: parts are aligned", b.Name)
			}
			assert.Equal(t, len(byID), methods)
			assert.Greater(t, methods, 50)
		})
	}
}

// Tags that lack something needed to assign samples are ignored.
func TestNamedDamage(t *testing.T) {
	const whole = "<nmethod compile_id='7' compiler='c2' level='4' size='300' address='0x1000' insts_offset='100' stub_offset='200' " +
		"scopes_data_offset='-5' oops_offset='260' method='a/A &lt;init&gt; ()V' stamp='1.5'/>"
	for _, c := range []struct {
		old, new string
		want     []Blob
	}{
		{"", "", []Blob{{Name: "a.A::<init>", Compiler: "c2", Level: 4, ID: 7, Lo: 0x1064, Hi: 0x1104, UptimeMillis: 1500,
			Stamped: true, named: true}}},
		{" stub_offset='200'", "", []Blob{{Name: "a.A::<init>", Compiler: "c2", Level: 4, ID: 7, Lo: 0x1064, Hi: 0x1104,
			UptimeMillis: 1500, Stamped: true, named: true}}},
		{" oops_offset='260'", "", []Blob{{Name: "a.A::<init>", Compiler: "c2", Level: 4, ID: 7, Lo: 0x1064, Hi: 0x112c,
			UptimeMillis: 1500, Stamped: true, named: true}}},
		{"compiler='c2'", "compile_kind='c2n' compiler=''", []Blob{{Kind: Native, Name: "a.A::<init>", Level: 4, ID: 7,
			Lo: 0x1064, Hi: 0x1104, UptimeMillis: 1500, Stamped: true, named: true}}},
		{" stamp='1.5'", " stamp='1.5' seen='1.75'", []Blob{{Name: "a.A::<init>", Compiler: "c2", Level: 4, ID: 7, Lo: 0x1064,
			Hi: 0x1104, UptimeMillis: 1500, SeenMillis: 1750, Stamped: true, named: true}}},
		{" stamp='1.5'", " stamp='1.5' seen='1.25'", []Blob{{Name: "a.A::<init>", Compiler: "c2", Level: 4, ID: 7, Lo: 0x1064,
			Hi: 0x1104, UptimeMillis: 1500, Stamped: true, named: true}}}, // a time that can't be
		{" size='300'", "", nil}, {"'100'", "'300'", nil}, {" address='0x1000'", "", nil}, {" stamp='1.5'", "", nil},
		{"a/A ", "", nil},
		{" method=", " m=", nil},
	} {
		text := header + string(bytes.Replace([]byte(whole), []byte(c.old), []byte(c.new), 1)) + "\n"
		l, err := NewLog(bytes.NewReader([]byte(text)), int64(len(text)), "asm.log")
		require.NoError(t, err)
		for i := range l.Blobs {
			l.Blobs[i].offset, l.Blobs[i].end, l.Blobs[i].installed = 0, 0, 0
		}
		assert.Equal(t, c.want, append([]Blob(nil), l.Blobs...), c.old)
	}
}
