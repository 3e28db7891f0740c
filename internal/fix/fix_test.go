package fix

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNote(t *testing.T) {
	hidden := Note{"kernel samples are not visible", "sudo sysctl kernel.perf_event_paranoid=1"}
	assert.Equal(t, []string{"kernel samples are not visible: sudo sysctl kernel.perf_event_paranoid=1",
		"PCs may be late"},
		Texts([]Note{hidden, {Text: "PCs may be late"}}))
}

func TestParts(t *testing.T) {
	check := func(err error, wantCause, wantFix string) {
		t.Helper()
		cause, fix := Parts(err)
		assert.Equal(t, wantCause, cause)
		assert.Equal(t, wantFix, fix)
		assert.Equal(t, wantFix, Of(err))
	}
	owner := &Error{fmt.Errorf("it belongs to root: %w", fs.ErrPermission), "run gasm as root"}
	assert.EqualError(t, owner, "it belongs to root: permission denied: run gasm as root")
	assert.ErrorIs(t, owner, fs.ErrPermission)
	check(owner, "it belongs to root: permission denied", "run gasm as root")
	check(fmt.Errorf("JVM 4711 can't be read: %w", owner), "JVM 4711 can't be read: it belongs to root: permission denied",
		"run gasm as root")
	check(fmt.Errorf("attaching: %w (pid 4711)", owner), "attaching: it belongs to root: permission denied (pid 4711)",
		"run gasm as root")
	check(errors.Join(errors.New("first"), owner), "first\nit belongs to root: permission denied", "run gasm as root")
	check(&Error{Err: errors.New("no way out")}, "no way out", "")
	check(errors.New("bare: run gasm as root"), "bare: run gasm as root", "")
}
