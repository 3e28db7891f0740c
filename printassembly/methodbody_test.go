package printassembly_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/printassembly"
)

func readBodies(t *testing.T, lines string) *printassembly.Bodies {
	t.Helper()
	text := "<hotspot_log version='160 1' process='1' time_ms='1'>\n<writer thread='gasm'/>\n" + lines
	l, err := printassembly.NewLog(strings.NewReader(text), int64(len(text)), "bodies")
	require.NoError(t, err)
	return &l.Bodies
}

func TestMethodBodies(t *testing.T) {
	getter := printassembly.MethodBody{Method: "p.A::<init>",
		Refs: []printassembly.BodyRef{{BCI: 1, Kind: printassembly.FieldRead, Offset: 16}}}
	text := printassembly.AppendMethodBody(nil, 1, &getter)
	text = printassembly.AppendMethodBody(text, 2, &printassembly.MethodBody{Method: "p.A::b",
		Refs: []printassembly.BodyRef{
			{BCI: 5, Kind: printassembly.ArrayRef}, {BCI: 9, Kind: printassembly.CallRef, Offset: 1},
			{BCI: 14, Kind: printassembly.FieldWrite, Offset: 24}}})
	text = printassembly.AppendMethodBody(text, 3, &printassembly.MethodBody{Method: "p.A::b"})
	assert.Equal(t, `<method_body id='1' method='p.A::&lt;init&gt;' refs='1g16'/>
<method_body id='2' method='p.A::b' refs='5a 9c1 14p24'/>
<method_body id='3' method='p.A::b' refs=''/>
`, string(text))

	bodies := readBodies(t, string(text))
	require.True(t, bodies.Any())
	assert.Equal(t, []*printassembly.MethodBody{&getter}, bodies.Of("p.A::<init>"))
	overloaded := bodies.Of("p.A::b")
	require.Len(t, overloaded, 2)
	require.Len(t, overloaded[0].Refs, 3)
	assert.Equal(t, &getter, overloaded[0].Refs[1].Callee)
	assert.Empty(t, overloaded[1].Refs)
	assert.Empty(t, bodies.Of("p.A::c"))
	var absent *printassembly.Bodies
	assert.False(t, absent.Any())
}

// A log may be damaged anywhere. The part of a line before the damage is still used.
func TestDamagedMethodBodies(t *testing.T) {
	for _, c := range []struct {
		name, line string
		refs       int // -1: there is no such method
	}{
		{"whole", `<method_body id='1' method='a' refs='1g16 2a'/>`, 2},
		{"no number", `<method_body id='x' method='a' refs='1g16'/>`, -1},
		{"no name", `<method_body id='1' method='' refs='1g16'/>`, -1},
		{"no references", `<method_body id='1' method='a'/>`, 0},
		{"an unknown letter", `<method_body id='1' method='a' refs='1g16 2x5 3a'/>`, 1},
		{"no bci", `<method_body id='1' method='a' refs='g16'/>`, 0},
		{"only a bci", `<method_body id='1' method='a' refs='1a 16'/>`, 1},
		{"a large bci", `<method_body id='1' method='a' refs='99999a'/>`, 0},
		{"a large offset", `<method_body id='1' method='a' refs='1g99999999999'/>`, 0},
		{"a number after an array", `<method_body id='1' method='a' refs='1a7'/>`, 0},
		{"an unknown callee", `<method_body id='1' method='a' refs='1c7'/>`, 1},
		{"it calls itself", `<method_body id='1' method='a' refs='1c1'/>`, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			found := readBodies(t, c.line+"\n").Of("a")
			if c.refs < 0 {
				assert.Empty(t, found)
				return
			}
			require.Len(t, found, 1)
			require.Len(t, found[0].Refs, c.refs)
			for _, r := range found[0].Refs {
				assert.Nil(t, r.Callee, "bodies can't be endless")
			}
		})
	}
}
