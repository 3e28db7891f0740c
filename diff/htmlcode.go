package diff

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/diff/asm"
	"github.com/gasm-profiler/gasm/internal/layout"
)

// An htmlCode is the aligned code of a region: A on the left, B on the right.
type htmlCode struct {
	ID, Title, About string
	Blocks           []htmlBlock // in the order of the code
	Changed          []htmlBlock // the blocks that changed, the largest change first
}

// An htmlBlock is a run of instructions that are mostly executed together. It begins at a
// label or after a jump.
type htmlBlock struct {
	ID, Name, About    string
	A, B, Change       string
	SamplesA, SamplesB int64
	Lines              []htmlLine
	Differ             int // lines that are not the same on both sides
	Same               bool
	Open               bool // not folded, because it changed and has samples

	change float64
}

// An htmlLine has an instruction of A, one of B, or both. If it has both, they are either the same
// instruction, or different ones in the same place.
type htmlLine struct {
	Class  string // same; left (A alone); right (B alone); both (A and B differ)
	Sign   string
	A, B   *htmlInstruction
	Frame  string // the Java frame without its package; "" if it is the same as on the previous line
	Method string // Frame with its package
	Anchor string // the HTML id of the line; "" if the line has no label
}

type htmlInstruction struct {
	Share   string
	Heat    int
	Samples int64
	Label   string
	Text    string
	// Target is the label that a jump leads to, such as "L3". The label is then not part of Text.
	// Link is the HTML id of the line that has the label. If the instruction is not a jump to a
	// label, both are "".
	Target, Link string
}

// endsBlock matches the instructions of x86 and aarch64 after which a new block begins:
//
//	jl L3
//	b.ne L2
//	ret
var endsBlock = regexp.MustCompile(`^(?:bnd |lock )?(?:j[a-z]+|loop\w*|ret\w*|b|br|b\.\w+|cbn?z|tbn?z)\b`)

var jumpLabel = regexp.MustCompile(`^(.*[ ,])(L\d+)$`)

// htmlCode returns the aligned code of a region in the form that the page's template shows. id is the HTML id of the
// region. All ids inside the region begin with it.
func (c *Comparison) htmlCode(r *RegionRow, id string) htmlCode {
	code := htmlCode{ID: id, Title: layout.Escape(r.Name),
		About: layout.Escape(fmt.Sprintf("%s · A %s, B %s: %+.2f · %s", r.Source, percentText(r.ShareA),
			percentText(r.ShareB), 100*r.Change, r.details(r.codeText())))}
	frame := ""
	for n, lines := range blocksOf(r.Listing) {
		b := c.htmlBlock(lines, id, &frame)
		b.ID, b.Name = fmt.Sprintf("%s-b%d", id, n+1), fmt.Sprintf("B%d", n+1)
		code.Blocks = append(code.Blocks, b)
		if !b.Same {
			code.Changed = append(code.Changed, b)
		}
	}
	slices.SortStableFunc(code.Changed, func(a, b htmlBlock) int {
		return cmp.Or(cmp.Compare(math.Abs(b.change), math.Abs(a.change)), cmp.Compare(b.Differ, a.Differ))
	})
	return code
}

// blocksOf cuts a listing into blocks. If A and B have different lines in the same place, the lines
// of both stay in one block.
func blocksOf(lines []asm.ListingLine) [][]asm.ListingLine {
	var blocks [][]asm.ListingLine
	from, ended := 0, false
	for i := range lines {
		apart := i > 0 && lines[i].Op != "=" && lines[i-1].Op != "="
		if i > from && !apart && (ended || lines[i].Label != "") {
			blocks = append(blocks, lines[from:i])
			from = i
		}
		if !apart {
			ended = false
		}
		ended = ended || endsBlock.MatchString(lines[i].Text)
	}
	if from < len(lines) {
		blocks = append(blocks, lines[from:])
	}
	return blocks
}

