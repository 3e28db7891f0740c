package main

import (
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/report/schema"
)

// printing matches functions that print code: functions of HotSpot, and functions of libc that HotSpot calls for it.
var printing = regexp.MustCompile(`ElfSymbolTable|ElfFile|xmlStream|xmlTextStream|outputStream::|fileStream|defaultStream|Disassembler|nmethod::print|nmethod::decode|CodeSection::print|RelocIterator::print|print_value_on|print_code_comment`)

// TestNoPrintingInProfile checks what HotSpot spends on printing code for gasm. If gasm copies the code, it is
// nothing. If HotSpot prints the code, the account must have the samples in a row of their own, and neither the
// tables nor a comparison may contain them.
func TestNoPrintingInProfile(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	gasmtest.NeedTime(t)
	for name, java := range jdks(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// run returns the folder of the capture, the number of samples in printing functions and in the whole profile,
			// and the share of the row for printing among the samples in the window.
			run := func(code string) (dir string, found, all int64, inRow float64) {
				dir = filepath.Join(t.TempDir(), code)
				r := runGasm(t, []string{"profile", "--code", code, "-o", dir, "--skip-asm", "--", java, "-Dclasses=10", "-cp",
					javaPrograms(t), "Compile"})
				require.Equal(t, 0, r.code, r.stderr)
				assert.Equal(t, code == "print", strings.Contains(r.stdout, "\n   gasm's printing (HotSpot) "))
				rep := jsonReport(t, dir)
				p := &rep.Profiles[0]
				event := hottestEvent(p)
				for _, f := range p.Native {
					if printing.MatchString(f.Symbol) {
						found += f.Counts.Of(event)
						t.Logf("--code %s: %s, %d samples", code, f.Symbol, f.Counts.Of(event))
					}
				}
				a := p.Account.Of(event)
				return dir, found, a.Profiled, float64(a.Printing) / float64(a.Profiled+a.Printing)
			}
			copied, inCopied, allCopied, rowOfCopied := run("auto")
			printed, inPrinted, allPrinted, rowOfPrinted := run("print")
			t.Logf("printing is %d of %d samples in the profile, with --code print %d of %d, and %.2f %% beside it", inCopied,
				allCopied, inPrinted, allPrinted, 100*rowOfPrinted)
			// The JVM itself prints a line or two, so a few of the thousands of samples may be in these functions: one in a
			// thousand, and four standard errors of that.
			few := 0.001 * float64(allCopied)
			assert.Less(t, float64(inCopied), few+4*math.Sqrt(few))
			assert.Zero(t, rowOfCopied)
			// What remains are some of the stubs. The main thread prints them at the start, by means of functions
			// that it also uses for other purposes: 5 of 2600 samples.
			few = 0.002 * float64(allPrinted)
			assert.Less(t, float64(inPrinted), few+4*math.Sqrt(few))
			assert.Greater(t, rowOfPrinted, 0.02)
			for _, row := range changedRows(runDiffJSON(t, copied, printed)) {
				assert.NotRegexp(t, printing, row.Name)
			}
		})
	}
}

// changedRows returns all rows of a comparison.
func changedRows(d *jsonDiff) (rows []jsonDiffRow) {
	for _, trial := range d.Trials {
		rows = append(rows, slices.Concat(trial.Methods, trial.Frames)...)
		for _, region := range trial.Regions {
			rows = append(rows, region.jsonDiffRow)
		}
	}
	return rows
}

// TestDiffDatabase compares a database, H2, on JDK 17 and on JDK 25. The changes must be in the work of the program
// and of HotSpot itself. No row may be about HotSpot's printing for gasm.
func TestDiffDatabase(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	libraries := filepath.Join(gasmtest.NeedLanguages(t), "target", "lib", "*")
	of := gasmtest.NeedJDKs(t, func(j gasmtest.JDK) bool { return j.Feature == 17 || j.Feature == 25 })
	if len(of) == 1 {
		of = append(of, of...)
	}
	var captures []string
	for i, jdk := range of {
		dir := filepath.Join(t.TempDir(), fmt.Sprint(i))
		r := runGasm(t, []string{"profile", "-o", dir, "--skip-asm", "--", jdk.Java(), "-Dsec=3", "-cp",
			javaPrograms(t) + ":" + libraries, "Database"})
		require.Equal(t, 0, r.code, r.stderr)
		require.Contains(t, r.stdout, "rounds ")
		captures = append(captures, dir)
		rep := jsonReport(t, dir)
		p := &rep.Profiles[0]
		assert.Zero(t, p.Account.Of(hottestEvent(p)).Printing)
		assert.True(t, slices.ContainsFunc(p.Frames, func(f schema.Frames) bool {
			return strings.HasPrefix(f.Method,
				"org.h2.")
		}))
	}
	for _, row := range changedRows(runDiffJSON(t, captures[0], captures[1])) {
		assert.NotRegexp(t, printing, row.Name)
	}
}
