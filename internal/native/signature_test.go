package native

import (
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestParseSignatureBits checks which bits of an address may be a signature in processes with addresses of 48 and 39
// bits, and that the highest mapping counts, whatever it is.
func TestParseSignatureBits(t *testing.T) {
	const libjvm = "ffff8a000000-ffff8b000000 r-xp 00000000 fe:00 12 /usr/lib/jvm/lib/server/libjvm.so\n"
	for _, c := range []struct {
		name, maps string
		want       uint64
	}{
		{"48 bits", libjvm + "ffffd8f3a000-ffffd8f5b000 rw-p 00000000 00:00 0 [stack]\n", 0xffff << 48},
		{"the end of the addresses", "ffffd8f3a000-1000000000000 rw-p 00000000 00:00 0 [stack]\n", 0xffff << 48},
		{"39 bits", "7f8a000000-7f8b000000 r-xp 00000000 fe:00 12 /libjvm.so\n7fd8f3a000-7fd8f5b000 rw-p 00000000 00:00 0 [stack]\n", 0x1ffffff << 39},
		{"code far below the stack", "400000-500000 r-xp 00000000 fe:00 12 /java\nffffd8f3a000-ffffd8f5b000 rw-p 00000000 00:00 0 [stack]\n", 0xffff << 48},
		{"it has ended", "", 0},
	} {
		got, err := parseSignatureBits(strings.NewReader(c.maps), 7)
		require.NoError(t, err, c.name)
		assert.Equal(t, c.want, got, "%s: %#x", c.name, got)
	}
	got, err := parseSignatureBits(strings.NewReader("no mapping\n"+libjvm), 7)
	assert.Equal(t, uint64(0xffff<<48), got)
	var bad *SyntaxError
	assert.True(t, errors.As(err, &bad))
}

// TestSignatureBits checks that no address of this process has a bit that may be a signature.
func TestSignatureBits(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processes have no list of their mappings here")
	}
	got, err := SignatureBits(os.Getpid())
	require.NoError(t, err)
	if runtime.GOARCH != "arm64" {
		assert.Zero(t, got)
		return
	}
	assert.NotZero(t, got)
	mappings, err := ReadMaps(os.Getpid())
	require.NoError(t, err)
	for _, m := range mappings {
		assert.Zero(t, got&(m.Hi-1), m.Path)
	}
}
