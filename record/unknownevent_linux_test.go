package record

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/sampler"
	"github.com/gasm-profiler/gasm/sampler/collect"
)

// TestUnknownEventOfAttach checks that the error of gasm attach does not recommend --sampler, a flag that gasm attach
// does not have.
func TestUnknownEventOfAttach(t *testing.T) {
	a := Attachment{o: AttachOptions{Frequency: 99}}
	_, _, err := a.attachNative(t.Context(), collect.Options{Events: []sampler.Event{sampler.ParseEvent("nosuchevent")},
		PID: os.Getpid(), Dir: t.TempDir()})
	require.ErrorContains(t, err, "there is no event nosuchevent; gasm attach can't use perf, which knows more names: gasm profile --sampler perf can")
	assert.Equal(t, 1, strings.Count(err.Error(), "--sampler"))
}
