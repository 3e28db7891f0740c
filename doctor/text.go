package doctor

import (
	"io"
	"strings"

	"github.com/gasm-profiler/gasm/internal/layout"
)

const (
	// leastWidth is how wide the report is even on a narrower terminal.
	leastWidth = 40
	// nameWidth is that of the longest Finding.Name.
	nameWidth = len("kernel names")
)

// A mark shows a status in front of a finding: the sign, or the word in ASCII.
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

// WriteText writes the report for people: the findings by area, each on a line with the
// mending command below it, and the verdict last. All commands can be pasted into a
// shell, also those that are broken into several lines.
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

// verdict writes the last lines. A verdict that is longer than a line has its command on
// a line of its own, so that it can be pasted.
func (t *textReport) verdict(r *Report) {
	verdict := r.Verdict()
	if layout.Width(verdict) > t.width {
		verdict = strings.TrimSuffix(verdict, " "+r.Mend)
	}
	for _, line := range layout.Wrap(verdict, t.width) {
		t.Line("%s", t.Paint(layout.Bold, line))
	}
	if r.Mend != "" && !strings.HasSuffix(verdict, r.Mend) {
		t.command(2, r.Mend)
	}
}

// check writes one finding: its mark, its name and its text, and below them what mends it.
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
	if c.Mend != "" {
		if indent+len("mend: ")+layout.Width(c.Mend) > t.width {
			indent = 2 + width + 2 // a long command starts further left
		}
		t.command(indent, "mend: "+c.Mend)
	}
}

// command writes a command. One that is too long gets backslashes at its line breaks.
func (t *textReport) command(indent int, command string) {
	lines := []string{command}
	if indent+layout.Width(command) > t.width {
		lines = layout.Wrap(command, t.width-indent-len("      ")-len(` \`))
	}
	pad := strings.Repeat(" ", indent)
	for i, line := range lines {
		if i > 0 {
			line = "      " + line // behind "mend: "
		}
		if i < len(lines)-1 {
			line += ` \`
		}
		t.Line("%s", pad+line)
	}
}

// Verdict says in one line whether a profile can be made, and with which sampler, or
// else why not and what to do first.
func (r *Report) Verdict() string {
	with := r.Sampler
	if r.Event != "" {
		with += ", " + r.Event
	}
	switch {
	case r.CanProfile && r.Sudo:
		return "gasm can profile here with --sudo: " + with + "."
	case r.CanProfile:
		return "gasm can profile here: " + with + "."
	case r.Mend != "":
		return "gasm can't profile here: " + r.Cause + "; first: " + r.Mend
	}
	return "gasm can't profile here: " + r.Cause + "."
}
