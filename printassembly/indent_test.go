package printassembly

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/disasm"
)

// JMH's perfasm:saveLog=true puts a column of percentages to the left of each line for each event. Such a log must
// read like the log that it was made from.
func TestIndentedLog(t *testing.T) {
	plain := "<hotspot_log version='160 1' process='7' time_ms='1000'>\n" +
		"<release>\n17.0.15+6\n</release>\n" +
		"<print_nmethod compile_id='3' stamp='0.364'>\n" +
		"Compiled method (c2) 363   3       4       A::a (28 bytes)\n" +
		" main code      [0x0000000000001000,0x0000000000001004] = 4\n" +
		"[MachCode]\n[Verified Entry Point]\n" +
		"  0x0000000000001000: 9090 90c3 \n" +
		"[/MachCode]\n</print_nmethod>\n</hotspot_log>\n"
	var indented bytes.Buffer
	for i, line := range bytes.SplitAfter([]byte(plain), []byte{'\n'}) {
		prefix := "                    " // two events
		if i == 9 {
			prefix = "  12.34%    0.10%   "
		}
		if len(line) > 0 {
			indented.WriteString(prefix)
		}
		indented.Write(line)
	}
	read := func(text []byte) (Header, []Instruction) {
		log, err := NewLog(bytes.NewReader(text), int64(len(text)), "test")
		require.NoError(t, err)
		require.Len(t, log.Blobs, 1)
		assert.Equal(t, "A::a", log.Blobs[0].Name)
		assert.False(t, log.Cut)
		insts, err := log.Code(&log.Blobs[0], disasm.ATT)
		require.NoError(t, err)
		return log.Header, insts
	}
	wantHeader, wantCode := read([]byte(plain))
	gotHeader, gotCode := read(indented.Bytes())
	assert.Equal(t, "17.0.15+6", wantHeader.VMVersion)
	assert.Len(t, wantCode, 4)
	assert.Equal(t, wantHeader, gotHeader)
	assert.Equal(t, wantCode, gotCode)
}
