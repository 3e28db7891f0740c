package listing

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile/code"
)

// foldedComments writes instructions with folded comments. HotSpot writes the whole inlining chain at each instruction
// that has debug info, although the chain differs little from one instruction to the next. Here the methods are on a
// line of their own before the first instruction that was made from them. That line has only what differs from the
// previous chain:
//
//	   ;; Pattern$GroupHead::match in java.util.regex.Matcher::match:1792
//	0x7fabdbedd164:   mov    0x40(%r11),%r8d         ;*getfield locals :4967
//	0x7fabdbedd168:   mov    %rcx,%rdx
//	   ;; Pattern$BmpCharPropertyGreedy::match in Pattern$GroupHead::match:4969 in …
//
// An instruction's own comment has the bytecode. It also has the line number in the innermost method, if that has
// changed. If the same chain was written earlier in the listing, the comment names the method as well:
//
//	0x7fabdbedd1cf:   mov    %r8,%r10                ;*invokevirtual match GroupHead::match:4969
type foldedComments struct {
	*listing
	fold *fold
}

// instruction writes line i. If the methods or the line of source differ from those of the previous line, it first
// writes them on rows of their own. Then it writes the instruction with as many comments as fit. Each other comment
// has a row of its own.
func (c *foldedComments) instruction(i int, l *code.Line) {
	column := max(layout.Width(l.Text), c.column) + commentGap
	room := c.width() - c.instructionColumn() - column
	comments := shortComments(l, c.enter(i, l, room))
	comments = append(comments, c.jitNote(l)...)
	row := c.row(i, l, l.Text)
	if len(comments) > 0 && layout.Width(comments[0]) <= room {
		first := comments[0]
		for comments = comments[1:]; len(comments) > 0 &&
			layout.Width(first+commentBlanks+comments[0]) <= room; comments = comments[1:] {
			first += commentBlanks + comments[0]
		}
		row = layout.Join(row, strings.Repeat(" ", column-layout.Width(l.Text)), c.Paint(layout.Dim, first))
	}
	c.Line("%s", row)
	for _, comment := range comments {
		c.ownRow(i, comment)
	}
}

// enter writes the methods and the line of source that begin at line i of the code, if they differ from those of the
// line before. It writes them on rows of their own before line i, except for the part that belongs in the line's own
// comment, which it returns. room is the width for that comment, in characters.
func (c *foldedComments) enter(i int, l *code.Line, room int) string {
	methods, known := c.fold.enter(l.Frames)
	line, source := "", ""
	if len(l.Frames) > 0 && l.Frames[0].Line > 0 && c.fold.newLine(l.Frames[0]) {
		found := c.opts.Line(l.Frames[0])
		line, source = lineNumber(l.Frames[0])+found.elsewhere(l.Frames[0]), found.Text
		if file := c.fold.newFile(l.Frames[0]); file != "" {
			line = fmt.Sprintf(" (%s%s)", file, line)
		}
	}
	comment := strings.TrimSpace(methods + line)
	fits := func() bool {
		comments := shortComments(l, comment)
		return len(comments) > 0 && layout.Width(comments[0]) <= room
	}
	if methods != "" && (!known || source != "" || !fits()) {
		c.rowsBefore(i, methods)
		comment = strings.TrimSpace(line)
	}
	if source != "" {
		c.rowBefore(i, strings.TrimSpace(line)+commentBlanks+source)
		return ""
	}
	return comment
}

// commentBlanks separate an instruction from its comment, and comments from one another.
const (
	commentBlanks = "  "
	commentGap    = len(commentBlanks)
)

// ownRow writes a comment of line i on a row of its own, below the instruction. If the comment would be cut there, it
// begins further to the left.
func (c *foldedComments) ownRow(i int, comment string) {
	start := c.arrowsEnd()
	column := max(min(c.instructionColumn(), c.width()-layout.Width(comment)), start)
	comment = layout.CutEnd(comment, c.width()-column, c.Ellipsis())
	c.Line("%s%s%s", c.between(i), strings.Repeat(" ", column-start), c.Paint(layout.Dim, comment))
}

// mark begins each row with a text about the lines below it.
const mark = ";; "

// rowBefore writes one row before line i, about line i and the lines after it.
func (c *foldedComments) rowBefore(i int, text string) {
	room := c.width() - c.arrowsEnd() - layout.Width(mark)
	c.Line("%s%s", c.between(i-1), c.Paint(layout.Dim, mark+layout.CutEnd(text, room, c.Ellipsis())))
}

// rowsBefore writes a text about line i and the lines after it, on as many rows before line i as it needs.
func (c *foldedComments) rowsBefore(i int, text string) {
	const least = 30
	room := c.width() - c.arrowsEnd() - layout.Width(mark)
	for n, line := range layout.Wrap(text, max(room-2, least)) {
		if n > 0 {
			line = "  " + line
		}
		c.rowBefore(i, line)
	}
}

// width returns the width of annotated code, in characters. Instructions with long operands may be wider.
func (c *foldedComments) width() int {
	if c.Width > 0 {
		return c.Width
	}
	return layout.RuleWidth
}

var (
	// bytecodeFlags matches the flags after a bytecode. They are 0 if the bytecode was compiled in the usual way:
	//	;*getfield localsPos {reexecute=0 rethrow=0 return_oop=0}
	bytecodeFlags = regexp.MustCompile(`\s*\{\w+=\d(?: \w+=\d)*\}`)
	zeroFlag      = regexp.MustCompile(`\w+=0 ?`)
	// oopMap matches a list of the registers and stack slots that hold references:
	//	ImmutableOopMap {r8=Oop rdx=Derived_oop_r8 rbx=Oop }
	oopMap = regexp.MustCompile(`^(?:Immutable)?OopMap\s*\{`)
)

// shortComments returns an instruction's comments without those that say nothing, such as "{other}". If the instruction
// has a new place in the source, shortComments appends the place to the first comment. Otherwise place is "".
func shortComments(l *code.Line, place string) []string {
	var first, last []string
	for _, c := range l.Comments {
		c = strings.TrimSpace(bytecodeFlags.ReplaceAllStringFunc(c, setFlags))
		switch {
		case c == "", c == "{other}", c == "{no_reloc}", strings.HasPrefix(c, "{section_word}"), strings.HasPrefix(c,
			"{section_word "):
		case strings.HasPrefix(c, "{"), oopMap.MatchString(c):
			last = append(last, "; "+c)
		case strings.HasPrefix(c, "*"):
			first = append(first, ";"+c)
		default:
			first = append(first, "; "+c)
		}
	}
	switch {
	case place == "":
	case len(first) > 0:
		first[0] += " " + place
	default:
		first = []string{"; " + place}
	}
	if l.TargetName != "" && !strings.Contains(strings.Join(last, ""), l.TargetName) {
		last = append(last, "; {"+l.TargetName+"}")
	}
	return append(first, last...)
}

// setFlags returns the flags that are not 0, in braces: " {reexecute=1}".
func setFlags(flags string) string {
	if flags = strings.TrimRight(zeroFlag.ReplaceAllString(flags, ""), " }"); strings.HasSuffix(flags, "{") {
		return ""
	}
	return flags + "}"
}
