package profile

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/choice"
	"github.com/gasm-profiler/gasm/profile/tally"
)

// forks returns the profile of one trial of several JVMs, with pids from 1 on. The map hits has the PCs of each
// process's samples.
func forks(t *testing.T, logs []*printassembly.Log, hits map[int][]uint64) *Profile {
	t.Helper()
	var jvms []capture.JVM
	for i, l := range logs {
		jvms = append(jvms, capture.JVM{PID: i + 1, Log: l})
	}
	b := NewBuilder(choice.Config{JVMs: jvms})
	for pid, pcs := range hits {
		for _, pc := range pcs {
			add(b, at(pid, 1000, pc))
		}
	}
	return &build(t, b, choice.DefaultOptions())[0]
}

// The same code at two addresses: a call out of it, a jump within it, and an oop.
const (
	forkCode1 = "e8fb f0ff ff48 b888 7766 5544 007f 00eb ef90 90c3" // jumps to its start
	forkCode2 = "e8fb f0ef ff48 b899 7766 1144 007f 00eb ef90 90c3"
)

func TestForksMerge(t *testing.T) {
	logs := []*printassembly.Log{
		newLog(t, c2(10, 1, "A::a", 0x7f0000001000, forkCode1)),
		newLog(t, c2(10, 9, "A::a", 0x7f0000052000, forkCode2)),
	}
	p := forks(t, logs, map[int][]uint64{1: {0x7f0000001000, 0x7f0000001005, 0x7f0000001012},
		2: {0x7f0000052005, 0x7f0000052005, 0x7f0000052005, 0x7f0000052013}})
	require.Len(t, p.Regions, 1, regionsText(p))
	r := p.Regions[0]
	assert.Equal(t, []int{1, 2}, r.PIDs)
	assert.Equal(t, tally.Counts{7}, r.Counts)
	assert.EqualValues(t, 0x7f0000052000, r.Lo, "the hotter fork's addresses")
	assert.EqualValues(t, 0x7f0000052014, r.Hi)
	assert.Equal(t, 9, r.CompileID)
	var counts []int64
	for _, l := range r.Lines {
		counts = append(counts, l.Counts[0])
	}
	assert.Equal(t, []int64{1, 4, 0, 0, 1, 1}, counts)
	assert.Equal(t, []Method{{"c2, level 4", "A::a", 9, 2, tally.Counts{7}, []tally.Counts{{3}, {4}}, nil}}, p.Methods)
}

func TestForksStayApart(t *testing.T) {
	base := c2(10, 1, "A::a", 0x1000, nops(16))
	for _, c := range []struct{ name, other string }{
		{"other code", c2(10, 1, "A::a", 0x1000, "89c2 "+nops(12)+"9090")},
		{"another length", c2(10, 1, "A::a", 0x1000, nops(20))},
		{"another tier", method("c1", 10, 1, 3, "A::a", 0x1000, nops(16))},
		{"another name", c2(10, 1, "A::b", 0x1000, nops(16))},
		{"OSR", strings.Replace(c2(10, 1, "A::a @ 4", 0x1000, nops(16)), "1       4", "1 %     4", 1)},
		{"no code", strings.Split(base, "[MachCode]")[0]},
	} {
		p := forks(t, []*printassembly.Log{newLog(t, base), newLog(t, c.other)},
			map[int][]uint64{1: {0x1000}, 2: {0x1000, 0x1000}})
		require.Len(t, p.Regions, 2, c.name)
		assert.Equal(t, []int{2}, p.Regions[0].PIDs, c.name)
		assert.Equal(t, []int{1}, p.Regions[1].PIDs, c.name)
	}
	// Small constants must be equal, and so must the distances of jumps.
	for _, pair := range [][2]string{
		{"b801 0000 0090 90c3", "b802 0000 0090 90c3"},
		{"eb00 eb00 9090 90c3", "eb00 eb01 9090 90c3"},
		{"7400 eb00 9090 90c3", "eb00 eb00 9090 90c3"},
	} {
		p := forks(t, []*printassembly.Log{newLog(t, c2(10, 1, "A::a", 0x1000, pair[0])),
			newLog(t, c2(10, 1, "A::a", 0x1000, pair[1]))},
			map[int][]uint64{1: {0x1000}, 2: {0x1000}})
		assert.Len(t, p.Regions, 2, pair)
	}
}

