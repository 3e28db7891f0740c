package usdt

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/event/usdt"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/internal/monotonic"
)

// A way is a way to set probes.
type way struct {
	bpf, atOnce, uprobes bool
	note                 string
	near                 shares
}

// ways are the ways that gasm uses on kernels since 6.6, on older kernels, on kernels that refuse BPF, and on kernels
// that refuse perf's events, too.
var ways = []way{{true, true, true, "", medians}, {true, false, true, "one by one", medians},
	{false, true, true, "no BPF program (operation not permitted): USDT probes are recorded by perf's events", medians},
	{false, true, false, "no BPF program (operation not permitted): USDT probes are recorded by DTrace, which took",
		beforeOthers}}

// beforeOthers is for DTrace, whose clauses the kernel runs before the programs of the other ways. They take some 10
// µs, and 18 µs at the median on a busy machine. If a thread loses its processor in the meantime, the probes of the
// other ways fire some ms later.
var beforeOthers = shares{begins: 0.5, ends: 0.5, within: 100_000, same: 50_000_000}

// TestWays checks that probes report the same things in all ways: a recorder for each way watches the
// same JVM at the same time.
func TestWays(t *testing.T) {
	gasmtest.NeedTime(t)
	needBPF(t)
	gasmtest.NeedTool(t, "dtrace", "scripts/install-dtrace.sh installs it") // DTrace works wherever BPF does
	classes := t.TempDir()
	gasmtest.CompileJava(t, classes, 8, gasmtest.Testdata("programs", "Probed.java"))
	j := startProbed(t, gasmtest.NeedJava(t), classes, 20, "-XX:+DTraceAllocProbes", "-XX:+DTraceMonitorProbes",
		"-XX:+UseSerialGC", "-Xmx64m", "-Xmn2m")
	before := probesInTracefs(t)
	recorded, lost := j.recordWays(t, "DONE", event.Safepoint, event.Lock, event.Sleep, event.Thread)
	assert.Equal(t, before, probesInTracefs(t))
	assert.Equal(t, make([]int64, len(ways)), lost, "these are few")
	for i, events := range recorded {
		if i == 0 {
			continue // the others are compared with this one
		}
		for _, kind := range []event.Kind{event.Safepoint, event.Lock, event.Sleep} {
			want := ofKind(recorded[0], kind)
			assert.Equal(t, len(want), len(ofKind(events, kind)), "%s %s", ways[i].note, kind) // Len would print them all
			compare(t, ways[i].note+" "+string(kind), ofKind(events, kind), want, ways[i].near)
		}
		assert.Len(t, ofKind(events, event.Thread), len(ofKind(recorded[0], event.Thread)), ways[i].note)
		if ways[i].uprobes && !ways[i].bpf {
			continue // perf's samples have no brief texts, and no memory but the stack
		}
		assert.Equal(t, told(recorded[0]), told(events), "%s: names and arguments", ways[i].note)
	}
	assert.GreaterOrEqual(t, len(ofKind(recorded[0], event.Sleep)), 30)

	// The program only makes arrays. With the race detector, this process reads the events more slowly than they
	// come, so lost events are counted, too.
	recorded, lost = j.recordWays(t, "ALLOCATED", event.Alloc)
	for i, events := range recorded {
		alike, placed := arraysIn(events)
		t.Logf("%d arrays, %d by an instruction, %d lost %s", alike, placed, lost[i], ways[i].note)
		assert.InDelta(t, 20_000, alike+lost[i], 20, "%s: others allocate now and then", ways[i].note)
		assert.Greater(t, placed, alike*9/10, ways[i].note)
		if !gasmtest.RaceDetector && ways[i].uprobes { // DTrace loses some of so many events, and reports how many
			assert.Zero(t, lost[i], ways[i].note)
		}
	}
	j.end(t)
}

// told returns the events as texts without their times. The texts are sorted, because events of different threads may
// come in another order.
func told(events []event.Event) (texts []string) {
	for i := range events {
		e := &events[i]
		texts = append(texts, fmt.Sprintf("%s %d %q %q", e.Kind, e.TID, e.Name, e.Args))
	}
	slices.Sort(texts)
	return texts
}

// recordWays records in all ways what the program does until it prints a line. It returns the events of each way, and
// how many events it lost.
func (j *probedJVM) recordWays(t *testing.T, line string, kinds ...event.Kind) (events [][]event.Event, lost []int64) {
	t.Helper()
	texts, recorders := make([]bytes.Buffer, len(ways)), make([]*Recorder, len(ways))
	defer func() { tryBPF, allAtOnce, tryUprobes = true, true, true }()
	for i, w := range ways {
		tryBPF, allAtOnce, tryUprobes = w.bpf, w.atOnce, w.uprobes
		var err error
		begin := time.Now()
		recorders[i], err = Start(t.Context(), j.cmd.Process.Pid, Options{Patterns: Patterns(kinds), Text: &texts[i]})
		require.NoError(t, err)
		t.Logf("set in %v %s", time.Since(begin), w.note)
	}
	from := monotonic.Nanos()
	j.goOn(t)
	j.await(t, line)
	to := monotonic.Nanos() // the recorders end one after another, so some of them also have events after this time
	for i, r := range recorders {
		begin := time.Now()
		result := r.Stop()
		t.Logf("%d events; taken off in %v; %s", result.Events, time.Since(begin), result.Note)
		require.NoError(t, result.Err)
		lost = append(lost, result.Lost)
		assert.Contains(t, result.Note, ways[i].note)
		found, _ := eventsIn(t, texts[i].Bytes())
		events = append(events, slices.DeleteFunc(found, func(e event.Event) bool {
			return e.MonoNanos < from ||
				e.EndMonoNanos() > to
		}))
	}
	return events, lost
}

