package profile

import (
	"bytes"
	"html"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/choice"
	"github.com/gasm-profiler/gasm/sampler"
)

// TestCaptures joins real samples and logs, and compares the result with that of a slow join, which shares no code with
// this package or printassembly.
func TestCaptures(t *testing.T) {
	for _, name := range []string{"jdk8-full-hsdis", "jdk11-lean-hsdis", "jdk11-lean-none", "jdk17-lean-none",
		"jdk17-lean-none-dtrace",
		"jdk17-full-hsdis", "jdk25-lean-none", "jdk25-full-hsdis"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := gasmtest.Capture(t, name, gasmtest.Log)
			log, err := printassembly.NewLog(bytes.NewReader(text), int64(len(text)), name)
			require.NoError(t, err)
			samples := realSamples(t, gasmtest.Capture(t, name, gasmtest.Samples))
			start := firstSample(t, samples, log.PID)

			b := NewBuilder(choice.Config{JVMs: []capture.JVM{{PID: log.PID, Log: log, StartMonoNanos: start}}})
			add(b, samples...)
			p := build(t, b, choice.DefaultOptions())[0]
			a := p.Accounts[0]
			share := 100 * float64(a.Unresolved) / float64(a.Profiled)
			t.Logf("%d blobs, %+v: %.2f %% unresolved, %d regions, %d hot", len(log.Blobs), a, share, len(p.Regions), hot(&p))
			assert.LessOrEqual(t, share, 0.5)
			assert.Greater(t, a.Compiled, a.Profiled/10)
			assert.EqualValues(t, len(samples), a.Total)
			for _, w := range p.Warnings {
				assert.NotContains(t, w, "more than once", "this program needs no address twice")
			}

			methods, stubs, interpreter := slowJoin(slowParse(text), samples, log.PID, start)
			got := map[string]int64{}
			for _, m := range p.Methods {
				if strings.Contains(m.Source, "level") || m.Source == "native wrapper" {
					got[m.Source+" "+m.Name] += m.Counts[0]
				}
			}
			assert.Equal(t, methods, got)
			assert.Equal(t, []int64{stubs, interpreter}, []int64{a.Stub, a.Interpreter})
			assert.Regexp(t, "^StubRoutines::(libmLog|dlog)$|^Workload::main$", p.Regions[0].Method)
		})
	}
}

func hot(p *Profile) (n int) {
	for _, r := range p.Regions {
		if r.Hot {
			n++
		}
	}
	return n
}

func realSamples(t testing.TB, text []byte) (samples []sampler.Sample) {
	r := sampler.NewReader(bytes.NewReader(text), "samples.txt")
	for r.Scan() {
		s, ok := r.Record().(*sampler.Sample)
		require.True(t, ok, "%v", r.Record())
		samples = append(samples, *s)
	}
	require.NoError(t, r.Err())
	return samples
}

// firstSample returns the time of the first sample, which gasm uses as the start of the JVM if the capture has no
// clock.
func firstSample(t testing.TB, samples []sampler.Sample, pid int) int64 {
	for _, s := range samples {
		if s.PID == pid {
			return s.MonoNanos
		}
	}
	t.Fatalf("no sample of %d", pid)
	return 0
}

var (
	writerLine   = regexp.MustCompile(`^<writer thread='(\d+)'/>$`)
	stampAttr    = regexp.MustCompile(` stamp='(\d+)\.(\d\d\d)'`)
	compiledLine = regexp.MustCompile(`^Compiled method \((\S+)\) *(\d+) +(\d+) +([%s!bn ]*?) *(\d) +(\S+::\S+)`)
	codeLine     = regexp.MustCompile(`^ (main|stub) code +\[0x([0-9a-f]+),0x([0-9a-f]+)\]`)
	rangedLine   = regexp.MustCompile(`\[0x([0-9a-f]+), 0x([0-9a-f]+)[\]\[] +(\(?)\d+ bytes\)?$`)
	// JDK 11: "Workload.dot([I[I)I  [0x…". A native wrapper has no other line.
	javaHeading = regexp.MustCompile(`^(\S+)\.(\S+)\(\S*\)\S+  \[0x([0-9a-f]+)`)
	// Lines without a range: those of JDK 8, and those of signature handlers in all JDKs.
	unrangedLine = regexp.MustCompile(`^(Decoding (VtableStub \S+|[A-Z][^\[]*)|argument handler .*)$`)
	rowLine      = regexp.MustCompile(`^  0x([0-9a-f]{16}): *[^ ;]`)
)

