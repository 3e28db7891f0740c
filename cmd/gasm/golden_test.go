package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What users see of the captures, with each flag of the report. The goldens are
// packed, since one report has the code of its hot regions: go test -update
// rewrites them, and zcat shows them.
func TestReportGoldens(t *testing.T) {
	dot := []string{"--hot-threshold", "0.08", "--top", "6"} // libmLog and a loop
	for _, c := range []struct {
		name, capture string
		flags         []string
	}{
		{"plain", "jdk17-lean-none", nil},
		{"jdk8", "jdk8-full-hsdis", dot},
		{"jdk11-no-code", "jdk11-lean-none", dot},
		{"jdk11", "jdk11-lean-hsdis", dot},
		{"jdk17-hsdis", "jdk17-full-hsdis", dot},
		{"jdk25", "jdk25-lean-none", dot},
		{"jdk25-hsdis", "jdk25-full-hsdis", dot},
		{"dtrace", "jdk17-lean-none-dtrace", dot},
		{"threshold", "jdk17-lean-none", []string{"--hot-threshold", "0.99"}},
		{"top", "jdk17-lean-none", []string{"--skip-asm", "--top", "3"}},
		{"too-big", "jdk17-lean-none", append([]string{"--too-big-threshold", "20"}, dot...)},
		{"print-margin", "jdk17-lean-none", append([]string{"--print-margin", "0"}, dot...)},
		{"merge-margin", "jdk17-lean-none", append([]string{"--merge-margin", "4"}, dot...)},
		{"merge-methods", "jdk17-lean-none", append([]string{"--merge-methods"}, dot...)},
		{"raw", "jdk17-lean-none", append([]string{"--show-counts", "raw"}, dot...)},
		{"norm", "jdk17-lean-none", append([]string{"--show-counts", "norm", "--ops", "5e6"}, dot...)},
		{"norm-unknown", "jdk17-lean-none", []string{"--show-counts", "norm", "--skip-asm", "--top", "3"}},
		{"intel", "jdk17-lean-none", append([]string{"--intel-syntax"}, dot...)},
		{"no-arrows", "jdk17-lean-none", append([]string{"--draw-intra-jumps=false"}, dot...)},
		{"inter-jumps", "jdk17-lean-none", append([]string{"--draw-inter-jumps"}, dot...)},
		{"skips", "jdk17-lean-none", []string{"--skip-asm", "--skip-interpreter", "--skip-vm-stubs", "--top", "10"}},
		{"ascii", "jdk17-lean-none", append([]string{"--ascii"}, dot...)},
		{"color", "jdk17-lean-none", append([]string{"--color", "always"}, dot...)},
		{"pid", "jdk17-lean-none", []string{"--pid", "24997", "--skip-asm", "--top", "3"}},
		{"source", "jdk17-lean-none", []string{"--source", "../../testdata/captures", "--hot-threshold", "0.04", "--top", "6"}},
		{"json", "jdk17-lean-none", append([]string{"--format", "json"}, dot...)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			samples, log := savedCapture(t, c.capture)
			dir := filepath.Dir(samples)
			r := runGasm(t, append(append([]string{"report"}, c.flags...), samples, log), withEnv("LC_ALL=C.UTF-8", "NO_COLOR="))
			require.Equal(t, 0, r.code, r.stderr)
			goldenGzip(t, c.name, strings.ReplaceAll(r.stdout, dir, "DIR"))
		})
	}
}

// goldenGzip compares text with testdata/report/NAME.gz.
func goldenGzip(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "report", name+".gz")
	if *update {
		var packed bytes.Buffer
		z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
		require.NoError(t, err)
		_, err = io.WriteString(z, got)
		require.NoError(t, err)
		require.NoError(t, z.Close())
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, packed.Bytes(), 0o644))
		return
	}
	want := filepath.Join(t.TempDir(), name)
	gunzip(t, path, want)
	text, err := os.ReadFile(want)
	require.NoError(t, err)
	gotLines, wantLines := strings.Split(got, "\n"), strings.Split(string(text), "\n")
	for i := range min(len(gotLines), len(wantLines)) {
		require.Equal(t, wantLines[i], gotLines[i], "%s, line %d (go test -update accepts)", name, i+1)
	}
	assert.Len(t, gotLines, len(wantLines), "%s (go test -update accepts)", name)
}
