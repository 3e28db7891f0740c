// Package reporttest has profiles for tests of reports: real code with invented samples.
package reporttest

import (
	"embed"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/choice"
	"github.com/gasm-profiler/gasm/profile/code"
	"github.com/gasm-profiler/gasm/profile/events"
	"github.com/gasm-profiler/gasm/profile/sites"
	"github.com/gasm-profiler/gasm/profile/tally"
)

//go:embed testdata/*.asm
var testdata embed.FS

var (
	asmLine   = regexp.MustCompile(`^  0x([0-9a-f]{16}):   (.*?)\s*(?:;(.*))?$`)
	frameLine = regexp.MustCompile(`^ - (?:\(reexecute\) )?(\S+)@(-?\d+) \(line (\d+)\)$`)
	target    = regexp.MustCompile(`^(?:j|call)\S*\s+0x([0-9a-f]+)$`)
)

// asm reads real instructions from testdata, as hsdis wrote them (see testdata/README.md). hits has the samples of the
// instructions, by the last four digits of the instructions' addresses.
func asm(t *testing.T, file string, hits map[string]tally.Counts) []code.Line {
	t.Helper()
	text, err := testdata.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	var lines []code.Line
	section := ""
	for row := range strings.Lines(string(text)) {
		row = strings.TrimRight(row, "\n")
		m := asmLine.FindStringSubmatch(row)
		comment := ""
		switch {
		case strings.HasPrefix(row, "["):
			section = strings.Trim(row, "[]")
			continue
		case m != nil:
			lines = append(lines, instruction(t, m[1], m[2], section, hits))
			section, comment = "", m[3]
		default:
			_, comment, _ = strings.Cut(row, ";")
		}
		annotate(&lines[len(lines)-1], comment)
	}
	for i := range lines[:len(lines)-1] {
		lines[i].Hi = min(lines[i+1].Lo, lines[i].Lo+15) // an instruction has 15 bytes at most; a longer distance is a gap
	}
	return lines
}

