package report

import (
	"cmp"
	"slices"
)

// An arrow is a jump from one of the lines 0 … n-1 of a region to another one. With to < 0 or to ≥ n it leaves them.
type arrow struct{ from, to int }

// glyphs are the characters that gasm draws arrows with.
type glyphs struct {
	startDown, startUp rune // the topmost jump of an arrow that goes down, the lowest one of an arrow that goes up
	join               rune // another jump to the same target, on the arrow's way
	pass               rune // a line that an arrow passes
	fromAbove          rune // the target of an arrow that goes down
	fromBelow          rune // the target of an arrow that goes up
	leaveUp, leaveDown rune // a jump that leaves the lines
	self               rune // a jump to itself
}

var (
	unicodeGlyphs = glyphs{
		startDown: '╭', startUp: '╰', join: '├', pass: '│', fromAbove: '↘', fromBelow: '↗',
		leaveUp: '↖', leaveDown: '↙', self: '↺',
	}
	asciiGlyphs = glyphs{
		startDown: '/', startUp: '\\', join: '+', pass: '|', fromAbove: '>', fromBelow: '<',
		leaveUp: '^', leaveDown: 'v', self: '@',
	}
)

// A gutter is the drawing of arrows beside the lines of a region. All its strings have the same width, 0 without arrows.
type gutter struct {
	width   int
	at      []string // per line
	after   []string // for rows between the line and the next one: comments, section marks
	dropped int      // jumps for which there was no column
}

// A track is what one column draws: all jumps to one line that come from the same side of it.
type track struct {
	top, bottom int // lines, both included
	target      int
	sources     []int
}

// layoutArrows draws arrows beside n lines, in at most maxColumns columns. Jumps with a common target share a column.
// Short arrows are drawn first and close to the code, so a loop lies within the one around it, and the arrows that find
// no room are the longest. Jumps out of the lines have a column of their own, next to the code.
func layoutArrows(n int, arrows []arrow, maxColumns int, g glyphs) gutter {
	tracks, leaving := tracksOf(n, arrows)
	var columns [][]track // from the code outwards
	out := gutter{}
	for _, t := range tracks {
		c := slices.IndexFunc(columns, func(column []track) bool { return !overlaps(column, t) })
		switch {
		case c >= 0:
			columns[c] = append(columns[c], t)
		case len(columns) < maxColumns:
			columns = append(columns, []track{t})
		default:
			out.dropped += len(t.sources)
		}
	}
	out.draw(n, columns, leaving, g)
	return out
}

// tracksOf groups arrows into tracks, shortest first, and picks out those that leave the n lines.
func tracksOf(n int, arrows []arrow) (tracks []track, leaving []arrow) {
	type key struct {
		target int
		side   int // +1 for arrows that go down, -1 up, 0 to itself
	}
	index := map[key]int{}
	for _, a := range arrows {
		if a.to < 0 || a.to >= n {
			leaving = append(leaving, a)
			continue
		}
		k := key{a.to, cmp.Compare(a.to, a.from)}
		i, ok := index[k]
		if !ok {
			i = len(tracks)
			index[k] = i
			tracks = append(tracks, track{top: a.to, bottom: a.to, target: a.to})
		}
		t := &tracks[i]
		t.top, t.bottom = min(t.top, a.from), max(t.bottom, a.from)
		t.sources = append(t.sources, a.from)
	}
	slices.SortStableFunc(tracks, func(a, b track) int {
		return cmp.Or(cmp.Compare(a.bottom-a.top, b.bottom-b.top), cmp.Compare(a.top, b.top))
	})
	return tracks, leaving
}

func overlaps(column []track, t track) bool {
	return slices.ContainsFunc(column, func(u track) bool { return t.top <= u.bottom && u.top <= t.bottom })
}

// draw fills in the gutter's strings.
func (out *gutter) draw(n int, columns [][]track, leaving []arrow, g glyphs) {
	out.width = len(columns)
	if len(leaving) > 0 {
		out.width++
	}
	at, after := canvas(n, out.width), canvas(n, out.width)
	for c, column := range columns {
		x := len(columns) - 1 - c
		for _, t := range column {
			for y := t.top; y <= t.bottom; y++ {
				at[y][x] = g.pass
				if y < t.bottom {
					after[y][x] = g.pass
				}
			}
			t.ends(g, func(y int, r rune) { at[y][x] = r })
		}
	}
	for _, a := range leaving {
		at[a.from][out.width-1] = g.leaveDown
		if a.to < 0 {
			at[a.from][out.width-1] = g.leaveUp
		}
	}
	for y := range n {
		out.at = append(out.at, string(at[y]))
		out.after = append(out.after, string(after[y]))
	}
}

// ends draws the track's sources and its target, with set.
func (t track) ends(g glyphs, set func(y int, r rune)) {
	for _, y := range t.sources {
		switch {
		case t.top == t.bottom:
			set(y, g.self)
			return
		case y == t.top:
			set(y, g.startDown)
		case y == t.bottom:
			set(y, g.startUp)
		default:
			set(y, g.join)
		}
	}
	if t.target == t.bottom {
		set(t.target, g.fromAbove)
	} else {
		set(t.target, g.fromBelow)
	}
}

// canvas makes n rows of width blanks.
func canvas(n, width int) [][]rune {
	rows := make([][]rune, n)
	for y := range rows {
		rows[y] = []rune{}
		for range width {
			rows[y] = append(rows[y], ' ')
		}
	}
	return rows
}
