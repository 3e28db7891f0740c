package arrows

import (
	"strings"
	"testing"
)

// TestArrows compares drawings. In want, "|" separates the lines.
func TestArrows(t *testing.T) {
	for _, c := range []struct {
		name    string
		n       int
		arrows  []Arrow
		columns int
		want    string
		dropped int
	}{
		{"none", 2, nil, 12, "||", 0},
		{"down", 3, []Arrow{{From: 0, To: 2}}, 12, "|╭|│|↘|", 0},
		{"up", 3, []Arrow{{From: 2, To: 0}}, 12, "|↗|│|╰|", 0},
		{"neighbours", 2, []Arrow{{From: 0, To: 1}}, 12, "|╭|↘|", 0},
		{"to itself", 2, []Arrow{{From: 1, To: 1}}, 12, "| |↺|", 0},
		{"one below the other", 4, []Arrow{{From: 0, To: 1}, {From: 3, To: 2}}, 12, "|╭|↘|↗|╰|", 0},
		{"inner loop is next to the code", 4, []Arrow{{From: 3, To: 0}, {From: 2, To: 1}}, 12, "|↗ |│↗|│╰|╰ |", 0},
		{"crossing", 4, []Arrow{{From: 0, To: 2}, {From: 1, To: 3}}, 12, "| ╭|╭│|│↘|↘ |", 0},
		{"start at another's target", 3, []Arrow{{From: 0, To: 1}, {From: 1, To: 2}}, 12, "| ╭|╭↘|↘ |", 0},
		{"two to the same target join", 4, []Arrow{{From: 0, To: 3}, {From: 1, To: 3}}, 12, "|╭|├|│|↘|", 0},
		{"joining upwards", 4, []Arrow{{From: 1, To: 0}, {From: 3, To: 0}}, 12, "|↗|├|│|╰|", 0},
		{"same target from both sides", 3, []Arrow{{From: 0, To: 1}, {From: 2, To: 1}}, 12, "| ╭|↗↘|╰ |", 0},
		{"a loop", 4, []Arrow{{From: 3, To: 0, Loop: true}, {From: 2, To: 1}}, 12, "|↗ |┃↗|┃╰|┗ |", 0},
		{"a loop with two ends", 4, []Arrow{{From: 3, To: 0, Loop: true}, {From: 1, To: 0, Loop: true}}, 12, "|↗|┣|┃|┗|", 0},
		{"a loop and a way into it from below", 3, []Arrow{{From: 2, To: 0}, {From: 1, To: 0, Loop: true}}, 12, "|↗↗|│┗|╰ |",
			0},
		{"a loop that closes downwards", 3, []Arrow{{From: 0, To: 2, Loop: true}}, 12, "|┏|┃|↘|", 0},
		{"leaving", 3, []Arrow{{From: 0, To: -1}, {From: 1, To: 3}}, 12, "|↖|↙| |", 0},
		{"leaving beside a loop", 3, []Arrow{{From: 2, To: 0}, {From: 1, To: 3}}, 12, "|↗ |│↙|╰ |", 0},
		{"the longest are dropped", 5, []Arrow{{From: 0, To: 4}, {From: 1, To: 4}, {From: 3, To: 2}, {From: 1, To: 3}}, 2,
			"|  |╭ |│↗|↘╰|  |", 2},
		{"no columns", 2, []Arrow{{From: 0, To: 1}}, 0, "||", 1},
	} {
		g := Layout(c.n, c.arrows, c.columns, Unicode)
		if got := "|" + strings.Join(g.At, "|") + "|"; got != c.want && g.Width > 0 || g.Width == 0 && c.want != "||" {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, strings.ReplaceAll(got, "|", "\n"), strings.ReplaceAll(c.want, "|", "\n"))
		}
		if g.Dropped != c.dropped {
			t.Errorf("%s: %d dropped, want %d", c.name, g.Dropped, c.dropped)
		}
		checkGutter(t, c.name, c.n, g)
	}
}

// checkGutter checks what holds for every gutter: all rows have one width, and between two rows a column has a line
// only if an arrow continues there.
func checkGutter(t *testing.T, name string, n int, g Gutter) {
	t.Helper()
	if len(g.At) != n || len(g.After) != n {
		t.Errorf("%s: %d and %d rows, want %d", name, len(g.At), len(g.After), n)
		return
	}
	for y := range n {
		at, after := []rune(g.At[y]), []rune(g.After[y])
		if len(at) != g.Width || len(after) != g.Width {
			t.Errorf("%s: row %d is %q and %q, want width %d", name, y, g.At[y], g.After[y], g.Width)
			return
		}
		for x, r := range at {
			downwards := strings.ContainsRune("╭│├↗┏┃┣", r)
			if strings.ContainsRune("╰┗↺↖↙ ", r) && after[x] != ' ' {
				t.Errorf("%s: row %d: %c goes on below", name, y, r)
			}
			if downwards && after[x] != '│' && after[x] != '┃' {
				t.Errorf("%s: row %d: %c ends", name, y, r)
			}
		}
	}
}

func TestArrowsASCII(t *testing.T) {
	g := Layout(4, []Arrow{{From: 0, To: 3}, {From: 1, To: 3}, {From: 2, To: 1}, {From: 3, To: -1}}, 12, ASCII)
	if got, want := strings.Join(g.At, "\n"), "/  \n+< \n|\\ \n> ^"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
