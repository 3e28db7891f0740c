package layout

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWrap(t *testing.T) {
	check := func(text string, width int, want ...string) {
		t.Helper()
		if got := Wrap(text, width); !slices.Equal(got, want) {
			t.Errorf("%q in %d: got %q, want %q", text, width, got, want)
		}
	}
	check("a bc def", 8, "a bc def")
	check("a bc def", 7, "a bc", "def")
	check("a bc def", 2, "a", "bc", "def")
	check("", 2, "")
}

func TestOr(t *testing.T) {
	for want, values := range map[string][]string{
		"": nil, "auto": {"auto"}, "auto or perf": {"auto", "perf"}, "auto, perf or dtrace": {"auto", "perf", "dtrace"},
	} {
		assert.Equal(t, want, Or(values))
	}
}
