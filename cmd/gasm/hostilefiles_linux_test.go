package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/printassembly"
)

// inReport makes a JSON report with a single profile. The given list of the profile has elements that the function
// element returns.
func inReport(list string, element func(i int) string) func(h *hostile) {
	return func(h *hostile) {
		h.write("report.json", func(f *filler) {
			f.printf(`{"schema":1,"capture":{"events":["cycles"]},"profiles":[{"trial":"t","account":{"cycles":{"total":9,"profiled":9}},"%s":[`, list)
			for i := 0; f.left > 0; i++ {
				if i > 0 {
					f.printf(",")
				}
				f.printf("%s", element(i))
			}
			f.printf("%s]}\n", strings.Repeat("]}", 1+strings.Count(list, "[")))
		})
		h.args = []string{"diff", h.file("report.json"), h.file("report.json")}
	}
}

// inSources makes an archive of sources, and a log that refers to lines of Java.
func inSources(write func(h *hostile, w *zip.Writer)) func(h *hostile) {
	return func(h *hostile) {
		h.samples(100, 0)
		h.log(func(f *filler) {
			f.printf("%s[MachCode]\n  0x%x: ;*iload_1 {reexecute=0}\n    ; - a.B::c@1 (line 2)\n  0x%x: 9090 9090\n[/MachCode]\n",
				method(1, "a.B::c", hostileCode, hostileCode+4), hostileCode, hostileCode)
		})
		file, err := os.Create(h.file("src.zip"))
		require.NoError(h.t, err)
		defer file.Close()
		w := zip.NewWriter(file)
		write(h, w)
		require.NoError(h.t, w.Close())
		h.args = []string{"report", "--source", h.file("src.zip"), h.dir}
	}
}

// inClassPath makes a jar from which the JVM is said to have loaded its classes.
func inClassPath(write func(h *hostile, w *zip.Writer)) func(h *hostile) {
	return func(h *hostile) {
		inSources(func(h *hostile, _ *zip.Writer) {})(h)
		text := readFile(h.t, h.file("asm-4711.log"))
		head, rest, ok := bytes.Cut(text, []byte("\n<tty>\n"))
		require.True(h.t, ok)
		text = slices.Concat(head, []byte("\n"+printassembly.Properties(h.file("app.jar"))+"<tty>\n"), rest)
		require.NoError(h.t, os.WriteFile(h.file("asm-4711.log"), text, 0o600))
		file, err := os.Create(h.file("app.jar"))
		require.NoError(h.t, err)
		defer file.Close()
		w := zip.NewWriter(file)
		write(h, w)
		require.NoError(h.t, w.Close())
	}
}

