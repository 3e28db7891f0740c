package printassembly

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestInliningLimits(t *testing.T) {
	limits := map[string]int64{"FreqInlineSize": 325, "MaxInlineSize": 35, "Odd": -1}
	line := string(AppendInliningLimits(nil, limits))
	assert.Equal(t, "<inlining_limits FreqInlineSize='325' MaxInlineSize='35' Odd='-1'/>\n", line)
	assert.Empty(t, AppendInliningLimits(nil, nil))
	read := func(lines string) map[string]int64 {
		t.Helper()
		text := "<hotspot_log version='160 1' process='7' time_ms='1'>\n" + lines
		log, err := NewLog(strings.NewReader(text), int64(len(text)), "log")
		require.NoError(t, err)
		return log.InliningLimits
	}
	assert.Equal(t, limits, read(line))
	assert.Nil(t, read(""))
	assert.Equal(t, map[string]int64{"Good": 1},
		read("<inlining_limits Good='1' Bad='x' <b>='2' ='3' Missing Long='99999999999999999999'/>\n"))
	var many strings.Builder
	for i := range 2 * maxLimits {
		fmt.Fprintf(&many, " F%d='1'", i)
	}
	assert.Len(t, read("<inlining_limits"+many.String()+"/>\n"), maxLimits)
}
