package reporttest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/capture"
)

// stacksLog is the log of a JVM whose samples have call stacks. It has the code of all compiled methods that were
// sampled. Of the methods that are only on stacks, it has only Server::handle.
const stacksLog = `<hotspot_log version='160 1' process='101' time_ms='1700000000000'>
invokevirtual  182 invokevirtual  [0x0000000000001000, 0x0000000000001100]  256 bytes
StubRoutines::call_stub [0x0000000000001200, 0x0000000000001300] (256 bytes)
StubRoutines::jlong_disjoint_arraycopy [0x0000000000001400, 0x0000000000001500] (256 bytes)
Compiled method (c2) 10    7       4       java.util.HashMap::get (28 bytes)
 main code      [0x0000000000002000,0x0000000000002008] = 8
[MachCode]
  0x0000000000002000: 9090 9090
  0x0000000000002004: ;*if_acmpne {reexecute=0}
  0x0000000000002004: ; - java.util.HashMap::getNode@4 (line 570)
  0x0000000000002004: ; - java.util.HashMap::get@2 (line 557)
  0x0000000000002004: 4801 d090
[/MachCode]
Compiled method (c2) 11    8       4       com.acme.Fib::fib (28 bytes)
 main code      [0x0000000000003000,0x0000000000003004] = 4
[MachCode]
  0x0000000000003000: ;*iadd {reexecute=0}
  0x0000000000003000: ; - com.acme.Fib::fib@9 (line 7)
  0x0000000000003000: 9090 9090
[/MachCode]
Compiled method (c2) 12   13       4       com.acme.Server::handle (28 bytes)
 main code      [0x0000000000005000,0x0000000000005018] = 24
[MachCode]
  0x0000000000005000: 5548 83ec | 10
  0x0000000000005005: ;*invokevirtual find {reexecute=0}
  0x0000000000005005: ; - com.acme.Router::route@1 (line 21)
  0x0000000000005005: ; - com.acme.Server::handle@1 (line 40)
  0x0000000000005005: 9090 9090 | 9090 e8eb
  0x000000000000500d: efff ff90 | 4883 c410 | 5dc3 90
[/MachCode]
</hotspot_log>
`

// A StackSample is a kind of sample of the capture that WriteStacks makes: how often it was taken, in which thread, and
// all of its frames, the innermost first.
type StackSample struct {
	N      int
	Thread string
	Frames []callstack.Frame

	pc             uint64
	symbol, module string
	own            int  // the number of innermost frames that come from the sampled code, and are not in stacks.txt
	none           bool // the sample has no stack; the last frame is the mark that reports show in its place
}

// Frames of the samples.
var (
	getNode = callstack.Frame{Kind: callstack.Inlined, Line: 570, Name: "java.util.HashMap::getNode"}
	get     = callstack.Frame{Kind: callstack.Compiled, Line: 557, Name: "java.util.HashMap::get"}
	fibLeaf = callstack.Frame{Kind: callstack.Compiled, Line: 7, Name: "com.acme.Fib::fib"}
)

func java(kind callstack.Kind, pc uint64, id int, name string, line int) callstack.Frame {
	return callstack.Frame{Kind: kind, PC: pc, CompileID: id, BCI: 1, Line: line, Name: name}
}

func native(kind callstack.Kind, module, name string) callstack.Frame {
	return callstack.Frame{Kind: kind, PC: 0x70000010, BCI: callstack.Unknown, Line: callstack.Unknown, Module: module,
		Name: name}
}

func mark(kind callstack.Kind) callstack.Frame {
	return callstack.Frame{Kind: kind, BCI: callstack.Unknown, Line: callstack.Unknown}
}

