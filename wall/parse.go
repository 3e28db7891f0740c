package wall

import (
	"math"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/callstack"
)

// maxTime is the largest time in ns that is accepted, which is more than a hundred years. It is half of the largest
// int64, so that the sum of two times does not overflow.
const maxTime = math.MaxInt64 / 2

// A parser cuts values off the beginning of a line. After a malformed value, bad is true, and all further values are 0.
type parser struct {
	rest string
	bad  bool
}

// done reports whether all values were well-formed and nothing follows them.
func (p *parser) done() bool { return !p.bad && p.rest == "" }

func (p *parser) word() string {
	word, rest, more := strings.Cut(p.rest, " ")
	if word == "" || more && rest == "" {
		p.bad = true
	}
	p.rest = rest
	return word
}

// number returns a number that is not larger than limit.
func (p *parser) number(limit int64) int64 {
	n, err := strconv.ParseInt(p.word(), 10, 64)
	if err != nil || n < 0 || n > limit || p.bad {
		p.bad = true
		return 0
	}
	return n
}

// count returns a number that fits into an int32.
func (p *parser) count() int { return int(p.number(math.MaxInt32)) }

// time returns a number of ns. It also reads other numbers that need an int64.
func (p *parser) time() int64 { return p.number(maxTime) }

// unknown reports whether the next value is a "-", and cuts it off if so.
func (p *parser) unknown() bool {
	if p.rest != "-" && !strings.HasPrefix(p.rest, "- ") {
		return false
	}
	p.word()
	return true
}

// known returns a number, or 0 for a "-".
func (p *parser) known() int64 {
	if p.unknown() {
		return 0
	}
	return p.number(math.MaxInt64)
}

// upTo returns a number that is not larger than last, the highest number that the file has used so far. For a "-" it
// returns 0.
func (p *parser) upTo(last int) int {
	if p.unknown() {
		return 0
	}
	return int(p.number(int64(last)))
}

func (p *parser) stack(of *callstack.Tree) callstack.ID { return callstack.ID(p.upTo(of.Len())) }

func (p *parser) hex() uint64 {
	n, err := strconv.ParseUint(p.word(), 16, 64)
	p.bad = p.bad || err != nil
	return n
}

func (p *parser) state() State {
	s, ok := ParseState(strings.ReplaceAll(p.word(), "-", " "))
	p.bad = p.bad || !ok
	return s
}

// text reads a text in quotes, and returns it without the quotes.
func (p *parser) text() string {
	quoted, err := strconv.QuotedPrefix(p.rest)
	if err != nil {
		p.bad = true
		return ""
	}
	text, err := strconv.Unquote(quoted)
	p.rest = p.rest[len(quoted):]
	if rest, ok := strings.CutPrefix(p.rest, " "); ok {
		p.rest, p.bad = rest, p.bad || rest == ""
	} else if p.rest != "" {
		p.bad = true
	}
	p.bad = p.bad || err != nil
	return text
}
