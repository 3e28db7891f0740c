package record

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/internal/native"
)

// A switchedSampling records what is done with the sampling, and a switchedCode what is done with the code.
type switchedSampling struct {
	sampling // all other methods are not called
	said     *[]string
}

func (s switchedSampling) Pause() error               { *s.said = append(*s.said, "pause"); return nil }
func (s switchedSampling) Resume() error              { *s.said = append(*s.said, "resume"); return nil }
func (s switchedSampling) Stop(context.Context) error { *s.said = append(*s.said, "stop"); return nil }
func (s switchedSampling) resolver() *native.Resolver { return nil }

type switchedCode struct {
	codeSource
	said *[]string
}

func (c switchedCode) pause()  { *c.said = append(*c.said, "code pauses") }
func (c switchedCode) resume() { *c.said = append(*c.said, "code resumes") }
func (c switchedCode) end(context.Context) *native.Resolver {
	*c.said = append(*c.said, "code ends")
	return nil
}

// TestWindowsSwitchSampling checks that while no window is open, no samples are taken and no code is followed. After
// the last window, both must end, and only once.
func TestWindowsSwitchSampling(t *testing.T) {
	var said []string
	r := New(Options{Command: []string{"true"}, Code: CodePrint})
	r.sampling, r.code = switchedSampling{said: &said}, switchedCode{said: &said}
	r.pause()
	r.resume()
	r.windowsOver(t.Context())
	r.endSampling(t.Context())
	assert.Equal(t, []string{"pause", "code pauses", "resume", "code resumes", "pause", "stop", "code ends"}, said)
}
