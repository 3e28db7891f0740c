package report

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile"
)

// Folded comments. HotSpot writes the whole inlining chain at each instruction that has
// debug info, and it differs little from one instruction to the next. Here the methods stand
// on a line of their own in front of the first instruction that was made from them, and only
// what differs from the chain before:
//
//	   ;; Pattern$GroupHead::match in java.util.regex.Matcher::match:1792
//	0x7fabdbedd164:   mov    0x40(%r11),%r8d         ;*getfield locals :4967
//	0x7fabdbedd168:   mov    %rcx,%rdx
//	   ;; Pattern$BmpCharPropertyGreedy::match in Pattern$GroupHead::match:4969 in …
//
// An instruction's own comment has the bytecode, and the line of the innermost method where
// it is another one than before, with the method where its chain was written before:
//
//	0x7fabdbedd1cf:   mov    %r8,%r10                ;*invokevirtual match GroupHead::match:4969

// A fold is what a listing has said so far.
type fold struct {
	ellipsis string
	last     []printassembly.Frame // the chain of the line before
	line     int                   // of its innermost frame
	named    map[string]bool       // methods that were written with their packages
	chains   map[string]bool       // that were written
}

// newFold begins a listing, whose heading has the name of the compiled method.
func newFold(method, ellipsis string) *fold {
	return &fold{ellipsis: ellipsis, last: []printassembly.Frame{{Method: method}},
		named: map[string]bool{method: true}, chains: map[string]bool{method: true}}
}

// enter goes on to the next instruction. It gives the text about its methods; "" when they
// are those of the instruction before. known tells that the chain was written before: then
// the text is short.
func (f *fold) enter(chain []printassembly.Frame) (text string, known bool) {
	if len(chain) == 0 {
		return "", false // no debug info
	}
	defer func() { f.last = chain }()
	if len(f.last) > 0 && chain[0].Method == f.last[0].Method && sameCallers(chain[1:], f.last[1:]) {
		return "", false
	}
	f.line = 0
	key := chainKey(chain)
	if f.chains[key] {
		return f.name(chain[0].Method), true
	}
	f.chains[key] = true
	differing := chain[:len(chain)-f.common(chain)]
	parts := []string{f.name(differing[0].Method)}
	for _, caller := range differing[1:] {
		parts = append(parts, f.name(caller.Method)+lineNumber(caller.Line))
	}
	if len(differing) < len(chain) {
		parts = append(parts, f.ellipsis)
	}
	return strings.Join(parts, " in "), false
}

// common is how many callers at the end of a chain are those of the chain before. The
// innermost frame is none of them.
func (f *fold) common(chain []printassembly.Frame) int {
	n := 0
	for n < len(chain)-1 && n < len(f.last)-1 && sameCaller(chain[len(chain)-1-n], f.last[len(f.last)-1-n]) {
		n++
	}
	return n
}

// sameCaller tells whether two frames are the same place of a call.
func sameCaller(a, b printassembly.Frame) bool { return a.Method == b.Method && a.BCI == b.BCI }

func sameCallers(a, b []printassembly.Frame) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !sameCaller(a[i], b[i]) {
			return false
		}
	}
	return true
}

// chainKey is the chain but for the place in the innermost method.
func chainKey(chain []printassembly.Frame) string {
	var b strings.Builder
	b.WriteString(chain[0].Method)
	for _, caller := range chain[1:] {
		fmt.Fprintf(&b, " %s@%d", caller.Method, caller.BCI)
	}
	return b.String()
}

// name is the method's whole name the first time, and then without packages.
func (f *fold) name(method string) string {
	if !f.named[method] {
		f.named[method] = true
		return method
	}
	class, name, found := strings.Cut(method, "::")
	if !found {
		return method
	}
	hidden := ""
	if i := strings.IndexByte(class, '/'); i > 0 { // Spread$$Lambda/0x000000003a043920
		const told = 4 // digits that tell it from others
		class, hidden = class[:i], "/"+f.ellipsis+class[max(i+1, len(class)-told):]
	}
	return class[strings.LastIndexByte(class, '.')+1:] + hidden + "::" + name
}

