package view_test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/top"
	"github.com/gasm-profiler/gasm/top/toptest"
	"github.com/gasm-profiler/gasm/top/view"
)

// replay returns a model with all samples of the capture of Calls, and with some collections.
func replay(tb testing.TB) *toptest.Replay {
	r := toptest.New(tb, "stacks", nil)
	activity := top.Activity{Safepoints: 40, SafepointNanos: 8e6, SyncNanos: 1e6, Threads: 11,
		Collectors: []top.Collector{{Name: "G1 young collection pauses", Count: 12, Nanos: 7e6}}}
	r.Model.Observe(r.PID, r.Now(), activity)
	for more := true; more; {
		more = r.Second()
		activity.Safepoints, activity.SafepointNanos = activity.Safepoints+3, activity.SafepointNanos+5e6
		activity.Collectors = []top.Collector{{Name: "G1 young collection pauses", Count: activity.Collectors[0].Count + 2,
			Nanos: activity.Collectors[0].Nanos + 4e6}}
		r.Model.Observe(r.PID, r.Now()-3e8, activity)
	}
	r.Model.SetCost(0.011)
	return r
}

// text returns a screen as text.
func text(lines []view.Line) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.String() + "\n")
	}
	return b.String()
}

// keys presses keys, one after the other, with a new picture after each.
func keys(m *top.Model, s *view.State, look view.Look, pressed ...string) string {
	p := m.Picture(s.Mode())
	s.Draw(p, look)
	for _, k := range pressed {
		key := view.Key{Name: k}
		if len([]rune(k)) == 1 {
			key = view.Key{Rune: []rune(k)[0]}
		}
		s.Key(key, p)
		p = m.Picture(s.Mode())
		s.Draw(p, look)
	}
	return text(s.Draw(p, look))
}

var look = view.Look{Width: 100, Height: 24}

// frames are the screens of docs/top.md, each with the keys that lead to it from the one before.
var frames = []struct {
	name string
	keys []string
}{
	{"methods", nil},
	{"frames", []string{"3"}},
	{"code", []string{"enter"}},
	{"callers", []string{"c"}},
	{"threads", []string{"t"}},
	{"programs", []string{"1"}},
	{"events", []string{"e"}},
	{"keys", []string{"?"}},
}

// TestFrames compares the screens with those in docs/top.md. With -update, it writes them there.
func TestFrames(t *testing.T) {
	const path = "../../docs/top.md"
	m := replay(t).Model
	document, err := os.ReadFile(path)
	require.NoError(t, err)
	var s view.State
	for _, f := range frames {
		got := keys(m, &s, look, f.keys...)
		block := regexp.MustCompile(`(?s)<!-- screen: ` + f.name + " -->\n\n```\n(.*?)```\n")
		at := block.FindSubmatchIndex(document)
		require.NotNil(t, at, "docs/top.md has no screen %s", f.name)
		if flag.Lookup("update").Value.String() == "true" {
			document = []byte(string(document[:at[2]]) + got + string(document[at[3]:]))
			continue
		}
		assert.Equal(t, string(document[at[2]:at[3]]), got, "screen %s (go test -update accepts what is new)", f.name)
	}
	if flag.Lookup("update").Value.String() == "true" {
		require.NoError(t, os.WriteFile(path, document, 0o644))
	}
}

// TestText checks what --batch prints.
func TestText(t *testing.T) {
	m := replay(t).Model
	var b strings.Builder
	require.NoError(t, view.Text(&b, m.Picture(top.Last(10)),
		view.TextOptions{Look: view.Look{Width: 100, ASCII: true}, Rows: 5}))
	gasmtest.Golden(t, "batch.txt", []byte(b.String()))
}

