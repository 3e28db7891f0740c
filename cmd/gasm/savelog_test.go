package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

var (
	savedRow     = regexp.MustCompile(`^([ 0-9]{10})  0x[0-9a-f]{16}:   \S`)
	savedHeading = regexp.MustCompile(`, \[0x[0-9a-f]{16}, 0x[0-9a-f]{16}\), \d+ bytes(, at [0-9.]+ s)?$`)
)

// TestSaveLogSums checks that the counts in the saved log add up to the account's number of samples in code.
func TestSaveLogSums(t *testing.T) {
	t.Parallel()
	for name, blobs := range map[string]int{"jdk8-full-hsdis": 807, "jdk11-lean-hsdis": 658, "jdk11-lean-none": 666,
		"jdk17-lean-none": 639, "jdk25-full-hsdis": 771} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			samples, log := gasmtest.UnpackCapture(t, name, dir)
			saved := filepath.Join(dir, "saved.txt")
			r := runGasm(t, []string{"report", "--format", "json", "--save-log", saved, samples, log})
			require.Equal(t, 0, r.code, r.stderr)
			p := readReport(t, []byte(r.stdout)).Profiles[0]
			want := int64(0)
			for _, a := range p.Account.Values {
				want += a.Compiled + a.Stub + a.Interpreter
			}
			text, err := os.ReadFile(saved)
			require.NoError(t, err)
			sum, headings := int64(0), 0
			for line := range strings.Lines(string(text)) {
				line = strings.TrimSuffix(line, "\n")
				if strings.HasPrefix(line, "stub, not printed, ") {
					continue // the log has no heading for it
				}
				if savedHeading.MatchString(line) {
					headings++
				} else if m := savedRow.FindStringSubmatch(line); m != nil && strings.TrimSpace(m[1]) != "" {
					n, err := strconv.ParseInt(strings.TrimSpace(m[1]), 10, 64)
					require.NoError(t, err)
					sum += n
				}
			}
			assert.Equal(t, want, sum)
			assert.Equal(t, blobs, headings)
		})
	}
}

// cutLog returns the head of a log and some pieces of its code. Each piece goes from a line that contains a mark to
// the end of that code. If the mark has a "!", the instructions are left out.
func cutLog(t *testing.T, text string, marks ...string) string {
	t.Helper()
	head, body, ok := strings.Cut(text, "<tty>\n")
	require.True(t, ok)
	out := head + "<tty>\n"
	for _, mark := range marks {
		mark, bare := strings.CutSuffix(mark, "!")
		at := strings.Index(body, mark)
		require.GreaterOrEqual(t, at, 0, mark)
		at = strings.LastIndexByte(body[:at], '\n') + 1
		end := strings.Index(body[at:], "[/MachCode]\n") + len("[/MachCode]\n")
		if bare {
			end = strings.Index(body[at:], "[MachCode]\n")
		}
		out += body[at : at+end]
	}
	return out + "</tty>\n</hotspot_log>\n"
}

// TestSaveLogGolden saves two logs that were cut to some pieces of code. One of the pieces has no instructions.
func TestSaveLogGolden(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	samples, log := gasmtest.UnpackCapture(t, "jdk17-lean-none", dir)
	text, err := os.ReadFile(log)
	require.NoError(t, err)
	cut := cutLog(t, string(text), "ICache::flush_icache_stub [", "iaload  46 ", "Workload$Square::area (",
		"       4       Workload$Rect::area (", "       4       Workload$Square::area (!")
	other := strings.Replace(cutLog(t, string(text), "arraylength  190 "), "process='24997'", "process='24998'", 1)
	for name, text := range map[string]string{"asm-24997.log": cut, "asm-24998.log": other} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	for file, flags := range map[string][]string{"savelog.golden": nil,
		"savelog-intel.golden": {"--intel-syntax", "--pid", "24998"}} {
		saved := filepath.Join(dir, file)
		r := runGasm(t, append(append([]string{"report", "--save-log", saved}, flags...), samples,
			filepath.Join(dir, "asm-24997.log"), filepath.Join(dir, "asm-24998.log")))
		require.NotEqual(t, 2, r.code, r.stderr)
		got, err := os.ReadFile(saved)
		require.NoError(t, err)
		gasmtest.Golden(t, file, got)
	}
}

// TestSaveLogMethod checks that with patterns, the saved log has the code of everything that matches, in the same
// form as in the log of everything.
func TestSaveLogMethod(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	samples, log := gasmtest.UnpackCapture(t, "jdk17-lean-none", dir)
	saved := func(flags ...string) []string {
		file := filepath.Join(dir, "saved")
		r := runGasm(t, append(append([]string{"report", "--save-log", file}, flags...), samples, log))
		require.Equal(t, 0, r.code, r.stderr)
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n\n")
	}
	all := saved()
	for patterns, want := range map[string]*regexp.Regexp{
		"Workload::locked":           regexp.MustCompile(`^c\d, level \d(, osr)?, Workload::locked( @ \d+)?, `),
		"Workload$*::*":              regexp.MustCompile(`^[^\n]*, Workload\$\w+::\w+, `),
		"*HashMap::get* *::parseInt": regexp.MustCompile(`^[^\n]*, (\S*HashMap::get\w*|\S+::parseInt), `),
		"java.lang.Integer::parseInt(Ljava/lang/String;)I": regexp.MustCompile(`^[^\n]*, java\.lang\.Integer::parseInt, `),
		"no.such::method": regexp.MustCompile(`^$`),
	} {
		var flags, blobs []string
		for _, p := range strings.Fields(patterns) {
			flags = append(flags, "--method", p)
		}
		for _, blob := range all[1:] {
			if want.MatchString(blob) {
				blobs = append(blobs, blob)
			}
		}
		got := saved(flags...)
		assert.Equal(t, blobs, append([]string(nil), got[1:]...), patterns)
		assert.Equal(t, patterns == "no.such::method", len(blobs) == 0, patterns)
		assert.Contains(t, got[0], "\nMethods: "+strings.Join(strings.Fields(patterns), ", "))
	}
}

func TestSaveLogErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	samples, log := gasmtest.UnpackCapture(t, "jdk11-lean-none", dir)
	r := runGasm(t, []string{"report", "--save-log", filepath.Join(dir, "none", "x"), samples, log})
	assert.Equal(t, 1, r.code)
	assert.Contains(t, r.stderr, "saving the annotated log: open ")
	assert.Contains(t, r.stdout, "Account of Samples", "the report is made all the same")
	r = runGasm(t, []string{"report", "--method", "A::b", samples, log})
	assert.Equal(t, 2, r.code)
	assert.Contains(t, r.stderr, "--method is for --save-log")
	r = runGasm(t, []string{"report", "--save-log", filepath.Join(dir, "x"), "--method", "heavy", samples, log})
	assert.Equal(t, 2, r.code)
	assert.Contains(t, r.stderr, "--method: name a class and a method")
	if _, err := os.Stat("/dev/full"); err == nil {
		r = runGasm(t, []string{"report", "--save-log", "/dev/full", samples, log})
		assert.Equal(t, 1, r.code)
		assert.Contains(t, r.stderr, "no space left on device")
	}
}
