package diff

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/internal/layout"
)

// MarkdownLimit is the largest size of the Markdown in bytes. A comment on GitHub may have
// 65,536 characters, and the summary of a job 1 MiB.
const MarkdownLimit = 60_000

const (
	maxMarkdownRows    = 15  // of each table of methods
	maxMarkdownLines   = 120 // of a listing
	maxMarkdownName    = 200 // characters
	maxMarkdownNotes   = 10
	maxMarkdownRegions = 5 // listings of a trial
)

// A markdown is text that does not become longer than MarkdownLimit. Pieces for which there is no
// room are left out as a whole, and counted.
type markdown struct {
	text strings.Builder
	left int
}

// reserve is the number of bytes that are kept free for the last lines, which say how much is left out.
const reserve = 200

// add appends a piece, if there is room for it.
func (m *markdown) add(piece string) bool {
	if m.text.Len()+len(piece) > MarkdownLimit-reserve {
		m.left++
		return false
	}
	m.text.WriteString(piece)
	return true
}

// WriteMarkdown writes the comparison as GitHub's Markdown, for a pull request or the summary of a
// job. It has a table of all benchmarks or programs and, for each that changed, the methods and the
// folded code. gasm is the version of gasm that compared.
func (r *Result) WriteMarkdown(w io.Writer, gasm string) error {
	var m markdown
	v := r.verdict()
	m.add(r.markdownHead(v))
	m.add(v.markdown())
	m.add(r.markdownNotes())
	for _, i := range r.bySize() {
		r.Trials[i].markdown(&m)
	}
	if m.left > 0 {
		fmt.Fprintf(&m.text, "\n%d of the tables and listings had no room here: `gasm diff` without `--format markdown` shows all.\n", m.left)
	}
	fmt.Fprintf(&m.text, "\n<sub>gasm %s</sub>\n", markdownText(gasm))
	_, err := io.WriteString(w, m.text.String())
	return err
}

// bySize returns the indexes of the trials in the order in which they are shown: first those that fail, and then those
// whose methods and regions changed most.
func (r *Result) bySize() []int {
	order := make([]int, len(r.Trials))
	size := make([]float64, len(r.Trials))
	for i := range order {
		order[i] = i
		c := &r.Trials[i]
		for k := range c.Methods {
			size[i] = max(size[i], c.Methods[k].size())
		}
		for k := range c.Regions {
			size[i] = max(size[i], c.Regions[k].size())
		}
	}
	if r.Gate != nil {
		for i := range r.Gate.Rows {
			if row := &r.Gate.Rows[i]; row.Failed {
				size[row.trial] += 1 + math.Abs(row.Change)
			}
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(size[j], size[i]) })
	return order
}

// markdownHead returns the heading, which says the result, and the names of both sides.
func (r *Result) markdownHead(v verdict) string {
	mark := ""
	if v.Judged {
		mark = verdictMark(v.Failed) + " "
	}
	return fmt.Sprintf("### %sgasm: %s\n\nBefore: %s. After: %s.\n\n", mark, v.Text, codeSpan(r.A.Name),
		codeSpan(r.B.Name))
}

// verdictMark returns the sign for a failure or for a success.
func verdictMark(failed bool) string {
	if failed {
		return "❌"
	}
	return "✅"
}

func (r *Result) kind() string {
	if len(r.Trials) > 0 && r.Trials[0].A.Name != "" {
		return "benchmark"
	}
	return "program"
}

// markdown returns a table with a row for each trial.
func (v *verdict) markdown() string {
	var out strings.Builder
	out.WriteString("| | " + v.Kind + " | before | after | change | noise | changed |\n|---|---|--:|--:|--:|--:|---|\n")
	for _, row := range v.Rows {
		mark := ""
		if v.Judged {
			mark = verdictMark(row.Failed)
		}
		fmt.Fprintf(&out, "| %s | %s | %s | %s | %s | %s | %s |\n", mark, codeSpan(row.Title), row.Before, row.After,
			row.Change, row.Noise, row.Changed)
	}
	if v.More > 0 {
		fmt.Fprintf(&out, "| | %d more | | | | | |\n", v.More)
	}
	if v.Timed {
		out.WriteString("\n" + verdictLegend + "\n")
	}
	for _, m := range v.Methods {
		fmt.Fprintf(&out, "\n- %s %s: %s", verdictMark(true), codeSpan(m.Name), m.Growth)
	}
	if v.Judged {
		out.WriteString("\n")
	}
	return out.String()
}