// slowParse reads the blobs of a log line by line.
func slowParse(text []byte) (blobs []printassembly.Blob) {
	writer, open := "", map[string]int{} // open has the index of the blob that each thread writes
	growing := map[string]bool{}         // true for a thread whose blob has no range except that of its rows
	now := int64(0)
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "  ") {
			if m := rowLine.FindStringSubmatch(line); m != nil && growing[writer] {
				b, pc := &blobs[open[writer]], uint64(number(m[1], 16))
				if b.Hi == 0 {
					b.Lo = pc
				}
				b.Hi = max(b.Hi, pc+1)
			}
			continue
		}
		if line != "" && line[0] != '<' && line[0] != '[' && line[0] != '-' {
			growing[writer] = false
		}
		if m := writerLine.FindStringSubmatch(line); m != nil {
			writer = m[1]
		} else if m := stampAttr.FindStringSubmatch(line); m != nil && line[0] == '<' {
			now = max(now, number(m[1]+m[2], 10))
		} else if m := compiledLine.FindStringSubmatch(line); m != nil {
			b := printassembly.Blob{Compiler: m[1], UptimeMillis: number(m[2], 10), ID: int(number(m[3], 10)),
				OSR: strings.Contains(m[4], "%"), Level: int(number(m[5], 10)), Name: html.UnescapeString(m[6])}
			now = max(now, b.UptimeMillis)
			open[writer] = len(blobs)
			blobs = append(blobs, b)
		} else if m := codeLine.FindStringSubmatch(line); m != nil {
			b := &blobs[open[writer]]
			if m[1] == "main" {
				b.Lo = uint64(number(m[2], 16))
			}
			b.Hi = uint64(number(m[3], 16))
		} else if m := unrangedLine.FindStringSubmatch(line); m != nil && !strings.HasPrefix(line, "Decoding CodeBlob") {
			open[writer], growing[writer] = len(blobs), true
			blobs = append(blobs, printassembly.Blob{Kind: printassembly.Stub, UptimeMillis: now})
		} else if m := javaHeading.FindStringSubmatch(line); m != nil {
			lo, hi := uint64(number(m[3], 16)), uint64(number(rangedLine.FindStringSubmatch(line)[2], 16))
			if at, ok := open[writer]; !ok || blobs[at].Lo != lo {
				name := html.UnescapeString(strings.ReplaceAll(m[1], "/", ".") + "::" + m[2])
				blobs = append(blobs, printassembly.Blob{Compiler: "n/a", Name: name, Lo: lo, Hi: hi, UptimeMillis: now})
			}
		} else if m := rangedLine.FindStringSubmatch(line); m != nil {
			kind := printassembly.Stub
			if m[3] == "" {
				kind = printassembly.Interpreter
			}
			blobs = append(blobs, printassembly.Blob{Kind: kind, Lo: uint64(number(m[1], 16)), Hi: uint64(number(m[2], 16)),
				UptimeMillis: now})
		}
	}
	return blobs
}

func number(digits string, base int) int64 {
	n, err := strconv.ParseInt(digits, base, 64)
	if err != nil {
		panic(err)
	}
	return n
}

// slowJoin counts samples by Java method, in stubs and in the interpreter.
func slowJoin(blobs []printassembly.Blob, samples []sampler.Sample, pid int, start int64) (methods map[string]int64,
	stubs, interpreter int64) {
	methods = map[string]int64{}
	for _, s := range samples {
		if s.PID != pid || s.Module == "kernel" {
			continue
		}
		i := slowBlob(blobs, s.PC, (s.MonoNanos-start)/1_000_000)
		switch {
		case i < 0 && s.Module == "" && slowUnprinted(blobs, s.PC):
			stubs++
		case i < 0:
		case blobs[i].Kind == printassembly.Stub:
			stubs++
		case blobs[i].Kind == printassembly.Interpreter:
			interpreter++
		case blobs[i].Compiler == "n/a" || blobs[i].Compiler == "nm": // JDK 8
			methods["native wrapper "+blobs[i].Name]++
		default:
			source := blobs[i].Compiler + ", level " + strconv.Itoa(blobs[i].Level)
			if blobs[i].OSR {
				source += ", osr"
			}
			methods[source+" "+blobs[i].Name]++
		}
	}
	return methods, stubs, interpreter
}

// slowBlob returns the blob that was at an address at a time, or -1. It is the youngest blob there, unless a later blob
// has overwritten a byte of it by then. In that case it is the next blob at the address. The blobs are in the order of
// their times.
func slowBlob(blobs []printassembly.Blob, pc uint64, ms int64) int {
	youngest, next, ended := -1, -1, false
	for i, b := range blobs {
		covers := b.Lo <= pc && pc < b.Hi
		if b.UptimeMillis > ms {
			if covers && next < 0 {
				next = i
			}
			continue
		}
		if covers {
			youngest, ended = i, false
		} else if youngest >= 0 && blobs[youngest].Kind.Java() &&
			max(b.Lo, blobs[youngest].Lo) < min(b.Hi, blobs[youngest].Hi) {
			ended = true
		}
	}
	if youngest < 0 || ended {
		return next
	}
	return youngest
}

// slowUnprinted reports whether an address is in no blob of any time, and the nearest blobs below and above it are the
// JVM's own code.
func slowUnprinted(blobs []printassembly.Blob, pc uint64) bool {
	var below, above uint64
	for _, b := range blobs {
		if b.Lo <= pc && pc < b.Hi {
			return false
		}
		if b.Lo < b.Hi && b.Hi <= pc {
			below = max(below, b.Hi)
		}
		if b.Lo < b.Hi && b.Lo > pc && (above == 0 || b.Lo < above) {
			above = b.Lo
		}
	}
	for _, b := range blobs {
		if b.Lo < b.Hi && (b.Hi == below || b.Lo == above) && b.Kind.Java() {
			return false
		}
	}
	return below > 0 && above > 0
}
