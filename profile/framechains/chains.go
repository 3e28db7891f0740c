// Package framechains numbers chains of frames, so that they can be compared and kept at the cost of a number.
package framechains

import (
	"unsafe"

	"github.com/gasm-profiler/gasm/printassembly"
)

// Chains gives numbers to chains of frames. Chains with the same methods, bytecodes and lines get the same number. A
// chain is numbered from its outermost frame inwards. So the memory for a long chain is in proportion to the number of
// its frames, however long the names in it are. The zero Chains is ready to use.
type Chains struct {
	links  []link       // links[i] is the innermost link of the chain i+1
	byLink map[link]int // the number of the chain with this innermost link
	names  []string
	byText map[string]int
	// byAddress and bySlice find names and slices of frames that were numbered before, by their addresses in memory.
	// That saves comparing whole names again, and many instructions share one slice of frames.
	byAddress map[textAt]int
	bySlice   map[framesAt]int
}

// A FramePlace is the place of a frame. Method is the number that a [Chains] has for the method's name. The line tells
// overloaded methods apart.
type FramePlace struct{ Method, BCI, Line int }

// A link is a chain: its innermost frame, and the number of the chain of its callers.
type link struct {
	callers int
	at      FramePlace
}

type textAt struct {
	first *byte
	size  int
}

type framesAt struct {
	first *printassembly.Frame
	size  int
}

// Number returns the number of a chain. The innermost frame comes first in frames, which must not be changed
// afterwards. The number is 0 if there are no frames, and greater than 0 otherwise.
func (c *Chains) Number(frames []printassembly.Frame) int {
	if len(frames) == 0 {
		return 0
	}
	where := framesAt{&frames[0], len(frames)}
	if n, ok := c.bySlice[where]; ok {
		return n
	}
	if c.bySlice == nil {
		c.bySlice, c.byLink = map[framesAt]int{}, map[link]int{}
	}
	n := 0
	for i := len(frames) - 1; i >= 0; i-- {
		f := &frames[i]
		n = c.number(link{n, c.Place(f.Method, f.BCI, f.Line)})
	}
	c.bySlice[where] = n
	return n
}

// number returns the number of the chain whose innermost link is l.
func (c *Chains) number(l link) int {
	n, ok := c.byLink[l]
	if !ok {
		c.links = append(c.links, l)
		n = len(c.links)
		c.byLink[l] = n
	}
	return n
}

// Len returns the largest number that any chain has.
func (c *Chains) Len() int { return len(c.links) }

// Callers returns the number of the chain without its innermost frame, or 0 if it has no other frame.
func (c *Chains) Callers(chain int) int { return c.links[chain-1].callers }

// Innermost returns the place of the innermost frame of a chain.
func (c *Chains) Innermost(chain int) FramePlace { return c.links[chain-1].at }

// Place returns the FramePlace of a bytecode and a line in a method.
func (c *Chains) Place(method string, bci, line int) FramePlace {
	where := textAt{unsafe.StringData(method), len(method)}
	n, ok := c.byAddress[where]
	if !ok {
		if c.byAddress == nil {
			c.byAddress, c.byText = map[textAt]int{}, map[string]int{}
		}
		if n, ok = c.byText[method]; !ok {
			n = len(c.names)
			c.names = append(c.names, method)
			c.byText[method] = n
		}
		c.byAddress[where] = n
	}
	return FramePlace{n, bci, line}
}

// Method returns the name of a place's method.
func (c *Chains) Method(p FramePlace) string { return c.names[p.Method] }
