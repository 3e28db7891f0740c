package main

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/diff"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// earlyExit changes a loop so that C2 does not vectorize it. The loop still computes the same, because a weight is
// never negative.
var earlyExit = strings.NewReplacer("i < v.length;", "i < v.length && w[i] >= 0;")

// regressedProject makes a Git repository with the benchmark VectorSum. The loop is slow in its second commit. build
// is the command that builds benchmarks.jar.
func regressedProject(t *testing.T) (dir, build string) {
	t.Helper()
	gasmtest.NeedTool(t, "git", "apt install git")
	gasmtest.NeedTool(t, "javac", "scripts/setup.sh installs it")
	jar := gasmtest.NeedBenchmarks(t)
	dir = t.TempDir()
	source := string(readFile(t, gasmtest.Testdata("benchmarks", "src", "main", "java", "org", "gasm", "bench",
		"VectorSum.java")))
	git := func(args ...string) {
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	git("init", "-q", "-b", "main")
	for _, text := range []string{source, earlyExit.Replace(source)} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "VectorSum.java"), []byte(text), 0o600))
		git("add", "VectorSum.java")
		git("commit", "-q", "-m", "a benchmark")
	}
	require.NotEqual(t, source, earlyExit.Replace(source))
	return dir, "cp '" + jar + "' benchmarks.jar && javac -nowarn -proc:none --release 8 -cp benchmarks.jar -d classes VectorSum.java 2>/dev/null && jar uf benchmarks.jar -C classes ."
}

// TestGateOfPullRequest runs the command of the action compare. The gate for a pull request must fail if a loop is no
// longer vectorized, and pass for two recordings of the same code.
func TestGateOfPullRequest(t *testing.T) {
	gasmtest.NeedTime(t)
	gasmtest.NeedNative(t)
	dir, build := regressedProject(t)
	out := filepath.Join(t.TempDir(), "gasm")
	cmd := exec.Command(filepath.Join(filepath.Dir(gasmtest.Testdata()), ".github", "actions", "compare", "compare.sh"))
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), "PATH="+filepath.Dir(binary)+string(os.PathListSeparator)+os.Getenv("PATH"),
		"GASM_BUILD="+build, "GASM_JAR=benchmarks.jar", "GASM_OUT="+out, "GASM_FAIL_ABOVE=5", "GASM_ROUNDS=4",
		"GASM_ARGUMENTS=-f 1 -wi 4 -w 200ms -i 3 -r 150ms VectorSum",
		"GITHUB_OUTPUT="+filepath.Join(dir, "output"), "GITHUB_STEP_SUMMARY="+filepath.Join(dir, "summary"),
		"JAVA_TOOL_OPTIONS=-Djmh.ignoreLock=true")
	text, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", text)
	if errors := standardErrors(t, jmhScores(t, out, "before"), jmhScores(t, out, "after")); errors < clearlySlower {
		t.Logf("JMH's own scores differ by %.1f standard errors only, because the machine does more than this test", errors)
		assert.Regexp(t, `^slower=(true|false)\n$`, string(readFile(t, filepath.Join(dir, "output"))))
		return
	}
	assert.Equal(t, "slower=true\n", string(readFile(t, filepath.Join(dir, "output"))), "%s",
		readFile(t, filepath.Join(out, "diff.md")))
	summary := string(readFile(t, filepath.Join(dir, "summary")))
	assert.Contains(t, summary, "### ❌ gasm: 1 of 1 benchmark slower by more than 5 %\n")
	assert.Regexp(t, "\\| ❌ \\| `org.gasm.bench.VectorSum.sum \\(size=4096\\)` \\|", summary)
	assert.Contains(t, summary, "<details><summary>Code of <code>org.gasm.bench.", "the code that changed")
	assert.Regexp(t, `(?m)^- .*vp(mull|add)d`, summary, "the vector instructions that are gone")
	t.Logf("the summary has %d bytes", len(summary))
	assert.Less(t, len(summary), diff.MarkdownLimit)
	page := readFile(t, filepath.Join(out, "diff.html"))
	assert.True(t, strings.HasPrefix(string(page), "<!DOCTYPE html>"))

	capture := func(side string) string { return filepath.Join(out, side) }
	for _, side := range []string{"before", "after"} {
		r := runGasm(t, []string{"diff", "--fail-above", "5", "--before", capture(side+"-1") + "," + capture(side+"-3"),
			"--after", capture(side+"-2") + "," + capture(side+"-4")})
		if r.code == 0 {
			assert.Contains(t, r.stdout, "5 % (--fail-above): nothing is slower by more")
		} else {
			slowerByJMH(t, r.stdout, 5) // the code is the same, but the machine was slower during this run
		}
		r = runGasm(t, []string{"diff", "--fail-above", "0", capture(side + "-1"), capture(side + "-2")})
		assert.Equal(t, 0, r.code, "one fork on each side\n%s", r.stdout)
		assert.Contains(t, strings.Join(strings.Fields(r.stdout), " "),
			"not judged: the noise is known only with two forks or captures on each side")
	}
	all := func(side string) string {
		return capture(side+"-1") + "," + capture(side+"-2") + "," + capture(side+"-3") + "," + capture(side+"-4")
	}
	r := runGasm(t, []string{"diff", "--fail-above", "5", "--before", all("before"), "--after", all("after")})
	assert.Equal(t, 3, r.code, r.stdout)
	assert.Contains(t, r.stderr, "gasm: slower by more than the 5 % of --fail-above, beyond noise: org.gasm.bench.VectorSum.sum (size=4096): ")
	assert.Contains(t, r.stdout, "Score:     A ")
}

