package main

import (
	"archive/zip"
	"encoding/json"
	"fmt"
	"html"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// sourceTexts reads all files in folders and archives. The keys of the result are the files' names without folders.
func sourceTexts(t *testing.T, roots ...string) map[string][]string {
	t.Helper()
	texts := map[string][]string{}
	read := func(root fs.FS) {
		require.NoError(t, fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				var text []byte
				text, err = fs.ReadFile(root, name)
				texts[path.Base(name)] = append(texts[path.Base(name)], string(text))
			}
			return err
		}))
	}
	for _, root := range roots {
		if info, err := os.Stat(root); err == nil && info.IsDir() {
			read(os.DirFS(root))
			continue
		}
		archive, err := zip.OpenReader(root)
		require.NoError(t, err)
		defer archive.Close()
		read(archive)
	}
	require.NotEmpty(t, texts)
	return texts
}

// A linesRow is a row of the table of the hottest lines.
type linesRow struct {
	share        float64
	method, file string
	line         int
	text         string
}

var linesRowForm = regexp.MustCompile(`^ *(\d+\.\d+)%(?: +±\d+\.\d+)? +(\S+) \(([^():]+):(\d+)\) +(.*?) *$`)

// linesTable returns those rows of the table of the hottest lines that name a file.
func linesTable(t *testing.T, report string) (rows []linesRow) {
	t.Helper()
	_, table, ok := strings.Cut(report, "....[Hottest Lines")
	require.True(t, ok, report)
	table, _, _ = strings.Cut(table, "\n\n")
	for line := range strings.Lines(table) {
		if m := linesRowForm.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil {
			share, err := strconv.ParseFloat(m[1], 64)
			require.NoError(t, err)
			number, err := strconv.Atoi(m[4])
			require.NoError(t, err)
			rows = append(rows, linesRow{share, m[2], m[3], number, m[5]})
		}
	}
	return rows
}

// A languageProgram is a program of testdata/languages, with its hot lines: one line of its own, and one of a library
// whose code was inlined into it.
type languageProgram struct {
	language, main, class, file             string
	library                                 string // of its sources
	libraryMethod, libraryFile, libraryText string
}

var languagePrograms = []languageProgram{
	{"scala", "org.acme.heat.ScalaSums", "org.acme.heat.ScalaSums$", "Heat.scala",
		"scala-library-*", "scala.collection.immutable.Range::foreach$mVc$sp", "Range.scala", "if (i == lastElement) return"},
	{"kotlin", "org.acme.heat.KotlinSums", "org.acme.heat.KotlinSums", "Sums.kt",
		"kotlin-stdlib-2*", "org.acme.heat.KotlinSums::small", "_Arrays.kt", "if (predicate(element)) ++count"},
}

// TestLanguages checks lines of Scala and Kotlin, in programs and in their libraries. The files' names come from the
// JVM's memory or, if HotSpot prints the code, from the class files.
func TestLanguages(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	project := gasmtest.NeedLanguages(t)
	require.NotEmpty(t, languagePrograms)
	for _, p := range languagePrograms {
		library, err := filepath.Glob(filepath.Join(project, "target", "sources", p.library))
		require.NoError(t, err)
		require.Len(t, library, 1)
		roots := []string{filepath.Join(project, "src", "main", p.language), library[0]}
		texts := sourceTexts(t, roots...)
		run := func(jdk gasmtest.JDK, code string) {
			t.Run(fmt.Sprint(p.language, " ", jdk.Name(), " ", code), func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "capture")
				classPath := filepath.Join(project, "target", "classes") + ":" + filepath.Join(project, "target", "lib", "*")
				r := runGasm(t, []string{"profile", "-o", dir, "--code", code, "--source", strings.Join(roots, ":"), "--",
					jdk.Java(), "-cp", classPath, p.main, "3000"})
				require.Equal(t, 0, r.code, r.stderr)
				p.check(t, linesTable(t, r.stdout), texts)
				if code == "copy" {
					assert.Equal(t, p.file, jsonFiles(t, dir)[p.class])
				}
				if code == "copy" && jdk.Feature == 17 {
					p.checkPage(t, dir, roots, linesTable(t, r.stdout))
				}
			})
		}
		run(gasmtest.NeedJDKs(t, gasmtest.WholeJDK17)[0], "print")
		// In JDK 11, the file's name is in another place in the JVM's memory. The differences between languages do
		// not depend on the JDK.
		for _, jdk := range gasmtest.NeedJDKs(t, func(j gasmtest.JDK) bool {
			return j.Feature == 17 || p.language == "kotlin" && (j.Feature == 11 || j.Feature >= 28)
		}) {
			run(jdk, "copy")
		}
	}
}