// StackSamples are the kinds of samples of the capture that WriteStacks makes, 1000 samples in total.
func StackSamples() []StackSample {
	stub := func(name string) callstack.Frame {
		return callstack.Frame{Kind: callstack.Stub, PC: 0x1234, BCI: callstack.Unknown, Line: callstack.Unknown, Name: name}
	}
	start := []callstack.Frame{
		stub("StubRoutines::call_stub"), native(callstack.Native, "libjvm.so", "JavaCalls::call_helper"),
		native(callstack.Native, "libc.so.6", "start_thread"), native(callstack.Native, "libc.so.6", "clone3"),
	}
	thread := []callstack.Frame{java(callstack.Interpreted, 0, 0, "java.lang.Thread::run", 840)}
	main := []callstack.Frame{java(callstack.Interpreted, 0, 0, "com.acme.Main::main", 10)}
	find := java(callstack.Compiled, 0x4010, 12, "com.acme.Users::find", 88)
	// Server::handle was compiled with Router::route inlined. Batch::step calls the same method at another line.
	server := []callstack.Frame{java(callstack.Inlined, 0x5010, 13, "com.acme.Router::route", 21),
		java(callstack.Compiled, 0x5010, 13, "com.acme.Server::handle", 40)}
	batch := []callstack.Frame{java(callstack.Compiled, 0x6010, 14, "com.acme.Batch::step", 12)}
	fib := func(pc uint64) callstack.Frame { return java(callstack.Compiled, pc, 8, "com.acme.Fib::fib", 7) }
	evil := java(callstack.Interpreted, 0, 0, "com.acme.E;\x1b[31mvil\n::a b 7", 1)
	read := native(callstack.Native, "libc.so.6", "read")
	join := func(lists ...[]callstack.Frame) (all []callstack.Frame) {
		for _, list := range lists {
			all = append(all, list...)
		}
		return all
	}
	f := func(frames ...callstack.Frame) []callstack.Frame { return frames }
	return []StackSample{
		{N: 300, Thread: "http-1", Frames: join(f(getNode, get, find), server, thread, start), pc: 0x2004, own: 2},
		{N: 100, Thread: "http-2", Frames: join(f(getNode, get, find), server, thread, start), pc: 0x2004, own: 2},
		{N: 150, Thread: "main", Frames: join(f(getNode, get, find), batch, main, start), pc: 0x2004, own: 2},
		{N: 10, Thread: "main", Frames: join(f(getNode, get, evil), main, start), pc: 0x2000, own: 2},
		{N: 60, Thread: "main", Frames: join(f(fibLeaf, fib(0x3002), fib(0x3002), fib(0x3001)), main, start), pc: 0x3000,
			own: 1},
		{N: 30, Thread: "main", Frames: join(f(fibLeaf, fib(0x3001)), main, start), pc: 0x3000, own: 1},
		{N: 10, Thread: "main", Frames: f(fibLeaf, fib(0x3002), fib(0x3002), mark(callstack.Cut)), pc: 0x3000, own: 1},
		// In the interpreter, the innermost frame of the stack is the sampled method.
		{N: 80, Thread: "main", Frames: join(f(java(callstack.Interpreted, 0, 0, "com.acme.Main::loop", 31)), main, start),
			pc: 0x1010},
		// In the kernel, the stack begins with the sampled function.
		{N: 70, Thread: "http-1", Frames: join(f(native(callstack.Kernel, "", "copy_page"),
			native(callstack.Kernel, "", "ksys_read"), read, java(callstack.Compiled, 0x7010, 15,
				"java.io.FileInputStream::read", callstack.Unknown)), server[1:], thread, start),
			pc: 0xffffffff81000000, symbol: "copy_page", module: "[kernel.kallsyms]"},
		{N: 40, Thread: "main", Frames: join(f(stub("StubRoutines::jlong_disjoint_arraycopy")), batch, main, start),
			pc: 0x1404, own: 1},
		{N: 20, Thread: "ForkJoinPool-1-w", Frames: f(getNode, get, find,
			java(callstack.Compiled, 0x8010, 16, "com.acme.Task::run", 5), mark(callstack.Frozen)), pc: 0x2004, own: 2},
		{N: 15, Thread: "main", Frames: f(stub("StubRoutines::jlong_disjoint_arraycopy"), mark(callstack.Unwalked)),
			pc: 0x1404, own: 1},
		{N: 90, Thread: "GC Thread#0", Frames: f(native(callstack.Native, "libjvm.so", "G1ParScanThreadState::trim_queue"),
			native(callstack.Native, "libjvm.so", ""), native(callstack.Native, "libc.so.6", "clone3")),
			pc: 0x70000001, symbol: "G1ParScanThreadState::trim_queue", module: "/usr/lib/libjvm.so", own: 1},
		{N: 20, Thread: "C2 CompilerThre", Frames: f(native(callstack.Native, "libjvm.so", "PhaseIdealLoop::build_loop_late"),
			mark(callstack.Unwalked)),
			pc: 0x70000002, symbol: "PhaseIdealLoop::build_loop_late", module: "/usr/lib/libjvm.so", own: 1, none: true},
		{N: 5, Thread: "main", Frames: f(callstack.Frame{Kind: callstack.Stub, Name: "[unresolved]"},
			mark(callstack.Unwalked)), pc: 0x9000, own: 1, none: true},
	}
}

// StacksPID is the process of the capture that WriteStacks makes.
const StacksPID = 101

// WriteStacks writes a capture whose samples have call stacks into a folder. The samples are those of StackSamples.
func WriteStacks(tb testing.TB, dir string) {
	tb.Helper()
	var samples, stacks bytes.Buffer
	w := callstack.NewWriter(&stacks)
	at := int64(10e9)
	for _, s := range StackSamples() {
		suffix := ""
		if !s.none {
			var id callstack.ID
			for i := len(s.Frames) - 1; i >= s.own; i-- {
				id = w.Push(id, s.Frames[i])
			}
			suffix = fmt.Sprintf(" #%d", id)
		}
		symbol, module := s.symbol, s.module
		if module == "" {
			symbol, module = "[unknown]", "//anon"
		}
		tid := StacksPID + len(s.Thread)
		for range s.N {
			at += 1e6
			fmt.Fprintf(&samples, "%16s %5d/%-5d %5d.%09d: cycles: %16x %s (%s)%s\n", s.Thread, StacksPID, tid, at/1e9, at%1e9,
				s.pc, symbol, module, suffix)
		}
	}
	check := func(err error) {
		if err != nil {
			tb.Fatal(err)
		}
	}
	check(w.Flush())
	write := func(name string, text []byte) { check(os.WriteFile(filepath.Join(dir, name), text, 0o600)) }
	write(capture.SamplesFile, samples.Bytes())
	write(capture.StacksFile, stacks.Bytes())
	write(capture.LogFile(StacksPID), []byte(stacksLog))
	d := capture.Description{Schema: 1, Gasm: "0.1.0", Command: []string{"java", "com.acme.Main"}, Sampler: "native",
		Events: []string{"cycles"}, Frequency: 1001,
		Stacks: capture.StacksVersion, JVMs: []capture.JVM{{PID: StacksPID, Main: "com.acme.Main", Version: "25.0.1+8",
			LogFile: capture.LogFile(StacksPID), StartMonoNanos: 10e9}}}
	check(d.Write(dir))
}
