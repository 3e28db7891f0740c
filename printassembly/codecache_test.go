package printassembly

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReservedCodeCache(t *testing.T) {
	for args, want := range map[string]uint64{
		"":                             240 << 20,
		"-XX:ReservedCodeCacheSize=4m": 4 << 20,
		"-Dx=1 -XX:ReservedCodeCacheSize=64m -XX:ReservedCodeCacheSize=512K": 512 << 10,
		"-XX:ReservedCodeCacheSize=1g":                                       1 << 30,
		"-XX:ReservedCodeCacheSize=251658240":                                251658240,
		"-XX:ReservedCodeCacheSize=lots":                                     240 << 20,
		"-XX:ReservedCodeCacheSize=":                                         240 << 20,
		"-XX:ReservedCodeCacheSize=99g":                                      240 << 20,
	} {
		// A class may have a name of one letter.
		header := "<hotspot_log version='160 1' process='7' time_ms='5'>\n<vm_arguments>\n<args>\n" + args +
			" </args>\n<command>\nA\n</command>\n"
		idx, err := readIndex(strings.NewReader(header), int64(len(header)), "asm.log")
		require.NoError(t, err)
		assert.Equal(t, want, idx.ReservedCodeCache, args)
		assert.Equal(t, "A", idx.Command)
	}
}

func TestFramePointers(t *testing.T) {
	for args, want := range map[string]bool{
		"":                              false,
		"-XX:+PreserveFramePointer ":    true,
		"-XX:-PreserveFramePointer ":    false,
		"-Da=-XX:+PreserveFramePointer": false,
		"-Xmx1g -XX:-PreserveFramePointer -XX:+PreserveFramePointer ": true,
		"-XX:+PreserveFramePointer -XX:-PreserveFramePointer ":        false,
	} {
		header := "<hotspot_log version='160 1' process='7' time_ms='5'>\n<vm_arguments>\n<args>\n" + args +
			"</args>\n<command>\nA\n</command>\n"
		idx, err := readIndex(strings.NewReader(header), int64(len(header)), "asm.log")
		require.NoError(t, err)
		assert.Equal(t, want, idx.FramePointers, args)
	}
}
