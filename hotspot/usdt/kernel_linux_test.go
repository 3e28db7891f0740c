package usdt

import (
	"errors"
	"os"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/stretchr/testify/require"
)

// programsInKernel returns how many programs of gasm's the kernel has.
func programsInKernel(t *testing.T) (n int) {
	t.Helper()
	for id := ebpf.ProgramID(0); ; {
		next, err := ebpf.ProgramGetNextID(id)
		if errors.Is(err, os.ErrNotExist) {
			return n
		}
		require.NoError(t, err)
		id = next
		p, err := ebpf.NewProgramFromID(id)
		if err != nil {
			continue // it was just removed
		}
		if info, err := p.Info(); err == nil && info.Name == "gasm_usdt" {
			n++
		}
		p.Close()
	}
}
