package doctor

import (
	"io"
	"strings"

	"github.com/gasm-profiler/gasm/internal/layout"
)

const (
	// leastWidth is the smallest width of the report. A narrower terminal wraps the lines itself.
	leastWidth = 40
	// nameWidth is the width of the longest Finding.Name.
	nameWidth = len("kernel names")
)

// A mark is shown before a finding, for its status. It is a sign, or a word if the report is in ASCII.
type mark struct {
	sign, word string
	style      layout.Style
}

var marks = map[Status]mark{
	OK:      {"✓", "ok", layout.Green},
	Note:    {"!", "note", layout.BoldYellow},
	Problem: {"✗", "problem", layout.BoldRed},
}

// A textReport writes a report for people.
type textReport struct {
	*layout.Page
	width int // columns of a line
}

// WriteText writes the report for people: the findings by area, each with its fix on the line below, and then the
// verdict. All commands can be pasted into a shell, even if they are broken into several lines.
func WriteText(w io.Writer, r *Report, look layout.Look) error {
	t := textReport{Page: layout.NewPage(w, look)}
	t.width = max(t.Columns(layout.RuleWidth), leastWidth)
	area := ""
	for _, c := range r.Checks {
		if c.Area != area {
			if area != "" {
				t.Line("")
			}
			area = c.Area
			t.Line("%s", t.Paint(layout.Bold, area))
		}
		t.check(c)
	}
	if area != "" {
		t.Line("")
	}
	t.verdict(r)
	return t.Flush()
}

// verdict writes the last lines. If the verdict does not fit on one line, its command gets a line of its own, so that
// the command can be pasted.
func (t *textReport) verdict(r *Report) {
	verdict, command := r.verdict()
	if whole := r.Verdict(); layout.Width(whole) <= t.width {
		verdict, command = whole, ""
	}
	for _, line := range layout.Wrap(verdict, t.width) {
		t.Line("%s", t.Paint(layout.Bold, line))
	}
	if command != "" {
		t.command(2, command)
	}
}

// check writes one finding: its mark, its name and its text, and its fix below them.
func (t *textReport) check(c Finding) {
	m := marks[c.Status]
	sign, width := m.sign, 1
	if t.ASCII {
		sign, width = m.word, len("problem")
	}
	indent := 2 + width + 2 + nameWidth + 2
	pad := strings.Repeat(" ", width-layout.Width(sign))
	label := layout.Join("  ", t.Paint(m.style, sign), pad, "  ", layout.PadRight(c.Name, nameWidth), "  ")
	for _, line := range layout.Wrap(c.Text, t.width-indent) {
		t.Line("%s%s", label, line)
		label = layout.Join(strings.Repeat(" ", indent))
	}
	if c.Fix != "" {
		if indent+len("fix: ")+layout.Width(c.Fix) > t.width {
			indent = 2 + width + 2 // a long command starts further left
		}
		t.command(indent, "fix: "+c.Fix)
	}
}

// command writes a command. A long command is broken into several lines, with backslashes at the line breaks.
func (t *textReport) command(indent int, command string) {
	lines := []string{command}
	if indent+layout.Width(command) > t.width {
		lines = layout.Wrap(command, t.width-indent-len("fix: ")-len(` \`))
	}
	pad := strings.Repeat(" ", indent)
	for i, line := range lines {
		if i > 0 {
			line = strings.Repeat(" ", len("fix: ")) + line // align with the command in the first line
		}
		if i < len(lines)-1 {
			line += ` \`
		}
		t.Line("%s", pad+line)
	}
}

// Verdict says in one line whether a profile can be made, and with which sampler. If none can be made, it says why, and
// what to do first.
func (r *Report) Verdict() string {
	verdict, command := r.verdict()
	return strings.TrimSpace(verdict + " " + command)
}

// verdict returns the verdict without the command at its end, and the command separately. command is "" if there is
// none.
func (r *Report) verdict() (text, command string) {
	with := r.Sampler
	if r.Event != "" {
		with += ", " + r.Event
	}
	switch {
	case r.CanProfile && r.Sudo:
		return "gasm can profile here with --sudo: " + with + ".", ""
	case r.CanProfile:
		return "gasm can profile here: " + with + ".", ""
	case r.Fix != "":
		return "gasm can't profile here: " + r.Cause + "; first:", r.Fix
	}
	return "gasm can't profile here: " + r.Cause + ".", ""
}