func init() {
	hostileInputs = append(hostileInputs, []hostileInput{
		// JSON reports, which gasm diff reads.
		{"report: regions of nothing", inReport("regions", always("{}")), "it has more than "},
		{"report: regions that are none", inReport("regions", always("1")), "is not a JSON report"},
		{"report: nothing in the place of methods", inReport("methods", always("null")), "it has more than "},
		{"report: lines of nothing", inReport(`regions":[{"lines`, always("{}")), ""},
		{"report: lines of frames", inReport(`frames":[{"lines`, always("{}")), ""},
		{"report: regions of one method", inReport("regions", func(i int) string {
			return fmt.Sprintf(`{"source":"c2","method":"a::b","lo":"0x%x","hi":"0x%x","counts":{"cycles":1},"lines":[{"addr":"0x%x","text":"nop","counts":{"cycles":1}}]}`, i*999, i*999+1, i*999)
		}), ""},
		{"report: regions at one place", inReport("regions", func(i int) string {
			return fmt.Sprintf(`{"source":"c2","method":"a::b","lo":"0x1","hi":"0x%x","counts":{"cycles":1}}`, 2+i)
		}), ""},
		{"report: methods", inReport("methods", func(i int) string {
			return fmt.Sprintf(`{"source":"c2","name":"a::b%d","counts":{"cycles":%d},"per_jvm":[{"cycles":1},{"cycles":2}]}`,
				i, i)
		}), ""},
		{"report: events", inReport(`methods":[{"counts":{"x":1},"slices":{"cycles`, always("1")), ""},
		{"report: deep", inReport("regions", always("[")), "is not a JSON report"},
		{"report: a name of a file's size", func(h *hostile) {
			h.write("report.json", func(f *filler) {
				f.printf(`{"schema":1,"capture":{},"profiles":[{"trial":"`)
				f.repeat("x")
				f.printf(`","account":{"cycles":{"total":9,"profiled":9}}}]}`)
			})
			h.args = []string{"diff", h.file("report.json"), h.file("report.json")}
		}, ""},
		{"report: scores of nothing", func(h *hostile) {
			h.write("report.json", func(f *filler) {
				f.printf(`{"schema":1,"capture":{},"profiles":[{"account":{"cycles":{"total":9,"profiled":9}},"score":{"unit":"ns/op","forks":[[]`)
				f.repeat(",[]")
				f.printf("]}}]}")
			})
			h.args = []string{"diff", "--fail-above", "5", h.file("report.json"), h.file("report.json")}
		}, "score|Nothing changed"}, // a small report is not wrong
		// Folders of captures.
		{"captures: many in a folder", func(h *hostile) {
			for i := range min(1000, 20+h.size/4000) {
				sub := hostile{t: h.t, dir: h.file(fmt.Sprint(i)), size: h.size}
				require.NoError(h.t, os.Mkdir(sub.dir, 0o700))
				sub.good()
				sub.samples(10, 4)
				sub.size = 1
				sub.description("trials", func(i int) string {
					return fmt.Sprintf(`{"name":"t%d","windows":[{"pid":4711,"to_mono_nanos":99000000000}]}`, i)
				})
			}
		}, "pid 4194304"}, // the second JVM with the same id
		{"captures: a folder that is deep", func(h *hostile) {
			require.NoError(h.t, os.MkdirAll(h.file(strings.Repeat("a/", 500)), 0o700))
			h.args = []string{"report", h.dir}
		}, "is not a capture"},
		// Archives of sources.
		{"sources: a bomb", inSources(func(h *hostile, w *zip.Writer) {
			entry, err := w.Create("a/B.java")
			require.NoError(h.t, err)
			zeros := make([]byte, 1<<20)
			for range h.size >> 14 { // MiB; deflate reduces them to a thousandth, which takes time
				_, err := entry.Write(zeros)
				require.NoError(h.t, err)
			}
		}), "none of the report's methods has its source"},
		{"sources: files", inSources(func(h *hostile, w *zip.Writer) {
			for i := range h.size / 200 {
				_, err := w.Create(fmt.Sprintf("%d/a/B.java", i))
				require.NoError(h.t, err)
			}
		}), "none of the report's methods has its source"},
		// Jars that contain jars: compressed ones, and one that is stored many times.
		{"class path: bombs", inClassPath(func(h *hostile, w *zip.Writer) {
			zeros := make([]byte, 1<<20)
			for i := range 1 + h.size>>20 { // one MiB out of 64 is left
				entry, err := w.Create(fmt.Sprintf("BOOT-INF/lib/%d.jar", i))
				require.NoError(h.t, err)
				for range 64 {
					_, err := entry.Write(zeros)
					require.NoError(h.t, err)
				}
			}
		}), "none of the report's methods has its source"},
		{"class path: jars of files", inClassPath(func(h *hostile, w *zip.Writer) {
			var jar bytes.Buffer
			inner := zip.NewWriter(&jar)
			for i := range h.size / 2000 {
				_, err := inner.Create(fmt.Sprint(i))
				require.NoError(h.t, err)
			}
			require.NoError(h.t, inner.Close())
			for i := range h.size / max(1, jar.Len()) {
				entry, err := w.CreateHeader(&zip.FileHeader{Name: fmt.Sprintf("WEB-INF/lib/%d.jar", i), Method: zip.Store})
				require.NoError(h.t, err)
				_, err = entry.Write(jar.Bytes())
				require.NoError(h.t, err)
			}
		}), "none of the report's methods has its source"},
		// Flags with extreme values, and a file of another kind.
		{"a margin of all code", func(h *hostile) {
			h.good()
			h.samples(100, 1)
			h.args = []string{"report", "--print-margin", "9223372036854775807", h.dir}
		}, "it can be 10000 at most"},
		{"a table of all functions", func(h *hostile) {
			inSamples(func(i int) string { return fmt.Sprintf("4711/1 1.0: e: %x f%d (a)\n", i, i) })(h)
			h.args = []string{"report", "--top", "0", h.dir}
		}, "more functions, threads or addresses than any program|warm functions"},
		{"a log that is indented", func(h *hostile) {
			h.samples(100, 1)
			h.write("asm-4711.log", func(f *filler) {
				f.fill(always(strings.Repeat(" ", 60000) + "<hotspot_log version='160 1' process='4711' time_ms='1'>\n"))
			})
		}, ""},
	}...)
}