// gateRows returns a row for each benchmark, by the index of its trial. If no limit was given (--fail-above), the limit
// is infinite, so no row fails. A benchmark can have two rows, one for JMH's score and one for the CPU time. Then
// gateRows returns the one that failed, or else the first one.
func (r *Result) gateRows() map[int]*GateRow {
	g := r.Gate
	if g == nil {
		g = r.Judge(math.Inf(1))
	}
	rows := map[int]*GateRow{}
	for i := range g.Rows {
		row := &g.Rows[i]
		if shown := rows[row.trial]; row.Name == "" && (shown == nil || row.Failed && !shown.Failed) {
			rows[row.trial] = row
		}
	}
	return rows
}

// changedText says how much has changed, for example "2 methods, code of 1 region".
func (c *Comparison) changedText() string {
	if c.A.Samples == 0 || c.B.Samples == 0 {
		return "a side has no samples"
	}
	var parts []string
	if n := len(c.Methods); n > 0 {
		parts = append(parts, layout.Plural(n, "method"))
	}
	code := 0
	for i := range c.Regions {
		if c.Regions[i].Code > 0 {
			code++
		}
	}
	if code > 0 {
		parts = append(parts, "code of "+layout.Plural(code, "region"))
	}
	if len(parts) == 0 {
		return "nothing above noise"
	}
	return strings.Join(parts, ", ")
}

func (r *Result) markdownNotes() string {
	notes := slices.Clone(r.Notes)
	for _, name := range r.UnpairedA {
		notes = append(notes, "only before: "+name+", not compared")
	}
	for _, name := range r.UnpairedB {
		notes = append(notes, "only after: "+name+", not compared")
	}
	var out strings.Builder
	for i, note := range notes {
		if i == maxMarkdownNotes {
			fmt.Fprintf(&out, "- %s\n", layout.Plural(len(notes)-i, "more note"))
			break
		}
		fmt.Fprintf(&out, "- %s\n", markdownText(note))
	}
	if out.Len() > 0 {
		return "\n" + out.String()
	}
	return ""
}

// markdown writes what changed in a trial. The tables and listings are folded.
func (c *Comparison) markdown(m *markdown) {
	if c.unchanged() {
		return
	}
	head := fmt.Sprintf("\n#### %s\n\n", codeSpan(c.A.Title()))
	head += fmt.Sprintf("Samples: %d before, %d after.", c.A.Samples, c.B.Samples)
	if a, b := c.A.Score, c.B.Score; a != nil && b != nil {
		head += " Score: " + markdownText(a.String()) + " → " + markdownText(b.String()) + "."
	}
	if !m.add(head + "\n") {
		return
	}
	rows, what := c.Methods, "method"
	if len(rows) == 0 {
		rows, what = c.Frames, "frame"
	}
	if len(rows) > 0 {
		m.add(markdownRows(rows, what))
	}
	listed := 0
	for i := range c.Regions {
		if r := &c.Regions[i]; len(r.Listing) > 0 && listed < maxMarkdownRegions {
			listed++
			m.add(c.markdownListing(r))
		}
	}
}

func markdownRows(rows []Row, what string) string {
	var out strings.Builder
	fmt.Fprintf(&out, "\n| before | after | change | %s | |\n|--:|--:|--:|---|---|\n", what)
	for i := range rows {
		if i == maxMarkdownRows {
			fmt.Fprintf(&out, "| | | | %d more | |\n", len(rows)-i)
			break
		}
		r := &rows[i]
		name := codeSpan(r.Name)
		if r.Source != "" {
			name += " " + markdownText(r.Source)
		}
		cells := shareCells(r)
		fmt.Fprintf(&out, "| %s | %s | %s | %s | %s |\n", cells[0], cells[1], cells[2], name,
			markdownText(r.details(codeDifference(r.Code))))
	}
	return out.String()
}

