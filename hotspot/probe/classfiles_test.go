package probe

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestClassFiles: each class of the jar is there once, in its group, and after the classes that it extends, because the
// Loader can't load a class on demand.
func TestClassFiles(t *testing.T) {
	out, err := classFiles(agentJar)
	require.NoError(t, err)
	inJar := map[string]string{} // names by content
	for name, content := range entries(t, agentJar) {
		if class, ok := strings.CutSuffix(name, ".class"); ok {
			inJar[content] = class
		}
	}
	var groups [][]string
	var group []string
	defined := map[string]bool{}
	for len(out) > 0 {
		size := binary.BigEndian.Uint32(out)
		file := out[4 : 4+size]
		out = out[4+size:]
		if size == 0 {
			groups, group = append(groups, group), nil
			continue
		}
		name := inJar[string(file)]
		assert.NotEmpty(t, name)
		assert.False(t, defined[name], "%s is there twice", name)
		defined[name] = true
		group = append(group, name)
		for _, above := range superclasses(file) {
			jdk := strings.HasPrefix(above, "java/") && !strings.HasPrefix(above, "java/lang/Gasm")
			assert.True(t, jdk || defined[above], "%s comes before %s", name, above)
		}
	}
	require.Len(t, groups, 2)
	assert.Len(t, defined, len(inJar))
	assert.Equal(t, []string{"java/lang/GasmProbes", "java/lang/GasmRings", "java/lang/GasmSites"}, groups[0])
	assert.Equal(t, entryClass, groups[1][len(groups[1])-1])
	assert.Contains(t, groups[1], "org/gasm/agent/asm/ClassReader")
}

// TestSuperclasses: the names are those in the sources.
func TestSuperclasses(t *testing.T) {
	files, err := readJar(agentJar)
	require.NoError(t, err)
	for class, want := range map[string][]string{
		"org/gasm/agent/MethodAdvice":                {"org/gasm/agent/asm/MethodVisitor"},
		"org/gasm/agent/Agent":                       {"java/lang/Object", "java/lang/instrument/ClassFileTransformer"},
		"java/lang/GasmRings":                        {"java/lang/Object", "java/security/PrivilegedAction"},
		"org/gasm/agent/asm/CurrentFrame":            {"org/gasm/agent/asm/Frame"},
		"org/gasm/agent/asm/MethodTooLargeException": {"java/lang/IndexOutOfBoundsException"},
	} {
		assert.Equal(t, want, superclasses(files[class]), class)
	}
}
