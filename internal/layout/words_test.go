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

func TestAnd(t *testing.T) {
	all := []string{"a", "b", "c", "d", "e"}
	for _, c := range []struct {
		n, most int
		want    string
	}{
		{0, 3, ""}, {1, 3, "a"}, {2, 3, "a and b"}, {3, 3, "a, b and c"}, {4, 3, "a, b, c and d"},
		{5, 3, "a, b, c and 2 more"}, {5, 4, "a, b, c, d and e"},
	} {
		assert.Equal(t, c.want, And(all[:c.n], c.most))
	}
	assert.Equal(t, []string{"a", "b", "c", "d", "e"}, all)
}

func TestOr(t *testing.T) {
	for want, values := range map[string][]string{
		"": nil, "auto": {"auto"}, "auto or perf": {"auto", "perf"}, "auto, perf or dtrace": {"auto", "perf", "dtrace"},
	} {
		assert.Equal(t, want, Or(values))
	}
}
