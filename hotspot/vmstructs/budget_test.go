package vmstructs

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/hotspot/vmstructs/vmtest"
)

func TestBudget(t *testing.T) {
	const mib = 1 << 20
	b := NewBudget(3*mib, 2*mib)
	require.NoError(t, b.take(2*mib))
	require.NoError(t, b.take(mib-1))
	assert.ErrorIs(t, b.take(mib), ErrBudget)
	assert.Equal(t, 1, b.Refused())
	b.since = b.since.Add(-time.Second) // a second later
	require.NoError(t, b.take(2*mib))
	assert.ErrorIs(t, b.take(mib), ErrBudget)
	b.since = b.since.Add(-time.Hour)
	assert.ErrorIs(t, b.take(3*mib+1), ErrBudget, "it has no more than at first")
	require.NoError(t, b.take(3*mib))

	var none *Budget
	assert.NoError(t, none.take(1<<40))
}

func TestWithin(t *testing.T) {
	m := vmtest.New()
	at := m.Add(make([]byte, 64)...)
	vm := &VM{Memory: Memory{reader: m}}
	b := NewBudget(100, 1)
	limited := vm.Within(b)
	_, err := limited.Read(nil, at, 60)
	require.NoError(t, err)
	_, err = limited.Gather([]Piece{{at, make([]byte, 32)}, {at, make([]byte, 32)}})
	assert.ErrorIs(t, err, ErrBudget)
	_, err = limited.Uint64(at)
	assert.NoError(t, err)
	_, err = vm.Read(nil, at, 60)
	assert.NoError(t, err, "the other one has no budget")
	assert.Equal(t, 1, b.Refused())
}
