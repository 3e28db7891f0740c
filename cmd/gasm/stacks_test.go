package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	pprof "github.com/google/pprof/profile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/report/reporttest"
)

// stackCapture writes a capture whose samples have call stacks.
func stackCapture(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	reporttest.WriteStacks(t, dir)
	return dir
}

// reportOf returns what gasm report prints.
func reportOf(t *testing.T, args ...string) string {
	t.Helper()
	r := runGasm(t, append([]string{"report"}, args...), withEnv("LC_ALL=C.UTF-8", "NO_COLOR="))
	require.Equal(t, 0, r.code, r.stderr)
	return r.stdout
}

// TestStackGoldens checks what users see of call stacks.
func TestStackGoldens(t *testing.T) {
	t.Parallel()
	dir := stackCapture(t)
	skip := []string{"--skip-asm", "--width", "100"}
	for _, c := range []struct {
		name  string
		flags []string
	}{
		{"stacks", skip},
		{"stacks-tree", append([]string{"--tree", "--callers", "1", "--sort", "total", "--by",
			"Server::handle,com.acme.Batch::step,no::such"}, skip...)},
		{"stacks-under", append([]string{"--under", "com.acme.Batch::step", "--tree=20%", "--show-counts", "raw", "--callers",
			"2"}, skip...)},
		{"stacks-narrow", []string{"--skip-asm", "--width", "60", "--ascii", "--tree"}},
		{"stacks-collapsed", []string{"--format", "collapsed"}},
		{"stacks-html", []string{"--format", "html"}},
		{"stacks-json", []string{"--format", "json", "--skip-asm", "--by", "Server::handle"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := reportOf(t, append(c.flags, dir)...)
			if !slices.Contains(c.flags, "--format") {
				width := 100
				if c.name == "stacks-narrow" {
					width = 60
				}
				checkWidth(t, strings.Split(text, "\n"), width)
			}
			gasmtest.GoldenGzip(t, "report/"+c.name+".gz", []byte(strings.ReplaceAll(ownParts.ReplaceAllString(text, "$1…$2"),
				dir, "DIR")))
		})
	}
}

// TestStackPprofGolden checks what pprof itself prints about the profile in pprof's format.
func TestStackPprofGolden(t *testing.T) {
	t.Parallel()
	p := readPprof(t, []byte(reportOf(t, "--format", "pprof", stackCapture(t))))
	p.TimeNanos = 0 // pprof prints it as a local time
	gasmtest.GoldenGzip(t, "report/stacks-pprof.gz", []byte(p.String()))
}