// lineNumber is ":1792"; nothing where the line is unknown.
func lineNumber(line int) string {
	if line <= 0 {
		return ""
	}
	return fmt.Sprint(":", line)
}

// foldedLine writes line i: what is new of its methods and their source, and a row with as
// many comments as fit. Comments that don't are on rows of their own.
func (r *textReport) foldedLine(ls *listing, i int, l *profile.Line) {
	column := max(layout.Width(l.Text), ls.column) + commentGap
	room := r.listingWidth() - r.instructionColumn(ls) - column
	comments := foldedComments(l, r.place(ls, i, l, room))
	row := layout.Join(r.row(ls, i, l, l.Text))
	if len(comments) > 0 && layout.Width(comments[0]) <= room {
		first := comments[0]
		for comments = comments[1:]; len(comments) > 0 && layout.Width(first+commentBlanks+comments[0]) <= room; comments = comments[1:] {
			first += commentBlanks + comments[0]
		}
		row = layout.Join(row, strings.Repeat(" ", column-layout.Width(l.Text)), r.Paint(layout.Dim, first))
	}
	r.Line("%s", row)
	for _, c := range comments {
		r.ownRow(ls, i, c)
	}
}

// place tells what is new of the methods and the source that line i was made from: on rows
// in front of it, or in what it gives, which is for the comment of the line. That has so
// much room.
func (r *textReport) place(ls *listing, i int, l *profile.Line, room int) string {
	methods, known := ls.fold.enter(l.Frames)
	line, source := "", ""
	if len(l.Frames) > 0 && l.Frames[0].Line > 0 && l.Frames[0].Line != ls.fold.line {
		ls.fold.line = l.Frames[0].Line
		found := r.source(l.Frames[0])
		line, source = lineNumber(ls.fold.line)+found.elsewhere(l.Frames[0]), found.Text
	}
	comment := methods + line
	fits := func() bool {
		comments := foldedComments(l, comment)
		return len(comments) > 0 && layout.Width(comments[0]) <= room
	}
	if methods != "" && (!known || source != "" || !fits()) {
		r.foldedRows(ls, i-1, methods)
		comment = line
	}
	if source != "" {
		r.foldedRow(ls, i-1, line+commentBlanks+source)
		return ""
	}
	return comment
}

// commentBlanks part an instruction from its comment, and comments from one another.
const (
	commentBlanks = "  "
	commentGap    = len(commentBlanks)
)

// ownRow writes a comment of line i on a row of its own, below the instruction, or further to
// the left where it is that long.
func (r *textReport) ownRow(ls *listing, i int, comment string) {
	start := r.arrowsEnd(ls)
	column := max(min(r.instructionColumn(ls), r.listingWidth()-layout.Width(comment)), start)
	comment = layout.CutEnd(comment, r.listingWidth()-column, r.Ellipsis())
	r.Line("%s%s%s", r.between(ls, i), strings.Repeat(" ", column-start), r.Paint(layout.Dim, comment))
}

// arrowsEnd is the number of columns before what follows the arrows.
func (r *textReport) arrowsEnd(ls *listing) int {
	return layout.Width(ls.noCounts) + 2 + ls.gutter.Width + 2
}

// instructionColumn is the number of columns before the instructions.
func (r *textReport) instructionColumn(ls *listing) int { return r.arrowsEnd(ls) + ls.addressWidth() }

// foldedRow writes one row about the lines that follow.
func (r *textReport) foldedRow(ls *listing, above int, text string) {
	room := r.listingWidth() - r.arrowsEnd(ls) - layout.Width(foldMark)
	r.Line("%s%s", r.between(ls, above), r.Paint(layout.Dim, foldMark+layout.CutEnd(text, room, r.Ellipsis())))
}

