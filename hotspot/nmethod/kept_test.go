package nmethod

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestInterpretedKept checks that methods of the interpreter that are kept have their present names: the class of a
// method may have been read before, for another method, and others may be at their addresses later.
func TestInterpretedKept(t *testing.T) {
	for _, release := range []int{11, 17, 25} {
		j := newFakeJVM(release)
		first := j.addMethod(fakeMethod{class: "p/Hot", name: "sum", bytecode: sum})
		second := j.addMethod(fakeMethod{class: "p/Hot", name: "other", bytecode: sum})
		c := j.copier(t)
		names := func() (names []string) {
			for _, at := range []uint64{first, second, first, second} {
				f, err := c.Interpreted(at, 0)
				require.NoError(t, err)
				names = append(names, f.Method)
			}
			return names
		}
		before := names()
		require.Equal(t, []string{"p.Hot::sum", "p.Hot::other"}, before[:2])
		assert.Len(t, c.kept, 2)
		kept := c.kept[first].method
		c.Forget()
		all := []uint64{first, second, first, 0x1234} // the last one was never read
		assert.Equal(t, []bool{true, true, true, false}, c.Unchanged(all))
		assert.Equal(t, before, names())
		assert.Same(t, kept, c.kept[first].method, "it was not read again")
		name := bytes.Index(j.Data, []byte("p/Hot"))
		require.Positive(t, name)
		copy(j.Data[name:], "p/New")
		assert.Equal(t, []bool{true, true, true, false}, c.Unchanged(all))
		assert.Equal(t, before, names(), "until Forget")
		c.Forget()
		assert.Equal(t, []bool{false, false, false, false}, c.Unchanged(all))
		assert.Equal(t, []string{"p.New::sum", "p.New::other"}, names()[:2])
	}
}
