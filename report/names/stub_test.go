package names

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestDispatch(t *testing.T) {
	assert.Contains(t, Dispatch("itbl[2]"), "the interface's method 2 ")
	assert.Contains(t, Dispatch("vtbl[30]"), "entry 30 of")
	for _, name := range []string{"", "itbl", "itbl[]", "itbl[x]", "StubRoutines::jbyte_arraycopy", "A::b[2]"} {
		assert.Empty(t, Dispatch(name), name)
	}
}
