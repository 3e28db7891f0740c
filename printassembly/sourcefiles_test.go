package printassembly

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The lines about the program's classes are in the forms that HotSpot and gasm write.
func TestSourceFiles(t *testing.T) {
	text :=
		"<hotspot_log version='160 1' process='7' time_ms='1'>\n<vm_arguments>\n<args>\n-Xmx1g \n</args>\n<properties>\njava.vm.name=x bytes\n" +
			"java.class.path=a&amp;b.jar:/c\njava.vm.info=[0x1,0x2] 3 bytes\n</properties>\n</vm_arguments>\n<tty>\n" +
			"java.class.path=elsewhere\n<writer thread='gasm'/>\n"
	for _, s := range [][2]string{{"a.B$C", "B.kt"}, {"a.B$C", "Other.kt"}, {"Größe", "größe <'\"&>\n.scala"},
		{"", "x"}, {"x", ""}} {
		text = string(AppendSourceFile([]byte(text), s[0], s[1]))
	}
	text += "<source_file class='cut"
	log, err := NewLog(strings.NewReader(text), int64(len(text)), "log")
	require.NoError(t, err)
	assert.Equal(t, "a&b.jar:/c", log.ClassPath)
	assert.Equal(t, map[string]string{"a.B$C": "B.kt", "Größe": "größe <'\"&>\\u000a.scala"}, log.SourceFiles)
	assert.Empty(t, log.Blobs)
	assert.Zero(t, log.Damaged)

	assert.Equal(t, "<properties>\njava.class.path=a&amp;b\n</properties>\n", Properties("a&b"))
	assert.Empty(t, Properties(""))
	assert.Empty(t, Properties("a\nb"))
}
