package view

import (
	"fmt"
	"strings"

	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/top"
)

// Draw returns the lines of the screen, as many as it has rows. p is the present picture; see Shown.
func (s *State) Draw(p *top.Picture, look Look) []Line {
	p = s.Shown(p)
	if look.Height <= 0 || look.Width <= 0 {
		return nil
	}
	lines := s.head(p, look)
	switch {
	case look.Height < 8:
		lines = lines[:min(1, look.Height)]
	case look.Height < 12:
		lines = append(lines[:2:2], lines[3:]...)
	}
	room := max(0, look.Height-len(lines)-1) // for the table with its title
	if s.help {
		lines = lines[:min(1, len(lines))] // so that there is room for all keys
		lines = append(lines, helpLines(look)...)
	} else {
		t := s.table(p, look)
		if room > 0 {
			lines = append(lines, s.mark(&t, look).selectedTitle(look.Width))
		}
		s.body, s.targets = max(0, room-1), t.targets
		s.find()
		first := s.first(&t)
		for i := first; i < min(len(t.rows), first+s.body); i++ {
			row := t.rows[i]
			if t.cursorAt(s.at().cursor) == i {
				row = row.cut(look.Width).selected(look.Width)
			}
			lines = append(lines, row)
		}
		if len(t.rows) == 0 && s.body > 0 {
			if s.filters() {
				t.empty = "nothing matches the filter"
			}
			lines = append(lines, Line{span(Dim, "  "+t.empty)})
		}
	}
	lines = lines[:min(len(lines), look.Height)]
	for len(lines) < look.Height-1 {
		lines = append(lines, nil)
	}
	if len(lines) < look.Height {
		lines = append(lines, s.status(look))
	}
	for i := range lines {
		lines[i] = lines[i].cut(look.Width)
	}
	return lines
}

// mark returns the title of a table with a mark in front of the column by which it is sorted.
func (s *State) mark(t *table, look Look) Line {
	if len(t.columns) == 0 || len(t.title) == 0 {
		return t.title
	}
	column, mark := t.columns[s.sort%len(t.columns)], "▼"
	if look.ASCII {
		mark = "*"
	}
	marked := append(Line(nil), t.title...)
	marked[0].Text = strings.Replace(marked[0].Text, " "+column, mark+column, 1)
	return marked
}

// first returns the index of the first row on the screen.
func (s *State) first(t *table) int {
	if t.rowOf == nil {
		return s.scroll
	}
	// A listing has rows on which the cursor can't be, between those on which it can.
	at := t.cursorAt(s.at().cursor)
	if !s.at().moved {
		return max(0, min(at-s.body/2, len(t.rows)-s.body))
	}
	first := s.at().top
	if at < first {
		first = at
	}
	if at >= first+s.body {
		first = at - s.body + 1
	}
	first = max(0, min(first, len(t.rows)-s.body))
	s.at().top = first
	return first
}

// A table is the content of the present view.
type table struct {
	title   Line
	rows    []Line
	targets []target
	rowOf   []int    // the row of each target; nil if each row has one
	empty   string   // what is shown if there are no rows
	columns []string // the titles of the columns by which it can be sorted, in the order of the sort keys
}

func (t *table) add(row Line, to target) {
	t.rows, t.targets = append(t.rows, row), append(t.targets, to)
}

// cursorAt returns the row of the target that the cursor is on, or -1.
func (t *table) cursorAt(cursor int) int {
	switch {
	case cursor < 0 || cursor >= len(t.targets):
		return -1
	case t.rowOf != nil:
		return t.rowOf[cursor]
	}
	return cursor
}

// selectedTitle returns a title as wide as the screen.
func (l Line) selectedTitle(width int) Line {
	l = l.cut(width)
	return append(l, Span{strings.Repeat(" ", max(0, width-l.Width())), Title})
}

// head returns the lines above the table: the programs, their CPU time, the pauses, and the names of the views.
func (s *State) head(p *top.Picture, look Look) []Line {
	first := Line{span(Bold, "gasm top"), span(Plain, "  "+programText(p, s.at().scope.PID, look))}
	right := modeText(p)
	if s.paused != nil {
		right = "PAUSED  " + right
	}
	if room := look.Width - layout.Width(right) - 2; room > 20 {
		first = first.cut(room)
		first = append(first, span(Plain, strings.Repeat(" ", room+2-first.Width())), span(Bold, right))
	} else if s.paused != nil {
		first = append(Line{span(Bold, "PAUSED ")}, first...)
	}
	h := p.HeadOf(s.at().scope.PID)
	mean := h.Mean
	cpu := Line{span(Plain, "CPU "), span(Bold, fmt.Sprintf("%.2f", mean.Total()))}
	for _, kind := range []struct {
		name string
		part float64
	}{{"app", mean.App}, {"JIT", mean.JIT}, {"GC", mean.GC}, {"JVM", mean.JVM}} {
		share := 0.0
		if mean.Total() > 0 {
			share = kind.part / mean.Total()
		}
		style := Plain
		if kind.name != "app" && share >= 0.10 {
			style = Hot
		}
		cpu = append(cpu, span(style, fmt.Sprintf("  %s %s", kind.name, percent(share))))
	}
	var loads []float64
	most := 0.0
	for _, l := range h.History {
		loads = append(loads, l.Total())
		most = max(most, l.Total())
	}
	if room := look.Width - cpu.Width() - 4; room > 4 {
		cpu = append(cpu, span(Plain, "  "), Span{look.sparkline(loads, most, min(room, 180)), Good})
	}
	return []Line{first, cpu, pauses(p, s.at().scope.PID), s.tabs(look)}
}

