package threads

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/profile/tally"
)

func TestKindOf(t *testing.T) {
	for name, want := range map[string]string{"C2 CompilerThre": Compilers, "C2 Comp..hread": Compilers,
		"Signal ..atcher": OtherJVM,
		"ArchiveWorkerTh": OtherJVM, "Archive..Thread": OtherJVM, "VM Peri..c Task": OtherJVM, "Service..hread": Application,
		"a..b": Application, "Signal ": Application, "": Application} {
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
	for name, n := range map[string]int64{"main": 5, "pool-1-thread-1": 2, "pool-1-thread-2": 2, "GC Thread#0": 3,
		"GC Thread#11": 1,
		"G1 Conc#0":    1, "C2 CompilerThre": 4, "VM Thread": 1} {
		thread, named := table.Find(1, 1, name)
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

func TestNames(t *testing.T) {
	table := NewTable(Choice{})
	table.AddNames(7, map[int][]string{
		1: {"main"}, 2: {"http-nio-8080-exec-7"}, 3: {"C2 CompilerThread0"}, 4: {"Thread-12", "Thread-991"}, 5: {"old",
			"a new one with a long name"},
		6: {"worker-1"}, 7: {"one name that is long", "one name that was long"}, 8: {"exactly-15-byte"},
		9: {"exactly-15-bytes"},
	})
	for _, c := range []struct {
		tid          int
		kernel, want string
	}{
		{1, "java", "main"},
		{1, "", "main"},
		{2, "http-nio-8080-e", "http-nio-8080-exec-7"},
		{2, "http-ni..exec-7", "http-nio-8080-exec-7"}, // JDK 26 and newer
		{3, "C2 CompilerThre", "C2 CompilerThread0"},
		{4, "Thread-12", "Thread-12"}, // the kernel gave the id to another thread
		{4, "Thread-991", "Thread-991"},
		{4, "Thread-9", "Thread-9"},
		{5, "old", "old"},
		{5, "a new one with ", "a new one with a long name"},
		{6, "renamed", "worker-1"},
		{6, "GC Thread#3", "GC Thread#3"}, // not a Java thread
		{7, "one name that i", "one name that is long"},
		{7, "one name that w", "one name that was long"},
		{8, "exactly-15-byte", "exactly-15-byte"},
		{9, "exactly-15-byte", "exactly-15-bytes"},
		{10, "exactly-15-byte", "exactly-15-byte"},
	} {
		assert.Equal(t, c.want, table.nameOf(7, c.tid, c.kernel), "%d: %s", c.tid, c.kernel)
		assert.Equal(t, c.kernel, table.nameOf(8, c.tid, c.kernel), "another process")
	}
	found, named := table.Find(7, 2, "http-nio-8080-e")
	assert.True(t, named)
	assert.Equal(t, "http-nio-8080-exec-", table.Label(found.Label))
	again, _ := table.Find(7, 2, "http-nio-8080-e")
	assert.Equal(t, found, again)
	other, _ := table.Find(8, 2, "http-nio-8080-e")
	assert.Equal(t, "http-nio-8080-e", table.Label(other.Label))
}

// A thread is chosen by its whole name, or by the 15 bytes of it that the kernel keeps.
func TestChooseByWholeName(t *testing.T) {
	for text, want := range map[string]bool{"exec-7$": true, "^http-nio-8080-e$": true, "exec-8": false, "app": true,
		"jit": false} {
		choice, err := ParseChoice(text)
		require.NoError(t, err)
		table := NewTable(choice)
		table.AddNames(7, map[int][]string{2: {"http-nio-8080-exec-7"}})
		found, _ := table.Find(7, 2, "http-nio-8080-e")
		assert.Equal(t, want, found.Chosen, text)
	}
}