// arraysIn counts the int[] that were allocated.
func arraysIn(events []event.Event) (count, placed int64) {
	for _, e := range ofKind(events, event.Alloc) {
		if e.Name != "int[]" {
			continue
		}
		count += usdt.Count(&e)
		if e.PC != 0 {
			placed += usdt.Count(&e)
		}
	}
	return count, placed
}

// TestTooManyUprobes checks that too many probes are refused, with a message of one line.
func TestTooManyUprobes(t *testing.T) {
	_, err := openUprobes(1, library{}, make([]place, mostUprobes+1), nil, &RefusedError{Cause: "no BPF here"})
	assert.ErrorContains(t, err, "no BPF here; perf's events would be")
}

// TestSamples checks how samples are converted: the arguments in registers and on the stack, and the caller, which is
// found by the chain of frames.
func TestSamples(t *testing.T) {
	const sp, libjvm = 0x1000, 0x700000
	stack := make([]byte, 256)
	for at, word := range map[int]uint64{0x20: sp + 0x40, 0x28: libjvm + 5, 0x40: sp + 0x80, 0x48: 0xc0de, 0x80: 0,
		0x88: 0xab0fe, 0x10: 0x1122334455667788} {
		binary.NativeEndian.PutUint64(stack[at:], word)
	}
	var registers [32]uint64
	registers[framePointer/8], registers[stackPointer/8], registers[2] = sp+0x20, sp, 77
	frame := int(framePointer)
	args := []Operand{
		{Size: 8, Form: RegisterForm, Register: 16, Index: -1},
		{Size: 4, Form: MemoryForm, Register: frame, Index: -1, Number: -0x10},
		{Size: 8, Form: MemoryForm, Register: frame, Index: -1, Number: 1 << 20}, // not on the stack
	}
	s := samples{[]place{{}, {layout: 0}}, []layout{{args: args, caller: true, words: true, brief: -1}},
		library{lo: libjvm, hi: libjvm + 100}}
	body := sampleOf(registers, stack, len(stack))
	record := s.record(1, body)
	require.Len(t, record, s.layouts[0].size())
	word := func(i int) uint64 { return wordOf(record, i) }
	assert.Equal(t, []uint64{1234, 7<<32 | 8, 1}, []uint64{word(0), word(1), word(2)}, "time, thread and process, place")
	assert.Equal(t, []uint64{77, 0x55667788, 0}, []uint64{word(3), word(4), word(5)}, "arguments")
	assert.Equal(t, []uint64{0xc0de, 0xab0fe}, []uint64{word(6), word(7)}, "callers")
	assert.Equal(t, wordOf(stack, 0x50/8), word(8), "the caller's stack")
	for n := range len(body) - sampleHead { // however short it is
		assert.Len(t, s.record(1, body[:sampleHead+n]), len(record))
	}
}

// signed are return addresses as AArch64 code signs them: one in libjvm, one in a stub, and one in the code that
// called the stub. Their signatures are those that a JVM in an emulated machine had.
var signed = struct{ libjvm, stub, above, signature uint64 }{0x5a_ffff_90b3_0005, 0x20_ffff_7400_c0de,
	0x11_ffff_740a_b0fe, 0xffff << 48}

// TestSignedCaller checks that the caller is found, and has its address without a signature, if return
// addresses are signed.
func TestSignedCaller(t *testing.T) {
	const sp = 0xffff_d8f3_a000
	stack := make([]byte, 256)
	for at, word := range map[int]uint64{0x20: sp + 0x40, 0x28: signed.libjvm, 0x40: sp + 0x80, 0x48: signed.stub, 0x80: 0,
		0x88: signed.above} {
		binary.NativeEndian.PutUint64(stack[at:], word)
	}
	m := moment{stack: stack}
	m.registers[framePointer/8], m.registers[stackPointer/8] = sp+0x20, sp
	s := samples{lib: library{lo: 0xffff_90b3_0000, hi: 0xffff_91b3_0000, signature: signed.signature}}
	pc, above, frame := s.caller(&m)
	assert.Equal(t, []uint64{0xffff_7400_c0de, 0xffff_740a_b0fe, sp + 0x40}, []uint64{pc, above, frame})
}

// sampleOf returns the bytes that perf writes for a sample of thread 8 of process 7.
func sampleOf(registers [32]uint64, stack []byte, used int) []byte {
	body := binary.NativeEndian.AppendUint64(nil, 99)
	body = binary.NativeEndian.AppendUint32(body, 7)
	body = binary.NativeEndian.AppendUint32(body, 8)
	body = binary.NativeEndian.AppendUint64(body, 1234)
	body = binary.NativeEndian.AppendUint64(body, 2)
	for i := range 32 {
		switch {
		case perfRegisters == nil:
			body = binary.NativeEndian.AppendUint64(body, registers[i])
		case i < len(perfRegisters):
			body = binary.NativeEndian.AppendUint64(body, registers[perfRegisters[i]])
		}
	}
	body = binary.NativeEndian.AppendUint64(body, uint64(len(stack)))
	body = append(body, stack...)
	return binary.NativeEndian.AppendUint64(body, uint64(used))
}

func FuzzSample(f *testing.F) {
	f.Add(sampleOf([32]uint64{4: 0x20, 19: 0x10}, make([]byte, 128), 100))
	s := samples{[]place{{}}, []layout{{args: []Operand{{Size: 8, Form: MemoryForm, Register: int(framePointer), Index: 8,
		Scale: 8}}, caller: true, words: true, brief: -1}}, library{lo: 1, hi: 1 << 40}}
	f.Fuzz(func(t *testing.T, body []byte) {
		if len(body) >= sampleHead {
			assert.Len(t, s.record(0, body), s.layouts[0].size())
		}
	})
}
