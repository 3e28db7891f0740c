package folder

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestIsPrivate(t *testing.T) {
	dir := t.TempDir()
	for mode, want := range map[os.FileMode]bool{0o700: true, 0o755: true, 0o711: true, 0o777 | os.ModeSticky: false,
		0o770: false} {
		require.NoError(t, os.Chmod(dir, mode))
		assert.Equal(t, want, isPrivate(dir), mode)
	}
	assert.False(t, isPrivate(dir+"/none"))
}
