package doctor

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/gasm-profiler/gasm/layout"
)

// TextOptions say how a text report looks.
type TextOptions struct {
	Width int // columns; 0 is 100
	Color bool
	ASCII bool // without check marks
}

// The widths of a text report.
const (
	defaultWidth = 100
	leastWidth   = 40
	nameWidth    = len("kernel names")
)

// A mark stands in front of each line.
type mark struct{ sign, word, style string }

var marks = map[Status]mark{
	OK:      {"✓", "ok", "\x1b[32m"},
	Note:    {"!", "note", "\x1b[1;33m"},
	Problem: {"✗", "problem", "\x1b[1;31m"},
}

const (
	bold  = "\x1b[1m"
	reset = "\x1b[0m"
)

// WriteText writes the report for people: the checks by area, one on a line,
// the mending commands under them, and the verdict last. Commands can be pasted
// into a shell, long ones too.
func WriteText(w io.Writer, r *Report, o TextOptions) error {
	if o.Width <= 0 || o.Width > defaultWidth {
		o.Width = defaultWidth
	}
	o.Width = max(o.Width, leastWidth)
	out := bufio.NewWriter(w)
	area := ""
	for _, c := range r.Checks {
		if c.Area != area {
			if area != "" {
				out.WriteByte('\n')
			}
			area = c.Area
			fmt.Fprintln(out, o.paint(bold, area))
		}
		o.writeCheck(out, c)
	}
	if area != "" {
		out.WriteByte('\n')
	}
	verdict := r.Verdict()
	if utf8.RuneCountInString(verdict) > o.Width {
		// The command stays whole.
		verdict = strings.TrimSuffix(verdict, " "+r.Mend)
	}
	for _, line := range layout.Wrap(verdict, o.Width) {
		fmt.Fprintln(out, o.paint(bold, line))
	}
	if r.Mend != "" && !strings.HasSuffix(verdict, r.Mend) {
		o.writeCommand(out, 2, r.Mend)
	}
	return out.Flush()
}

func (o *TextOptions) paint(style, text string) string {
	if !o.Color {
		return text
	}
	return style + text + reset
}

func (o *TextOptions) writeCheck(out *bufio.Writer, c Finding) {
	m := marks[c.Status]
	sign, width := m.sign, 1
	if o.ASCII {
		sign, width = m.word, len("problem")
	}
	indent := 2 + width + 2 + nameWidth + 2
	pad := strings.Repeat(" ", width-utf8.RuneCountInString(sign))
	fmt.Fprintf(out, "  %s%s  %-*s  ", o.paint(m.style, sign), pad, nameWidth, c.Name)
	for i, line := range layout.Wrap(c.Text, o.Width-indent) {
		if i > 0 {
			out.WriteString(strings.Repeat(" ", indent))
		}
		fmt.Fprintln(out, line)
	}
	if c.Mend != "" {
		if indent+len("mend: ")+utf8.RuneCountInString(c.Mend) > o.Width {
			indent = 2 + width + 2 // a long command begins further left
		}
		o.writeCommand(out, indent, "mend: "+c.Mend)
	}
}

// writeCommand breaks a command that is too long the way a shell takes it.
func (o *TextOptions) writeCommand(out *bufio.Writer, indent int, command string) {
	lines := []string{command}
	if indent+utf8.RuneCountInString(command) > o.Width {
		lines = layout.Wrap(command, o.Width-indent-len("      ")-len(` \`))
	}
	pad := strings.Repeat(" ", indent)
	for i, line := range lines {
		if i > 0 {
			line = "      " + line // behind "mend: "
		}
		if i < len(lines)-1 {
			line += ` \`
		}
		fmt.Fprintln(out, pad+line)
	}
}

// Verdict is the last line: whether a profile can be made, with what, or what
// to do first.
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
