package threaddump

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/internal/layout"
)

// frame returns a Java frame.
func frame(name, source string, line int, locks ...Lock) Frame {
	return Frame{Frame: callstack.Frame{Kind: callstack.Interpreted, BCI: 1, Line: line, Name: name}, Source: source,
		Locks: locks}
}

// some is a Dump with each kind of thread, frame and lock. Some names are such as a hostile program might use.
func some() *Dump {
	native := func(name, module string) Frame {
		return Frame{Frame: callstack.Frame{Kind: callstack.Native, PC: 0x7f10, BCI: callstack.Unknown,
			Line: callstack.Unknown, Name: name, Module: module}}
	}
	mark := func(kind callstack.Kind) Frame { return Frame{Frame: callstack.At(kind, 0)} }
	java := func(id int64, state string) *JavaThread {
		return &JavaThread{ID: id, Address: 0x7f1800000000 + uint64(id), Daemon: id > 1, Priority: 5, State: state}
	}
	object := func(kind LockKind, address uint64, owner int) Lock {
		return Lock{Kind: kind, Address: address, Class: "java.lang.Object", Owner: owner}
	}
	idle := func(id int64) Thread {
		return Thread{Name: "pool-1-thread-" + string(rune('0'+id)), TID: int(100 + id), NID: int(id), CPU: time.Millisecond,
			Java: java(id, "WAITING (parking)"), Stack: Whole,
			Kernel: Kernel{Asleep, "futex", ""}, Frames: []Frame{native("pthread_cond_wait", "libc.so.6"),
				mark(callstack.Unwalked),
				{Frame: callstack.Frame{Kind: callstack.Compiled, PC: 0x7f20, CompileID: 12, BCI: -1, Line: -1,
					Name: "jdk.internal.misc.Unsafe::park"}, Native: true,
					Locks: []Lock{{ParkingFor, 0x6a0 + uint64(id), "java.util.concurrent.SynchronousQueue", "", -1}}},
				frame("java.util.concurrent.locks.LockSupport::park", "LockSupport.java", 211),
				native("JavaCalls::call_helper", "libjvm.so")}}
	}
	return &Dump{PID: 4711, Release: 17, Version: "17.0.15+6", Time: time.Date(2026, 11, 27, 8, 0, 0, 0, time.UTC),
		Took: 12345678, Moved: 1,
		Unsampled: errors.New("perf_event_open for event cpu-clock: operation not permitted"), More: true,
		Threads: []Thread{
			{Name: "left", TID: 1, NID: 1, CPU: 1234567, Java: java(1, "BLOCKED (on object monitor)"),
				Kernel: Kernel{Asleep, "futex", "for a limited time"}, Stack: Whole,
				Frames: []Frame{frame("Main::left", "Main.java", 3, object(WaitingToLock, 0x6a0, 1), object(Locked, 0x6b0, -1),
					Lock{Locked, 0x6c0, "java.lang.Class", "Main", -1})}},
			{Name: "right", TID: 2, NID: 2, Java: java(2, "BLOCKED (on object monitor)"), Kernel: Kernel{Asleep, "futex", ""},
				Stack: Partly,
				Frames: []Frame{frame("Main::right", "", 7, object(WaitingToLock, 0x6b0, 0)), frame("", "", 0),
					mark(callstack.Cut)}},
			idle(3), idle(4), idle(5),
			{Name: "\x1b[31m\n\u202e\"hostile\"", TID: 9, NID: 9, Java: java(9, "RUNNABLE"),
				Kernel: Kernel{Asleep, "read", "socket 127.0.0.1:1 to [::1]:2\x1b]0;\a"}, Stack: Whole,
				Frames: []Frame{frame("Evil\n\x1b[2J::\u202e", "\x1b.java", 1, Lock{WaitingOn, 1, "x\ny", "", -1})}},
			{Name: "ForkJoinPool-1-worker-1", TID: 10, NID: 10, Java: java(10, "RUNNABLE"), Kernel: Kernel{State: OnProcessor},
				Virtual: &Virtual{11, "v"}, Stack: Sampled,
				Frames: []Frame{frame("Main::virtual", "Main.java", 9), mark(callstack.Frozen),
					{Frame: callstack.Frame{Kind: callstack.Stub, Name: "StubRoutines::call_stub", BCI: -1, Line: -1}}}},
			{Name: "C2 CompilerThread0", TID: 12, NID: 12, Java: java(12, "RUNNABLE"), Kernel: Kernel{State: OnProcessor},
				Compiling: "Main::hot at level 4", Stack: Running},
			{Name: "VM Thread", TID: 13, NID: 13, Kernel: Kernel{OnDisk, "", ""}, Stack: Moved},
			{Name: "gone", TID: 14, NID: 14, Kernel: Kernel{State: Unknown}, Stack: Unread},
		},
		Deadlocks: []Deadlock{{0, 1}},
	}
}

// TestWriteText compares each form of the text with a golden file. Nothing of a hostile program's names gets through.
func TestWriteText(t *testing.T) {
	for name, o := range map[string]TextOptions{"text": {}, "all": {All: true}, "group": {Group: true}} {
		t.Run(name, func(t *testing.T) {
			o.Look = layout.Look{ASCII: true}
			var out bytes.Buffer
			require.NoError(t, WriteText(&out, some(), o))
			assert.NotContains(t, out.String(), "\x1b")
			assert.NotContains(t, out.String(), "\u202e")
			gasmtest.Golden(t, name+".golden", out.Bytes())
		})
	}
}

// TestWriteJSON compares the JSON with a golden file, and reads it again.
func TestWriteJSON(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, WriteJSON(&out, some()))
	assert.NotContains(t, out.String(), "\x1b")
	gasmtest.Golden(t, "json.golden", out.Bytes())
	var read jsonDump
	d := json.NewDecoder(&out)
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(&read))
	assert.Equal(t, Schema, read.Schema)
	assert.Len(t, read.Threads, len(some().Threads))
	assert.Equal(t, some().Threads[5].Name, read.Threads[5].Name, "names are exact")
	assert.Equal(t, 1, *read.Threads[0].Frames[0].Locks[0].Owner)
	assert.Equal(t, [][]int{{0, 1}}, read.Deadlocks)
}

// TestWriteEmpty writes an empty Dump.
func TestWriteEmpty(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, WriteText(&out, &Dump{}, TextOptions{Group: true}))
	assert.Equal(t, 1, bytes.Count(out.Bytes(), []byte("\n")))
	out.Reset()
	require.NoError(t, WriteJSON(&out, &Dump{}))
	assert.Contains(t, out.String(), `"threads": []`)
	assert.Contains(t, out.String(), `"deadlocks": []`)
}
