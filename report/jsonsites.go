package report

import (
	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/profile/calltree"
	"github.com/gasm-profiler/gasm/profile/sites"
	"github.com/gasm-profiler/gasm/report/schema"
)

// Limits of the trees of callers in the JSON report: the smallest share of a place's time or bytes with which a caller
// is listed, the maximum number of nodes in a tree, and the maximum number of places in a list that have a tree. A node
// takes about 100 bytes.
const (
	leastSiteCaller = 0.01
	mostSiteCallers = 200
	mostSiteTrees   = 100
)

// siteRule returns the rule that chose the places of locks, parks, allocations and waits. It returns "" if the profile
// has none.
func (p jsonProfile) siteRule() string {
	if len(p.Locks)+len(p.Parks)+len(p.Allocations) == 0 && p.Waits == nil {
		return ""
	}
	return string(p.Sites)
}

// waits converts the places at which threads waited.
func (p jsonProfile) waits(waits []sites.Wait) []schema.Lock {
	list := each(waits, func(s *sites.Wait) schema.Lock {
		return schema.Lock{At: p.site(s.Frame), Class: s.Class, Owner: s.Owner, Count: s.Count,
			TotalMS: float64(s.Nanos) / 1e6, LongestMS: float64(s.LongestNanos) / 1e6}
	})
	for i := range list[:min(len(list), mostSiteTrees)] {
		list[i].Callers = p.callers(waits[i].Stacks, func(c *schema.SiteCaller,
			nanos int64) {
			c.TotalMS = float64(nanos) / 1e6
		})
	}
	return list
}

// allocations converts the places that allocate.
func (p jsonProfile) allocations() []schema.Allocation {
	sized := false
	list := each(p.Allocations, func(s *sites.Alloc) schema.Allocation {
		sized = sized || s.Bytes > 0
		a := schema.Allocation{At: p.site(s.Frame), Class: s.Class, Events: s.Events, Bytes: s.Bytes}
		if c := s.Code; c != nil {
			a.Code = &schema.AllocationCode{Source: c.Source, Name: c.Method, CompileID: c.CompileID, Addr: schema.Address(c.PC),
				Text: c.Text}
		}
		return a
	})
	for i := range list[:min(len(list), mostSiteTrees)] {
		list[i].Callers = p.callers(p.Allocations[i].Stacks, func(c *schema.SiteCaller, weight int64) {
			if sized {
				c.Bytes = weight
			}
		})
	}
	return list
}

// callers converts the callers of a place where threads waited or the program allocated. set stores the weight of a
// caller as a time or as a number of bytes.
func (p jsonProfile) callers(stacks []sites.Stack, set func(c *schema.SiteCaller, weight int64)) []schema.SiteCaller {
	tree := sites.Callers(stacks, calltree.Limits{Least: leastSiteCaller, Nodes: mostSiteCallers})
	if tree == nil {
		return nil
	}
	return each(tree.Nodes, func(n *calltree.Node) schema.SiteCaller {
		c := schema.SiteCaller{Parent: int(n.Parent), Method: n.Name, Line: n.Line, Count: n.Counts[1], Omitted: n.Omitted[1]}
		if n.Name != "" {
			c.File = p.all.SourceFile(n.Name)
		}
		set(&c, n.Counts[0])
		return c
	})
}

// site converts a place in the program. It returns nil if the place is unknown.
func (p jsonProfile) site(f event.Frame) *schema.Frame {
	if f.Method == "" {
		return nil
	}
	return &schema.Frame{Method: f.Method, BCI: f.BCI, Line: f.Line, File: p.all.SourceFile(f.Method)}
}
