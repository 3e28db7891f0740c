package listing

import (
	"fmt"
	"strings"

	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/code"
	"github.com/gasm-profiler/gasm/profile/jitprofile"
)

// jitNotes are the notes about HotSpot's profile in a listing, by the addresses of their lines.
type jitNotes map[uint64]*jitprofile.Note

// nearSamples is the maximum distance, in instructions, between samples and a branch that has a note.
const nearSamples = 4

// newJITNotes chooses the notes for a listing. C2 copies the code of loops, but a note is written only once: at the
// line with the most samples around it. A note about a branch is only written if there are samples near it.
func newJITNotes(lines []code.Line) jitNotes {
	notes := jitNotes{}
	best := map[*jitprofile.Note]int64{} // the number of samples around the line chosen for a note
	at := map[*jitprofile.Note]uint64{}
	for i := range lines {
		note := lines[i].Note
		if note == nil {
			continue
		}
		near := int64(0)
		for j := max(0, i-nearSamples); j < min(len(lines), i+nearSamples+1); j++ {
			for _, n := range lines[j].Counts {
				near += n
			}
		}
		if most, known := best[note]; known && near <= most || near == 0 && note.IsBranch() {
			continue
		}
		best[note], at[note] = near, lines[i].Lo
	}
	for note, lo := range at {
		notes[lo] = note
	}
	return notes
}

// note returns the comment of a line: what HotSpot's profile says there, and why a call was not inlined. It returns ""
// if there is nothing to say.
func (n jitNotes) note(l *code.Line) string {
	var texts []string
	if note := n[l.Lo]; note != nil {
		texts = append(texts, note.String())
	}
	if l.Call != nil && l.Call.String() != "" {
		texts = append(texts, l.Call.String())
	}
	return strings.Join(texts, "; ")
}

// jitNote returns the text of note for a line, wrapped into rows that fit beside the arrows.
func (c *foldedComments) jitNote(l *code.Line) []string {
	note := c.jit.note(l)
	if note == "" {
		return nil
	}
	const sign, least = "; ", 40
	rows := layout.Wrap(note, max(c.width()-c.arrowsEnd()-layout.Width(sign)-2, least))
	for i := range rows {
		if i > 0 {
			rows[i] = "  " + rows[i]
		}
		rows[i] = sign + rows[i]
	}
	return rows
}

// Limits of the two lists above a region: the methods with deoptimizations (mostTraps), and the calls that have no
// known instruction in the code (mostLoose).
const mostTraps, mostLoose = 3, 5

// writeJITProfile writes, above the code of a region, what HotSpot's profile says about the whole method: how often it
// was deoptimized and, if the code has no frames, the receivers of its calls.
func writeJITProfile(w writer, reg *profile.Region, ls *listing) {
	if reg.Profiled == nil || w.opts.Comments == None {
		return
	}
	const least = 30
	row := func(format string, args ...any) {
		for n, line := range layout.Wrap(fmt.Sprintf(format, args...), max(ls.rowWidth()-2, least)) {
			if n > 0 {
				line = "  " + line
			}
			w.Line("%s%s", ls.between(-1), w.Paint(layout.Dim, mark+line))
		}
	}
	traps := reg.Profiled.Traps
	for i := range traps[:min(len(traps), mostTraps)] {
		row("%s was deoptimised before this code was copied: %s", traps[i].Method, traps[i].String())
	}
	if more := len(traps) - mostTraps; more > 0 {
		row("and so were %s that are inlined here", layout.Plural(more, "more method"))
	}
	loose := reg.Profiled.Loose
	for _, note := range loose[:min(len(loose), mostLoose)] {
		row("%s: %s", note.Place(), note)
	}
}

// rowWidth returns how many columns there are for text in a row between instructions.
func (ls *listing) rowWidth() int {
	width := layout.RuleWidth
	if ls.Width > 0 {
		width = ls.Width
	}
	return width - ls.arrowsEnd() - layout.Width(mark)
}
