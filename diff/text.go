package diff

import (
	"fmt"
	"io"
	"strings"

	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/internal/noise"
)

// TextOptions are the options of WriteText.
type TextOptions struct {
	Gasm string // the version of gasm that made the comparison; "" to leave it out
	layout.Look
	Top int // rows per table; 0 for all
}

// A textDiff writes a Result as text.
type textDiff struct {
	*layout.Page
	o TextOptions
	c *Comparison // the trial that is being written
}

// WriteText writes r as text for people.
func (r *Result) WriteText(w io.Writer, o TextOptions) error {
	t := &textDiff{Page: layout.NewPage(w, o.Look), o: o}
	if o.Gasm != "" {
		t.field("gasm", o.Gasm)
	}
	t.side("A", r.A)
	t.side("B", r.B)
	for _, n := range r.Notes {
		t.Paragraph("note: ", n)
	}
	for _, name := range r.UnpairedA {
		t.Paragraph("note: ", "only A has "+name+": not compared")
	}
	for _, name := range r.UnpairedB {
		t.Paragraph("note: ", "only B has "+name+": not compared")
	}
	t.gate(r.Gate)
	for i := range r.Trials {
		t.c = &r.Trials[i]
		t.trial(i+1, len(r.Trials))
	}
	return t.Flush()
}

// gate writes the verdict of a gate; g may be nil.
func (t *textDiff) gate(g *Gate) {
	if g == nil {
		return
	}
	verdict := "nothing is slower by more"
	if g.Failed > 0 {
		verdict = "failed"
	}
	t.field("Limit", fmt.Sprintf("%g %% (--fail-above): %s", g.Percent, verdict))
	for i := range g.Rows {
		mark := "  passed: "
		if g.Rows[i].Failed {
			mark = "  failed: "
		}
		t.Paragraph(mark, g.Rows[i].text())
	}
}

// scoreText compares JMH's scores. It returns "" if a side has none.
func (c *Comparison) scoreText(ascii bool) string {
	a, b := c.A.Score, c.B.Score
	if a == nil || b == nil {
		return ""
	}
	text := "A " + a.String() + "; B " + b.String()
	if a.Unit == b.Unit && a.Value > 0 {
		text += fmt.Sprintf(": %+.1f %%", 100*(b.Value-a.Value)/a.Value)
	}
	if ascii {
		text = strings.ReplaceAll(text, "±", "+-")
	}
	return text
}

// maxJVMs is the maximum number of JVMs that are listed for a side. Below them, a line such as "3
// more" stands for the rest. But if there is only one more JVM, it is listed instead.
const maxJVMs = 2

// side writes the facts about one side's recording.
func (t *textDiff) side(label string, s *Side) {
	t.field(label, s.Name)
	if len(s.Command) > 0 {
		t.field("  command", strings.Join(s.Command, " "))
	}
	name := "  JVMs"
	for i, j := range s.JVMs {
		if i == maxJVMs && len(s.JVMs) > maxJVMs+1 {
			t.field("", fmt.Sprintf("%s %d more", t.Ellipsis(), len(s.JVMs)-maxJVMs))
			break
		}
		t.field(name, j)
		name = ""
	}
	if s.Sampler != "" {
		t.field("  sampler", s.Sampler)
	}
	if s.Chosen != "" {
		t.field("  chosen", s.Chosen)
	}
	for _, n := range s.Notes {
		t.Paragraph("  note: ", n)
	}
}

// field writes a name and its value as a part of the header. Long values are wrapped.
func (t *textDiff) field(name, value string) {
	const column = 11
	t.Field(column, name, layout.Wrap(value, t.Columns(layout.RuleWidth)-column)...)
}

