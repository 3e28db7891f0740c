package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/top"
)

// table returns the content of the present view.
func (s *State) table(p *top.Picture, look Look) table {
	switch s.at().view {
	case Programs:
		return s.programs(p, look)
	case Frames:
		return s.frames(p, look)
	case Threads:
		return s.threads(p, look)
	case Callers:
		return s.callers(p, look)
	case Code:
		return s.listing(p, look)
	case Events:
		return s.events(p, look)
	}
	return s.methods(p, look)
}

// The widths of cells in the tables, in columns of the screen.
const (
	shareWidth  = 8
	sourceWidth = 14
)

func pad(text string, width int) string { return layout.PadRight(text, width) }

// shares returns the cells with the share in the whole time and the share in the last second.
func shares(p *top.Picture, a top.Amount) Line {
	all, now := p.Share(a)
	return Line{span(heat(all), shareCell(all)), span(heat(now), nowCell(p, now))}
}

// exactSamples is the minimum number of samples for which two decimals of a share are meaningful.
const exactSamples = 1000

// nowCell returns the cell of a share of the last second, which often has few samples.
func nowCell(p *top.Picture, share float64) string {
	if p.Recent >= exactSamples || share == 0 {
		return shareCell(share)
	}
	return layout.PadLeft(fmt.Sprintf("%.1f%%", 100*share), shareWidth)
}

func shareCell(share float64) string {
	text := ""
	switch {
	case share >= 0.00005:
		text = fmt.Sprintf("%.2f%%", 100*share)
	case share > 0:
		text = "<0.01%"
	}
	return layout.PadLeft(text, shareWidth)
}

// shareTitle returns the title of the cells that shares returns.
func shareTitle(p *top.Picture) string {
	return layout.PadLeft(timeTitle(p), shareWidth) + layout.PadLeft("NOW", shareWidth)
}

func timeTitle(p *top.Picture) string {
	switch {
	case p.Mode.Decaying:
		return "DECAY"
	case p.Mode.Seconds > 0:
		return fmt.Sprintf("%d s", p.Mode.Seconds)
	}
	return "ALL"
}

func title(text string) Line { return Line{span(Title, text)} }

// sorted sorts rows in the order that the user has chosen. The rows already are in the first of the possible orders,
// and the parameter orders has all others.
func sorted[T any](s *State, rows []T, orders ...func(a, b T) int) {
	if n := s.sort % (len(orders) + 1); n > 0 {
		slices.SortStableFunc(rows, orders[n-1])
	}
}

// method returns the name of a method, escaped and shortened to width columns. If width is less than 10, it does not
// shorten the name.
func method(name string, width int, look Look) string {
	name = layout.Escape(name)
	if width < 10 {
		return name
	}
	if strings.Contains(name, "::") {
		return layout.ShortMethod(name, width, look.ellipsis())
	}
	return layout.ShortMiddle(name, width, look.ellipsis())
}

func (s *State) programs(p *top.Picture, look Look) table {
	t := table{title: title(shareTitle(p) + "    CPU   APP   JIT    GC  THREADS      PID  PROGRAM, its hottest method"),
		empty:   "no JVM runs",
		columns: []string{timeTitle(p), "NOW", "GC", "PROGRAM"}}
	rows := p.Programs()
	sorted(s, rows, func(a, b top.Program) int { return cmp.Compare(b.Now, a.Now) },
		func(a, b top.Program) int { return cmp.Compare(b.Mean.GC, a.Mean.GC) },
		func(a, b top.Program) int { return strings.Compare(a.Main, b.Main) })
	for i := range rows {
		r := &rows[i]
		if !s.matches(r.Main, r.Hottest, fmt.Sprint(r.PID)) {
			continue
		}
		cells := fmt.Sprintf("%7.2f%6.2f%6.2f%6.2f%9s%9d  ", r.Mean.Total(), r.Mean.App, r.Mean.JIT, r.Mean.GC,
			number(r.Known, r.Activity.Threads), r.PID)
		name := cmp.Or(r.Main, "?")
		if r.Ended {
			name += " (ended)"
		}
		room := look.Width - 2*shareWidth - len(cells)
		row := append(shares(p, r.Amount), span(Plain, cells),
			span(Bold, layout.ShortMiddle(layout.Escape(name), max(10, room/2), look.ellipsis())))
		row = append(row, span(Plain, "  "+method(r.Hottest, room-layout.Width(name)-2, look)))
		t.add(row, target{id: fmt.Sprint(r.PID), scope: top.Scope{PID: r.PID}})
	}
	return t
}

func (s *State) methods(p *top.Picture, look Look) table {
	t := table{title: title(shareTitle(p) + "  " + pad("SOURCE", sourceWidth) + "METHOD"), empty: "no samples yet",
		columns: []string{timeTitle(p), "NOW", "METHOD"}}
	rows := p.Methods(s.at().scope)
	sorted(s, rows, func(a, b top.Method) int { return cmp.Compare(b.Now, a.Now) },
		func(a, b top.Method) int { return strings.Compare(a.Name, b.Name) })
	for i := range rows {
		r := &rows[i]
		if !s.matches(r.Name, r.Source) {
			continue
		}
		row := append(shares(p, r.Amount), span(Dim, "  "+pad(layout.CutEnd(layout.Escape(r.Source), sourceWidth-2,
			look.ellipsis()), sourceWidth)),
			span(Plain, method(r.Name, look.Width-2*shareWidth-2-sourceWidth, look)))
		t.add(row, target{id: r.Name + "\n" + r.Source, method: r.Name, code: r.Code})
	}
	return t
}

