package capture

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"slices"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/internal/regular"
	"github.com/gasm-profiler/gasm/sampler"
)

// StacksVersion is the value of [Description.Stacks] for samples whose lines end with the number of a stack in
// stacks.txt, as in " #17".
const StacksVersion = 1

// ChainsVersion is the value of [Description.Stacks] if the stacks are chains of return addresses that were not checked
// yet (see package callstack). Everything else is as in StacksVersion.
const ChainsVersion = 2

const (
	// maxStacksFile is how many bytes of a stacks.txt are read. Each node of the tree of stacks takes about 20 bytes
	// there, so MaxNodes nodes take 170 MB. The rest is for the frames.
	maxStacksFile = 1 << 30
	// maxStacks is the maximum number of nodes in the tree of stacks, for all joined captures together. In memory they
	// take 256 MB.
	maxStacks = 4 * callstack.MaxNodes
)

// ReadStacks reads the call stacks of the samples into a tree. The samples that are read from this capture refer to
// their stacks by IDs in the tree. The tree is nil if the capture has no stacks. If some stacks could not be read, the
// notes say why, and the tree has the others. If the sampler's text itself contains the stacks, they are added to the
// tree later, when the samples are read.
//
// If the capture has several parts, ReadStacks must be called before Samples. Otherwise the samples have no stacks.
func (c *Capture) ReadStacks() (tree *callstack.Tree, notes []string) {
	if len(c.parts) == 0 && c.chains {
		c.tree = &callstack.Tree{}
		return c.tree, nil
	}
	if len(c.parts) == 0 {
		tree, note := c.ownStacks()
		if note != "" {
			notes = append(notes, note)
		}
		return tree, notes
	}
	for i := range c.parts {
		p := &c.parts[i]
		if p.chains {
			if tree == nil {
				tree = &callstack.Tree{}
			}
			p.tree = tree
			continue
		}
		of, note := p.ownStacks()
		if note != "" {
			notes = append(notes, note)
		}
		if of == nil {
			continue
		}
		if tree == nil {
			tree = &callstack.Tree{}
		}
		var ok bool
		if p.firstStack, ok = tree.Append(of, maxStacks); !ok {
			notes = append(notes, fmt.Sprintf("the captures have more than %d call stacks: those of %s are left out", maxStacks,
				p.dir))
			continue
		}
		p.stacks = of.Len()
	}
	return tree, notes
}

// HasChains reports whether stacks of the capture may be chains of return addresses that were not checked yet; see
// package callstack.
func (c *Capture) HasChains() bool {
	return c.chains || c.Guessed || c.Stacks == ChainsVersion ||
		slices.ContainsFunc(c.parts, func(p part) bool { return p.HasChains() })
}

// ownStacks reads the stacks.txt of a single capture, as opposed to a folder of captures.
func (c *Capture) ownStacks() (tree *callstack.Tree, note string) {
	if c.dir == "" || c.Stacks == 0 && !c.Guessed {
		return nil, ""
	}
	path := filepath.Join(c.dir, StacksFile)
	if c.cutOff {
		path = filepath.Join(c.dir, partStacks)
	}
	f, size, err := regular.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && c.Guessed:
		return nil, ""
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Sprintf("%s is missing: the report has no call stacks", StacksFile)
	case err != nil:
		return nil, fmt.Sprintf("the report has no call stacks: %v", err)
	}
	defer f.Close()
	tree, err = callstack.Read(io.LimitReader(f, maxStacksFile), path)
	switch {
	case err != nil:
		note = fmt.Sprintf("the call stacks after %d could not be read: %v", tree.Len(), err)
	case size > maxStacksFile:
		note = fmt.Sprintf("%s has %d bytes: only the call stacks in the first %d are used", StacksFile, size, maxStacksFile)
	}
	return tree, note
}

// joinStack changes the number of a sample's stack to its number in the tree of the joined capture.
func (p *part) joinStack(s *sampler.Sample) {
	if s.Stack == 0 || p.tree != nil {
		return
	}
	if int64(s.Stack) > int64(p.stacks) {
		s.Stack = unknownStack
		return
	}
	s.Stack += p.firstStack
}

// unknownStack is the ID of a stack that is in no tree.
const unknownStack = callstack.ID(math.MaxUint32)