// TestStackTotals checks that all formats have the same samples: the account, the tree in JSON, the samples in
// pprof's format, and the collapsed stacks. Each path of JSON's tree must have as many samples of its own as the same
// path in the collapsed stacks.
func TestStackTotals(t *testing.T) {
	t.Parallel()
	dir := stackCapture(t)
	for _, flags := range [][]string{nil, {"--thread", "main"}, {"--under", "Users::find"}} {
		args := func(format string) []string { return append([]string{"--format", format, dir}, flags...) }
		p := readReport(t, []byte(reportOf(t, args("json")...))).Profiles[0]
		total := p.Account.Of("cycles").Profiled
		require.Positive(t, total)
		assert.Equal(t, total, p.Account.Of("cycles").StackWhole+p.Account.Of("cycles").StackCut+p.Account.Of("cycles").StackFrozen+p.Account.Of("cycles").StackUnwalked)

		wantPaths := map[string]int64{}
		paths := make([]string, len(p.Stacks.Nodes))
		sums := make([]int64, len(p.Stacks.Nodes))
		for i, n := range p.Stacks.Nodes {
			self := n.Self.Of("cycles")
			sums[i] += self + n.Omitted.Of("cycles")
			if n.Parent < 0 {
				continue
			}
			name := n.Name
			switch {
			case n.Kinds[0] == "unwalked":
				name = "[not walked]"
			case name == "" && n.Module != "":
				name = "[" + n.Module + "]"
			case name == "":
				name = "[" + n.Kinds[0] + "]"
			}
			paths[i] = strings.TrimPrefix(paths[n.Parent]+";"+strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(name, ";",
				":"), "\x1b", `\x1b`), "\n", `\n`), ";")
			if self > 0 {
				wantPaths[paths[i]] += self
			}
		}
		for i := len(sums) - 1; i > 0; i-- {
			sums[p.Stacks.Nodes[i].Parent] += sums[i]
			assert.Equal(t, sums[i], p.Stacks.Nodes[i].Counts.Of("cycles"), paths[i])
		}
		assert.Equal(t, total, sums[0])

		gotPaths, sum := map[string]int64{}, int64(0)
		for line := range strings.Lines(reportOf(t, args("collapsed")...)) {
			blank := strings.LastIndexByte(line, ' ')
			n, err := strconv.ParseInt(strings.TrimSpace(line[blank:]), 10, 64)
			require.NoError(t, err)
			gotPaths[line[:blank]] += n
			sum += n
		}
		assert.Equal(t, total, sum)
		assert.Equal(t, wantPaths, gotPaths)

		data := []byte(reportOf(t, args("pprof")...))
		profile := readPprof(t, data)
		pprofPaths := map[string]int64{}
		for _, s := range profile.Sample {
			path := s.Label["thread"][0]
			for i := len(s.Location) - 1; i >= 0; i-- {
				for k := len(s.Location[i].Line) - 1; k >= 0; k-- {
					name := s.Location[i].Line[k].Function.Name
					path += ";" + strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(name, ";", ":"), "\x1b", `\x1b`), "\n",
						`\n`)
				}
			}
			pprofPaths[path] += s.Value[0]
		}
		assert.Equal(t, wantPaths, pprofPaths)
		checkCodeCache(t, profile)

		text := reportOf(t, append([]string{dir, "--show-counts", "raw", "--tree=0.01%"}, flags...)...)
		if slices.Contains(flags, "--under") { // with --under, the tree begins with the method
			total := strconv.FormatInt(p.Account.Of("cycles").Profiled, 10)
			assert.Regexp(t, `(?m)^ *`+total+`  com.acme.Users::find:\d+$`, text)
			continue
		}
		for _, n := range p.Stacks.Nodes {
			if n.Parent == 0 { // a thread
				assert.Regexp(t, `(?m)^ *`+strconv.FormatInt(n.Counts.Of("cycles"), 10)+`  (- )?`+n.Name+` \[thread\]$`, text)
			}
		}
	}
}

// checkCodeCache checks that the code cache contains all of its addresses.
func checkCodeCache(t *testing.T, p *pprof.Profile) {
	t.Helper()
	for _, l := range p.Location {
		require.NotNil(t, l.Mapping)
		if m := l.Mapping; m.File == "[code cache]" {
			assert.True(t, m.Start <= l.Address && l.Address < m.Limit, "%#x in %#x to %#x", l.Address, m.Start, m.Limit)
		}
	}
}

// TestStackPprofTop checks that the totals of the real pprof are those of the report.
func TestStackPprofTop(t *testing.T) {
	t.Parallel()
	dir := stackCapture(t)
	file := filepath.Join(t.TempDir(), "out.pb.gz")
	reportOf(t, "--format", "pprof", "--report", file, dir)
	text := runPprof(t, "-top", "-nodecount=10000", "-nodefraction=0", "-edgefraction=0", file)
	total, _ := readTop(t, text)
	assert.EqualValues(t, 1000, total)
	for _, row := range []string{"  470 47.00%  com.acme.Server::handle\n",
		"  580 58.00%  java.util.HashMap::getNode (inline)\n", "  100 10.00%  com.acme.Fib::fib\n",
		"   40  4.00%  [not walked]\n"} {
		assert.Contains(t, text, row)
	}
	stacks := flameGraph(t, file)
	for _, want := range []string{"[frozen] < com.acme.Task::run < com.acme.Users::find < java.util.HashMap::get < java.util.HashMap::getNode (inlined)",
		"clone3 < start_thread < JavaCalls::call_helper < StubRoutines::call_stub < java.lang.Thread::run < com.acme.Server::handle < " +
			"com.acme.Router::route (inlined) < com.acme.Users::find < java.util.HashMap::get < java.util.HashMap::getNode (inlined)"} {
		assert.True(t, stacks[want], "no stack %s in %v", want, stacks)
	}
	raw := runPprof(t, "-raw", file)
	assert.Contains(t, raw, "com.acme.Router::route com/acme/Router.java:21:0 s=0()\n             com.acme.Server::handle com/acme/Server.java:40:0")
}

