// Package chains numbers inlining chains, and writes those of a listing for the script of a page.
package chains

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/report/page/show"
)

// A Listing has the inlining chains of one listing for the page's script. Chains that are equal are stored once. A
// chain is a list of numbers with three numbers for each frame: the method's index in Methods, the bytecode index, and
// the line. The innermost frame comes first.
type Listing struct {
	Methods []string `json:"methods"`
	Chains  [][]int  `json:"chains"`
	// Guessed[i] is the number of inner frames of chain i that are guesses. Guessed is nil if no chain has guessed
	// frames.
	Guessed []int `json:"guessed,omitempty"`
	methods map[string]int
	known   map[string]int
	last    []printassembly.Frame // the last argument of Number; number is the result
	number  int
}

// New returns a Listing without chains.
func New() *Listing {
	return &Listing{Methods: []string{}, Chains: [][]int{}, methods: map[string]int{}, known: map[string]int{}}
}

// Number returns the number of a chain, or -1 if frames is empty. The same slice often comes several times in a row,
// because an instruction without debug info has the slice of the next instruction's chain. So Number remembers its last
// argument.
func (c *Listing) Number(frames []printassembly.Frame) int {
	if len(frames) == 0 {
		return -1
	}
	if !sameChain(frames, c.last) {
		c.last, c.number = frames, c.find(frames)
	}
	return c.number
}

// sameChain reports whether two chains are the same slice in memory.
func sameChain(a, b []printassembly.Frame) bool {
	return len(a) == len(b) && len(a) > 0 && &a[0] == &b[0]
}

// find returns the number of a chain, and adds the chain if it is new.
func (c *Listing) find(frames []printassembly.Frame) int {
	chain := make([]int, 0, 3*len(frames))
	var key []byte
	guessed := 0
	for _, f := range frames {
		if f.Guess == printassembly.GuessedAll {
			guessed++
		}
		m, ok := c.methods[f.Method]
		if !ok {
			m = len(c.Methods)
			c.methods[f.Method] = m
			c.Methods = append(c.Methods, show.Text(f.Method))
		}
		chain = append(chain, m, f.BCI, f.Line)
	}
	for _, n := range append(chain, guessed) {
		key = append(strconv.AppendInt(key, int64(n), 36), ' ')
	}
	if n, ok := c.known[string(key)]; ok {
		return n
	}
	c.known[string(key)] = len(c.Chains)
	c.Chains = append(c.Chains, chain)
	if guessed > 0 && c.Guessed == nil {
		c.Guessed = make([]int, len(c.Chains)-1)
	}
	if c.Guessed != nil {
		c.Guessed = append(c.Guessed, guessed)
	}
	return len(c.Chains) - 1
}

// JSON returns the chains as JSON for the page's script, together with the other texts that the script needs: the
// instructions in the other syntax (AT&T or Intel), and the loops. loops is the result of loopParents in package page,
// and ends is that of loopEnds.
func (c *Listing) JSON(other []string, syntax string, loops []int, ends [][]int) []byte {
	escaped := make([]string, len(other))
	for i, text := range other {
		escaped[i] = show.Text(text)
	}
	text, err := json.Marshal(struct {
		*Listing
		Other  []string `json:"other,omitempty"`
		Syntax string   `json:"syntax,omitempty"` // the syntax of Other
		Loops  []int    `json:"loops,omitempty"`
		Ends   [][]int  `json:"ends,omitempty"`
	}{c, escaped, syntax, loops, ends})
	if err != nil {
		return []byte("{}") // can't happen: these are strings and numbers
	}
	return text
}

// Chips writes, at each instruction of a listing, how the inlining chain differs from the previous instruction's.
type Chips struct {
	last []printassembly.Frame // the chain of the previous instruction
}

// maxChips is the maximum number of levels of a chain that are written at one instruction. The page's side panel shows
// all levels.
const maxChips = 4

// Append appends the part of an instruction's chain that differs from the previous instruction's. If only the line
// differs, it appends the line. Otherwise it appends nested chips for all methods that differ, from the outermost to
// the innermost.
func (c *Chips) Append(b []byte, frames []printassembly.Frame) []byte {
	if len(frames) == 0 || sameChain(frames, c.last) {
		return b
	}
	defer func() { c.last = frames }()
	common := 0 // the number of callers that are the same in both chains, counted from the outermost
	for common < len(frames)-1 && common < len(c.last)-1 &&
		sameCall(frames[len(frames)-1-common], c.last[len(c.last)-1-common]) {
		common++
	}
	inner := frames[0]
	if len(frames) == len(c.last) && common == len(frames)-1 && inner.Name() == c.last[0].Name() {
		if inner.Line == c.last[0].Line || inner.Line <= 0 {
			return b
		}
		return append(append(append(b, "<u>:"...), inner.LineText()...), "</u> "...)
	}
	differing := slices.Clone(frames[:len(frames)-common])
	slices.Reverse(differing)
	if left := len(differing) - maxChips; left > 0 {
		differing = differing[left:]
		common += left
	}
	if common > 0 {
		b = append(b, "<s>›</s>"...)
	}
	for i, f := range differing {
		b = append(b, "<em>"...)
		if f.Guess == printassembly.GuessedAll {
			b = append(b, printassembly.GuessMark...)
		}
		b = show.Append(b, show.Brief(f.Method))
		if f.Line > 0 {
			b = append(append(b, ':'), f.LineText()...)
		}
		if i < len(differing)-1 {
			b = append(b, " › "...)
		}
	}
	b = append(b, strings.Repeat("</em>", len(differing))...)
	return append(b, ' ')
}

// sameCall reports whether two frames are at the same call, that is, at the same bytecode index of the same method or,
// in native code, at the same line.
func sameCall(a, b printassembly.Frame) bool {
	return a.Method == b.Method && a.BCI == b.BCI && (a.File == "" || a.Line == b.Line)
}
