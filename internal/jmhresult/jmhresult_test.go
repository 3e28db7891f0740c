package jmhresult

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The file in testdata was written by JMH 1.37.
func TestReadFile(t *testing.T) {
	results, err := ReadFile("testdata/results.json")
	require.NoError(t, err)
	require.Len(t, results, 3)
	r := results[0]
	assert.Equal(t, "org.gasm.bench.MapWalk.walk (size=1024)", r.Name)
	assert.Equal(t, "avgt", r.Mode)
	assert.Equal(t, "us/op", r.Unit)
	require.Len(t, r.Forks, 2)
	sum := 0.0
	for _, fork := range r.Forks {
		require.Len(t, fork, 2)
		sum += fork[0] + fork[1]
	}
	assert.InDelta(t, sum/4, r.Score, 1e-9, "JMH's score is the mean of all iterations")
	assert.Positive(t, r.Error)
	assert.Equal(t, "org.gasm.bench.MapWalk.walk (size=4096)", results[1].Name)
	assert.Equal(t, "thrpt", results[2].Mode)
	assert.Zero(t, results[2].Error, "for a single iteration JMH writes NaN")
}

func TestRead(t *testing.T) {
	results, err :=
		Read(strings.NewReader(`[{"benchmark":"a.B.c","mode":"sample","params":null,"primaryMetric":{"score":"NaN","scoreError":"+Inf","scoreUnit":"s/op","rawDataHistogram":[[[[1,2]]]]}}]`))
	require.NoError(t, err)
	require.Len(t, results, 1)
	assert.True(t, math.IsNaN(results[0].Score))
	assert.Zero(t, results[0].Error)
	assert.Nil(t, results[0].Forks)
	for _, bad := range []string{"", "{}", "[", `[{"benchmark":7}]`, `["x"]`, "null", "[] []"} {
		_, err := Read(strings.NewReader(bad))
		assert.Error(t, err, bad)
	}
	for _, none := range []string{"null", "7", `"x"`, "[1]", "{}", "true"} {
		results, err := Read(strings.NewReader(`[{"benchmark":"a.B.c","params":` + none + `}]`))
		require.NoError(t, err, none)
		assert.Equal(t, "a.B.c", results[0].Name, none)
	}
	results, err = Read(strings.NewReader("[{}" + strings.Repeat(",{}", maxResults-1) + "]"))
	require.NoError(t, err)
	assert.Len(t, results, maxResults)
	_, err = Read(strings.NewReader("[{}" + strings.Repeat(",{}", maxResults) + "]"))
	assert.EqualError(t, err, "more than 5000 results")
	_, err = ReadFile(filepath.Join(t.TempDir(), "none.json"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func FuzzRead(f *testing.F) {
	text, err := os.ReadFile("testdata/results.json")
	require.NoError(f, err)
	f.Add(string(text))
	f.Add(`[{"benchmark":"a","params":{"x":"1","x":[2]},"primaryMetric":{"score":1e999,"rawData":[[1,"NaN"],[]]}}]`)
	f.Fuzz(func(t *testing.T, text string) {
		results, err := Read(strings.NewReader(text))
		if err != nil {
			return
		}
		for _, r := range results {
			assert.False(t, math.IsNaN(r.Error) || math.IsInf(r.Error, 0))
		}
	})
}
