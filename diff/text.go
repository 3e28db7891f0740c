package diff

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/gasm-profiler/gasm/layout"
)

// TextOptions are the choices that the text offers.
type TextOptions struct {
	Gasm         string // version of the program
	ASCII        bool   // no other characters in what gasm itself draws
	Color        bool   // ANSI colours
	Width        int    // columns of the terminal; 0 for no shortening
	Top          int    // rows per table; 0 for all
	HotThreshold float64
}

// ruleWidth is perfasm's.
const ruleWidth = 100

// A style is an ANSI escape that can be read on light and on dark backgrounds.
type style string

const (
	bold    style = "\x1b[1m"
	magenta style = "\x1b[35m"
	red     style = "\x1b[31m"
)

// A textDiff is a text on its way out. Its writer keeps the first error until
// Flush.
type textDiff struct {
	TextOptions
	out *bufio.Writer
	c   *Comparison // that is being written
}

// WriteText writes r for readers.
func (r *Result) WriteText(w io.Writer, o TextOptions) error {
	t := &textDiff{TextOptions: o, out: bufio.NewWriter(w)}
	if o.Gasm != "" {
		t.field("gasm", o.Gasm)
	}
	t.side("A", r.A)
	t.side("B", r.B)
	for _, n := range r.Notes {
		t.paragraph("note: ", n)
	}
	for _, name := range r.UnpairedA {
		t.paragraph("note: ", "only A has the trial "+trialName(name)+": not compared")
	}
	for _, name := range r.UnpairedB {
		t.paragraph("note: ", "only B has the trial "+trialName(name)+": not compared")
	}
	for i := range r.Trials {
		t.c = &r.Trials[i]
		t.trial(i+1, len(r.Trials))
	}
	return t.out.Flush()
}

func trialName(name string) string {
	if name == "" {
		return "of the whole run"
	}
	return name
}

// maxJVMs is how many JVMs of a side are listed.
const maxJVMs = 2

func (t *textDiff) side(label string, s *Side) {
	t.field(label, s.Name)
	if len(s.Command) > 0 {
		t.field("  command", strings.Join(s.Command, " "))
	}
	for i, j := range s.JVMs {
		if i == maxJVMs && len(s.JVMs) > maxJVMs+1 {
			t.field("", fmt.Sprintf("%s %d more", t.glyph("…", "..."), len(s.JVMs)-maxJVMs))
			break
		}
		t.field(pick(i == 0, "  JVMs", ""), j)
	}
	if s.Sampler != "" {
		t.field("  sampler", s.Sampler)
	}
	for _, n := range s.Notes {
		t.paragraph("  note: ", n)
	}
}

func (t *textDiff) field(name, value string) {
	if name != "" {
		name += ":"
	}
	const column = 11
	label := layout.PadRight(name, column)
	for _, line := range layout.Wrap(value, t.columns()-column) {
		t.line("%s%s", label, line)
		label = strings.Repeat(" ", column)
	}
}

func (t *textDiff) trial(number, of int) {
	c := t.c
	if of > 1 {
		text := fmt.Sprintf("====[Trial %d of %d: %s]", number, of, trialName(c.A.Name))
		t.line("")
		t.line("%s", t.paint(bold, text+strings.Repeat("=", max(t.columns()-utf8.RuneCountInString(text), 4))))
	} else if c.A.Name != "" || c.B.Name != "" {
		t.field("Trial", trialName(c.A.Name))
		if c.B.Name != c.A.Name {
			t.field("", "in B "+trialName(c.B.Name))
		}
	}
	t.field("Samples", "A "+c.A.samplesText()+"; B "+c.B.samplesText())
	if c.A.Samples == 0 || c.B.Samples == 0 {
		t.line("Not compared: a side has no samples of it.")
		return
	}
	if a, b := c.A.NanosPerOp, c.B.NanosPerOp; a > 0 && b > 0 {
		t.field("CPU time", fmt.Sprintf("A %s, B %s an operation: %+.1f %%", nanosText(a), nanosText(b), 100*(b-a)/a))
	}
	t.field("Noise", c.noiseText())
	if c.unchanged() {
		t.line("Nothing changed above the noise: %s compared.", c.Compared)
		return
	}
	t.line("")
	t.table("Changed Methods", "method", c.Methods)
	t.table("Changed Frames (inlining undone)", "frame", c.Frames)
	t.regions()
	t.line("%s compared; nothing else changed above the noise.", c.Compared)
}

