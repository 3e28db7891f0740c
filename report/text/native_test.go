package text

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/code"
	"github.com/gasm-profiler/gasm/report/reporttest"
	"github.com/gasm-profiler/gasm/report/text/listing"
	"github.com/gasm-profiler/gasm/report/text/view"
)

// withNative returns a profile with a region of a native function whose lines are known, and with one of a function
// without a symbol.
func withNative(t *testing.T) profile.Profile {
	p := reporttest.Dot(t)
	frame := func(method, file string, line int) printassembly.Frame {
		return printassembly.Frame{Method: method, BCI: -1, Line: line, File: file}
	}
	outer := frame("zip::Block<std::pair<int, int> >::crc", "/src/crc.cpp", 20)
	inner := []printassembly.Frame{frame("zip::mix", "/src/mix.h", 3), outer}
	later := []printassembly.Frame{frame("zip::mix", "/src/mix.h", 4), outer}
	line := func(at uint64, text string, n int64, frames ...printassembly.Frame) code.Line {
		return code.Line{Instruction: printassembly.Instruction{Lo: at, Hi: at + 4, Text: text, Frames: frames,
			OwnFrames: len(frames) > 0}, Counts: c(n)}
	}
	call := line(0x2a50, "call   0x2b00", 0, frame(outer.Method, outer.File, 21))
	call.TargetName = "zip::flush"
	p.Regions = append(p.Regions,
		profile.Region{Source: "libzip.so", Method: outer.Method, Native: true, Hot: true, PIDs: p.PIDs, Lo: 0x2a44,
			Hi: 0x2a4c, Counts: c(90),
			Lines: []code.Line{line(0x2a40, "push   %rbp", 0, outer), line(0x2a44, "imul   %eax,%edx", 80, inner...),
				line(0x2a48, "shr    $0x7,%edx", 0, inner...),
				line(0x2a4c, "xor    %edx,%eax", 10, later...), call}},
		profile.Region{Source: "libzip.so", Method: "libzip.so+0x3000 (no symbol)", Native: true, Hot: true, PIDs: p.PIDs,
			Lo: 0x3000, Hi: 0x3004, Counts: c(60),
			Lines: []code.Line{line(0x3000, "nop", 60)}},
	)
	p.Native = append([]profile.NativeFunction{{Module: "libzip.so", Symbol: outer.Method, Counts: c(95)},
		{Module: "libzip.so", Counts: c(60)}}, p.Native...)
	return p
}

// nativePart returns the part of a report that annotates native code.
func nativePart(t *testing.T, o view.Options) []byte {
	t.Helper()
	all := string(text(t, reporttest.Header(), []profile.Profile{withNative(t)}, o))
	_, part, ok := strings.Cut(all, "[Hottest Region 2]")
	require.True(t, ok)
	part, _, ok = strings.Cut(part, "....[Hottest Regions]")
	require.True(t, ok)
	return []byte("[Hottest Region 2]" + part)
}

func TestNativeRegion(t *testing.T) {
	o := options()
	o.Code.Comments = listing.Full
	gasmtest.Golden(t, "native-full.golden", nativePart(t, o))
	o.Code.Comments = listing.Folded
	gasmtest.Golden(t, "native.golden", nativePart(t, o))
	o.Code.Source = func(string, int) listing.SourceLine { return listing.SourceLine{} }
	o.Code.NativeSource = func(file string, line int) listing.SourceLine {
		if file == "/src/mix.h" {
			return listing.SourceLine{File: "mix.h", Number: line, Text: "x *= 0x9e37;"}
		}
		return listing.SourceLine{File: "crc.cpp", Number: line}
	}
	gasmtest.Golden(t, "native-source.golden", nativePart(t, o))
}

// A native function that is annotated is counted once in the table of regions. The list of annotated code does not have
// it a second time, without code.
func TestNativeRegionOnce(t *testing.T) {
	all := string(text(t, reporttest.Header(), []profile.Profile{withNative(t)}, options()))
	assert.NotContains(t, all, "which is not in HotSpot's log")
	_, table, _ := strings.Cut(all, "[Hottest Regions]")
	table, _, _ = strings.Cut(table, "\n....")
	assert.Equal(t, 1, strings.Count(table, "crc"), table)
}
