package capture

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/sampler"
)

// withoutTrials changes the capture that writePart writes to one of a program without trials, on a host.
func withoutTrials(host, version string) func(*Description) {
	return func(d *Description) {
		d.Trials, d.Host = nil, Host{Name: host, Arch: "amd64"}
		d.JVMs[0].Fork, d.JVMs[0].Main, d.JVMs[0].Version = 0, "Workload", version
	}
}

func TestOpenAll(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	n := writePart(t, in("a"), "", 0, withoutTrials("h1", "17"))
	writePart(t, in("later/b"), "", 0, withoutTrials("h1", "17"))
	writePart(t, in("c"), "", 0, withoutTrials("h2", "17"))
	c, err := OpenAll([]string{in("a"), in("later"), in("c")})
	require.NoError(t, err)
	defer c.Close()
	var hosts []string
	pids := map[int]bool{}
	for _, j := range c.JVMs {
		hosts = append(hosts, j.Host)
		pids[j.PID] = true
	}
	assert.Equal(t, []string{"h1", "h1", "h2"}, hosts)
	assert.Len(t, pids, 3, "all three JVMs had the same process id")

	var read [][]int
	c.PartRead = func(pids []int) { read = append(read, pids) }
	samples := 0
	r, err := c.Samples()
	require.NoError(t, err)
	defer r.Close()
	for r.Scan() {
		if s, ok := r.Record().(*sampler.Sample); ok {
			samples++
			assert.True(t, pids[s.PID])
			require.LessOrEqual(t, len(read), samples/n)
		}
	}
	require.NoError(t, r.Err())
	assert.Equal(t, 3*n, samples)
	require.Len(t, read, 3)
	for i, pid := range read {
		assert.Equal(t, []int{c.JVMs[i].PID}, pid)
	}
}

// TestTimesOfOneHost checks that captures of one host are named after their folders.
func TestTimesOfOneHost(t *testing.T) {
	dir := t.TempDir()
	monday, tuesday := filepath.Join(dir, "monday"), filepath.Join(dir, "tuesday")
	writePart(t, monday, "", 0, withoutTrials("h1", "17"))
	writePart(t, tuesday, "", 0, withoutTrials("h1", "21"))
	c, err := OpenAll([]string{monday, tuesday + "/"})
	require.NoError(t, err)
	defer c.Close()
	assert.Equal(t, monday, c.JVMs[0].Host)
	assert.Equal(t, tuesday, c.JVMs[1].Host)
	assert.Contains(t, c.Notes, "not merged, because code of different JDKs differs: Workload (17, 21)")

	one, err := OpenAll([]string{monday})
	require.NoError(t, err)
	defer one.Close()
	assert.Empty(t, one.JVMs[0].Host)
}

// TestTrialsOfJDKs checks that trials of one name that ran on different JDKs are different trials.
func TestTrialsOfJDKs(t *testing.T) {
	dir := t.TempDir()
	version := func(v string) func(*Description) {
		return func(d *Description) { d.JVMs[0].Version = v }
	}
	writePart(t, filepath.Join(dir, "1"), "Bench.run", 1, version("17"))
	writePart(t, filepath.Join(dir, "2"), "Bench.run", 2, version("21"))
	c, err := Open(dir)
	require.NoError(t, err)
	defer c.Close()
	require.Len(t, c.Trials, 2)
	assert.NotEqual(t, c.Trials[0].Name, c.Trials[1].Name)
	assert.Contains(t, c.Trials[1].Name, "JDK 21")
}

func TestNotAll(t *testing.T) {
	dir := t.TempDir()
	a, b, empty := filepath.Join(dir, "a"), filepath.Join(dir, "b"), t.TempDir()
	writePart(t, a, "", 0, withoutTrials("h1", "17"))
	writePart(t, b, "", 0, func(d *Description) {
		withoutTrials("h2", "17")(d)
		d.Host.Arch = "arm64"
	})
	here, err := os.Getwd()
	require.NoError(t, err)
	relative, err := filepath.Rel(here, a)
	require.NoError(t, err)
	_, err = OpenAll([]string{a, relative})
	require.ErrorContains(t, err, "are the same capture")
	for want, paths := range map[string][]string{
		"are the same capture":     {a, b, dir},
		"is not a capture":         {a, empty},
		"their code differs":       {a, b},
		"no such file":             {a, filepath.Join(dir, "none")},
		"each of them is a folder": {a, filepath.Join(a, SamplesFile)},
	} {
		_, err := OpenAll(paths)
		assert.ErrorContains(t, err, want)
	}
}
