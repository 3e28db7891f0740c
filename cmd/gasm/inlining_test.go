package main

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/callsites"
	"github.com/gasm-profiler/gasm/profile/choice"
	"github.com/gasm-profiler/gasm/profile/decisions"
	"github.com/gasm-profiler/gasm/report/schema"
)

// TestInlined: the calls of a program that knows what C2 makes of them.
func TestInlined(t *testing.T) {
	gasmtest.NeedNative(t)
	classPath := programs8(t, "Inlined")
	for _, j := range gasmtest.NeedJDKs(t, withLog) {
		t.Run(j.Name(), func(t *testing.T) {
			t.Parallel()
			p, log, dir := profileInlining(t, j, "-Xbatch", "-Dsec=2", "-cp", classPath, "Inlined")
			found := map[string]string{}
			for i := range p.Calls.Sites {
				s := &p.Calls.Sites[i]
				_, name, ok := strings.Cut(s.Call.Callee, "::")
				if !ok {
					name = s.Call.Callee
				}
				if f := s.Frames[0].Method; f == "Inlined::work" || f == "Inlined::recursive" {
					found[name] = s.Reason()
				}
			}
			assert.Equal(t, "hot method too big: 398 bytecodes, FreqInlineSize 325", found["big"])
			assert.Regexp(t, `^recursive inlining (is )?too deep: MaxRecursiveInlineLevel 1$`, found["recursive"])
			assert.Equal(t, "native method", found["freeMemory"])
			assert.Regexp(t,
				`^interface call: receivers while profiled: Inlined\$(Circle|Square|Triangle) 33 %, Inlined\$(Circle|Square|Triangle) 33 %, others 33 %$`, found["area"])
			assert.NotContains(t, found, "small")
			assert.NotContains(t, found, "legs")
			assert.GreaterOrEqual(t, checkDecisions(t, p.Calls, log), 4)
			if j.IsDefault() {
				checkReports(t, dir)
			}
		})
	}
}

// TestInliningOfApplications compares the decisions about the calls of large programs with HotSpot's log of the same
// compilations. It takes minutes. The programs run until they have done some work, however long that takes: within some
// seconds of a busy machine C2 may compile next to nothing, and then there is nothing to compare.
func TestInliningOfApplications(t *testing.T) {
	gasmtest.NeedNative(t)
	if !gasmtest.Long() {
		t.Skip("it takes minutes: -long")
	}
	lib := gasmtest.Testdata("applications", "target", "lib", "*")
	ruby := gasmtest.Testdata("applications", "src", "main", "ruby", "work.rb")
	for _, j := range gasmtest.NeedJDKs(t, func(j gasmtest.JDK) bool { return j.Feature == 17 || j.Feature == 25 }) {
		for name, args := range map[string][]string{
			"JRuby": {"-cp", lib, "org.jruby.Main", "-e", "main = java.lang.Thread.currentThread.getId; " +
				"threads = java.lang.management.ManagementFactory.getThreadMXBean; " +
				"Thread.new { sleep 1 until threads.getThreadCpuTime(main) > 30e9; java.lang.System.exit(0) }; load '" + ruby + "'"},
			"H2":    {"-Dsec=1", "-Drounds=300", "-cp", javaPrograms(t) + ":" + lib, "Database"},
			"javac": {"-Dclasses=200", "-cp", programsOf(t, 17, "Compile", "MemoryFile", "MemoryFiles"), "Compile"},
		} {
			t.Run(j.Name()+" "+name, func(t *testing.T) {
				p, log, _ := profileInlining(t, j, args...)
				calls := p.Calls.Calls()
				known := calls - p.Calls.Outcomes[decisions.Unknown]
				t.Logf("%d of %d calls have a decision: %d inlined, %v; %d of %d pieces were early", known, calls, p.Calls.Inlined,
					p.Calls.Outcomes, p.Calls.Early, p.Calls.Pieces)
				assert.GreaterOrEqual(t, float64(known), 0.95*float64(calls))
				same := checkDecisions(t, p.Calls, log)
				t.Logf("%d decisions equal HotSpot's log", same)
				assert.GreaterOrEqual(t, same, 10, "too few calls that were not inlined to compare")
			})
		}
	}
}