// instruction parses one row of code.
func instruction(t *testing.T, addr, text, section string, hits map[string]tally.Counts) code.Line {
	t.Helper()
	lo, err := strconv.ParseUint(addr, 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	l := code.Line{Counts: hits[addr[12:]]}
	if l.Counts == nil {
		for _, c := range hits {
			l.Counts = make(tally.Counts, len(c))
		}
	}
	l.Lo, l.Hi, l.Text, l.Section = lo, lo+2, text, section
	switch mnemonic, _, _ := strings.Cut(text, " "); {
	case mnemonic == "jmp":
		l.Kind = disasm.Jump
	case strings.HasPrefix(mnemonic, "j"):
		l.Kind = disasm.CondJump
	case mnemonic == "call":
		l.Kind = disasm.Call
	}
	if m := target.FindStringSubmatch(text); m != nil {
		l.Target, _ = strconv.ParseUint(m[1], 16, 64)
	}
	return l
}

// annotate adds a comment to an instruction: a frame of its inlining chain, or any other text.
func annotate(l *code.Line, comment string) {
	if m := frameLine.FindStringSubmatch(comment); m != nil {
		bci, _ := strconv.Atoi(m[2])
		line, _ := strconv.Atoi(m[3])
		l.Frames = append(l.Frames, printassembly.Frame{Method: m[1], BCI: bci, Line: line})
		l.OwnFrames = true
	} else if comment = strings.TrimSpace(comment); comment != "" {
		l.Comments = append(l.Comments, comment)
	}
}

// Header returns the description of a capture of one JVM.
func Header() capture.Description {
	return capture.Description{
		Command:   []string{"java", "-cp", "build/classes", "-Dsec=2", "Workload"},
		Sampler:   "perf",
		Events:    []string{"cpu-clock"},
		Frequency: 1001,
		JVMs:      []capture.JVM{{PID: 25134, Main: "Workload", Version: "17.0.15+6"}},
		Notes:     []string{"no hardware cycles counter (a virtual machine often has none), so perf samples cpu-clock, the time that the program spends on a CPU"},
	}
}

// Profiles returns some profiles as those of one capture. It sets the threshold for hot code in each of them to the
// default.
func Profiles(d capture.Description, ps ...profile.Profile) *profile.Profiles {
	ps = slices.Clone(ps)
	for i := range ps {
		ps[i].HotThreshold = choice.DefaultOptions().HotThreshold
	}
	return &profile.Profiles{Capture: d, Trials: ps}
}

// generated is the name of a method that JMH generates.
const generated = "org.openjdk.jmh.samples.jmh_generated.JMHSample_08_DeadCode_measureRight_jmhTest::measureRight_avgt_jmhStub"

// c returns counts, one for each event.
func c(n ...int64) tally.Counts { return n }

// Trials returns two profiles of one capture. The first is Workload in eight forks. In the second, no region of code
// reaches the threshold for hot code.
func Trials(t *testing.T) (capture.Description, []profile.Profile) {
	h := Header()
	h.Command =
		strings.Fields("java -jar target/benchmarks.jar -f 2 -wi 5 -i 5 -p size=10,1000 -jvmArgs -Xmx512m org.sample.Bench.measure")
	h.JVMs = []capture.JVM{{PID: 25100, Main: "org.openjdk.jmh.Main", Version: "17.0.15+6"}}
	for i := range 9 {
		h.JVMs = append(h.JVMs, capture.JVM{PID: 25134 + i, Main: "org.openjdk.jmh.runner.ForkedMain", Version: "17.0.15+6",
			Fork: i%8 + 1})
	}
	first, second := Workload(t), Workload(t)
	first.Trial, first.PIDs = "org.sample.Bench.measure (size=10)", []int{25134, 25135, 25136, 25137, 25138, 25139, 25140,
		25141}
	first.Regions[0].PIDs = first.PIDs
	for _, pid := range first.PIDs {
		first.Shares = append(first.Shares, profile.JVMShare{PID: pid, Counts: c(375), Native: c(60), Java: c(300),
			JIT: c(40), GC: c(15)})
	}
	first.Warnings =
		[]string{"41 samples fell into code that was flushed from the code cache before HotSpot could print it, and are counted as unresolved"}
	second.Trial, second.PIDs = "org.sample.Bench.measure (size=1000)", []int{25142}
	second.Shares = []profile.JVMShare{{PID: 25142, Counts: c(53000), Native: c(50777), Java: c(2223), JIT: c(700),
		GC: c(77)}}
	second.Accounts[0].Kernel += 50000
	second.Accounts[0].Profiled += 50000
	second.Accounts[0].Total += 50000
	second.Native[0].Counts = c(50376)
	second.Sources = slices.Insert(slices.Delete(second.Sources, 2, 3), 0,
		profile.Source{Source: "kernel", Counts: c(50376)})
	for i := range second.Regions[1:] {
		second.Regions[i+1].Hot = false
	}
	return h, []profile.Profile{first, second}
}

// Workload returns a profile of 3000 samples of one event. None of its tables is empty.
func Workload(t *testing.T) profile.Profile {
	return profile.Profile{
		PIDs: []int{25134}, WindowSeconds: 3.01, Counters: []string{"cpu-clock"},
		Accounts: []profile.Account{{
			Total: 3057, OtherProcess: 20, OutsideWindow: 37, Profiled: 3000,
			Compiled: 1500, Stub: 640, Interpreter: 80, Native: 401, Kernel: 376, Unresolved: 3,
		}},
		Regions: []profile.Region{
			{
				Source: "c2, level 4", Method: "Workload::logs", CompileID: 109, PIDs: []int{25134}, Hot: true,
				Lo: 0x7efcf8ed5364, Hi: 0x7efcf8ed5393, Counts: c(1000), Lines: asm(t, "logs.asm", logsHits),
			},
			{
				Source: "stub", Method: "StubRoutines::libmLog", PIDs: []int{25134}, Hot: true,
				Lo: 0x7efcf893a006, Hi: 0x7efcf893a120, Counts: c(640), TooBig: 1834,
			},
			{
				Source: "c2, level 4", Method: generated, CompileID: 118, PIDs: []int{25134}, Hot: true,
				Lo: 0x7efcf8ed8000, Hi: 0x7efcf8ed8010, Counts: c(400),
			},
			{Source: "interpreter", Method: "invokevirtual", PIDs: []int{25134}, Lo: 0x7efcf8970000, Hi: 0x7efcf8970020,
				Counts: c(79)},
			{Source: "c1, level 3", Method: "java.util.HashMap::hash", CompileID: 12, PIDs: []int{25134}, Lo: 0x7efcf1403020,
				Hi: 0x7efcf1403024, Counts: c(66)},
			{Source: "c1, level 3", Method: "java.util.HashMap::get", CompileID: 13, PIDs: []int{25134}, Lo: 0x7efcf1404020,
				Hi: 0x7efcf1404024, Counts: c(34)},
			{Source: "interpreter", Method: "return entry points", PIDs: []int{25134}, Lo: 0x7efcf8980000, Hi: 0x7efcf8980001,
				Counts: c(1)},
		},
		Methods: []profile.Method{
			{Source: "c2, level 4", Name: "Workload::logs", CompileID: 109, Blobs: 2, Counts: c(1000)},
			{Source: "stub", Name: "StubRoutines::libmLog", Blobs: 1, Counts: c(640)},
			{Source: "c2, level 4", Name: generated, CompileID: 118, Blobs: 1, Counts: c(400)},
			{Source: "interpreter", Name: "invokevirtual", Blobs: 1, Counts: c(79)},
			{Source: "c1, level 3", Name: "java.util.HashMap::hash", CompileID: 12, Blobs: 1, Counts: c(66)},
			{Source: "c1, level 3", Name: "java.util.HashMap::get", CompileID: 13, Blobs: 1, Counts: c(34)},
			{Source: "interpreter", Name: "return entry points", Blobs: 1, Counts: c(1)},
		},
		Frames: []profile.FrameTotal{
			{Method: "Workload::logs", Counts: c(1000), Total: c(1000), Lines: []profile.LineTotal{{Line: 18, Counts: c(1000)}}},
			{Method: "org.openjdk.jmh.samples.JMHSample_08_DeadCode::compute", Counts: c(400), Total: c(400),
				Lines: []profile.LineTotal{
					{Line: 61, Counts: c(200)}, {Line: 62, Counts: c(100)}, {Line: 64, Counts: c(80)}, {Counts: c(15)},
					{Line: 65, Counts: c(5)},
				}},
			{Method: "java.util.HashMap::hash", Counts: c(99), Total: c(99),
				Lines: []profile.LineTotal{{Line: 338, Counts: c(99)}}},
		},
		Native: []profile.NativeFunction{
			{Module: "kernel", Symbol: "finish_task_switch.isra.0", Counts: c(376)},
			{Module: "libjvm.so",
				Symbol: "AccessInternal::PostRuntimeDispatch<G1BarrierSet::AccessBarrier<548964ul, G1BarrierSet>, (AccessInternal::BarrierType)2, 548964ul>::oop_access_barrier", Counts: c(301)},
			{Module: "libc.so.6", Counts: c(100)},
		},
		Sources: []profile.Source{
			{Source: "c2, level 4", Counts: c(1400)}, {Source: "stub", Counts: c(640)}, {Source: "kernel", Counts: c(376)},
			{Source: "libjvm.so", Counts: c(301)}, {Source: "libc.so.6", Counts: c(100)},
			{Source: "c1, level 3", Counts: c(100)},
			{Source: "interpreter", Counts: c(80)}, {Source: "unresolved", Counts: c(3)},
		},
	}
}

// logsHits are the samples of Workload's first region, by instruction. They add up to the region's 1000 samples.
var logsHits = map[string]tally.Counts{"5364": c(30), "537d": c(520), "5383": c(310), "5387": c(110), "538d": c(1),
	"538f": c(29)}

// TwoEvents returns Workload with a second event. In each row, the second event has a third of the samples of the
// first, rounded down, so in some rows it has none.
func TwoEvents(t *testing.T) profile.Profile {
	p := Workload(t)
	p.Counters = []string{"cycles", "instructions"}
	p.Accounts = append(p.Accounts, profile.Account{
		Total: 1008, OtherProcess: 6, Lost: 5, Profiled: 997,
		Compiled: 499, Stub: 213, Interpreter: 26, Native: 133, Kernel: 125, Unresolved: 1,
	})
	double := func(counts *tally.Counts) { *counts = append(slices.Clone(*counts), (*counts)[0]/3) }
	for i := range p.Regions {
		double(&p.Regions[i].Counts)
		for j := range p.Regions[i].Lines {
			double(&p.Regions[i].Lines[j].Counts)
		}
	}
	for i := range p.Methods {
		double(&p.Methods[i].Counts)
	}
	for i := range p.Frames {
		double(&p.Frames[i].Counts)
		double(&p.Frames[i].Total)
		for j := range p.Frames[i].Lines {
			double(&p.Frames[i].Lines[j].Counts)
		}
	}
	for i := range p.Native {
		double(&p.Native[i].Counts)
	}
	for i := range p.Sources {
		double(&p.Sources[i].Counts)
	}
	return p
}

// Dot returns a profile of one region of code, which was in two JVMs. Two jumps lead to its start.
func Dot(t *testing.T) profile.Profile {
	lines := asm(t, "dot.asm", map[string]tally.Counts{"e1fc": c(60), "e20a": c(30), "e219": c(6), "e237": c(4)})
	last := &lines[len(lines)-1]
	last.Text, last.Bad = ".byte  0x06", true
	jump := &lines[len(lines)-3]
	jump.Text, jump.Kind, jump.Target = "jl     0x00007efcf8ece1f3", disasm.CondJump, lines[0].Lo
	call := &lines[len(lines)-2]
	call.Text, call.Kind, call.Target = "call   0x00007efcf8991a80", disasm.Call, 0x7efcf8991a80
	call.TargetName, call.Comments, call.OwnFrames = "UncommonTrapBlob", []string{"{runtime_call}"}, false
	return profile.Profile{
		PIDs: []int{25134, 25190}, WindowSeconds: 0.1, Counters: []string{"cpu-clock"},
		Accounts: []profile.Account{{Total: 100, Profiled: 100, Compiled: 100}},
		Regions: []profile.Region{{
			Source: "c2, level 4, osr", Method: "Workload::dot", CompileID: 75, OSR: true, PIDs: []int{25134, 25190},
			Lo: lines[0].Lo, Hi: last.Hi, Counts: c(100), Hot: true, Lines: lines,
		}},
		Methods: []profile.Method{{Source: "c2, level 4, osr", Name: "Workload::dot", CompileID: 75, Blobs: 2,
			Counts: c(100)}},
		Sources: []profile.Source{{Source: "c2, level 4, osr", Counts: c(100)}},
	}
}

// Empty returns a profile without samples.
func Empty() profile.Profile {
	return profile.Profile{
		PIDs: []int{25134}, WindowSeconds: 0.5, Counters: []string{"cpu-clock"},
		Accounts: []profile.Account{{Total: 3057, OtherProcess: 2800, OutsideWindow: 250, Lost: 7}},
	}
}

// Sites returns a profile with locks, parks, allocations and events of the program's own.
func Sites(t *testing.T) profile.Profile {
	p := Dot(t)
	at := func(method string, line int) event.Frame { return event.Frame{Method: method, BCI: 7, Line: line} }
	run := at("java.lang.Thread::run", 1583)
	p.Events = []events.Total{
		{Kind: event.Own, Name: "com.acme.Request", Count: 12, Nanos: 34_500_000, LongestNanos: 6_100_000, Counts: c(23)},
		{Kind: event.Lock, Count: 7, Nanos: 61_000_000, LongestNanos: 31_000_000, Counts: c(2)},
	}
	p.Locks = []sites.Wait{
		{Frame: event.Frame{Method: "Workload::work", BCI: 7, Line: 21}, Class: "java.util.concurrent.ConcurrentHashMap$Node",
			Owner: "worker-", Count: 6, Nanos: 60e6, LongestNanos: 31e6,
			Stacks: []sites.Stack{{Frames: []event.Frame{at("Workload::work", 21), at("Workload::<init>\x1b", 9), run},
				Weight: 40e6, Count: 2},
				{Frames: []event.Frame{at("Workload::work", 21), at("com.acme.Router::route", 88),
					at("com.acme.Server::handle", 40), run}, Weight: 20e6, Count: 4}}},
		{Class: "A\x1b[31m", Count: 1, Nanos: 1e6, LongestNanos: 1e6},
	}
	p.Parks = []sites.Wait{{Frame: at("com.acme.Main::main", 12), Class: "java.util.concurrent.FutureTask", Count: 1,
		Nanos: 5e6, LongestNanos: 5e6,
		Stacks: []sites.Stack{{Frames: []event.Frame{at("com.acme.Main::main", 12)}, Weight: 5e6, Count: 1}}}}
	p.Allocations = []sites.Alloc{
		{Frame: event.Frame{Method: "Workload::allocate", BCI: 3, Line: 33}, Class: "byte[]", Events: 120, Bytes: 250_500_000,
			Stacks: []sites.Stack{{Frames: []event.Frame{at("Workload::allocate", 33), at("com.acme.Deep::down", 3)}, Cut: true,
				Weight: 250_500_000, Count: 120}}},
		{Frame: event.Frame{Method: "Native::made"}, Class: "int[][]", Events: 1, Bytes: 100_000},
		{Class: "java.lang.String", Events: 1, Bytes: 1},
	}
	return p
}