// programText names the JVM with the given process id. If pid is 0, it names the only JVM, or says how many there are.
func programText(p *top.Picture, pid int, look Look) string {
	if pid == 0 {
		switch len(p.JVMs) {
		case 0:
			return "no JVM runs"
		case 1:
			pid = p.JVMs[0].PID
		default:
			return layout.Plural(len(p.JVMs), "JVM")
		}
	}
	j, ok := p.JVM(pid)
	if !ok {
		return fmt.Sprintf("pid %d  has ended", pid)
	}
	text := fmt.Sprintf("pid %d", j.PID)
	if j.Main != "" {
		text += " " + layout.ShortMiddle(layout.Escape(j.Main), max(20, look.Width/3), look.ellipsis())
	}
	if j.Version != "" {
		short, _, _ := strings.Cut(j.Version, "-")
		text += "  JDK " + short
	}
	if j.Ended {
		return text + "  has ended"
	}
	return text + "  threads " + number(j.Known, j.Activity.Threads)
}

// number returns a number as text, or "-" if it is unknown.
func number(known bool, n int64) string {
	if !known || n < 0 {
		return "-"
	}
	return fmt.Sprint(n)
}

// modeText returns a text that says which samples the picture shows.
func modeText(p *top.Picture) string {
	switch {
	case p.Mode.Decaying:
		return "decaying"
	case p.Mode.Seconds == 0:
		return fmt.Sprintf("since start, %.0f s", p.Head.Seconds)
	}
	return fmt.Sprintf("last %d s", p.Mode.Seconds)
}

// pauses describes the pauses of the collector and the safepoints in the picture's time, and the CPU time that gasm
// itself takes.
func pauses(p *top.Picture, pid int) Line {
	h := p.HeadOf(pid)
	seconds := h.Seconds
	known := false
	for i := range p.JVMs {
		known = known || p.JVMs[i].Known && (pid == 0 || p.JVMs[i].PID == pid)
	}
	text := func(n top.Pause) (string, Style) {
		if !known {
			return "-", Plain
		}
		text, style := fmt.Sprint(n.Count), Plain
		if n.Count > 0 && seconds > 0 {
			share := float64(n.Nanos) / (seconds * 1e9)
			text += fmt.Sprintf(", %.1f ms (%s)", float64(n.Nanos)/1e6, percent(share))
			if share >= 0.10 {
				style = Hot
			}
		}
		return text, style
	}
	gc, gcStyle := text(h.Pauses.GC)
	safepoints, style := text(h.Pauses.Safepoints)
	return Line{span(gcStyle, "GC "+gc), span(style, "  safepoints "+safepoints),
		span(Plain, fmt.Sprintf("  lost %d  gasm %.1f%%  %s %d Hz", h.Lost, 100*h.Cost, h.Counter, h.Hertz))}
}

// percent formats a share, without decimals if these do not matter.
func percent(share float64) string {
	if share > 0 && share < 0.10 {
		return fmt.Sprintf("%.1f%%", 100*share)
	}
	return fmt.Sprintf("%.0f%%", 100*share)
}

// tabs returns the names of the views, and the scope and filter of the present one.
func (s *State) tabs(look Look) Line {
	var l Line
	for v, name := range viewNames {
		style := Dim
		if View(v) == s.at().view {
			style = Bold
		}
		if look.Width < 72 && style == Dim {
			l = append(l, span(style, fmt.Sprintf("%d ", v+1)))
			continue
		}
		l = append(l, span(style, fmt.Sprintf("%d %s  ", v+1, name)))
	}
	if scope := s.at().scope; scope.TID != 0 {
		l = append(l, span(Good, "thread "+scope.Thread))
	} else if scope.PID != 0 && s.Several {
		l = append(l, span(Good, fmt.Sprintf("pid %d", scope.PID)))
	}
	return l
}

// status returns the last line.
func (s *State) status(look Look) Line {
	switch {
	case s.prompt == filtering:
		return Line{span(Bold, "filter: "+s.filter), span(Selected, " "),
			span(Dim, "  Enter keeps it, Ctrl-U empties it, Esc ends it")}
	case s.prompt == writing:
		return Line{span(Bold, "write what is on the screen: c capture, r report, p page; any other key: nothing")}
	case s.Message != "":
		return Line{span(Bold, s.Message)}
	case s.filters():
		return Line{span(Bold, "filter: "+s.filter), span(Dim, "  Esc ends it")}
	}
	keys := "Enter in  Esc back  / filter  s sort  m time  p pause  w write  ? keys  q quit"
	if look.Width < 60 {
		keys = "? keys  q quit"
	}
	return Line{span(Dim, keys)}
}