// programsOf compiles classes of testdata so that JDKs of the given release or newer run them.
func programsOf(t *testing.T, release int, classes ...string) string {
	t.Helper()
	var files []string
	for _, class := range classes {
		files = append(files, gasmtest.Testdata("programs", class+".java"))
	}
	dir := t.TempDir()
	gasmtest.CompileJava(t, dir, release, files...)
	return dir
}

// profileInlining profiles a program with the compilers' decisions, and has HotSpot log its compilations. It returns
// the profile, the log, and the capture's folder.
func profileInlining(t *testing.T, j gasmtest.JDK, args ...string) (p *profile.Profile, found inliningLog, dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "capture")
	log := filepath.Join(t.TempDir(), "compilations.log")
	r := runGasm(t, slices.Concat([]string{"profile", "--events", "inlining", "-o", dir, "--format", "json", "--report",
		os.DevNull, "--",
		j.Java(), "-XX:+UnlockDiagnosticVMOptions", "-XX:+LogCompilation", "-XX:LogFile=" + log}, args))
	require.Equal(t, 0, r.code, r.stderr)
	c, err := capture.Open(dir)
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	ps, err := profile.Of(c, choice.Options{Stacks: true, Locations: true, HotThreshold: 0.1})
	require.NoError(t, err)
	require.NotNil(t, ps.Trials[0].Calls, ps.Capture.Notes)
	return &ps.Trials[0], readInliningLog(t, log), dir
}

// checkDecisions compares what is said about calls with the log, and returns how many are the same.
func checkDecisions(t *testing.T, calls *callsites.Table, log inliningLog) (same int) {
	t.Helper()
	for i := range calls.Sites {
		s := &calls.Sites[i]
		var path []string
		for _, f := range slices.Backward(s.Frames) {
			path = append(path, step(f.Method, f.BCI))
		}
		at := logged{s.CompileID, strings.Join(path, " ")}
		said := log[at]
		ok := false
		switch s.Outcome {
		case decisions.Refused:
			ok = slices.ContainsFunc(said, func(r string) bool {
				return slices.Contains(s.Reasons, r) ||
					notConstant.MatchString(r)
			})
		case decisions.Virtual:
			ok = len(said) == 0 || slices.Contains(said, "virtual call") || len(s.Inlined) > 0
		case decisions.Rest, decisions.Reversed:
			ok = slices.ContainsFunc(said, func(r string) bool { return strings.HasPrefix(r, "+") })
		}
		if assert.True(t, ok, "%s in %v: %s; the log says %q", s.Call.Callee, at, s.Reason(), said) {
			same++
		}
	}
	return same
}

// notConstant recognizes what C2 says of a call by a method handle.
var notConstant = regexp.MustCompile(`^(receiver|MemberName) not constant$`)

// inliningLog has what HotSpot's log says about calls: reasons against inlining, and those for it with a "+".
type inliningLog map[logged][]string

// A logged is a call: a compilation, and the methods with the bcis of their calls, the outermost first.
type logged struct {
	compileID int
	path      string
}

// step returns the text for a method and the bci of a call in it.
func step(method string, bci int) string {
	return hiddenAddress.ReplaceAllString(method, "") + "@" + strconv.Itoa(bci)
}

var hiddenAddress = regexp.MustCompile(`[/+.]0x[0-9a-f]+`)

// readInliningLog reads the log that -XX:+LogCompilation has written. It takes the lines one by one, because the log is
// not always well-formed as a whole.
func readInliningLog(t *testing.T, path string) inliningLog {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	r := logReader{found: inliningLog{}}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		r.line(strings.TrimSpace(lines.Text()))
	}
	require.NoError(t, lines.Err())
	require.NotEmpty(t, r.found)
	return r.found
}

