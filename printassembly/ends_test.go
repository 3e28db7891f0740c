package printassembly

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

func TestEnds(t *testing.T) {
	const (
		made = "<make_not_entrant thread='834' reason='uncommon trap' compile_id='173' compile_kind='osr' compiler='c2' level='4' stamp='2.797'/>\n"
		old  = "<make_not_entrant thread='25148' compile_id='173' compiler='c1' level='3' stamp='0.605'/>\n"
		trap = "<uncommon_trap thread='834' reason='unstable_if' action='reinterpret' debug_id='0' compile_id='173' compile_kind='osr' compiler='c2' level='4' stamp='2.797'>\n"
	)
	osr, plain := &Blob{Kind: NMethod, ID: 173, OSR: true}, &Blob{Kind: NMethod, ID: 173}
	for _, c := range []struct {
		name, text string
		blob       *Blob
		want       End
		found      bool
	}{
		{"with a trap", trap + "<jvms bci='420'/>\n</uncommon_trap>\n" + made, osr, End{2797, "uncommon trap", "unstable_if"},
			true},
		{"without", made, osr, End{2797, "uncommon trap", ""}, true},
		{"without a reason", old, plain, End{605, "", ""}, true},
		{"another kind", made, plain, End{}, false},
		{"no nmethod", old, &Blob{Kind: Native, ID: 173}, End{}, false},
		{"a trap alone", trap, osr, End{}, false},
		{"a trap long before", strings.Replace(trap, "2.797", "2.790", 1) + made, osr, End{2797, "uncommon trap", ""}, true},
		{"a trap of another method", strings.Replace(trap, "'173'", "'174'", 1) + made, osr, End{2797, "uncommon trap", ""},
			true},
		{"twice", made + strings.Replace(made, "2.797", "3.000", 1), osr, End{2797, "uncommon trap", ""}, true},
		{"moved", strings.Replace(old, "<make_not_entrant", "<make_not_entrant reason='relocated'", 1), plain, End{}, false},
		{"no stamp", strings.Replace(old, " stamp='0.605'", "", 1), plain, End{}, false},
		{"no id", strings.Replace(old, "'173'", "'x'", 1), plain, End{}, false},
		{"a long reason", strings.Replace(made, "uncommon", strings.Repeat("u", maxReason), 1), osr, End{}, false},
	} {
		text := "<hotspot_log version='160 1' process='1' time_ms='0'>\n" + c.text + "</hotspot_log>\n"
		l, err := NewLog(strings.NewReader(text), int64(len(text)), "asm.log")
		require.NoError(t, err)
		end, found := l.EndOf(c.blob)
		assert.Equal(t, c.found, found, c.name)
		assert.Equal(t, c.want, end, c.name)
	}
}

// Each end in a real log belongs to a method in the log, and is later than the method.
func TestEndsOfCaptures(t *testing.T) {
	for capture, has := range map[string]bool{"jdk8-full-hsdis": true, "jdk17-full-hsdis": true,
		"jdk25-full-hsdis": true, "jdk25-lean-none": false} {
		text := string(gasmtest.Capture(t, capture, gasmtest.Log))
		l, err := NewLog(strings.NewReader(text), int64(len(text)), capture)
		require.NoError(t, err)
		ends := 0
		for i := range l.Blobs {
			if end, ok := l.EndOf(&l.Blobs[i]); ok {
				ends++
				assert.GreaterOrEqual(t, end.UptimeMillis, l.Blobs[i].UptimeMillis-10, "%s: %s", capture,
					l.Blobs[i].Name)
			}
		}
		assert.Equal(t, strings.Count(text, "\n<make_not_entrant "), ends, capture)
		assert.Equal(t, has, ends > 0, capture)
	}
}
