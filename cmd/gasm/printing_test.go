package main

import (
	"fmt"
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

// printing are functions of HotSpot's, and of libc's for it, that print code.
var printing = regexp.MustCompile(`ElfSymbolTable|ElfFile|xmlStream|xmlTextStream|outputStream::|fileStream|defaultStream|Disassembler|nmethod::print|nmethod::decode|CodeSection::print|RelocIterator::print|print_value_on|print_code_comment`)

// What HotSpot spends on printing for gasm is nothing where its code is copied. Where it prints,
// the account has it in a row of its own, and neither the tables nor a comparison have it.
func TestNoPrintingInProfile(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	gasmtest.NeedTime(t)
	for name, java := range jdks(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// run gives the capture, the share of printing functions in the profile, and the row's share of what
			// is in the window.
			run := func(code string) (dir string, inProfile, inRow float64) {
				dir = filepath.Join(t.TempDir(), code)
				r := runGasm(t, []string{"profile", "--code", code, "-o", dir, "--skip-asm", "--", java, "-Dclasses=10", "-cp", javaPrograms(t), "Compile"})
				require.Equal(t, 0, r.code, r.stderr)
				assert.Equal(t, code == "print", strings.Contains(r.stdout, "\n   gasm's printing (HotSpot) "))
				rep := jsonReport(t, dir)
				p := &rep.Profiles[0]
				event, found := hottestEvent(p), int64(0)
				for _, f := range p.Native {
					if printing.MatchString(f.Symbol) {
						found += f.Counts.Of(event)
						t.Logf("--code %s: %s, %d samples", code, f.Symbol, f.Counts.Of(event))
					}
				}
				a := p.Account.Of(event)
				return dir, float64(found) / float64(a.Profiled), float64(a.Printing) / float64(a.Profiled+a.Printing)
			}
			copied, inCopied, rowOfCopied := run("auto")
			printed, inPrinted, rowOfPrinted := run("print")
			t.Logf("printing is %.2f %% of the profile, with --code print %.2f %%, and %.2f %% beside it", 100*inCopied, 100*inPrinted, 100*rowOfPrinted)
			// The JVM prints a line or two by itself. Each sample is one of some thousands.
			assert.Less(t, inCopied, 0.001)
			assert.Zero(t, rowOfCopied)
			// What is left are some of the stubs, which the main thread prints at the start by functions that it has
			// other uses for: 5 of 2600 samples.
			assert.Less(t, inPrinted, 0.005)
			assert.Greater(t, rowOfPrinted, 0.02)
			for _, row := range changedRows(runDiffJSON(t, copied, printed)) {
				assert.NotRegexp(t, printing, row.Name)
			}
		})
	}
}

// changedRows are all rows of a comparison.
func changedRows(d *jsonDiff) (rows []jsonDiffRow) {
	for _, trial := range d.Trials {
		rows = append(rows, slices.Concat(trial.Methods, trial.Frames)...)
		for _, region := range trial.Regions {
			rows = append(rows, region.jsonDiffRow)
		}
	}
	return rows
}

// A database, H2, on JDK 17 and on 25: what changed is the program's and HotSpot's own work, and no row
// is of HotSpot printing for gasm.
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
		r := runGasm(t, []string{"profile", "-o", dir, "--skip-asm", "--", jdk.Java(), "-Dsec=3", "-cp", javaPrograms(t) + ":" + libraries, "Database"})
		require.Equal(t, 0, r.code, r.stderr)
		require.Contains(t, r.stdout, "rounds ")
		captures = append(captures, dir)
		rep := jsonReport(t, dir)
		p := &rep.Profiles[0]
		assert.Zero(t, p.Account.Of(hottestEvent(p)).Printing)
		assert.True(t, slices.ContainsFunc(p.Frames, func(f schema.Frames) bool { return strings.HasPrefix(f.Method, "org.h2.") }))
	}
	for _, row := range changedRows(runDiffJSON(t, captures[0], captures[1])) {
		assert.NotRegexp(t, printing, row.Name)
	}
}