// TestSizes: every view fits on every screen.
func TestSizes(t *testing.T) {
	m := replay(t).Model
	for _, size := range []view.Look{{Width: 80, Height: 24}, {Width: 20, Height: 5}, {Width: 20, Height: 5, ASCII: true},
		{Width: 1, Height: 1}, {Width: 3, Height: 2}, {Width: 250, Height: 80}, {Width: 50, Height: 9}} {
		for _, k := range []string{"1", "2", "3", "4", "5", "6", "7", "?", "/", "w"} {
			var s view.State
			s.Draw(m.Picture(s.Mode()), look)
			p := m.Picture(s.Mode())
			for _, key := range []view.Key{{Rune: []rune(k)[0]}, {Name: "end"}, {Name: "home"}, {Name: "pgdn"}} {
				s.Key(key, p)
				lines := s.Draw(p, size)
				assert.Len(t, lines, size.Height)
				for _, l := range lines {
					assert.LessOrEqual(t, l.Width(), size.Width, "%s at %dx%d: %q", k, size.Width, size.Height, l.String())
					if size.ASCII {
						assert.NotRegexp(t, `[^\x20-\x7e]`, l.String(), "%s", k)
					}
				}
			}
		}
	}
}

// TestKeys checks the effect of each key.
func TestKeys(t *testing.T) {
	m := replay(t).Model
	screen := func(pressed ...string) string {
		var s view.State
		return keys(m, &s, look, pressed...)
	}
	row := func(text string, n int) string { return strings.Split(text, "\n")[n] }
	const firstRow = 5
	hottest := m.Picture(top.Last(10)).Methods(top.Scope{})[0]
	assert.Contains(t, row(screen(), firstRow), hottest.Name)
	assert.Contains(t, row(screen("enter"), firstRow-1), hottest.Name, "the title of the code")
	assert.Equal(t, screen(), screen("enter", "esc"))
	assert.Equal(t, screen(), screen("3", "esc"))
	filtered := screen("/", "s", "o", "r", "t", "enter")
	for _, line := range strings.Split(filtered, "\n")[firstRow:21] {
		if strings.TrimSpace(line) != "" {
			assert.Contains(t, strings.ToLower(line), "sort")
		}
	}
	assert.Contains(t, filtered, "filter: sort")
	assert.Equal(t, screen(), screen("/", "s", "esc"))
	assert.Contains(t, screen("/", "~", "~"), "nothing matches the filter")
	assert.Equal(t, screen("/"), screen("/", "~", "~", "clear"))
	assert.Contains(t, screen("enter", "/"), "a filter is for the rows of tables")
	assert.NotContains(t, screen("/", "w", "enter", "enter"), "filter: w")
	assert.Contains(t, row(screen(), firstRow-1), "▼10 s")
	assert.Contains(t, row(screen("s"), firstRow-1), "▼NOW")
	assert.Contains(t, row(screen("s", "s"), firstRow-1), "▼METHOD")
	assert.Contains(t, screen("m"), "since start")
	assert.Contains(t, screen("m", "m"), "decaying")
	assert.Contains(t, screen("p"), "PAUSED")
	assert.NotContains(t, screen("p", "p"), "PAUSED")
	assert.Contains(t, screen("?"), "any key ends this")
	assert.Equal(t, screen(), screen("?", "q"))
	assert.NotEqual(t, screen(), screen("s", "s"), "by name")
	assert.Equal(t, screen("down", "down", "down"), screen("wheeldown"))
	assert.Equal(t, screen(), screen("down", "down", "h"))
	assert.Equal(t, screen("3", "enter"), screen("3", "enter", "down", "down", "h"))

	var s view.State
	p := m.Picture(s.Mode())
	s.Draw(p, look)
	for k, want := range map[rune]view.Action{'c': view.WriteCapture, 'r': view.WriteReport, 'p': view.WritePage,
		'x': view.Nothing} {
		assert.Equal(t, view.Nothing, s.Key(view.Key{Rune: 'w'}, p))
		assert.Equal(t, want, s.Key(view.Key{Rune: k}, p))
	}
	assert.Equal(t, view.Quit, s.Key(view.Key{Rune: 'q'}, p))
}