// TestDamagedStacks checks that if stacks are damaged, there is a report with those stacks that could be read.
func TestDamagedStacks(t *testing.T) {
	t.Parallel()
	dir := stackCapture(t)
	path := filepath.Join(dir, capture.StacksFile)
	text := readFile(t, path)
	half := append(bytes.Clone(text[:bytes.IndexByte(text[len(text)/2:], '\n')+len(text)/2+1]), "f nonsense\n"...)
	for _, c := range []struct {
		name, stacks, note string
	}{
		{"damaged", string(half), "could not be read"},
		{"empty", "", ""},
		{"another version", "gasm stacks 9\n", "not the first line of a file with stacks of this version of gasm"},
	} {
		require.NoError(t, os.WriteFile(path, []byte(c.stacks), 0o600))
		report := strings.Join(strings.Fields(reportOf(t, "--skip-asm", dir)), " ")
		assert.Contains(t, report, c.note, c.name)
		p := readReport(t, []byte(reportOf(t, "--format", "json", dir))).Profiles[0]
		a := p.Account.Of("cycles")
		assert.EqualValues(t, 1000, a.Profiled)
		assert.EqualValues(t, 1000, a.StackWhole+a.StackCut+a.StackFrozen+a.StackUnwalked)
	}
	require.NoError(t, os.Remove(path))
	report := reportOf(t, "--skip-asm", "--under", "HashMap::getNode", dir)
	assert.Contains(t, report, "stacks.txt is missing: the report has no call stacks")
	assert.NotContains(t, report, "by call stack")
}

// TestJoinedStacks checks that several captures that are read as one keep their own stacks.
func TestJoinedStacks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"a", "b", "c"} {
		part := filepath.Join(dir, name)
		require.NoError(t, os.Mkdir(part, 0o755))
		reporttest.WriteStacks(t, part)
	}
	one := readReport(t, []byte(reportOf(t, "--format", "json", filepath.Join(dir, "a")))).Profiles[0]
	all := readReport(t, []byte(reportOf(t, "--format", "json", dir))).Profiles[0]
	require.Len(t, all.PIDs, 3)
	require.Len(t, all.Stacks.Nodes, len(one.Stacks.Nodes))
	for i, n := range all.Stacks.Nodes {
		assert.Equal(t, one.Stacks.Nodes[i].Name, n.Name)
		assert.Equal(t, 3*one.Stacks.Nodes[i].Counts.Of("cycles"), n.Counts.Of("cycles"))
	}
	// One of the captures has no stacks.
	require.NoError(t, os.Remove(filepath.Join(dir, "b", capture.StacksFile)))
	text := reportOf(t, "--skip-asm", dir)
	assert.Contains(t, text, "stacks.txt is missing")
	assert.Contains(t, text, "Stacks:     62.00% whole, 0.67% cut, 1.33% frozen, 36.00% not walked")
}

// TestStackFlags checks that flags that make no sense are refused.
func TestStackFlags(t *testing.T) {
	t.Parallel()
	dir := stackCapture(t)
	for _, c := range []struct{ flag, value, says string }{
		{"--by", "A::b,", "--by: name a method"},
		{"--under", "A::*b", `--under: "A::*b" can have a * only in place of the method`},
		{"--callers", "-1", "--callers is -1"},
		{"--tree", "2", "--tree is 2"},
		{"--tree", "x", "a share"},
	} {
		r := runGasm(t, []string{"report", c.flag + "=" + c.value, dir})
		assert.Equal(t, 2, r.code, c.flag)
		assert.Contains(t, r.stderr, c.says)
	}
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"--stacks=maybe"}, `--stacks is "maybe"; it can be auto, on or off`},
		{[]string{"--stacks", "--sampler", "dtrace"}, "use --stacks auto or --stacks off"},
	} {
		r := runGasm(t, append(append([]string{"profile"}, c.args...), "--", "false"))
		assert.Equal(t, 2, r.code, "%q", c.args)
		assert.Contains(t, r.stderr, c.says)
	}
	r := runGasm(t, []string{"report", "--under", "no::such", "--format", "json", dir})
	assert.Equal(t, 1, r.code)
	assert.Contains(t, r.stderr, "no sample has the method among its frames (--under no::such)")
}

