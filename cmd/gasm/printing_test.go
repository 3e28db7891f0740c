package main

import (
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// printing are functions of HotSpot's, and of libc's for it, that print code.
var printing = regexp.MustCompile(`ElfSymbolTable|ElfFile|xmlStream|xmlTextStream|outputStream::|fileStream|defaultStream|Disassembler|nmethod::print|nmethod::decode|CodeSection::print|RelocIterator::print|print_value_on|print_code_comment`)

// What HotSpot spends on printing for gasm is nothing where its code is copied. Where it
// prints, these functions are there, so that they would be seen.
func TestNoPrintingInProfile(t *testing.T) {
	gasmtest.NeedNative(t)
	gasmtest.NeedTime(t)
	for name, java := range jdks(t) {
		t.Run(name, func(t *testing.T) {
			share := func(code string) float64 {
				file := filepath.Join(t.TempDir(), "report.json")
				r := runGasm(t, []string{"profile", "--code", code, "--format", "json", "--report", file, "--", java, "-Dclasses=10", "-cp", javaPrograms(t), "Compile"})
				require.Equal(t, 0, r.code, r.stderr)
				p := readReport(t, readFile(t, file)).Profiles[0]
				event, found := hottestEvent(&p), int64(0)
				for _, f := range p.Native {
					if f.Module == "libjvm.so" && printing.MatchString(f.Symbol) {
						found += f.Counts.Of(event)
						t.Logf("--code %s: %s, %d samples", code, f.Symbol, f.Counts.Of(event))
					}
				}
				return float64(found) / float64(p.Account.Of(event).Profiled)
			}
			copied, printed := share("auto"), share("print")
			t.Logf("printing is %.2f %% of the profile, with --code print %.2f %%", 100*copied, 100*printed)
			// The JVM prints a line or two by itself. Each sample is one of some thousands.
			assert.Less(t, copied, 0.001)
			assert.Greater(t, printed, 0.02)
		})
	}
}
