package report

import (
	"strings"
	"testing"
)

// TestArrows compares pictures. A row is a line; "-" in front of a row marks what stands between two lines.
func TestArrows(t *testing.T) {
	for _, c := range []struct {
		name    string
		n       int
		arrows  []arrow
		columns int
		want    string
		dropped int
	}{
		{"none", 2, nil, 12, "||", 0},
		{"down", 3, []arrow{{0, 2}}, 12, "|╭|│|↘|", 0},
		{"up", 3, []arrow{{2, 0}}, 12, "|↗|│|╰|", 0},
		{"neighbours", 2, []arrow{{0, 1}}, 12, "|╭|↘|", 0},
		{"to itself", 2, []arrow{{1, 1}}, 12, "| |↺|", 0},
		{"one below the other", 4, []arrow{{0, 1}, {3, 2}}, 12, "|╭|↘|↗|╰|", 0},
		{"inner loop is next to the code", 4, []arrow{{3, 0}, {2, 1}}, 12, "|↗ |│↗|│╰|╰ |", 0},
		{"crossing", 4, []arrow{{0, 2}, {1, 3}}, 12, "| ╭|╭│|│↘|↘ |", 0},
		{"start at another's target", 3, []arrow{{0, 1}, {1, 2}}, 12, "| ╭|╭↘|↘ |", 0},
		{"two to the same target join", 4, []arrow{{0, 3}, {1, 3}}, 12, "|╭|├|│|↘|", 0},
		{"joining upwards", 4, []arrow{{1, 0}, {3, 0}}, 12, "|↗|├|│|╰|", 0},
		{"same target from both sides", 3, []arrow{{0, 1}, {2, 1}}, 12, "| ╭|↗↘|╰ |", 0},
		{"leaving", 3, []arrow{{0, -1}, {1, 3}}, 12, "|↖|↙| |", 0},
		{"leaving beside a loop", 3, []arrow{{2, 0}, {1, 3}}, 12, "|↗ |│↙|╰ |", 0},
		{"the longest are dropped", 5, []arrow{{0, 4}, {1, 4}, {3, 2}, {1, 3}}, 2, "|  |╭ |│↗|↘╰|  |", 2},
		{"no columns", 2, []arrow{{0, 1}}, 0, "||", 1},
	} {
		g := layoutArrows(c.n, c.arrows, c.columns, unicodeGlyphs)
		if got := "|" + strings.Join(g.at, "|") + "|"; got != c.want && g.width > 0 || g.width == 0 && c.want != "||" {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, strings.ReplaceAll(got, "|", "\n"), strings.ReplaceAll(c.want, "|", "\n"))
		}
		if g.dropped != c.dropped {
			t.Errorf("%s: %d dropped, want %d", c.name, g.dropped, c.dropped)
		}
		checkGutter(t, c.name, c.n, g)
	}
}

// checkGutter checks what holds for every gutter: rows of one width, and a line between two rows just where both have
// something in the column and none of them is the arrow's end there.
func checkGutter(t *testing.T, name string, n int, g gutter) {
	t.Helper()
	if len(g.at) != n || len(g.after) != n {
		t.Errorf("%s: %d and %d rows, want %d", name, len(g.at), len(g.after), n)
		return
	}
	for y := range n {
		at, after := []rune(g.at[y]), []rune(g.after[y])
		if len(at) != g.width || len(after) != g.width {
			t.Errorf("%s: row %d is %q and %q, want width %d", name, y, g.at[y], g.after[y], g.width)
			return
		}
		for x, r := range at {
			downwards := strings.ContainsRune("╭│├↗", r)
			if strings.ContainsRune("╰↺↖↙ ", r) && after[x] != ' ' {
				t.Errorf("%s: row %d: %c goes on below", name, y, r)
			}
			if downwards && after[x] != '│' {
				t.Errorf("%s: row %d: %c ends", name, y, r)
			}
		}
	}
}

func TestArrowsASCII(t *testing.T) {
	g := layoutArrows(4, []arrow{{0, 3}, {1, 3}, {2, 1}, {3, -1}}, 12, asciiGlyphs)
	if got, want := strings.Join(g.at, "\n"), "/  \n+< \n|\\ \n> ^"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
