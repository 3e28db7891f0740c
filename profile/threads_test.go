package profile

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/profile/tally"
	"github.com/gasm-profiler/gasm/sampler"
)

func TestThreadKind(t *testing.T) {
	for name, want := range map[string]string{"C2 CompilerThre": CompilerThreads, "C2 Comp..hread": CompilerThreads, "Signal ..atcher": OtherJVMThreads,
		"VM Peri..c Task": OtherJVMThreads, "Service..hread": ApplicationThreads, "a..b": ApplicationThreads, "Signal ": ApplicationThreads, "": ApplicationThreads} {
		assert.Equal(t, want, threadKind(name), name)
	}
}

func TestThreads(t *testing.T) {
	log := newLog(t, c2(10, 1, "A::a", 0x1000, nops(16)))
	var samples []sampler.Sample
	for name, n := range map[string]int{"main": 5, "pool-1-thread-1": 2, "pool-1-thread-2": 2, "GC Thread#0": 3, "GC Thread#11": 1,
		"G1 Conc#0": 1, "C2 CompilerThre": 4, "VM Thread": 1} {
		for range n {
			s := at(1, 15, 0x1000)
			s.Thread = name
			samples = append(samples, s)
		}
	}
	p := one(t, DefaultOptions(), log, samples...)
	assert.Equal(t, []ThreadKind{
		{ApplicationThreads, tally.Counts{9}, []Thread{{"main", tally.Counts{5}}, {"pool-1-thread-", tally.Counts{4}}}},
		{CollectorThreads, tally.Counts{5}, []Thread{{"GC Thread#", tally.Counts{4}}, {"G1 Conc#", tally.Counts{1}}}},
		{CompilerThreads, tally.Counts{4}, []Thread{{"C2 CompilerThre", tally.Counts{4}}}},
		{OtherJVMThreads, tally.Counts{1}, []Thread{{"VM Thread", tally.Counts{1}}}},
	}, p.Threads)
	assert.Nil(t, one(t, DefaultOptions(), log, at(1, 15, 0x1000)).Threads, "no names, no table")
}
