package top

import (
	"cmp"
	"slices"
	"strings"
)

// A Program is a JVM with its samples.
type Program struct {
	JVMState
	Amount
	Mean    Load   // over the time of the picture, in processors
	Hottest string // the hottest method
}

// Programs returns the JVMs, those with the most samples first.
func (p *Picture) Programs() []Program {
	rows := make([]Program, len(p.JVMs))
	index := map[int]int{}
	hottest := make([]map[string]float64, len(rows))
	for i, j := range p.JVMs {
		rows[i].JVMState = j
		index[j.PID] = i
		hottest[i] = map[string]float64{}
	}
	for i := range p.entries {
		e := &p.entries[i]
		t := &p.m.threads[e.thread]
		n, ok := index[t.PID]
		if !ok {
			continue
		}
		rows[n].add(e)
		rows[n].Mean.add(t.Kind, p.Processors(e.count))
		name, _ := p.where(e)
		hottest[n][name] += e.count
	}
	for i := range rows {
		rows[i].Hottest = most(hottest[i])
	}
	slices.SortStableFunc(rows, func(a, b Program) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.PID, b.PID))
	})
	return rows
}

// most returns the key with the largest value.
func most(m map[string]float64) (best string) {
	for name, n := range m {
		if best == "" || n > m[best] || n == m[best] && name < best {
			best = name
		}
	}
	return best
}

// A Method is a compiled method, a stub or a native function with its samples.
type Method struct {
	Name, Source string
	Amount
	Code *Code // the hottest of its versions; nil for a native function
}

// Methods returns the methods of a scope, hottest first.
func (p *Picture) Methods(s Scope) []Method {
	type id struct{ name, source string }
	index := map[id]int{}
	var rows []Method
	versions := map[*Code]float64{}
	for i := range p.entries {
		e := &p.entries[i]
		if !p.in(e, s) {
			continue
		}
		name, source := p.where(e)
		n, ok := index[id{name, source}]
		if !ok {
			n = len(rows)
			index[id{name, source}] = n
			rows = append(rows, Method{Name: name, Source: source})
		}
		rows[n].add(e)
		if e.code == nil {
			continue
		}
		versions[e.code] += e.count
		if c := rows[n].Code; c == nil || versions[e.code] > versions[c] {
			rows[n].Code = e.code
		}
	}
	slices.SortFunc(rows, func(a, b Method) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(b.Now, a.Now), strings.Compare(a.Name, b.Name),
			strings.Compare(a.Source, b.Source))
	})
	return rows
}

// A Frame is a method with its samples. Samples in inlined code are those of the inlined method.
type Frame struct {
	Name string
	Amount
	Total Amount // including the methods that it has called
	Line  int    // the line with the most samples; 0 if it is unknown
	Code  *Code  // the code with most of its samples; nil for a native function
	PC    uint64 // the address with the most samples in Code
}

// Frames returns the methods of a scope, sorted by the samples in the methods themselves, hottest first.
func (p *Picture) Frames(s Scope) []Frame {
	index := map[string]int{}
	var rows []Frame
	row := func(name string) int {
		n, ok := index[name]
		if !ok {
			n = len(rows)
			index[name] = n
			rows = append(rows, Frame{Name: name})
		}
		return n
	}
	type place struct {
		row  int
		line int
	}
	lines := map[place]float64{}
	type spot struct {
		row  int
		code *Code
		pc   uint64
	}
	spots := map[spot]float64{}
	var seen []int
	for i := range p.entries {
		e := &p.entries[i]
		if !p.in(e, s) {
			continue
		}
		seen = seen[:0]
		p.frames(e, func(name string, line int) bool {
			n := row(name)
			if len(seen) == 0 {
				rows[n].add(e)
				lines[place{n, line}] += e.count
				if e.code != nil {
					spots[spot{n, e.code, e.pc}] += e.count
				}
			}
			if !slices.Contains(seen, n) {
				seen = append(seen, n)
				rows[n].Total.add(e)
			}
			return len(seen) < maxDepth
		})
	}
	best := make([]float64, len(rows))
	for at, n := range lines {
		if at.line > 0 && (n > best[at.row] || n == best[at.row] && at.line < rows[at.row].Line) {
			best[at.row], rows[at.row].Line = n, at.line
		}
	}
	clear(best)
	for at, n := range spots {
		if n > best[at.row] || n == best[at.row] && at.pc < rows[at.row].PC {
			best[at.row], rows[at.row].Code, rows[at.row].PC = n, at.code, at.pc
		}
	}
	slices.SortFunc(rows, func(a, b Frame) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(b.Total.Count, a.Total.Count),
			strings.Compare(a.Name, b.Name))
	})
	return rows
}

// maxDepth limits the number of different frames of a stack that are counted.
const maxDepth = 256

// A ThreadRow is a thread with its samples.
type ThreadRow struct {
	Thread
	Amount
	KindName string // "app", "JIT", "GC" or "JVM"
	Hottest  string
}

// Threads returns the threads of a scope, those with the most samples first.
func (p *Picture) Threads(s Scope) []ThreadRow {
	rows := map[int32]*ThreadRow{}
	hottest := map[int32]map[string]float64{}
	for i := range p.entries {
		e := &p.entries[i]
		if !p.in(e, s) {
			continue
		}
		r := rows[e.thread]
		if r == nil {
			t := p.m.threads[e.thread]
			r = &ThreadRow{Thread: t, KindName: kindName(t.Kind)}
			rows[e.thread], hottest[e.thread] = r, map[string]float64{}
		}
		r.add(e)
		name, _ := p.where(e)
		hottest[e.thread][name] += e.count
	}
	var sorted []ThreadRow
	for id, r := range rows {
		r.Hottest = most(hottest[id])
		sorted = append(sorted, *r)
	}
	slices.SortFunc(sorted, func(a, b ThreadRow) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Name, b.Name), cmp.Compare(a.PID, b.PID),
			cmp.Compare(a.TID, b.TID))
	})
	return sorted
}