// clearlySlower is a difference of JMH's scores, in standard errors. If the difference is larger, a gate must not
// take it for noise. With four rounds on each side, a difference that large happens by chance at most once in a
// thousand times (Student's t with 3 degrees of freedom).
const clearlySlower = 10

// jmhScores returns the scores that JMH measured in the four rounds of a side.
func jmhScores(t *testing.T, out, side string) (scores []float64) {
	t.Helper()
	for round := range 4 {
		text := reportOf(t, "--format", "json", "--skip-asm", filepath.Join(out, fmt.Sprintf("%s-%d", side, round+1)))
		score := readReport(t, []byte(text)).Profiles[0].Score
		require.NotNil(t, score)
		scores = append(scores, score.Value)
	}
	return scores
}

// standardErrors returns by how many standard errors the mean of b is larger than that of a (Welch's t).
func standardErrors(t *testing.T, a, b []float64) float64 {
	t.Helper()
	t.Logf("JMH's own scores: before %.0f, after %.0f ns/op", a, b)
	mean := func(x []float64) (mean, variance float64) {
		for _, v := range x {
			mean += v / float64(len(x))
		}
		for _, v := range x {
			variance += (v - mean) * (v - mean) / float64(len(x)-1)
		}
		return mean, variance / float64(len(x))
	}
	meanA, varianceA := mean(a)
	meanB, varianceB := mean(b)
	return (meanB - meanA) / math.Sqrt(varianceA+varianceB)
}

// slowerByJMH checks that JMH's own score, which does not depend on gasm, is worse by more than a percentage. On a
// busy machine, both forks of one side are sometimes slower although the code is the same. Then it would be wrong for
// the gate to pass.
func slowerByJMH(t *testing.T, text string, percentage float64) {
	t.Helper()
	change := regexp.MustCompile(`A [\d.]+ ±[\d.]+ ns/op \([^)]*\); B [\d.]+ ±[\d.]+ ns/op \([^)]*\): \+([\d.]+) %`).
		FindStringSubmatch(strings.Join(strings.Fields(text), " "))
	require.NotNil(t, change, text)
	slower, err := strconv.ParseFloat(change[1], 64)
	require.NoError(t, err)
	assert.Greater(t, slower, percentage, text)
}

// TestDiffSides checks which arguments gasm diff accepts as the two sides of a comparison.
func TestDiffSides(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--before", "a"}, "--before and --after go together"},
		{[]string{"--before", "a", "--after", "b", "c"}, "--before and --after take no other arguments"},
		{[]string{"a"}, "name two captures or JSON reports, got 1 (several of each side: --before A1,A2 --after B1,B2)"},
		{[]string{"--fail-above", "-1", "a", "b"}, "--fail-above is -1; it is a percentage"},
		{[]string{"--fail-above", "NaN", "a", "b"}, "--fail-above is NaN"},
	} {
		r := runGasm(t, append([]string{"diff"}, c.args...))
		assert.Equal(t, 2, r.code)
		assert.Contains(t, r.stderr, c.want)
	}
	dir := captureFolder(t, "jdk17-lean-none")
	r := runGasm(t, []string{"diff", "--fail-above", "0", "--before", dir + "," + dir, "--after", dir})
	assert.Equal(t, 0, r.code, r.stderr)
	assert.Contains(t, r.stdout, "\nNothing changed above the noise: ")
}