// htmlBlock returns a block in the form that the page's template shows. frame points to the frame of the line before
// the block. Afterwards it points to the frame of the block's last line.
func (c *Comparison) htmlBlock(lines []asm.ListingLine, id string, frame *string) htmlBlock {
	var b htmlBlock
	for i := 0; i < len(lines); {
		l := &lines[i]
		b.SamplesA, b.SamplesB = b.SamplesA+l.A, b.SamplesB+l.B
		if l.Op == "=" {
			b.Lines = append(b.Lines, c.htmlLine(l, l, id, frame))
			i++
			continue
		}
		end := i
		var left, right []*asm.ListingLine
		for ; end < len(lines) && lines[end].Op != "="; end++ {
			if lines[end].Op == "-" {
				left = append(left, &lines[end])
			} else {
				right = append(right, &lines[end])
			}
			if end > i {
				b.SamplesA, b.SamplesB = b.SamplesA+lines[end].A, b.SamplesB+lines[end].B
			}
		}
		for k := range max(len(left), len(right)) {
			var x, y *asm.ListingLine
			if k < len(left) {
				x = left[k]
			}
			if k < len(right) {
				y = right[k]
			}
			b.Lines = append(b.Lines, c.htmlLine(x, y, id, frame))
		}
		b.Differ += len(left) + len(right)
		i = end
	}
	shareA, shareB := shareOf(b.SamplesA, c.A.Samples), shareOf(b.SamplesB, c.B.Samples)
	b.change = shareB - shareA
	b.A, b.B, b.Change = cmp.Or(linePercent(b.SamplesA, c.A), "0%"), cmp.Or(linePercent(b.SamplesB, c.B),
		"0%"), fmt.Sprintf("%+.2f", 100*b.change)
	b.About = layout.Plural(len(b.Lines), "line")
	if b.Differ > 0 {
		b.About += ", " + layout.Plural(b.Differ, "instruction") + " that the other side lacks"
	} else {
		b.About += ", the same code"
	}
	b.Same = b.Differ == 0 && math.Abs(b.change) < c.Noise.threshold(b.SamplesA, b.SamplesB, 0)
	b.Open = !b.Same && b.SamplesA+b.SamplesB > 0
	return b
}

// htmlLine returns the line with the instruction a of A and the instruction b of B. One of them may
// be nil. If a and b are the same pointer, the code is the same on both sides.
func (c *Comparison) htmlLine(a, b *asm.ListingLine, id string, frame *string) htmlLine {
	l := htmlLine{Class: "both", Sign: "≠"}
	switch {
	case a == b:
		l.Class, l.Sign = "same", ""
	case b == nil:
		l.Class, l.Sign = "left", "−"
	case a == nil:
		l.Class, l.Sign = "right", "+"
	}
	of := a
	if b != nil {
		of = b
	}
	if of.Frame != "" && of.Frame != *frame {
		l.Method = layout.Escape(strings.Replace(of.Frame, " line ", ":", 1))
		l.Frame = l.Method
		if class, method, ok := strings.Cut(l.Method, "::"); ok {
			l.Frame = class[strings.LastIndexByte(class, '.')+1:] + "::" + method
		}
		*frame = of.Frame
	}
	if a != nil {
		l.A = htmlInstructionOf(a, a.A, c.A, id)
	}
	if b != nil {
		l.B = htmlInstructionOf(b, b.B, c.B, id)
	}
	if of.Label != "" {
		l.Anchor = id + "-" + of.Label
	}
	return l
}

func htmlInstructionOf(l *asm.ListingLine, n int64, side *TrialSide, id string) *htmlInstruction {
	in := &htmlInstruction{Share: linePercent(n, side), Heat: heatOf(shareOf(n, side.Samples)), Samples: n, Label: l.Label,
		Text: layout.Escape(l.Text)}
	if m := jumpLabel.FindStringSubmatch(in.Text); m != nil && endsBlock.MatchString(in.Text) {
		in.Text, in.Target, in.Link = m[1], m[2], id+"-"+m[2]
	}
	return in
}

// heatOf returns how hot a share is, from 0 to 6, as in the report's page.
func heatOf(share float64) int {
	heat := 0
	for _, from := range []float64{0, 0.001, 0.005, 0.015, 0.05, 0.15} {
		if share > 0 && share >= from {
			heat++
		}
	}
	return heat
}
