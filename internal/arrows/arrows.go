// Package arrows draws the jumps in a listing of code as arrows beside the lines. The arrows are made of text
// characters, such as ╭ and ↘.
package arrows

import (
	"cmp"
	"slices"
)

// An Arrow is a jump from one line of a listing to another. The lines have the numbers 0 to n-1. If To is not one of
// these numbers, the jump leads out of the listing.
type Arrow struct {
	From, To int
	Loop     bool // the jump closes a loop, and is drawn with heavy lines
}

// Glyphs are the characters that arrows are drawn with.
type Glyphs struct {
	startDown, startUp rune     // the topmost jump of an arrow that goes down, the lowest jump of an arrow that goes up
	join               rune     // another jump to the same target, between the arrow's ends
	Pass               rune     // a line that an arrow passes
	fromAbove          rune     // the target of an arrow that goes down
	fromBelow          rune     // the target of an arrow that goes up
	leaveUp, leaveDown rune     // a jump that leads out of the listing
	self               rune     // an instruction that jumps to itself
	heavy              *strokes // for arrows that close a loop; nil if these look like all others
}

// strokes are the heavy characters that replace the usual ones in an arrow that closes a loop.
type strokes struct{ startDown, startUp, join, pass rune }

// Unicode and ASCII are the two sets of characters with which arrows can be drawn.
var (
	Unicode = Glyphs{
		startDown: '╭', startUp: '╰', join: '├', Pass: '│', fromAbove: '↘', fromBelow: '↗',
		leaveUp: '↖', leaveDown: '↙', self: '↺', heavy: &strokes{'┏', '┗', '┣', '┃'},
	}
	ASCII = Glyphs{
		startDown: '/', startUp: '\\', join: '+', Pass: '|', fromAbove: '>', fromBelow: '<',
		leaveUp: '^', leaveDown: 'v', self: '@',
	}
)

// A Gutter is the drawing of arrows beside lines. All of its strings have the same width, which is 0 without arrows.
type Gutter struct {
	Width   int
	At      []string // one for each line
	After   []string // one for each line: what to draw beside extra rows below the line, such as comments
	Dropped int      // how many jumps are not drawn, because there was no column for them
}

// A track is one arrow for all jumps that reach the same target from the same side. It is drawn in one column.
type track struct {
	top, bottom int // the first and the last line that the arrow touches
	target      int
	loop        bool
	sources     []int
}

// maxTracks limits how many tracks are drawn. Layout compares each track with the tracks before it, which would take
// too long without a limit. No method of a real program has so many.
const maxTracks = 1 << 14

// Layout draws arrows beside n lines, in at most maxColumns columns. Jumps with a common target share a column. Short
// arrows are placed first, next to the code. So an inner loop is drawn inside the outer one, and if there are too few
// columns, the longest arrows are left out. All jumps that lead out of the listing share one additional column, next to
// the code.
func Layout(n int, arrows []Arrow, maxColumns int, g Glyphs) Gutter {
	tracks, leaving := tracksOf(n, arrows)
	var columns [][]track // the columns of tracks, from the code outwards
	out := Gutter{}
	for _, t := range tracks[min(len(tracks), maxTracks):] {
		out.Dropped += len(t.sources)
	}
	for _, t := range tracks[:min(len(tracks), maxTracks)] {
		c := slices.IndexFunc(columns, func(column []track) bool { return !overlaps(column, t) })
		switch {
		case c >= 0:
			columns[c] = append(columns[c], t)
		case len(columns) < maxColumns:
			columns = append(columns, []track{t})
		default:
			out.Dropped += len(t.sources)
		}
	}
	out.draw(n, columns, leaving, g)
	return out
}

// tracksOf groups arrows into tracks, the shortest first. A track has the arrows that reach the same target from the
// same side; they are drawn as one arrow. Arrows that lead out of the n lines are in no track, but are returned as
// leaving.
func tracksOf(n int, arrows []Arrow) (tracks []track, leaving []Arrow) {
	type key struct {
		target int
		side   int // +1 for arrows that go down, -1 for those that go up, 0 for a jump to itself
		loop   bool
	}
	index := map[key]int{}
	for _, a := range arrows {
		if a.To < 0 || a.To >= n {
			leaving = append(leaving, a)
			continue
		}
		k := key{a.To, cmp.Compare(a.To, a.From), a.Loop}
		i, ok := index[k]
		if !ok {
			i = len(tracks)
			index[k] = i
			tracks = append(tracks, track{top: a.To, bottom: a.To, target: a.To, loop: a.Loop})
		}
		t := &tracks[i]
		t.top, t.bottom = min(t.top, a.From), max(t.bottom, a.From)
		t.sources = append(t.sources, a.From)
	}
	slices.SortStableFunc(tracks, func(a, b track) int {
		return cmp.Or(cmp.Compare(a.bottom-a.top, b.bottom-b.top), cmp.Compare(a.top, b.top))
	})
	return tracks, leaving
}

// overlaps reports whether a track has a line in common with at least one track in a column.
func overlaps(column []track, t track) bool {
	return slices.ContainsFunc(column, func(u track) bool { return t.top <= u.bottom && u.top <= t.bottom })
}

// draw fills in the gutter's strings.
func (out *Gutter) draw(n int, columns [][]track, leaving []Arrow, g Glyphs) {
	out.Width = len(columns)
	if len(leaving) > 0 {
		out.Width++
	}
	at, after := canvas(n, out.Width), canvas(n, out.Width)
	for c, column := range columns {
		x := len(columns) - 1 - c
		for _, t := range column {
			g := g.of(t)
			for y := t.top; y <= t.bottom; y++ {
				at[y][x] = g.Pass
				if y < t.bottom {
					after[y][x] = g.Pass
				}
			}
			t.ends(g, func(y int, r rune) { at[y][x] = r })
		}
	}
	for _, a := range leaving {
		at[a.From][out.Width-1] = g.leaveDown
		if a.To < 0 {
			at[a.From][out.Width-1] = g.leaveUp
		}
	}
	for y := range n {
		out.At = append(out.At, string(at[y]))
		out.After = append(out.After, string(after[y]))
	}
}

// of returns the characters that a track is drawn with.
func (g Glyphs) of(t track) Glyphs {
	if s := g.heavy; t.loop && s != nil {
		g.startDown, g.startUp, g.join, g.Pass = s.startDown, s.startUp, s.join, s.pass
	}
	return g
}

// ends draws the track's sources and its target. It calls set(y, r) to put the character r on the line y.
func (t track) ends(g Glyphs, set func(y int, r rune)) {
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

// canvas returns n rows of blanks. Each row has the given width.
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