// Blobs of one JVM are never merged with each other. So a method that is compiled twice has two regions. The second one
// is merged with the second one of the other fork.
func TestForksRecompiled(t *testing.T) {
	twice := func() *printassembly.Log {
		return newLog(t, c2(10, 1, "A::a", 0x1000, nops(16)), c2(20, 2, "A::a", 0x2000, nops(16)))
	}
	p := forks(t, []*printassembly.Log{twice(), twice()}, map[int][]uint64{1: {0x1000, 0x1000, 0x1000, 0x2000},
		2: {0x1000, 0x2000, 0x2000}})
	assert.Equal(t, "A::a 1000-1001 5 hot, 11 lines\nA::a 2000-2001 2 hot, 11 lines", regionsText(p))
	assert.Equal(t, []int{1, 2}, p.Regions[0].PIDs)
	assert.Equal(t, []int{1, 2}, p.Regions[1].PIDs)
	assert.Equal(t, []Method{{"c2, level 4", "A::a", 1, 4, tally.Counts{7}, []tally.Counts{{4}, {3}}, nil}}, p.Methods)
}

// Each region of merged code lists the JVMs that have samples in it.
func TestForkPIDs(t *testing.T) {
	log := func() *printassembly.Log { return newLog(t, c2(10, 1, "A::a", 0x1000, nops(256))) }
	p := forks(t, []*printassembly.Log{log(), log(), log()},
		map[int][]uint64{1: {0x1000, 0x1000}, 2: {0x1080}, 3: {0x1000, 0x1080}})
	require.Len(t, p.Regions, 2)
	assert.Equal(t, []int{1, 3}, p.Regions[0].PIDs)
	assert.Equal(t, []int{2, 3}, p.Regions[1].PIDs)
}

// Code that HotSpot has moved counts as one version, because it has the same compile id, and the code differs only in
// addresses.
func TestMoved(t *testing.T) {
	hits := map[int][]uint64{1: {0x7f0000001005, 0x7f0000052005, 0x7f0000052005, 0x7f0000052013}}
	for name, c := range map[string]struct {
		later   string
		regions int
		moved   bool
	}{
		"moved":         {c2(20, 7, "A::a", 0x7f0000052000, forkCode2), 1, true},
		"another id":    {c2(20, 8, "A::a", 0x7f0000052000, forkCode2), 2, false},
		"other code":    {c2(20, 7, "A::a", 0x7f0000052000, strings.ReplaceAll(forkCode2, "ff48", "ff49")), 2, false},
		"another name":  {c2(20, 7, "A::b", 0x7f0000052000, forkCode2), 2, false},
		"without an id": {c2(20, 0, "A::a", 0x7f0000052000, forkCode2), 2, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := forks(t, []*printassembly.Log{newLog(t, c2(10, 7, "A::a", 0x7f0000001000, forkCode1), c.later)}, hits)
			require.Len(t, p.Regions, c.regions, regionsText(p))
			assert.Equal(t, c.moved, p.Regions[0].Moved)
			if !c.moved {
				return
			}
			r := p.Regions[0]
			assert.Equal(t, tally.Counts{4}, r.Counts)
			assert.Equal(t, []int{1}, r.PIDs)
			assert.EqualValues(t, 0x7f0000052005, r.Lo, "the copy with the most samples")
			require.Len(t, p.Methods, 1)
			assert.Equal(t, 1, p.Methods[0].Blobs)
			require.Len(t, p.Compilations, 1)
			assert.Equal(t, 1, p.Compilations[0].Moved)
			assert.Equal(t, tally.Counts{4}, p.Compilations[0].Counts)
			assert.EqualValues(t, 10, p.Compilations[0].MadeMillis)
		})
	}
}
