package profile

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/choice"
	"github.com/gasm-profiler/gasm/profile/tally"
	"github.com/gasm-profiler/gasm/sampler"
)

// window returns a time in which a JVM is measured, in ns.
func window(pid int, from, to int64) capture.Window {
	return capture.Window{PID: pid, Span: capture.Span{FromMonoNanos: from, ToMonoNanos: to}}
}

// always returns a window that holds all samples of a JVM.
func always(pid int) capture.Window { return window(pid, 0, 1<<60) }

// newLog indexes a hand-made log of blobs, which need no header.
func newLog(tb testing.TB, blobs ...string) *printassembly.Log {
	tb.Helper()
	text := "<hotspot_log version='160 1' process='1' time_ms='0'>\n" + strings.Join(blobs, "") + "</hotspot_log>\n"
	l, err := printassembly.NewLog(strings.NewReader(text), int64(len(text)), "hand-made.log")
	require.NoError(tb, err)
	require.Len(tb, l.Blobs, len(blobs))
	return l
}

// method returns what HotSpot prints for a compiled method: "Compiled method (c2) 10 …". The code is hexadecimal cells,
// "4801 d090", with comments in lines of their own.
func method(compiler string, ms, id, level int, name string, lo uint64, code string) string {
	return fmt.Sprintf("Compiled method (%s) %d %4d       %d       %s (28 bytes)\n main code      [0x%016x,0x%016x] = 1\n%s",
		compiler, ms, id, level, name, lo, lo+size(code), machCode(lo, code))
}

func c2(ms, id int, name string, lo uint64, code string) string {
	return method("c2", ms, id, 4, name, lo, code)
}

func stub(name string, lo uint64, code string) string {
	return fmt.Sprintf("StubRoutines::%s [0x%016x, 0x%016x] (%d bytes)\n%s", name, lo, lo+size(code), size(code),
		machCode(lo, code))
}

func codelet(name string, lo uint64, code string) string {
	return fmt.Sprintf("%s  [0x%016x, 0x%016x]  %d bytes\n%s", name, lo, lo+size(code), size(code), machCode(lo, code))
}

func size(code string) (n uint64) {
	for line := range strings.Lines(code) {
		if !strings.Contains(line, ";") {
			n += uint64(len(strings.Join(strings.Fields(line), "")) / 2)
		}
	}
	return n
}

// machCode returns code as HotSpot prints it, with addresses before rows and comments.
func machCode(lo uint64, code string) string {
	var out strings.Builder
	out.WriteString("[MachCode]\n")
	for line := range strings.Lines(code) {
		fmt.Fprintf(&out, "  0x%016x: %s\n", lo, strings.TrimSpace(line))
		lo += size(line)
	}
	out.WriteString("[/MachCode]\n")
	return out.String()
}

// nops returns code of n instructions of one byte each. n must be a multiple of 4.
func nops(n int) string { return strings.TrimSpace(strings.Repeat("9090 9090 ", n/4)) }

// at returns a sample without a module, like all samples in the code cache. Its counter is cycles, and its time is in
// milliseconds of the JVM's life.
func at(pid int, ms int64, pc uint64) sampler.Sample {
	return sampler.Sample{PID: pid, TID: pid, MonoNanos: ms * 1e6, PC: pc, Event: "cycles"}
}

func native(pid int, ms int64, module, symbol string) sampler.Sample {
	s := at(pid, ms, 0xffff_8000)
	s.Module, s.Symbol = module, symbol
	return s
}

// repeat returns n copies of a sample.
func repeat(n int, s sampler.Sample) []sampler.Sample { return slices.Repeat([]sampler.Sample{s}, n) }

func add(b *Builder, samples ...sampler.Sample) {
	for i := range samples {
		b.Add(&samples[i])
	}
}

// build makes the profiles, and checks what holds for all profiles.
func build(t *testing.T, b *Builder, opts choice.Options) []Profile {
	t.Helper()
	profiles := b.Build(opts)
	for i := range profiles {
		checkProfile(t, &profiles[i], opts)
	}
	return profiles
}

// one returns the only profile of the samples of one JVM, with pid 1.
func one(t *testing.T, opts choice.Options, log *printassembly.Log, samples ...sampler.Sample) *Profile {
	t.Helper()
	b := NewBuilder(choice.Config{JVMs: []capture.JVM{{PID: 1, Log: log}}})
	add(b, samples...)
	profiles := build(t, b, opts)
	require.Len(t, profiles, 1)
	return &profiles[0]
}

