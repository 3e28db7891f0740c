package calltree

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/callstack"
)

// A Pattern names a method or a function: "org.acme.Users::find", "Users::find" in any package, "Users::*", or the name
// of a native function.
type Pattern string

// ParsePattern parses a Pattern.
func ParsePattern(text string) (Pattern, error) {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return "", errors.New("name a method: CLASS::METHOD")
	case strings.Count(text, "*") > 1 || strings.Contains(text, "*") && !strings.HasSuffix(text, "::*"):
		return "", fmt.Errorf("%q can have a * only in place of the method: CLASS::*", text)
	}
	return Pattern(text), nil
}

// maxPatterns is the maximum number of patterns in a list.
const maxPatterns = 100

// ParsePatterns parses a comma-separated list of patterns. The list may be empty.
func ParsePatterns(list string) (all []Pattern, err error) {
	if list == "" {
		return nil, nil
	}
	for text := range strings.SplitSeq(list, ",") {
		p, err := ParsePattern(text)
		if err != nil {
			return nil, err
		}
		if all = append(all, p); len(all) > maxPatterns {
			return nil, fmt.Errorf("more than %d methods", maxPatterns)
		}
	}
	return all, nil
}

// Matches reports whether the pattern names c.
func (p Pattern) Matches(c *Code) bool {
	if c.Mark() || c.Kind == Thread {
		return false
	}
	name, pattern := c.Name, string(p)
	if class, ok := strings.CutSuffix(pattern, "::*"); ok {
		if name, _, ok = strings.Cut(name, "::"); !ok {
			return false
		}
		pattern = class
	}
	before, ok := strings.CutSuffix(name, pattern)
	return ok && (before == "" || c.Java() && strings.HasSuffix(before, "."))
}

// An Under finds the samples that have a certain method on their stacks.
type Under struct {
	Matcher
	stacks *Stacks
	on     []bool // whether the method is on a stack, by the stack's ID
}

// A Matcher chooses code by its name.
type Matcher interface{ Matches(c *Code) bool }

// NewUnder returns an Under for the methods that m matches. stacks may be nil. Then only the sampled code is searched
// for the methods.
func NewUnder(m Matcher, stacks *Stacks) *Under {
	u := &Under{Matcher: m, stacks: stacks}
	if stacks == nil {
		return u
	}
	u.on = make([]bool, 1, stacks.Len()+1)
	u.learn()
	return u
}

// learn finds out which of the stacks that were added to u.stacks since the last call have the method.
func (u *Under) learn() {
	known := map[*callstack.Frame]bool{}
	for id := len(u.on); id <= u.stacks.Len(); id++ {
		f, caller := u.stacks.Frame(callstack.ID(id))
		has, ok := known[f]
		if !ok {
			has = u.HasFrame(f)
			known[f] = has
		}
		u.on = append(u.on, has || u.on[caller])
	}
}

// HasFrame reports whether f is a frame of the method.
func (u *Under) HasFrame(f *callstack.Frame) bool {
	c := CodeOf(f)
	return u.Matches(&c)
}

// HasStack reports whether the method is on a stack.
func (u *Under) HasStack(id callstack.ID) bool {
	if u.stacks != nil && len(u.on) <= u.stacks.Len() {
		u.learn()
	}
	return int64(id) < int64(len(u.on)) && u.on[id]
}

// A Filter finds the samples with a certain method among their frames. S is the type that identifies a place in the
// code.
type Filter[S comparable] struct {
	*Under
	spots map[S]bool // whether the method is one of the frames at a spot
}

// NewFilter returns a Filter that does not know any place yet. It returns nil if u is nil.
func NewFilter[S comparable](u *Under) *Filter[S] {
	if u == nil {
		return nil
	}
	return &Filter[S]{u, map[S]bool{}}
}

// maxSpots limits the number of places that a Filter remembers, and so its memory.
const maxSpots = 1 << 18

// Has reports whether the method is among the frames of a sample: on its stack, or in the frames of the sampled code.
// The function leaf returns the latter. Has calls it only if the place in the code (spot) is new. Has returns true if
// the Filter is nil.
func (f *Filter[S]) Has(spot S, stack callstack.ID, leaf func() []LeafFrame) bool {
	if f == nil || f.HasStack(stack) {
		return true
	}
	has, ok := f.spots[spot]
	if !ok {
		has = slices.ContainsFunc(leaf(), func(at LeafFrame) bool { return f.HasFrame(&at.Frame) })
		if len(f.spots) < maxSpots {
			f.spots[spot] = has
		}
	}
	return has
}