// TestMutated gives gasm real captures that were damaged at random.
func TestMutated(t *testing.T) {
	if !gasmtest.Long() {
		t.Parallel()
	}
	seed := randomSeed()
	t.Logf("-seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	rounds := 1
	if gasmtest.Long() {
		rounds = 20
	}
	for round := range rounds {
		for i, name := range gasmtest.Captures {
			if name == "jdk21-arm64-lean-none" {
				continue // it has no samples
			}
			log, samples := mutated(rnd, gasmtest.Capture(t, name, gasmtest.Log)), mutated(rnd,
				gasmtest.Capture(t, name, gasmtest.Samples))
			t.Run(fmt.Sprintf("%s %d", name, round), func(t *testing.T) {
				if !gasmtest.Long() {
					t.Parallel() // with -long, the texts of all rounds would be in memory
				}
				h := &hostile{t: t, dir: t.TempDir()}
				require.NoError(t, os.WriteFile(filepath.Join(h.dir, "asm-4711.log"), log, 0o600))
				require.NoError(t, os.WriteFile(filepath.Join(h.dir, "samples.txt"), samples, 0o600))
				h.run("", i+round)
			})
		}
	}
}

// mutated returns a text with random damage, of kinds that happen to files, and of kinds that a person might cause on
// purpose.
func mutated(rnd *rand.Rand, text []byte) []byte {
	text = bytes.Clone(text)
	part := func() (from, to int) {
		from = rnd.IntN(len(text))
		return from, min(from+1+rnd.IntN(1<<rnd.IntN(16)), len(text))
	}
	for range 1 + rnd.IntN(50) {
		if len(text) == 0 {
			break
		}
		from, to := part()
		switch rnd.IntN(8) {
		case 0: // other bytes
			for i := from; i < to; i++ {
				text[i] = byte(rnd.IntN(256))
			}
		case 1: // a hole
			clear(text[from:to])
		case 2: // lost
			text = append(text[:from], text[to:]...)
		case 3: // twice
			text = append(text[:to:to], append(bytes.Clone(text[from:to]), text[to:]...)...)
		case 4: // moved
			piece := bytes.Clone(text[from:to])
			text = append(text[:from], text[to:]...)
			at := rnd.IntN(len(text) + 1)
			text = append(text[:at:at], append(piece, text[at:]...)...)
		case 5: // another digit
			for i := from; i < to; i++ {
				if '0' <= text[i] && text[i] <= '9' {
					text[i] = "0189f"[rnd.IntN(5)]
				}
			}
		case 6: // an escape sequence
			text = append(text[:from:from], append([]byte("\x1b]0;title\a\x1b[31m"), text[from:]...)...)
		case 7: // cut, but seldom
			if rnd.IntN(20) == 0 {
				text = text[:from]
			}
		}
	}
	return text
}