// A logReader reads the lines of a log.
type logReader struct {
	found   inliningLog
	id      int
	klasses map[string]string
	methods map[string]string
	parses  []parsed
	late    []parsed // the callers of a call that is inlined late, the innermost first
	outer   int      // how many of parses are such callers
}

// A parsed is a method that is being parsed, and the bci that the parser is at.
type parsed struct {
	method string
	bci    int
}

func (r *logReader) line(line string) {
	var e struct {
		XMLName xml.Name
		Attrs   []xml.Attr `xml:",any,attr"`
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(line, "<"), " ")
	switch {
	case line == "</parse>" && len(r.parses) > 0:
		if r.parses = r.parses[:len(r.parses)-1]; len(r.parses) == r.outer {
			r.parses, r.outer = nil, 0
		}
		return
	case !strings.HasPrefix(line, "<") || !slices.Contains([]string{"task", "klass", "method", "parse", "bc",
		"inline_fail", "inline_success", "late_inline", "jvms"}, name):
		return
	}
	text := line
	if !strings.HasSuffix(text, "/>") {
		text += "</" + name + ">"
	}
	if xml.Unmarshal([]byte(text), &e) != nil {
		return
	}
	attr := map[string]string{}
	for _, a := range e.Attrs {
		attr[a.Name.Local] = a.Value
	}
	bci, _ := strconv.Atoi(attr["bci"])
	switch name {
	case "task":
		r.id, _ = strconv.Atoi(attr["compile_id"])
		r.klasses, r.methods, r.parses, r.late, r.outer = map[string]string{}, map[string]string{}, nil, nil, 0
	case "klass":
		r.klasses[attr["id"]] = strings.ReplaceAll(attr["name"], "/", ".")
	case "method":
		r.methods[attr["id"]] = r.klasses[attr["holder"]] + "::" + attr["name"]
	case "late_inline":
		r.late = []parsed{}
	case "jvms":
		if r.late != nil {
			r.late = append(r.late, parsed{r.methods[attr["method"]], bci})
		}
	case "parse":
		if r.late != nil && len(r.parses) == 0 {
			for _, p := range slices.Backward(r.late) {
				r.parses = append(r.parses, p)
			}
			r.outer = len(r.parses)
		}
		r.late = nil
		r.parses = append(r.parses, parsed{r.methods[attr["method"]], 0})
	case "bc":
		if n := len(r.parses); n > 0 {
			r.parses[n-1].bci = bci
		}
	case "inline_fail", "inline_success":
		reason := attr["reason"]
		if name == "inline_success" {
			reason = "+" + reason
		}
		var path []string
		for _, p := range r.parses {
			path = append(path, step(p.method, p.bci))
		}
		at := logged{r.id, strings.Join(path, " ")}
		r.found[at] = append(r.found[at], reason)
	}
}

// checkReports checks that the calls are in the JSON report, the page and the text.
func checkReports(t *testing.T, dir string) {
	t.Helper()
	const reason = "hot method too big: 398 bytecodes, FreqInlineSize 325"
	text := runGasm(t, []string{"report", dir})
	assert.Contains(t, text.stdout, "Calls Not Inlined in Hot Code")
	assert.Contains(t, text.stdout, reason)
	p := &jsonReport(t, dir).Profiles[0]
	require.NotNil(t, p.Calls)
	at := slices.IndexFunc(p.Calls.NotInlined, func(c schema.Call) bool { return c.Callee == "Inlined::big" })
	require.GreaterOrEqual(t, at, 0, fmt.Sprint(p.Calls))
	c := &p.Calls.NotInlined[at]
	assert.Equal(t, "refused", c.Outcome)
	assert.Equal(t, 398, c.CalleeSize)
	assert.Positive(t, c.CalleeCounts.Values[0], "samples in big")
	page := runGasm(t, []string{"report", "--format", "html", dir})
	assert.Contains(t, page.stdout, "Calls not inlined in hot code")
	assert.Contains(t, page.stdout, "not inlined: "+reason)
}
