package printassembly

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestThreadNames(t *testing.T) {
	text := []byte("<hotspot_log version='160 1' process='7' time_ms='1'>\n<tty>\n<writer thread='gasm'/>\n")
	for _, n := range []struct {
		tid  int
		name string
	}{{8, "main"}, {9, "a 'b' <c>\n&amp; ü"}, {8, "renamed"}, {0, "no thread"}, {-1, "no thread"}, {10, ""}} {
		text = AppendThreadName(text, n.tid, n.name)
	}
	text = append(text, "<thread_name tid='x' name='y'/>\n<thread_name name='y'/>\n<thread_name tid='11' name='cut"...)
	log, err := NewLog(strings.NewReader(string(text)), int64(len(text)), "log")
	require.NoError(t, err)
	assert.Equal(t, map[int][]string{8: {"main", "renamed"}, 9: {"a 'b' <c>\n&amp; ü"}}, log.ThreadNames)
	assert.Zero(t, log.Damaged)
}
