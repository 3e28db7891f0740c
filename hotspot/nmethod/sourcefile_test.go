package nmethod

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/printassembly"
)

// TestSourceFiles: the files of all classes in frames are written once each, however often methods are copied.
func TestSourceFiles(t *testing.T) {
	require.NotEmpty(t, releases)
	for _, release := range releases {
		t.Run(fmt.Sprint("jdk", release), func(t *testing.T) {
			j := newFakeJVM(release)
			code := fakeCode{compiler: "c2", level: 4, insts: insts,
				methods: []fakeMethod{
					{class: "p/Hot$", name: "sum", bytecode: sum, file: "Gr\u00f6\u00dfe's.scala"},
					{class: "kotlin/ArraysKt", name: "sum", bytecode: sum, file: "_Arrays.kt"},
					{class: "p/Anonymous", name: "sum", bytecode: sum},
					{class: "p/Cold", name: "sum", bytecode: sum, file: "Cold.kt"},
				},
				debugInfo: []fakeDebugInfo{{10, []fakeFrame{{1, 1}, {2, 1}, {0, 1}}}}}
			_, tag := j.addCode(code)
			installed, ok := printassembly.ParseInstalled([]byte(tag))
			require.True(t, ok)
			c := j.copier(t)
			want :=
				"<source_file class='kotlin.ArraysKt' name='_Arrays.kt'/>\n<source_file class='p.Hot$' name='Gr\u00f6\u00dfe&apos;s.scala'/>\n"
			for range 2 {
				copied, err := c.Copy(&installed)
				require.NoError(t, err)
				text, err := copied.AppendTo(nil)
				require.NoError(t, err)
				require.Contains(t, string(text), "p.Hot$::sum@1")
				assert.Equal(t, want, string(c.AppendSourceFiles(nil)))
				c.Forget()
				want = ""
			}
		})
	}
}