func TestJoinStacks(t *testing.T) {
	t.Parallel()
	check := func(args, want string) {
		t.Helper()
		assert.Equal(t, strings.Fields(want), joinStacks(strings.Fields(args)))
	}
	check("attach --stacks off 4711", "attach --stacks=off 4711")
	check("attach --stacks 4711", "attach --stacks 4711")
	check("profile --stacks -o x -- java --stacks on", "profile --stacks -o x -- java --stacks on")
	check("profile -o x --stacks auto", "profile -o x --stacks=auto")
	check("profile --stacks", "profile --stacks")
}

// TestDiffUnder checks that gasm diff can compare the samples below a method, in a thread, or in a window that is a
// method. For all of these it needs the call stacks in captures. From the samples in a JSON report, no choice is
// possible.
func TestDiffUnder(t *testing.T) {
	t.Parallel()
	dir := stackCapture(t)
	samples := func(flags ...string) int64 {
		t.Helper()
		r := runGasm(t, append(append([]string{"diff", "--format", "json"}, flags...), dir, dir))
		require.Equal(t, 0, r.code, r.stderr)
		var d struct {
			Trials []struct{ A, B struct{ Samples int64 } }
		}
		require.NoError(t, json.Unmarshal([]byte(r.stdout), &d), r.stdout)
		require.Len(t, d.Trials, 1)
		assert.Equal(t, d.Trials[0].A.Samples, d.Trials[0].B.Samples)
		return d.Trials[0].A.Samples
	}
	assert.EqualValues(t, 1000, samples())
	assert.EqualValues(t, 470, samples("--under", "Server::handle"))
	assert.EqualValues(t, 370, samples("--under", "Server::handle", "--thread", "http-1"))
	assert.EqualValues(t, 400, samples("--under", "Users::find", "--window-method", "com.acme.Server::handle"))
	assert.EqualValues(t, 150, samples("--under", "HashMap::*", "--thread", "main", "--window-method", "*.Batch::step"))

	file := filepath.Join(t.TempDir(), "report.json")
	reportOf(t, "--format", "json", "--report", file, dir)
	for _, flag := range []string{"--under", "--window-method"} {
		r := runGasm(t, []string{"diff", flag, "com.acme.Server::handle", dir, file})
		assert.Equal(t, 2, r.code)
		assert.Contains(t, r.stderr, flag+" is for captures, but "+file+" is a report, whose samples are fixed; 'gasm report --format json' has this flag too")
	}
}

// TestNothingChosenByStack checks that if no samples match, the error names the flag that has excluded the last ones.
func TestNothingChosenByStack(t *testing.T) {
	t.Parallel()
	dir := stackCapture(t)
	for _, c := range []struct {
		args, says string
	}{
		{"--thread nobody", "no sample is of a thread that is chosen (--thread nobody)"},
		{"--thread http --under Batch::step",
			"no sample has the method among its frames (--thread http --under Batch::step); 470 have not"},
		{"--thread http --window-method com.acme.Batch::step",
			"no sample is of a thread that was in the method (--thread http --window-method com.acme.Batch::step); 470 are of threads that were not"},
		{"--window-method com.acme.Batch::step --under Server::handle",
			"no sample has the method among its frames (--window-method com.acme.Batch::step --under Server::handle); 190 have not"},
		{"--window-method Batch::step",
			"no sample is of a thread that was in the method (--window-method Batch::step); 1000 are of threads that were not"},
	} {
		r := runGasm(t, append(append([]string{"report", "--format", "json"}, strings.Fields(c.args)...), dir))
		assert.Equal(t, 1, r.code, c.args)
		assert.Contains(t, r.stderr, c.says)
	}
}