// checkProfile fails if sums do not add up or lists are out of order.
func checkProfile(t *testing.T, p *Profile, opts choice.Options) {
	t.Helper()
	require.Len(t, p.Accounts, len(p.Counters))
	checkParts(t, p)
	for e, a := range p.Accounts {
		require.True(t, a.Balanced(), "%s: %+v", p.Counters[e], a)
		var sources, natives, methods, regions, frames int64
		for _, s := range p.Sources {
			sources += s.Counts[e]
		}
		for _, f := range p.Native {
			natives += f.Counts[e]
		}
		for _, m := range p.Methods {
			methods += m.Counts[e]
		}
		for _, r := range p.Regions {
			if !r.Native { // the samples of native regions are in p.Native
				regions += r.Counts[e]
			}
		}
		for _, f := range p.Frames {
			frames += f.Counts[e]
		}
		var threads, jvms int64
		for _, k := range p.Threads {
			threads += k.Counts[e]
		}
		for _, j := range p.Shares {
			jvms += j.Counts[e]
			require.LessOrEqual(t, j.Java[e]+j.JIT[e]+j.GC[e], j.Counts[e], "pid %d", j.PID)
		}
		if p.Threads != nil {
			require.Equal(t, a.Profiled, threads, "threads")
		}
		require.Equal(t, a.Profiled, jvms, "JVMs")
		require.Equal(t, a.Profiled, sources, "sources")
		require.Equal(t, a.Native+a.Kernel, natives, "native functions")
		code := a.Compiled
		if !opts.SkipStubs {
			code += a.Stub
		}
		if !opts.SkipInterpreter {
			code += a.Interpreter
		}
		require.Equal(t, code, methods, "methods")
		require.Equal(t, code, regions, "regions")
		require.Equal(t, a.Compiled, frames, "frames")
	}
	checkSlices(t, p)
	checkPerJVM(t, p)
	for i, r := range p.Regions {
		require.Less(t, r.Lo, r.Hi)
		require.NotEmpty(t, r.PIDs)
		if i > 0 {
			require.LessOrEqual(t, tally.Compare(p.Regions[i-1].Counts, r.Counts), 0, "regions are not hottest first")
		}
		require.True(t, slices.IsSorted(r.PIDs))
		for k, l := range r.Lines {
			require.Len(t, l.Counts, len(p.Counters))
			if k > 0 {
				require.LessOrEqual(t, r.Lines[k-1].Hi, l.Lo)
			}
		}
	}
	if len(p.Regions) > 0 {
		require.Equal(t, !opts.SkipLines, slices.ContainsFunc(p.Regions, func(r Region) bool { return r.Hot }))
	}
}

// checkSlices fails if the counts of all slices do not add up to those of the whole.
func checkSlices(t *testing.T, p *Profile) {
	t.Helper()
	check := func(what string, over []tally.Counts, whole tally.Counts) {
		t.Helper()
		if len(p.Slices) == 0 { // not cut over time
			require.Empty(t, over, what)
			return
		}
		checkSum(t, what, over, len(p.Slices), whole)
	}
	profiled := make(tally.Counts, len(p.Counters))
	for e, a := range p.Accounts {
		profiled[e] = a.Profiled
	}
	check("profile", p.Slices, profiled)
	for _, m := range p.Methods {
		check(m.Name, m.Slices, m.Counts)
	}
	for _, f := range p.Frames {
		check(f.Method, f.Slices, f.Counts)
	}
	for _, f := range p.Native {
		check(f.Symbol, f.Slices, f.Counts)
	}
}

// checkPerJVM fails if the counts of the JVMs do not add up to those of the whole.
func checkPerJVM(t *testing.T, p *Profile) {
	t.Helper()
	for _, m := range p.Methods {
		checkSum(t, m.Name, m.PerJVM, len(p.Shares), m.Counts)
	}
	for _, f := range p.Frames {
		checkSum(t, f.Method, f.PerJVM, len(p.Shares), f.Counts)
	}
	for _, f := range p.Native {
		checkSum(t, f.Symbol, f.PerJVM, len(p.Shares), f.Counts)
	}
}

// checkSum fails if there are not n parts, or if they do not add up to the whole.
func checkSum(t *testing.T, what string, parts []tally.Counts, n int, whole tally.Counts) {
	t.Helper()
	require.Len(t, parts, n, what)
	sum := make(tally.Counts, len(whole))
	for _, c := range parts {
		sum.Add(c)
	}
	require.Equal(t, whole, sum, what)
}

// counted returns native functions without their counts by JVM, which checkPerJVM has checked.
func counted(functions []NativeFunction) []NativeFunction {
	functions = slices.Clone(functions)
	for i := range functions {
		functions[i].PerJVM = nil
	}
	return functions
}

// regionsText returns a line for each region: its method, range and first count. For a hot region, the number of its
// lines follows; for one that is too big to be listed, the number of lines that it would have.
func regionsText(p *Profile) string {
	var out []string
	for _, r := range p.Regions {
		s := fmt.Sprintf("%s %x-%x %d", r.Method, r.Lo, r.Hi, r.Counts[0])
		if r.Hot {
			s += fmt.Sprintf(" hot, %d lines", len(r.Lines))
		}
		if r.TooBig > 0 {
			s += fmt.Sprintf(", too big: %d", r.TooBig)
		}
		out = append(out, s)
	}
	return strings.Join(out, "\n")
}