// trial writes the comparison t.c. If there are several trials, it begins with a heading such as
// "Trial 2 of 5: …".
func (t *textDiff) trial(number, trials int) {
	c := t.c
	if trials > 1 {
		t.Line("")
		kind := "Program"
		if c.A.Name != "" {
			kind = "Trial"
		}
		t.Heading('=', fmt.Sprintf("%s %d of %d: %s", kind, number, trials, c.A.Title()))
		if c.A.Title() != c.B.Title() {
			t.field("in B", c.B.Title())
		}
	} else if c.A.Name != "" || c.B.Name != "" {
		t.field("Trial", c.A.Title())
		if c.B.Name != c.A.Name {
			t.field("", "in B "+c.B.Title())
		}
	}
	t.field("Samples", "A "+c.A.samplesText()+"; B "+c.B.samplesText())
	if c.A.Samples == 0 || c.B.Samples == 0 {
		t.Line("Not compared: one side has no samples of it.")
		return
	}
	if a, b := c.A.NanosPerOp, c.B.NanosPerOp; a > 0 && b > 0 {
		t.field("CPU time", fmt.Sprintf("A %s, B %s per operation: %+.1f %%", nanosText(a), nanosText(b), 100*(b-a)/a))
	}
	if text := c.scoreText(t.ASCII); text != "" {
		t.field("Score", text)
	}
	t.field("Noise", c.noiseText())
	if c.unchanged() {
		t.Line("Nothing changed above the noise: %s compared.", c.Compared)
		return
	}
	t.Line("")
	t.itemTable("Changed Methods", "method", c.Methods)
	t.itemTable("Changed Frames (inlining undone)", "frame", c.Frames)
	t.regions()
	t.Line("%s compared; nothing else changed above the noise.", c.Compared)
}

func (c *Comparison) unchanged() bool { return len(c.Methods)+len(c.Frames)+len(c.Regions) == 0 }

// String returns "365 methods and native functions, 45 frames, 71 regions".
func (n Compared) String() string {
	return fmt.Sprintf("%s, %s, %s", layout.Plural(n.Methods, "method")+" and native functions",
		layout.Plural(n.Frames, "frame"), layout.Plural(n.Regions, "region"))
}

// samplesText returns "3057 in 3.01 s (1016/s), 2 forks".
func (t *TrialSide) samplesText() string {
	text := fmt.Sprint(t.Samples)
	if t.Seconds > 0 {
		text += fmt.Sprintf(" in %.2f s (%.0f/s)", t.Seconds, float64(t.Samples)/t.Seconds)
	}
	if len(t.Forks) > 1 {
		text += ", " + layout.Plural(len(t.Forks), "fork")
	}
	return text
}

// noiseText explains which changes are shown.
func (c *Comparison) noiseText() string {
	n := &c.Noise
	text :=
		fmt.Sprintf("changes that chance alone can explain are not shown: a change must reach %s points, and %.1f standard errors of the sampling, "+
			"which are %s points at a share of 10%%. ", points(n.MinChange), n.Factor, points(n.At10))
	var over []string
	if n.Slices {
		over = append(over, "slices of the time")
	}
	if n.Forks {
		over = append(over, "forks")
	}
	if len(over) > 0 {
		text += fmt.Sprintf("If the share differs more between %s, the change must reach %.1f standard errors of that. ",
			strings.Join(over, " or "), n.SpreadFactor)
	}
	text +=
		fmt.Sprintf("If a program is compared with itself %.0f times, one comparison shows such a change by chance, in any of the "+
			"%s that are large enough. Rows whose machine code differs are shown too.", 1/noise.FalseAlarms, layout.Plural(n.Rows, "row"))
	if !n.Forks {
		text +=
			" Differences between one JVM and the next are not taken into account, because that needs several forks on each side."
	}
	if !n.Slices && c.A.Name != "" && c.B.Name != "" {
		text += " Differences over time are not taken into account, because that needs counts over time on each side."
	}
	return text
}

// nanosText formats a time in ns with a suitable unit: "4.2 us".
func nanosText(nanos float64) string {
	for _, unit := range []string{"ns", "us", "ms"} {
		if nanos < 1000 {
			return fmt.Sprintf("%.3g %s", nanos, unit)
		}
		nanos /= 1000
	}
	return fmt.Sprintf("%.3g s", nanos)
}

// points formats a difference of shares in percentage points.
func points(share float64) string { return fmt.Sprintf("%.2f", 100*share) }