// foldMark begins the rows that are about the lines that follow.
const foldMark = ";; "

// foldedRows writes text about the lines that follow, on as many rows as it takes.
func (r *textReport) foldedRows(ls *listing, above int, text string) {
	const least = 30
	room := r.listingWidth() - r.arrowsEnd(ls) - layout.Width(foldMark)
	for n, line := range layout.Wrap(text, max(room-2, least)) {
		if n > 0 {
			line = "  " + line
		}
		r.foldedRow(ls, above, line)
	}
}

// listingWidth is how many columns annotated code may take, but for long operands.
func (r *textReport) listingWidth() int {
	if r.Width > 0 {
		return r.Width
	}
	return layout.RuleWidth
}

var (
	// bytecodeFlags are 0 for a bytecode that is compiled in the usual way:
	//	;*getfield localsPos {reexecute=0 rethrow=0 return_oop=0}
	bytecodeFlags = regexp.MustCompile(`\s*\{\w+=\d(?: \w+=\d)*\}`)
	zeroFlag      = regexp.MustCompile(`\w+=0 ?`)
	// oopMap is a list of the registers and stack slots that hold references:
	//	ImmutableOopMap {r8=Oop rdx=Derived_oop_r8 rbx=Oop }
	oopMap = regexp.MustCompile(`^(?:Immutable)?OopMap\s*\{`)
)

// foldedComments are an instruction's comments without what tells nothing. The first one has
// the number of the line, if there is a new one.
func foldedComments(l *profile.Line, line string) []string {
	var first, last []string
	for _, c := range l.Comments {
		c = strings.TrimSpace(bytecodeFlags.ReplaceAllStringFunc(c, setFlags))
		switch {
		case c == "", c == "{other}", c == "{no_reloc}", strings.HasPrefix(c, "{section_word}"), strings.HasPrefix(c, "{section_word "):
		case strings.HasPrefix(c, "{"), oopMap.MatchString(c):
			last = append(last, "; "+c)
		case strings.HasPrefix(c, "*"):
			first = append(first, ";"+c)
		default:
			first = append(first, "; "+c)
		}
	}
	switch {
	case line == "":
	case len(first) > 0:
		first[0] += " " + line
	default:
		first = []string{"; " + line}
	}
	if l.TargetName != "" && !strings.Contains(strings.Join(last, ""), l.TargetName) {
		last = append(last, "; {"+l.TargetName+"}")
	}
	return append(first, last...)
}

// setFlags are those that are not 0, in braces: " {reexecute=1}".
func setFlags(flags string) string {
	if flags = strings.TrimRight(zeroFlag.ReplaceAllString(flags, ""), " }"); strings.HasSuffix(flags, "{") {
		return ""
	}
	return flags + "}"
}

// source is a frame's line of source; empty when there is none.
func (r *textReport) source(f printassembly.Frame) SourceLine {
	if r.o.Source == nil || f.Line <= 0 {
		return SourceLine{}
	}
	return r.o.Source(f.Method, f.Line)
}

// elsewhere says where the line is, in front of its text, if that is not where the frame has
// it: " (_Arrays.kt:13579)".
func (l SourceLine) elsewhere(f printassembly.Frame) string {
	if l.File == "" || l.Number == f.Line {
		return ""
	}
	return fmt.Sprintf(" (%s:%d)", l.File, l.Number)
}

// place says where the line is, as stack traces have it where the file is not that of Java's
// convention: " (Range.scala:190)", or ":30".
func (l SourceLine) place(f printassembly.Frame) string {
	if l.File == "" || l.Number == f.Line && l.File == path.Base(sourcePath(f.Method, "")) {
		return lineNumber(f.Line)
	}
	return fmt.Sprintf(" (%s:%d)", l.File, l.Number)
}
