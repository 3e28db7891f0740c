package capture

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/sampler"
)

// writePart writes a capture of one fork, with the samples and the log of a committed capture.
func writePart(t *testing.T, dir, trial string, fork int, change func(*Description)) (samples int) {
	t.Helper()
	const name = "jdk17-lean-none"
	require.NoError(t, os.MkdirAll(dir, 0o700))
	text, log := gasmtest.Capture(t, name, gasmtest.Samples), gasmtest.Capture(t, name, gasmtest.Log)
	pid := 0
	for r := sampler.NewReader(strings.NewReader(string(text)), name); r.Scan(); {
		if s, ok := r.Record().(*sampler.Sample); ok {
			samples++
			pid = s.PID
		}
	}
	require.Positive(t, pid)
	require.NoError(t, os.WriteFile(filepath.Join(dir, SamplesFile), text, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, LogFile(pid)), log, 0o600))
	d := Description{Schema: 1, Events: []string{"cpu-clock"}, Frequency: 1001, Code: CodePrinted, Notes: Notes{"a note"},
		JVMs: []JVM{{PID: pid, LogFile: LogFile(pid), Fork: fork}},
		Trials: []Trial{{Name: trial, Operations: 100, Score: &Score{Mode: "avgt", Unit: "ns/op", Value: 5,
			Forks: [][]float64{{4, 6}}},
			Windows: []Window{{PID: pid, Span: Span{FromMonoNanos: 1, ToMonoNanos: 1 << 60}}}}}}
	if change != nil {
		change(&d)
	}
	require.NoError(t, d.Write(dir))
	return samples
}

// A folder of captures is read as one: two forks of one benchmark, which had the same process id, and a fork of another
// benchmark.
func TestOpenParts(t *testing.T) {
	dir := t.TempDir()
	n := writePart(t, filepath.Join(dir, "a", "fork-1"), "a", 1, nil)
	writePart(t, filepath.Join(dir, "a", "fork-2"), "a", 2, nil)
	writePart(t, filepath.Join(dir, "b"), "b", 1, nil)
	c, err := Open(dir)
	require.NoError(t, err)
	defer c.Close()
	require.Len(t, c.JVMs, 3)
	require.Len(t, c.Trials, 2)
	a := c.Trials[0]
	assert.Equal(t, "a", a.Name)
	assert.EqualValues(t, 200, a.Operations)
	assert.Equal(t, [][]float64{{4, 6}, {4, 6}}, a.Score.Forks)
	assert.Equal(t, []int{c.JVMs[0].PID, c.JVMs[1].PID}, a.PIDs(), "each fork has a process id of its own")
	assert.Equal(t, []int{c.JVMs[2].PID}, c.Trials[1].PIDs())
	assert.Equal(t, Notes{"a note"}, c.Notes)
	counts := map[int]int{}
	r, err := c.Samples()
	require.NoError(t, err)
	for r.Scan() {
		if s, ok := r.Record().(*sampler.Sample); ok {
			counts[s.PID]++
		}
	}
	require.NoError(t, r.Err())
	require.NoError(t, r.Close())
	total := 0
	for _, j := range c.JVMs {
		assert.Positive(t, counts[j.PID])
		assert.Equal(t, counts[c.JVMs[0].PID], counts[j.PID], "all have the samples of the same recording")
		assert.NotNil(t, j.Log)
	}
	for _, n := range counts {
		total += n
	}
	assert.Equal(t, 3*n, total)
	assert.Positive(t, c.SamplesSize())
	assert.True(t, Reads(dir, filepath.Join(dir, "a", "fork-2", SamplesFile)), "it must not be written over")
	assert.False(t, Reads(dir, filepath.Join(dir, "a", "report.json")))
}

func TestOpenPartsOddly(t *testing.T) {
	dir := t.TempDir()
	_, err := Open(dir)
	assert.ErrorContains(t, err, "is not a capture: it has no asm-*.log")
	writePart(t, filepath.Join(dir, "a"), "a", 1, nil)
	writePart(t, filepath.Join(dir, "b"), "a", 1, func(d *Description) {
		d.Frequency, d.Code, d.Trials[0].Operations, d.Trials[0].Score = 501, CodeCopied, 0, nil
	})
	writePart(t, filepath.Join(dir, "c"), "a", 1, func(d *Description) { d.Trials[0].Score.Mode = "thrpt" })
	c, err := Open(dir)
	require.NoError(t, err)
	defer c.Close()
	require.Len(t, c.Trials, 3, "a trial without a score is not joined to one with a mode")
	assert.Equal(t, "a, thrpt", c.Trials[2].Name)
	assert.Equal(t, CodeMixed, c.Code)
	assert.Contains(t, strings.Join(c.Notes, "\n"),
		"the captures were sampled at 501 to 1001 Hz: JVMs that were sampled more often count for up to 100 % more")
	assert.Equal(t, 834, c.Frequency, "the mean of 1001, 501 and 1001")

	writePart(t, filepath.Join(dir, "d"), "a", 1, func(d *Description) { d.Events = []string{"cycles"} })
	_, err = Open(dir)
	assert.ErrorContains(t, err, "they can't be read as one")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "d", DescriptionFile), []byte("{"), 0o600))
	_, err = Open(dir)
	assert.ErrorContains(t, err, filepath.Join("d", DescriptionFile))
}

// The stacks of all parts are in one tree. If a part has no stacks or damaged ones, the stacks of the other parts are
// still read.
func TestReadStacks(t *testing.T) {
	dir := t.TempDir()
	write := func(part, text string) {
		writePart(t, filepath.Join(dir, part), part, 1, func(d *Description) { d.Stacks = StacksVersion })
		if text != "" {
			require.NoError(t, os.WriteFile(filepath.Join(dir, part, StacksFile), []byte("gasm stacks 1\n"+text), 0o600))
		}
	}
	frame := func(name string) string { return `f 1 native 10 - - - "" "` + name + "\"\n" }
	write("a", frame("a")+"s 1 0 1\ns 2 1 1\n")
	write("b", "")
	write("c", frame("c")+"s 1 0 1\ns 2 1 7\n")
	writePart(t, filepath.Join(dir, "d"), "d", 1, nil)
	c, err := Open(dir)
	require.NoError(t, err)
	defer c.Close()
	tree, notes := c.ReadStacks()
	require.NotNil(t, tree)
	assert.Equal(t, 3, tree.Len())
	require.Len(t, notes, 2)
	assert.Equal(t, "stacks.txt is missing: the report has no call stacks", notes[0])
	assert.Regexp(t, `^the call stacks after 1 could not be read: .*c/stacks.txt:4: it refers to a line that is not before it$`, notes[1])
	for _, s := range []struct {
		part     int
		id, want callstack.ID
	}{{0, 0, 0}, {0, 2, 2}, {0, 3, unknownStack}, {1, 1, unknownStack}, {2, 1, 3}, {2, 2, unknownStack}, {3, 1,
		unknownStack}} {
		sample := sampler.Sample{Stack: s.id}
		c.parts[s.part].joinStack(&sample)
		assert.Equal(t, s.want, sample.Stack, "%+v", s)
	}
	d, err := ReadDescription(filepath.Join(dir, "a"))
	require.NoError(t, err)
	assert.Equal(t, 2, d.Schema)

	one, err := Open(filepath.Join(dir, "d"))
	require.NoError(t, err)
	defer one.Close()
	tree, notes = one.ReadStacks()
	assert.Nil(t, tree)
	assert.Empty(t, notes)
}
