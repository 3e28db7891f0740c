package view

import (
	"fmt"
	"strings"

	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/tally"
	"github.com/gasm-profiler/gasm/report/text/listing"
	"github.com/gasm-profiler/gasm/top"
)

// listing shows the annotated code of a method, as the report does.
func (s *State) listing(p *top.Picture, look Look) table {
	at := s.at()
	if at.code == nil || !at.moved && at.pc == 0 { // HotSpot may have compiled the method again
		if c := p.CodeOf(at.scope, at.method); c != nil {
			at.code = c
		}
	} else if !at.moved { // pc is the address at which a frame has most of its samples
		for _, f := range p.Frames(at.scope) {
			if f.Name == at.method && f.Code != nil {
				at.code, at.pc = f.Code, f.PC
				break
			}
		}
	}
	t := table{title: title(" " + at.method), empty: "no code of this method is known"}
	if at.code == nil {
		return t
	}
	l := p.Listing(at.scope, at.code)
	if l == nil {
		t.title, t.empty = title(codeTitle(p, at.code, nil, look)), "its instructions are not known"
		return t
	}
	t.title = title(codeTitle(p, at.code, l, look))
	hottest := l.Hottest
	if at.pc != 0 {
		if i := l.Address(at.pc); i >= 0 {
			hottest = i
		}
	}
	rows := s.codeRows(p, l, look)
	t.rowOf = []int{}
	for i := range rows {
		r := &rows[i]
		if r.Line < 0 {
			t.rows = append(t.rows, Line{span(Dim, r.Text)})
			continue
		}
		share := 0.0
		if p.Total > 0 {
			share = float64(l.Lines[r.Line].Counts[0]) / p.Total
		}
		if r.Line == hottest && !at.moved {
			at.cursor = len(t.targets)
		}
		to := target{id: fmt.Sprint(r.Line), method: at.method, code: at.code, pc: l.Lines[r.Line].Lo}
		if frames := l.Lines[r.Line].Frames; len(frames) > 0 {
			to.method = frames[0].Method
		}
		t.rowOf = append(t.rowOf, len(t.rows))
		t.rows = append(t.rows, heatRow(r.Text, heat(share)))
		t.targets = append(t.targets, to)
	}
	return t
}

// heatRow returns a row of an instruction. The share in front, and the instruction, are coloured.
func heatRow(row string, style Style) Line {
	if style == Plain {
		return Line{span(Plain, row)}
	}
	code, comment, found := strings.Cut(row, ";*")
	if !found {
		return Line{span(style, row)}
	}
	return Line{span(style, code), span(Dim, ";*"+comment)}
}

// codeTitle returns a title that says which code is shown, how much of the time it takes, and where its hottest loop
// is.
func codeTitle(p *top.Picture, c *top.Code, l *top.Listing, look Look) string {
	parts := []string{"  " + c.Source}
	if l != nil && l.Loop != nil && l.Count > 0 {
		parts = append(parts, fmt.Sprintf("  hottest loop 0x%x: %s", l.Loop.Head, percent(l.Loop.Amount/l.Count)))
	}
	if c.CompileID != 0 {
		parts = append(parts, fmt.Sprintf("  compile id %d", c.CompileID))
	}
	if c.OSR {
		parts = append(parts, "  OSR")
	}
	text := ""
	if l != nil {
		all, now := p.Share(l.Amount)
		text = fmt.Sprintf(" %s, now %s", percent(all), percent(now))
	}
	const leastName = 16
	room := look.Width - len(text) - 2 - leastName
	about := ""
	for _, part := range parts {
		if n := layout.Width(part); n <= room {
			about += part
			room -= n
		}
	}
	return text + "  " + method(c.Name, leastName+max(room, 0), look) + about
}

// codeRows lays out the instructions.
func (s *State) codeRows(p *top.Picture, l *top.Listing, look Look) []listing.Row {
	pr := &profile.Profile{Counters: []string{p.Head.Counter},
		Accounts: []profile.Account{{Profiled: int64(p.Total + 0.5)}}}
	reg := &profile.Region{Source: l.Code.Source, Method: l.Code.Name, CompileID: l.Code.CompileID, OSR: l.Code.OSR,
		PIDs: []int{l.Code.PID},
		Lo:   l.Code.Lo, Hi: l.Code.Hi, Counts: tally.Counts{int64(l.Count + 0.5)}, Hot: true, Lines: l.Lines}
	return listing.Rows(pr, reg, layout.Look{ASCII: look.ASCII, Width: look.Width},
		listing.Options{DrawIntraJumps: true, DrawInterJumps: true, Source: s.Source})
}
