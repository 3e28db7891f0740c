package native

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/ulikunitz/xz"
)

// packed returns the data compressed by the program xz.
func packed(t testing.TB, data []byte, flags ...string) []byte {
	t.Helper()
	cmd := exec.Command(tool(t, "xz"), append(flags, "-c")...)
	cmd.Stdin = bytes.NewReader(data)
	out, err := cmd.Output()
	require.NoError(t, err)
	return out
}

// TestCheckXZ: output of the program xz is accepted, unless it needs a dictionary that is too large.
func TestCheckXZ(t *testing.T) {
	random := rand.NewChaCha8([32]byte{5})
	noise := make([]byte, 300_000)
	_, _ = random.Read(noise)
	text := bytes.Repeat([]byte("a function and another one"), 20_000)
	for _, flags := range [][]string{
		{}, {"-9"}, {"-0"}, {"--check=none"}, {"--check=crc32"}, {"--check=sha256"}, {"-T2", "--block-size=65536"},
		{"--block-size=10000"}, {"--lzma2=dict=64MiB"},
	} {
		for _, data := range [][]byte{nil, []byte("a"), text, noise, append(noise, text...)} {
			file := packed(t, data, flags...)
			assert.NoError(t, checkXZ(file), "%v", flags)
			r, err := xz.ReaderConfig{SingleStream: true}.NewReader(bytes.NewReader(file))
			require.NoError(t, err)
			got, err := io.ReadAll(r)
			require.NoError(t, err)
			assert.True(t, bytes.Equal(data, got), "%v", flags)
		}
	}
	large := packed(t, text, "--lzma2=dict=1GiB")
	assert.ErrorContains(t, checkXZ(large), "its dictionary has 1024 MiB, and at most 64 MiB are read")
	small := packed(t, text)
	assert.Error(t, checkXZ(append(bytes.Clone(small), large...)), "two streams")
	for cut := range len(small) {
		assert.Error(t, checkXZ(small[:cut]))
	}
}

func FuzzCheckXZ(f *testing.F) {
	f.Add(packed(f, []byte("some text")))
	f.Add(packed(f, bytes.Repeat([]byte("longer"), 1000), "--block-size=500"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if checkXZ(data) != nil {
			return
		}
		r, err := xz.ReaderConfig{SingleStream: true}.NewReader(bytes.NewReader(data))
		if err == nil {
			_, _ = io.Copy(io.Discard, io.LimitReader(r, 1<<20))
		}
	})
}