func (s *State) frames(p *top.Picture, look Look) table {
	t := table{title: title(shareTitle(p) + layout.PadLeft("TOTAL", shareWidth) +
		"  METHOD, inlining undone, and its hottest line"), empty: "no samples yet",
		columns: []string{timeTitle(p), "NOW", "TOTAL", "METHOD"}}
	rows := p.Frames(s.at().scope)
	sorted(s, rows, func(a, b top.Frame) int { return cmp.Compare(b.Now, a.Now) },
		func(a, b top.Frame) int { return cmp.Compare(b.Total.Count, a.Total.Count) },
		func(a, b top.Frame) int { return strings.Compare(a.Name, b.Name) })
	for i := range rows {
		r := &rows[i]
		if !s.matches(r.Name) {
			continue
		}
		total, _ := p.Share(r.Total)
		line := ""
		if r.Line > 0 {
			line = fmt.Sprintf(":%d", r.Line)
		}
		source := ""
		if s.Source != nil && r.Line > 0 {
			source = strings.TrimSpace(s.Source(r.Name, r.Line).Text)
		}
		room := look.Width - 3*shareWidth - 2 - len(line)
		row := append(shares(p, r.Amount), span(heat(total), shareCell(total)), span(Plain, "  "+method(r.Name, room, look)),
			span(Bold, line))
		if room -= layout.Width(r.Name) + 2; source != "" && room > 10 {
			row = append(row, span(Dim, "  "+layout.CutEnd(layout.Escape(source), room, look.ellipsis())))
		}
		t.add(row, target{id: r.Name, method: r.Name, code: r.Code, pc: r.PC})
	}
	return t
}

func (s *State) threads(p *top.Picture, look Look) table {
	const nameWidth = 28
	head := "  KIND     TID  " + pad("THREAD", nameWidth) + "  HOTTEST METHOD"
	t := table{title: title(shareTitle(p) + head), empty: "no samples yet",
		columns: []string{timeTitle(p), "NOW", "KIND", "THREAD"}}
	rows := p.Threads(s.at().scope)
	sorted(s, rows, func(a, b top.ThreadRow) int { return cmp.Compare(b.Now, a.Now) },
		func(a, b top.ThreadRow) int { return strings.Compare(a.Kind, b.Kind) },
		func(a, b top.ThreadRow) int { return strings.Compare(a.Name, b.Name) })
	for i := range rows {
		r := &rows[i]
		if !s.matches(r.Name, r.KindName, r.Hottest) {
			continue
		}
		room := look.Width - 2*shareWidth - 16 - nameWidth - 2
		row := append(shares(p, r.Amount), span(Dim, fmt.Sprintf("  %-4s%8d  ", r.KindName, r.TID)),
			span(Plain, pad(layout.CutEnd(layout.Escape(r.Name), nameWidth, look.ellipsis()), nameWidth)),
			span(Dim, "  "+method(r.Hottest, room, look)))
		t.add(row, target{id: fmt.Sprint(r.PID, r.TID, r.Name), scope: top.Scope{PID: r.PID, TID: r.TID, Thread: r.Name}})
	}
	return t
}

func (s *State) callers(p *top.Picture, look Look) table {
	name := s.at().method
	t := table{title: title(shareTitle(p) + "  CALLERS of " + method(name, look.Width-2*shareWidth-13, look)),
		empty: "no samples in this method now"}
	tree, _ := p.Callers(s.at().scope, name)
	for i := range tree {
		c := &tree[i]
		if !s.matches(c.Name) {
			continue
		}
		arrow := "← "
		if look.ASCII {
			arrow = "<- "
		}
		if c.Depth == 0 {
			arrow = ""
		}
		indent := "  " + strings.Repeat("  ", c.Depth) + arrow
		row := append(shares(p, c.Amount), span(Dim, indent),
			span(Plain, method(c.Name, look.Width-2*shareWidth-layout.Width(indent), look)))
		t.add(row, target{id: fmt.Sprint(i, c.Name), method: c.Name})
	}
	if len(tree) == 1 && s.filter == "" {
		t.add(Line{span(Dim, strings.Repeat(" ",
			2*shareWidth)+"  its callers are not known: the samples have no call stacks")}, target{})
	}
	return t
}

func (s *State) events(p *top.Picture, look Look) table {
	t := table{title: title("    AGO    EVENT"), empty: "no collection and no safepoint so far, or the JVM does not say"}
	for _, e := range slices.Backward(p.Events) {
		text := e.String()
		if s.Several {
			text = fmt.Sprintf("pid %d  %s", e.PID, text)
		}
		if !s.matches(text) {
			continue
		}
		style := Plain
		if e.What == "GC" {
			style = Bold
		}
		t.add(Line{span(Dim, fmt.Sprintf("%7.1f s   ", float64(p.MonoTime-e.MonoNanos)/1e9)),
			span(style, layout.CutEnd(layout.Escape(text), look.Width-13, look.ellipsis()))},
			target{id: fmt.Sprint(e.MonoNanos, e.What, e.Name)})
	}
	return t
}