// TestPause: a paused picture does not change while samples come in.
func TestPause(t *testing.T) {
	r := toptest.New(t, "stacks", nil)
	r.Second()
	var s view.State
	before := keys(r.Model, &s, look, "p")
	r.All()
	assert.Equal(t, before, keys(r.Model, &s, look))
	assert.NotEqual(t, before, keys(r.Model, &s, look, "p"))
}

// TestHottestInSight: the code view shows the hottest instruction, even on a small screen, and no instruction has a
// larger share.
func TestHottestInSight(t *testing.T) {
	m := replay(t).Model
	for _, height := range []int{5, 10, 24} {
		var s view.State
		got := keys(m, &s, view.Look{Width: 80, Height: height}, "enter")
		p := m.Picture(s.Mode())
		rows := p.Methods(top.Scope{})
		l := p.Listing(top.Scope{}, p.CodeOf(top.Scope{}, rows[0].Name))
		require.NotNil(t, l)
		assert.Contains(t, got, fmt.Sprintf("0x%x", l.Lines[l.Hottest].Lo), "%d rows:\n%s", height, got)
	}
}

// hostileNames are names that would do something to a terminal.
var hostileNames = []string{"\x1b[2J", "\x1b]0;title\a", "\u009b31m", "\r\n", "\x7f\b\b", "\u202e", "\x00",
	"\x1b[31;1m", "日本語", "e\u0301\u0301", "a\tb", "\xff\xfe"}

// FuzzNames: no name can move the cursor or change colours, whatever is in it. No name makes a screen wider.
func FuzzNames(f *testing.F) {
	for _, name := range hostileNames {
		f.Add(name, uint8(80), uint8(24))
	}
	f.Fuzz(func(t *testing.T, name string, width, height uint8) {
		m := toptest.Named(name)
		size := view.Look{Width: int(width), Height: int(height)}
		for _, k := range "1234567" {
			var s view.State
			p := m.Picture(s.Mode())
			s.Draw(p, size)
			s.Key(view.Key{Rune: k}, p)
			s.Key(view.Key{Rune: '/'}, p)
			s.Key(view.Key{Rune: '/'}, p)
			s.Key(view.Key{Name: "backspace"}, p)
			s.Key(view.Key{Name: "enter"}, p)
			for _, l := range s.Draw(p, size) {
				if l.Width() > size.Width {
					t.Fatalf("a line of %d columns on a screen with %d: %q", l.Width(), size.Width, l.String())
				}
				for _, span := range l {
					if layout.Escape(span.Text) != span.Text {
						t.Fatalf("raw: %q", span.Text)
					}
				}
				gasmtest.TerminalText(t, l.String(), false)
			}
		}
		var b strings.Builder
		if err := view.Text(&b, m.Picture(top.Last(10)), view.TextOptions{Look: view.Look{Width: 100}, Rows: 5,
			Several: true}); err != nil {
			t.Fatal(err)
		}
		gasmtest.TerminalText(t, b.String(), false)
	})
}

// TestEnded: the screen of a JVM that has ended stays as it was at the end, whether it was the only one or was picked
// among others.
func TestEnded(t *testing.T) {
	for _, others := range []bool{false, true} {
		r := toptest.New(t, "stacks", nil)
		r.All()
		s := view.State{Several: others}
		if others {
			s.Show(view.Programs)
			keys(r.Model, &s, look, "enter")
			r.Model.SetJVMs([]top.JVM{{PID: 1, Main: "Other"}})
		} else {
			r.Model.EndJVM(r.PID)
		}
		before := keys(r.Model, &s, look)
		assert.Contains(t, before, "has ended")
		assert.Contains(t, before, "Stacks::work")
		now := r.Now()
		for range 60 {
			now += 1e9
			r.Model.Tick(now)
			if others {
				keys(r.Model, &s, look)
			}
		}
		assert.Equal(t, before, keys(r.Model, &s, look), "others run: %v", others)
	}
}
