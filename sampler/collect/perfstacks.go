package collect

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/internal/fix"
	"github.com/gasm-profiler/gasm/sampler"
)

// WriteStacks is like WriteText, for a recording with Options.Chains. It writes the chains of return addresses to the
// writer stacks, as a callstack.Writer does. To the writer text, it writes the samples; the line of a sample ends with
// the ID of its chain. Native functions keep the names that perf printed. gasm can't look them up, because the
// addresses that perf prints in chains are those in files, not those in memory.
func (p *Perf) WriteStacks(ctx context.Context, text, stacks io.Writer) error {
	out, in := io.Pipe()
	go func() { in.CloseWithError(p.WriteText(ctx, in)) }()
	c := newChainText(p.events)
	err := c.convert(out, text, stacks)
	out.CloseWithError(err) // ends perf script after an error
	if err == nil && c.bad > 0 {
		p.notes = append(p.notes, fix.Note{Text: fmt.Sprintf("%d lines of perf's text could not be read, the first: %v",
			c.bad, &c.firstBad)})
	}
	return err
}

// A chainText converts the text of perf script. Instead of chains of addresses, the result has IDs of stacks.
type chainText struct {
	text     *sampler.PerfText
	events   map[string]int // indexes in text, by the name of the event
	bad      int            // lines that could not be read
	firstBad sampler.SyntaxError
}

func newChainText(events []sampler.Event) *chainText {
	c := &chainText{text: sampler.NewPerfText(sampler.Specs(events)), events: map[string]int{}}
	for i, e := range events {
		if _, twice := c.events[e.Name]; !twice {
			c.events[e.Name] = i
		}
	}
	return c
}

func (c *chainText) convert(from io.Reader, to, stacks io.Writer) error {
	tree := callstack.NewWriter(stacks)
	r := sampler.NewChainReader(from, "perf script")
	for r.Scan() {
		switch rec := r.Record().(type) {
		case *sampler.Sample:
			rec.Stack = rec.PushChain(tree.Push)
			c.sample(rec)
		case *sampler.Lost:
			c.text.Lost(&sampler.Sample{}, rec.Count, false)
		case *sampler.SyntaxError:
			if c.bad++; c.bad == 1 {
				c.firstBad = *rec
			}
		}
		if c.text.Len() >= chainPiece {
			if err := c.write(to); err != nil {
				return err
			}
		}
	}
	return errors.Join(r.Err(), c.write(to), tree.Flush())
}

// chainPiece is the amount of text, in bytes, that is written at once.
const chainPiece = 64 << 10

func (c *chainText) write(to io.Writer) error {
	_, err := to.Write(c.text.Bytes())
	c.text.Reset()
	return err
}

// sample adds the line of a sample.
func (c *chainText) sample(s *sampler.Sample) {
	event, known := c.events[s.Event]
	if !known {
		event = c.text.AddEvent(s.Event)
		c.events[s.Event] = event
	}
	c.text.Sample(s, event, pathOf(s.Module))
}

// pathOf returns a path that a sampler.PerfReader reads as the given module. The real path is no longer known, because
// a Sample has only the module.
func pathOf(module string) string {
	switch {
	case module == sampler.KernelModule:
		return "[kernel.kallsyms]"
	case module == "" || module[0] == '[':
		return module
	}
	return "/" + module
}