func (c *Comparison) unchanged() bool { return len(c.Methods)+len(c.Frames)+len(c.Regions) == 0 }

func (n Compared) String() string {
	return fmt.Sprintf("%s, %s, %s", layout.Plural(n.Methods, "method"), layout.Plural(n.Frames, "frame"), layout.Plural(n.Regions, "region"))
}

// samplesText is "3057 in 3.01 s (1016/s), 2 forks".
func (t *Trial) samplesText() string {
	text := fmt.Sprint(t.Samples)
	if t.Seconds > 0 {
		text += fmt.Sprintf(" in %.2f s (%.0f/s)", t.Seconds, float64(t.Samples)/t.Seconds)
	}
	if len(t.Forks) > 1 {
		text += ", " + layout.Plural(len(t.Forks), "fork")
	}
	return text
}

func (c *Comparison) noiseText() string {
	n := &c.Noise
	text := fmt.Sprintf("a change counts from %s points on, and from %.1f standard errors of the sampling: at a share of 10%% "+
		"that is %s points. ", points(n.MinChange), n.Factor, points(n.At10))
	var over []string
	if n.Slices {
		over = append(over, "slices of the time")
	}
	if n.Forks {
		over = append(over, "forks")
	}
	if len(over) > 0 {
		text += fmt.Sprintf("Where %s spread more, it counts from %.1f standard errors of that. ", strings.Join(over, " and "), n.SpreadFactor)
	}
	text += fmt.Sprintf("So chance shows one of the %s that are large enough in 1 of %.0f comparisons.", layout.Plural(n.Rows, "row"), 1/chance)
	if !n.Forks {
		text += " What differs from one JVM to the next is not in it: for that, run several forks."
	}
	if !n.Slices && c.A.Name != "" && c.B.Name != "" {
		text += " Nor is what differs over time: a side does not tell it."
	}
	return text
}

// nanosText writes a time of some ns in the unit that suits it.
func nanosText(nanos float64) string {
	for _, unit := range []string{"ns", "us", "ms"} {
		if nanos < 1000 {
			return fmt.Sprintf("%.3g %s", nanos, unit)
		}
		nanos /= 1000
	}
	return fmt.Sprintf("%.3g s", nanos)
}

// points writes a difference of shares in percentage points.
func points(share float64) string { return fmt.Sprintf("%.2f", 100*share) }

func (t *textDiff) glyph(unicode, ascii string) string {
	if t.ASCII {
		return ascii
	}
	return unicode
}

func (t *textDiff) paint(s style, text string) string {
	if !t.Color || text == "" {
		return text
	}
	return string(s) + text + "\x1b[0m"
}

// line writes one line without blanks at its end.
func (t *textDiff) line(format string, args ...any) {
	t.out.WriteString(strings.TrimRight(fmt.Sprintf(format, args...), " "))
	t.out.WriteByte('\n')
}

func (t *textDiff) paragraph(mark, text string) {
	for i, line := range layout.Wrap(text, t.columns()-len(mark)) {
		if i > 0 {
			mark = strings.Repeat(" ", len(mark))
		}
		t.line("%s%s", mark, line)
	}
}

func (t *textDiff) rule(title string) {
	text := "....[" + title + "]"
	t.line("%s%s", t.paint(bold, text), strings.Repeat(".", max(t.columns()-utf8.RuneCountInString(text), 4)))
}

func (t *textDiff) columns() int {
	if t.Width > 0 {
		return min(ruleWidth, t.Width)
	}
	return ruleWidth
}
