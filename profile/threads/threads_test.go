package threads

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/profile/tally"
)

func TestKindOf(t *testing.T) {
	for name, want := range map[string]string{"C2 CompilerThre": Compilers, "C2 Comp..hread": Compilers, "Signal ..atcher": OtherJVM,
		"ArchiveWorkerTh": OtherJVM, "Archive..Thread": OtherJVM, "VM Peri..c Task": OtherJVM, "Service..hread": Application, "a..b": Application, "Signal ": Application, "": Application} {
		assert.Equal(t, want, KindOf(name), name)
	}
}

func TestParseChoice(t *testing.T) {
	for text, want := range map[string]map[string]bool{
		"":           {"": true, "main": true, "C2 CompilerThre": true},
		"app":        {"": false, "main": true, "C2 CompilerThre": false, "GC Thread#1": false},
		"jit":        {"main": false, "C1 CompilerThre": true},
		"gc":         {"GC Thread#1": true, "VM Thread": false},
		"jvm":        {"VM Thread": true, "GC Thread#1": false},
		"^pool-.*-1": {"pool-1-thread-1": true, "pool-1-thread-2": false, "": false},
	} {
		choice, err := ParseChoice(text)
		require.NoError(t, err)
		for name, chosen := range want {
			assert.Equal(t, chosen, choice.chooses(name, KindOf(name)), "%q: %q", text, name)
		}
	}
	_, err := ParseChoice("(")
	assert.ErrorContains(t, err, "use app, jit, gc, jvm, or a regular expression")
}

func TestTotals(t *testing.T) {
	table := NewTable(Choice{})
	byLabel := map[int32]tally.Counts{}
	for name, n := range map[string]int64{"main": 5, "pool-1-thread-1": 2, "pool-1-thread-2": 2, "GC Thread#0": 3, "GC Thread#11": 1,
		"G1 Conc#0": 1, "C2 CompilerThre": 4, "VM Thread": 1} {
		thread, named := table.Find(name)
		assert.True(t, named)
		assert.Equal(t, thread.Kind, table.Kind(thread.Label))
		tally.AddTo(byLabel, thread.Label, tally.Counts{n}, 1)
	}
	assert.Equal(t, []KindTotal{
		{Application, tally.Counts{9}, []Total{{"main", tally.Counts{5}}, {"pool-1-thread-", tally.Counts{4}}}},
		{Collector, tally.Counts{5}, []Total{{"GC Thread#", tally.Counts{4}}, {"G1 Conc#", tally.Counts{1}}}},
		{Compilers, tally.Counts{4}, []Total{{"C2 CompilerThre", tally.Counts{4}}}},
		{OtherJVM, tally.Counts{1}, []Total{{"VM Thread", tally.Counts{1}}}},
	}, table.Totals(byLabel, 1))
	assert.Nil(t, table.Totals(map[int32]tally.Counts{0: {3}}, 1), "no names, no table")
}