// TestLanguageGoldens checks reports of a Scala program and of a Kotlin program. They must show the hot lines of the
// program and of its libraries, and each line must be in the file that the report names.
func TestLanguageGoldens(t *testing.T) {
	t.Parallel()
	project := gasmtest.NeedLanguages(t)
	for _, p := range languagePrograms {
		t.Run(p.language, func(t *testing.T) {
			t.Parallel()
			dir := gasmtest.UnpackFolder(t, p.language)
			// Kotlin's class files say where inlined code comes from. This machine may have them in another folder
			// than the machine of the capture.
			logs, err := filepath.Glob(filepath.Join(dir, "asm-*.log"))
			require.NoError(t, err)
			require.Len(t, logs, 1)
			text := strings.ReplaceAll(string(readFile(t, logs[0])), "=/languages/target/classes:/languages/",
				"="+project+"/target/classes:"+project+"/")
			require.NoError(t, os.WriteFile(logs[0], []byte(text), 0o600))

			library, err := filepath.Glob(filepath.Join(project, "target", "sources", p.library))
			require.NoError(t, err)
			require.Len(t, library, 1)
			roots := []string{filepath.Join(project, "src", "main", p.language), library[0]}
			noJDK := filepath.Join(t.TempDir(), "src.zip") // instead of a src.zip of this machine
			require.NoError(t, os.WriteFile(noJDK, []byte("PK\x05\x06"+strings.Repeat("\x00", 18)), 0o600))
			run := func(flags ...string) string {
				flags = append(flags, "--source", strings.Join(append(roots, noJDK), ":"), dir)
				r := runGasm(t, append([]string{"report"}, flags...), withEnv("LC_ALL=C.UTF-8"))
				require.Equal(t, 0, r.code, r.stderr)
				return r.stdout
			}
			p.check(t, linesTable(t, run("--skip-asm")), sourceTexts(t, roots...))
			report := run("--width", "100")
			checkWidth(t, strings.Split(report, "\n"), 100)
			gasmtest.GoldenGzip(t, "report/language-"+p.language+".gz", []byte(report))
		})
	}
}

// check compares the table of the hottest lines with the sources and with the lines that are hot.
func (p *languageProgram) check(t *testing.T, rows []linesRow, texts map[string][]string) {
	t.Helper()
	own, inlined := 0.0, 0.0
	for _, row := range rows {
		switch {
		case row.file == p.file && strings.Contains(row.text, "// hot: the program's line"):
			own += row.share
		case row.file == p.libraryFile && row.method == p.libraryMethod && strings.Contains(row.text, p.libraryText):
			inlined += row.share
		}
		checkLine(t, texts, row)
	}
	// In each iteration, most instructions belong to one line of the program, and the others to the loop in the
	// library. The remaining samples are from the JVM's start and from the compilers.
	assert.Greater(t, own, 10.0, "%+v", rows)
	assert.Greater(t, inlined, 1.0, "%+v", rows)
}

// checkPage looks for the library's lines of the table in the HTML page. Each must be a line of the library's file
// there, whatever line number the class file has for it.
func (p *languageProgram) checkPage(t *testing.T, dir string, roots []string, rows []linesRow) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "page.html")
	r := runGasm(t, []string{"report", "--format", "html", "--report", file, "--source", strings.Join(roots, ":"), dir})
	require.Equal(t, 0, r.code, r.stderr)
	page := string(readFile(t, file))
	_, rest, _ := strings.Cut(page, `<script type="application/json" id="data">`)
	text, _, _ := strings.Cut(rest, "</script>")
	var data struct {
		Files []struct {
			Name    string
			Methods []string
		}
		Moved map[string]map[int][2]int
	}
	require.NoError(t, json.Unmarshal([]byte(text), &data))
	found := 0
	for _, row := range rows {
		if row.file != p.libraryFile || row.method != p.libraryMethod {
			continue
		}
		number := -1
		for i, f := range data.Files {
			if path.Base(f.Name) == row.file {
				number = i
			}
		}
		require.GreaterOrEqual(t, number, 0, row.file)
		own := slices.Contains(data.Files[number].Methods, row.method)
		moved := slices.Contains(slices.Collect(maps.Values(data.Moved[row.method])), [2]int{number, row.line})
		assert.True(t, own || moved, "%+v is not in %v", row, data.Moved)
		assert.Equal(t, p.language == "kotlin", moved, "only Kotlin numbers lines anew")
		_, source, _ := strings.Cut(page, fmt.Sprintf(`<div class="file" id="s%d"`, number))
		_, line, ok := strings.Cut(source, fmt.Sprintf(`data-l="%d"><b></b><u>%d</u> `, row.line, row.line))
		require.True(t, ok, "line %d of %s", row.line, row.file)
		line, _, _ = strings.Cut(line, "</div>")
		assert.True(t, strings.HasPrefix(strings.TrimSpace(html.UnescapeString(line)), strings.TrimRight(row.text, "….")),
			"%q is not %q", line, row.text)
		found++
	}
	assert.Positive(t, found)
}

// jsonFiles returns the files that the JSON report of a capture names for classes.
func jsonFiles(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, f := range jsonReport(t, dir).Profiles[0].Frames {
		class, _, _ := strings.Cut(f.Method, "::")
		files[class] = f.File
	}
	return files
}

// checkLine compares the text in a row with the line of the file that the row names.
func checkLine(t *testing.T, texts map[string][]string, row linesRow) {
	t.Helper()
	if row.text == "" {
		return // the source of this line was not found
	}
	var there []string
	for _, text := range texts[row.file] {
		if lines := strings.Split(text, "\n"); row.line <= len(lines) {
			there = append(there, strings.TrimSpace(lines[row.line-1]))
		}
	}
	shown := strings.TrimRight(row.text, "….")
	for _, line := range there {
		if strings.HasPrefix(strings.ReplaceAll(line, "\t", "    "), shown) {
			return
		}
	}
	t.Errorf("%s:%d is %q, and the report has %q", row.file, row.line, there, row.text)
}
