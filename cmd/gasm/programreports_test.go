package main

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// TestProgramReports checks reports of programs that are not benchmarks, on a terminal of 100 columns. The first 60
// lines must have what a user wants to know first.
func TestProgramReports(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, capture string
		flags         []string
		first         []string // expressions that must match lines among the first 60
	}{
		{"spread", "spread", nil, []string{
			`^Time in:    87\.57% c2, level 4; 8\.08% stub; `,
			`^Hottest:    24\.16%  c2, level 4  java\.util\.regex\.Matcher::match, region 1$`,
			`^By line:    6\.45%  java\.util\.regex\.Matcher::<init>  :250 2\.4%, :251 2\.2%$`,
			`^             6\.26%  c2, level 4  java\.util\.TimSort::binarySort, region 3$`,
			`^ No region is that hot\. These are the hottest ones whose code is known\.$`,
			`^c2, level 4, java\.util\.regex\.Matcher::match, compile id 251$`,
			`;; java\.util\.regex\.Pattern\$GroupTail::match in$`,
			`;\*getfield groups :1785$`,
		}},
		{"sort", "sort", nil, []string{
			`^Time in:    60\.14% libsimdsort\.so; `,
			`^Threads:    92\.91% application; 6\.89% JIT compilers$`,
			`^Hottest:    44\.78%    libsimdsort\.so  partition_avx512_unrolle…avx2_vector<int>, 2, int>, region 1$`,
			`^libsimdsort\.so, partition_avx512_unrolled<avx2_vector<int>, 2, int>$`,
			`^    \(native code, which is not in HotSpot's log\)$`,
			`^c2, level 4, osr, Sort::main, compile id \d+$`,
			`;\*invokevirtual clone$`,
		}},
		{"huge", "huge", []string{"--merge-methods"}, []string{
			`^Hottest:    88\.86%  c2, level 4  Huge::huge, region 1$`,
			`^By line:    56\.72%  Huge::mix   :7 56\.7%$`,
			`^note: Huge::huge has \d+ instructions in this region: the \d+ around the hottest ones are shown,$`,
			`\(--too-big-threshold \d+ shows all\)$`,
			`… \d+ instructions with \d+\.\d\d%$`,
			`;; Huge::mix4 in Huge::mix20:11 in Huge::huge:\d+$`,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := runGasm(t, append(append([]string{"report", "--width", "100"}, c.flags...),
				gasmtest.UnpackFolder(t, c.capture)), withEnv("LC_ALL=C.UTF-8"))
			require.Equal(t, 0, r.code, r.stderr)
			lines := strings.Split(r.stdout, "\n")
			for _, want := range c.first {
				assert.Regexp(t, `(?m)`+want, strings.Join(lines[:60], "\n"))
			}
			checkWidth(t, lines, 100)
			gasmtest.GoldenGzip(t, "report/program-"+c.name+".gz", []byte(r.stdout))
		})
	}
}

// TestWidths checks that no line is wider than the terminal, even if it is narrow, and with sources, too.
func TestWidths(t *testing.T) {
	t.Parallel()
	var inputs [][]string
	for _, name := range []string{"jdk8-full-hsdis", "jdk11-lean-none", "jdk17-lean-none-dtrace", "jdk25-full-hsdis"} {
		samples, log := savedCapture(t, name)
		inputs = append(inputs, []string{samples, log})
	}
	inputs = append(inputs, []string{gasmtest.UnpackFolder(t, "spread")}, []string{gasmtest.UnpackFolder(t, "sort")})
	for _, input := range inputs {
		for _, width := range []int{80, 100, 130} {
			args := []string{"report", "--hot-threshold", "1%", "--source", gasmtest.Testdata("captures"), "--width",
				strconv.Itoa(width)}
			r := runGasm(t, append(args, input...), withEnv("LC_ALL=C.UTF-8"))
			require.Equal(t, 0, r.code, r.stderr)
			checkWidth(t, strings.Split(r.stdout, "\n"), width)
		}
	}
}

// instructionRow matches an instruction without a comment.
var instructionRow = regexp.MustCompile(` 0x[0-9a-f]{12}:   [^;]*$`)

