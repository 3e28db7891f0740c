package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// ownParts matches the parts that are the same in all pages: the style, the script, and the hashes of both.
var ownParts = regexp.MustCompile(`(?s)(<style>|<script(?: type="module")?>|Content-Security-Policy" content=").*?(</style>|</script>|">)`)

// TestReportGoldens checks what users see of the captures, with each flag of gasm report. The golden files are
// compressed, because a report contains the code of its hot regions. go test -update writes them again, and zcat
// shows them.
func TestReportGoldens(t *testing.T) {
	t.Parallel()
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
		{"source", "jdk17-lean-none", []string{"--source", gasmtest.Testdata("captures"), "--hot-threshold", "0.04", "--top",
			"6"}},
		{"html", "jdk25-lean-none", []string{"--format", "html", "--instructions", "150", "--top", "4"}},
		{"html-source", "jdk17-lean-none", []string{"--format", "html", "--instructions", "400", "--source",
			gasmtest.Testdata("captures"), "--top", "4"}},
		{"collapsed", "jdk17-lean-none", []string{"--format", "collapsed"}},
		{"json", "jdk17-lean-none", append([]string{"--format", "json"}, dot...)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			samples, log := savedCapture(t, c.capture)
			dir := filepath.Dir(samples)
			r := runGasm(t, append(append([]string{"report"}, c.flags...), samples, log), withEnv("LC_ALL=C.UTF-8", "NO_COLOR="))
			require.Equal(t, 0, r.code, r.stderr)
			gasmtest.GoldenGzip(t, "report/"+c.name+".gz", []byte(strings.ReplaceAll(ownParts.ReplaceAllString(r.stdout,
				"$1…$2"), dir, "DIR")))
		})
	}
}