// markdownListing returns the aligned code of a region, folded.
func (c *Comparison) markdownListing(r *RegionRow) string {
	var code strings.Builder
	shown, left := c.shown(r)
	lines, skipped := 0, false
	frame := ""
	for i := range r.Listing {
		l := &r.Listing[i]
		if !shown[i] || lines >= maxMarkdownLines {
			if shown[i] && l.Op != "=" {
				left++
			}
			skipped = true
			continue
		}
		if skipped {
			code.WriteString("  …\n")
			frame, skipped = "", false
		}
		lines++
		text := l.Text
		if l.Label != "" {
			text = l.Label + ": " + text
		}
		if l.Frame != "" && l.Frame != frame {
			text = layout.PadRight(text, minTextColumn) + "  ; " + l.Frame
		}
		frame = l.Frame
		op := strings.ReplaceAll(l.Op, "=", " ")
		code.WriteString(strings.TrimRight(fmt.Sprintf("%s %7s %7s  %s", op, linePercent(l.A, c.A), linePercent(l.B, c.B),
			cut(layout.Escape(text))), " ") + "\n")
	}
	if skipped {
		code.WriteString("  …\n")
	}
	if left > 0 {
		fmt.Fprintf(&code, "  (%s not shown)\n", layout.Plural(left, "more different line"))
	}
	fence := strings.Repeat("`", max(3, longestRun(code.String(), '`')+1))
	return fmt.Sprintf("\n<details><summary>Code of <code>%s</code> (<code>%s</code>): %.0f %% of the lines are the same, %s → %s of the profile</summary>\n\n%sdiff\n%s%s\n\n</details>\n",
		summaryText(r.Name), summaryText(r.Source), 100*r.Same, percentText(r.ShareA), percentText(r.ShareB), fence,
		code.String(), fence)
}

// cut shortens a name or an instruction that is longer than maxMarkdownName.
func cut(text string) string {
	if runes := []rune(text); len(runes) > maxMarkdownName {
		return string(runes[:maxMarkdownName]) + "…"
	}
	return text
}

// longestRun returns the length of the longest run of a character in a text.
func longestRun(text string, of rune) int {
	longest, run := 0, 0
	for _, c := range text {
		if c != of {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

// codeSpan returns the text as a code span. Nothing in the text can end the span, or the cell of a table.
func codeSpan(text string) string {
	text = cut(layout.Escape(text))
	if strings.TrimSpace(text) == "" {
		return ""
	}
	ticks := strings.Repeat("`", longestRun(text, '`')+1)
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") || strings.HasPrefix(text, " ") &&
		strings.HasSuffix(text, " ") {
		text = " " + text + " "
	}
	return ticks + strings.ReplaceAll(text, "|", `\|`) + ticks
}

// markdownText returns the Markdown for a text that is not code. Punctuation marks are escaped with backslashes. Text
// that GitHub would turn into a link is broken up: a web address by an entity, and the name of a user by a code span
// around the @. An entity is not enough for a name, because GitHub finds names even if the @ is written as an entity,
// and would notify the user.
func markdownText(text string) string {
	var out strings.Builder
	runes := []rune(cut(layout.Escape(text)))
	for i, c := range runes {
		switch {
		case c == '@':
			if i == 0 || runes[i-1] != '@' {
				out.WriteByte('`')
			}
			out.WriteByte('@')
			if i+1 == len(runes) || runes[i+1] != '@' {
				out.WriteByte('`')
			}
		case c == ':' && i+1 < len(runes) && runes[i+1] != ' ', c == '.' && i > 0 && (runes[i-1] == 'w' || runes[i-1] == 'W'):
			fmt.Fprintf(&out, "&#%d;", c)
		case strings.ContainsRune("\\`*_{}[]<>#|~&!", c):
			out.WriteByte('\\')
			out.WriteRune(c)
		default:
			out.WriteRune(c)
		}
	}
	return out.String()
}

// summaryText returns a text for use within HTML. The marks of HTML and of Markdown become entities, because Markdown
// interprets its own marks even within HTML.
func summaryText(text string) string {
	var out strings.Builder
	for _, c := range cut(layout.Escape(text)) {
		if c < 0x80 && !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
			strings.ContainsRune(" .,:;/$()-+%'", c)) {
			fmt.Fprintf(&out, "&#%d;", c)
		} else {
			out.WriteRune(c)
		}
	}
	return out.String()
}
