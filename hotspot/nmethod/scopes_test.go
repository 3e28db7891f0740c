package nmethod

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/gasm-profiler/gasm/hotspot/unsigned5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// releases are the releases that package nmethod knows.
var releases = []int{11, 17, 21, 25, 26, 27, 28}

func TestKnown(t *testing.T) {
	for release := range 100 {
		assert.Equal(t, slices.Contains(releases, release), Known(release), "JDK %d", release)
	}
}

func TestLines(t *testing.T) {
	require.NotEmpty(t, releases)
	for _, release := range releases {
		data := []byte{0<<3 | 5, 4<<3 | 1} // bci 0 line 5, bci 4 line 6
		data = append(append(append(data, 0xff), unsigned5.Append(nil, 2*100, release)...),
			unsigned5.Append(nil, 2*3-1, release)...)
		data = append(data, 2<<3|7, 0, 0x11)
		lines := readLineNumbers(data, release)
		require.Equal(t, []lineNumber{{0, 5}, {4, 6}, {104, 3}, {106, 10}}, lines)
		m := method{bytecode: make([]byte, 110), lines: lines}
		cases := map[int]int{-1: 5, 0: 5, 3: 5, 4: 6, 103: 6, 104: 3, 105: 3, 106: 10, 109: 10, 110: 0, -2: 0}
		require.NotEmpty(t, cases)
		for bci, want := range cases {
			assert.Equal(t, want, m.line(bci), "bci %d", bci)
		}
	}
	assert.Zero(t, (&method{bytecode: make([]byte, 4)}).line(2), "no table")
}

// pcDescs packs PcDescs. Each has an offset in the code and an offset in the scopes data.
func pcDescs(list ...[2]int) []byte {
	var data []byte
	for _, d := range list {
		data = binary.LittleEndian.AppendUint32(data, uint32(d[0]))
		data = binary.LittleEndian.AppendUint32(data, uint32(d[1]))
		data = append(data, make([]byte, pcDescSize-8)...)
	}
	return data
}

func TestPCDescs(t *testing.T) {
	cases := map[string]struct {
		data []byte
		want []pcDesc
		err  string
	}{
		"the one after the code ends them": {pcDescs([2]int{-1, 0}, [2]int{12, 1}, [2]int{20, 7}, [2]int{64, 9},
			[2]int{65, 0}, [2]int{3, 3}),
			[]pcDesc{{12, 1}, {20, 7}, {64, 9}}, ""},
		"no end": {pcDescs([2]int{-1, 0}, [2]int{12, 1}), []pcDesc{{12, 1}}, ""},
		"cut":    {pcDescs([2]int{12, 1}, [2]int{20, 7})[:pcDescSize+8], []pcDesc{{12, 1}}, ""},
		"none":   {nil, nil, ""},
		"the same again": {pcDescs([2]int{12, 1}, [2]int{12, 7}), []pcDesc{{12, 1}},
			"a PcDesc at 12 follows one at 12"},
		"descending": {pcDescs([2]int{12, 1}, [2]int{7, 7}), []pcDesc{{12, 1}}, "a PcDesc at 7 follows one at 12"},
	}
	require.NotEmpty(t, cases)
	for name, c := range cases {
		var got []pcDesc
		err := eachPCDesc(c.data, 64, func(d pcDesc) bool { got = append(got, d); return true })
		if c.err == "" {
			require.NoError(t, err, name)
		} else {
			require.EqualError(t, err, c.err, name)
		}
		assert.Equal(t, c.want, got, name)
	}
	n := 0
	require.NoError(t, eachPCDesc(pcDescs([2]int{1, 1}, [2]int{2, 2}), 64, func(pcDesc) bool { n++; return false }))
	assert.Equal(t, 1, n, "until take is false")
}

func TestScope(t *testing.T) {
	data := []byte{0}
	data = append(data, unsigned5.Append(nil, 0, 17)...) // no caller
	data = append(data, unsigned5.Append(nil, 3, 17)...)
	data = append(data, unsigned5.Append(nil, 0, 17)...) // bci -1
	data = append(data, 0, 0, 7)                         // no locals, no expressions, monitors
	at := len(data)
	data = append(append(append(data, unsigned5.Append(nil, 1, 17)...), unsigned5.Append(nil, 200, 17)...),
		unsigned5.Append(nil, 300, 17)...)
	outer, ok := readScope(data, 1, 17)
	assert.True(t, ok)
	assert.Equal(t, scope{sender: 0, method: 3, bci: -1, monitors: 7}, outer)
	inner, ok := readScope(data, at, 17)
	assert.True(t, ok)
	assert.Equal(t, scope{sender: 1, method: 200, bci: 299}, inner)
	none := []int{0, -1, len(data), len(data) - 1}
	require.NotEmpty(t, none)
	for _, bad := range none {
		_, ok := readScope(data, bad, 17)
		assert.False(t, ok, bad)
	}
}