// checkWidth checks that lines are longer than width only if their operands are long.
func checkWidth(t *testing.T, lines []string, width int) {
	t.Helper()
	for _, line := range lines {
		if n := utf8.RuneCountInString(line); n > width && !instructionRow.MatchString(line) {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

// listings returns the annotated code of each region, and the headings of the regions, which are its keys.
func listings(report string) (headings []string, code map[string][]string) {
	code = map[string][]string{}
	parts := regexp.MustCompile(`(?m)^\.{4}\[Hottest Region (\d+)\]\.+$`).Split(report, -1)
	for i, part := range parts[1:] {
		part, _, _ = strings.Cut(part, "\n....")
		lines := strings.Split(strings.TrimPrefix(part, "\n"), "\n")
		heading := strconv.Itoa(i+1) + " " + lines[0]
		headings = append(headings, heading)
		code[heading] = lines[2:]
	}
	return headings, code
}

// chainDepth returns the number of frames in the longest chain of inlined calls in a full listing.
func chainDepth(full []string) (most int) {
	frame, n := regexp.MustCompile(`; - \S.*@-?\d+( \(line \d+\))?$`), 0
	for _, line := range full {
		if !frame.MatchString(line) {
			n = 0
			continue
		}
		n++
		most = max(most, n)
	}
	return most
}

// TestFoldedComments checks that folded comments take at most half as many lines as full ones if chains are long, and
// that no instruction is left out. Without comments, only the instructions remain.
func TestFoldedComments(t *testing.T) {
	t.Parallel()
	dir := gasmtest.UnpackFolder(t, "spread")
	run := func(comments string) ([]string, map[string][]string) {
		r := runGasm(t, []string{"report", "--width", "100", "--regions", "1", "--hot-threshold", "0.1%", "--comments",
			comments, dir}, withEnv("LC_ALL=C.UTF-8"))
		require.Equal(t, 0, r.code, r.stderr)
		if comments == "folded" {
			checkWidth(t, strings.Split(r.stdout, "\n"), 100)
		}
		return listings(r.stdout)
	}
	headings, full := run("full")
	_, folded := run("folded")
	_, none := run("none")
	require.Greater(t, len(headings), 20)
	address := regexp.MustCompile(`^(.{8})  .*? 0x0*([0-9a-f]+):   ([^;]*)`)
	instructions := func(lines []string) (found []string) {
		for _, line := range lines {
			if m := address.FindStringSubmatch(line); m != nil {
				text, _, _ := strings.Cut(strings.TrimSpace(m[3]), "  {") // the name of the called function
				found = append(found, m[1]+m[2]+" "+text)
			}
		}
		return found
	}
	deep := 0
	for _, h := range headings {
		require.Equal(t, instructions(full[h]), instructions(folded[h]), h)
		assert.NotContains(t, strings.Join(none[h], "\n"), ";", h)
		assert.GreaterOrEqual(t, len(folded[h]), len(none[h]), h)
		if depth := chainDepth(full[h]); depth >= 15 {
			if deep++; deep == 1 { // the hottest one
				t.Logf("%s: chains of %d, full %d lines, folded %d, none %d", h, depth, len(full[h]), len(folded[h]), len(none[h]))
				assert.LessOrEqual(t, 2*len(folded[h]), len(full[h]), h)
			}
		}
	}
	assert.Positive(t, deep, "no region has chains of 15 frames")
}

// TestSort checks that frames are sorted as --sort says, and that a name is the same in all tables.
func TestSort(t *testing.T) {
	t.Parallel()
	dir := gasmtest.UnpackFolder(t, "spread")
	row := regexp.MustCompile(`(?m)^ *(\d+\.\d\d)%?(?: +±\d+\.\d+)? +(\d+\.\d\d)% +(\S+::\S+) `)
	for sort, column := range map[string]int{"self": 1, "total": 2} {
		r := runGasm(t, []string{"report", "--width", "100", "--skip-asm", "--sort", sort, dir}, withEnv("LC_ALL=C.UTF-8"))
		require.Equal(t, 0, r.code, r.stderr)
		_, table, ok := strings.Cut(r.stdout, "....[Hottest Frames (inlining undone, by "+sort+")]")
		require.True(t, ok)
		table, _, _ = strings.Cut(table, "\n....")
		rows := row.FindAllStringSubmatch(table, -1)
		require.Greater(t, len(rows), 15)
		last := 100.0
		for _, m := range rows {
			n, err := strconv.ParseFloat(m[column], 64)
			require.NoError(t, err)
			assert.LessOrEqual(t, n, last, m[0])
			last = n
		}
		for _, name := range []string{"HashMap::merge", "TimSort::binarySort"} { // in both tables
			forms := regexp.MustCompile(`\S*`+name).FindAllString(r.stdout, -1)
			require.Greater(t, len(forms), 1, name)
			for _, form := range forms {
				assert.Equal(t, forms[0], strings.TrimSuffix(form, ","))
			}
		}
	}
}

func TestWidthFlag(t *testing.T) {
	t.Parallel()
	dir := gasmtest.UnpackFolder(t, "spread")
	const whole = "java.util.regex.Pattern$BmpCharPropertyGreedy::match"
	for _, c := range []struct {
		name  string
		flags []string
		env   string
		width int // 0 for whole names
	}{
		{"a file", nil, "COLUMNS=", 0},
		{"COLUMNS", nil, "COLUMNS=90", 90},
		{"COLUMNS makes no sense", nil, "COLUMNS=wide", 0},
		{"flag", []string{"--width", "80"}, "COLUMNS=90", 80},
	} {
		r := runGasm(t, append(append([]string{"report"}, c.flags...), dir), withEnv("LC_ALL=C.UTF-8", c.env))
		require.Equal(t, 0, r.code, r.stderr)
		_, tables, _ := strings.Cut(r.stdout, "[Hottest Regions]")
		assert.Equal(t, c.width == 0, strings.Contains(tables, whole), c.name)
		if c.width > 0 {
			checkWidth(t, strings.Split(r.stdout, "\n"), c.width)
			assert.Contains(t, r.stdout, "\n"+strings.Repeat(".", c.width)+"\n", c.name)
		}
	}
}

func TestFlagErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, c := range []struct{ args, want string }{
		{"--top many", `report: --top is "many"; it is a whole number`},
		{"--hot-threshold much", `report: --hot-threshold is "much"; it is a share such as 0.05 or 5%`},
		{"--hot-threshold 150%", "--hot-threshold is 1.5; it is a share from 0 to 1"},
		{"--ops x", `report: --ops is "x"; it is a number`},
		{"--merge-methods=perhaps", `report: --merge-methods is "perhaps"; it is true or false`},
		{"--width 12", "--width is 12; it is a number of columns from 40 to 10000"},
		{"--comments some", `--comments is "some"; it can be folded, full or none`},
		{"--sort name", `--sort is "name"; it can be self or total`},
		{"--regions -1", "--regions is -1; it can't be negative"},
		{"--top", "report: --top needs a value: --top NUMBER"},
		{"--no-such", "unknown flag: --no-such"},
	} {
		r := runGasm(t, append([]string{"report", dir}, strings.Fields(c.args)...))
		assert.Equal(t, 2, r.code, c.args)
		assert.Contains(t, r.stderr, c.want, c.args)
		assert.NotContains(t, r.stderr, "strconv", c.args)
	}
	r := runGasm(t, []string{"profile", "--delay", "soon", "--", "java"})
	assert.Equal(t, 2, r.code)
	assert.Contains(t, r.stderr, `profile: --delay is "soon"; it is a time such as 500ms, 10s or 2m`)
}

// TestHottestLines checks that the table of lines has the same sums as the JSON report, and shows the text of each
// line.
func TestHottestLines(t *testing.T) {
	t.Parallel()
	dir := gasmtest.UnpackFolder(t, "spread")
	flags := []string{"report", "--skip-asm", "--top", "0", "--show-counts", "raw", "--source",
		gasmtest.Testdata("captures"), dir}
	text := runGasm(t, flags, withEnv("LC_ALL=C.UTF-8"))
	require.Equal(t, 0, text.code, text.stderr)
	r := runGasm(t, append([]string{"report", "--format", "json"}, flags[1:]...))
	require.Equal(t, 0, r.code, r.stderr)
	want := map[string]int64{}
	for _, f := range readReport(t, []byte(r.stdout)).Profiles[0].Frames {
		for _, l := range f.Lines {
			if n := l.Counts.Of("cpu-clock"); l.Line > 0 && n > 0 {
				want[f.Method+":"+strconv.Itoa(l.Line)] = n
			}
		}
	}
	_, table, ok := strings.Cut(text.stdout, "....[Hottest Lines (inlining undone)]")
	require.True(t, ok)
	table, _, _ = strings.Cut(table, "\n....")
	got, last := map[string]int64{}, int64(1<<62)
	for _, m := range regexp.MustCompile(`(?m)^ +(\d+)  (\S+::\S+:\d+)`).FindAllStringSubmatch(table, -1) {
		n, err := strconv.ParseInt(m[1], 10, 64)
		require.NoError(t, err)
		got[m[2]] = n
		assert.LessOrEqual(t, n, last)
		last = n
	}
	assert.Greater(t, len(want), 100)
	assert.Equal(t, want, got)
	assert.Regexp(t, `(?m)^ +\d+  Spread::counts:43 +for \(Item i : items\) counts\.merge\(i\.name\(\), i\.weight\(\), Integer::sum\);$`, table)
}
