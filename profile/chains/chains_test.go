package chains

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/callstack"
)

// A fakeCode has code at the addresses 0x1000 to 0x8fff of two processes. The code of process 1 keeps frame pointers,
// that of process 2 does not.
type fakeCode struct{ asked int }

func (c *fakeCode) FramePointers(pid int) bool { return pid == 1 }

func (c *fakeCode) Sampled(pid int, pc uint64, monoNanos int64) Place { return c.place(pc, monoNanos) }

func (c *fakeCode) Called(pid int, pc uint64, monoNanos int64) Place { return c.place(pc-1, monoNanos) }

func (c *fakeCode) place(pc uint64, monoNanos int64) Place {
	c.asked++
	java := func(kind callstack.Kind, name string) callstack.Frame {
		f := callstack.At(kind, pc)
		f.Name = name
		return f
	}
	switch pc >> 12 {
	case 1: // a method
		return Place{Frames: []callstack.Frame{java(callstack.Compiled, "A::a")}, Lasting: true}
	case 2: // with an inlined method
		return Place{Frames: []callstack.Frame{java(callstack.Inlined, "B::inner"), java(callstack.Compiled, "B::b")},
			Lasting: true}
	case 3: // in its prologue
		return Place{Frames: []callstack.Frame{java(callstack.Compiled, "C::c")}, Lasting: true, Frameless: true}
	case 4: // another method later
		name := "D::old"
		if monoNanos >= 100 {
			name = "D::new"
		}
		return Place{Frames: []callstack.Frame{java(callstack.Compiled, name)}}
	case 5:
		return Place{Frames: []callstack.Frame{callstack.At(callstack.Interpreted, 0)}, Lasting: true}
	case 6:
		return Place{Frames: []callstack.Frame{java(callstack.Stub, "call_stub")}, Lasting: true}
	}
	if pc>>12 == 7 { // not in the log
		return Place{Frames: []callstack.Frame{callstack.At(callstack.Stub, pc)}, Unknown: true}
	}
	return Place{}
}

// chainOf adds a chain to a tree. It is written as "native start_thread; 1234; kernel read", innermost first. "cut" at
// its end says that addresses are missing.
func chainOf(tree *callstack.Tree, text string) callstack.ID {
	id := tree.Push(0, callstack.At(callstack.Chain, 0))
	words := strings.Split(text, "; ")
	if text == "" {
		words = nil
	}
	for _, word := range slices.Backward(words) {
		kind, name, _ := strings.Cut(word, " ")
		f := callstack.At(callstack.Code, 0)
		switch kind {
		case "native":
			f.Kind, f.PC, f.Name = callstack.Native, 0x10, name
		case "kernel":
			f.Kind, f.PC, f.Name = callstack.Kernel, 0xffffffff80000000, name
		case "cut":
			f.Kind = callstack.Cut
		default:
			fmt.Sscanf(kind, "%x", &f.PC)
		}
		id = tree.Push(id, f)
	}
	return id
}

// textOf returns a stack as text, innermost frame first.
func textOf(tree *callstack.Tree, id callstack.ID) string {
	var words []string
	for f := range tree.Frames(id) {
		switch {
		case f.Name != "":
			words = append(words, f.Name)
		default:
			words = append(words, "["+f.Kind.String()+"]")
		}
	}
	return strings.Join(words, "; ")
}

func TestChains(t *testing.T) {
	deep := strings.Repeat("1001; ", perfDepth-2) + "1001"
	for _, c := range []struct {
		what   string
		pid    int
		pc     uint64
		kernel bool
		chain  string
		want   string
	}{
		{"a Java stack", 1, 0x1000, false, "1001; 2001; 6001; native JavaCalls::call; native start_thread",
			"A::a; B::inner; B::b; call_stub; JavaCalls::call; start_thread"},
		{"with what is beyond it", 1, 0x1000, false, "1001; native start_thread; 9001", "A::a; start_thread"},
		{"a version after the name", 1, 0x1000, false, "native clone3@@GLIBC_2.34", "clone3@@GLIBC_2.34"},
		{"a C library without names", 1, 0x1000, false, "1001; native thread_native_entry(Thread*); native ; native ",
			"A::a; thread_native_entry(Thread*); [native]"},
		{"the return address is at the end of a method", 1, 0x1000, false, "2000; native start_thread", "A::a; start_thread"},
		{"without frame pointers", 2, 0x1000, false, "1001; native start_thread", "[cut]"},
		{"without frame pointers, and nothing below", 2, 0x1000, false, "", "[cut]"},
		{"without frame pointers, native code above", 2, 0x10, false, "native write; 1001; 2001; native start_thread",
			"write; A::a; [cut]"},
		{"without frame pointers, the interpreter", 2, 0x5000, false, "5001; native start_thread", "[interpreted]; [cut]"},
		{"without frame pointers, a native thread", 2, 0x10, false, "native Thread::call_run; native start_thread",
			"Thread::call_run; start_thread"},
		{"without frame pointers, a stub", 2, 0x6000, false, "1001; 9001", "A::a; [cut]"},
		{"the interpreter", 1, 0x5000, false, "5001; 5001; native start_thread",
			"[interpreted]; [interpreted]; [interpreted]; start_thread"},
		{"in the kernel", 1, 0xffffffff80000000, true,
			"kernel vfs_read; kernel sys_read; native read; 1001; native start_thread",
			"vfs_read; sys_read; read; A::a; start_thread"},
		{"in the kernel, from Java", 1, 0xffffffff80000000, true, "kernel page_fault; 2000; native start_thread",
			"page_fault; B::inner; B::b; start_thread"},
		{"in the kernel, from a prologue", 1, 0xffffffff80000000, true, "kernel page_fault; 3000; 1001; native start_thread",
			"page_fault; C::c; [unwalked]"},
		{"in a prologue", 1, 0x3000, false, "1001; native start_thread", "[unwalked]"},
		{"an address that is in no code", 1, 0x1000, false, "1001; 9001; native start_thread", "A::a; [unwalked]"},
		{"it just ends", 1, 0x1000, false, "1001; native main", "A::a; main; [unwalked]"},
		{"nothing but the sample", 1, 0x10, false, "", "[unwalked]"},
		{"perf has cut it", 1, 0x1000, false, "1001; cut", "A::a; [cut]"},
		{"perf has cut it without saying so", 1, 0x1000, false, deep, strings.Repeat("A::a; ", perfDepth-1) + "[cut]"},
		{"code that is not in the log", 1, 0x1000, false, "7001; native start_thread", "[stub]; start_thread"},
		{"without frame pointers, code that is not in the log", 2, 0x10, false, "7001; 1001; native start_thread",
			"[stub]; [cut]"},
		{"another process", 3, 0x10, false, "9001; native start_thread", "[unwalked]"},
	} {
		tree := &callstack.Tree{}
		s := New(tree, &fakeCode{})
		for range 2 { // the second time it is remembered
			id := s.Of(Sample{PID: c.pid, PC: c.pc, Kernel: c.kernel, Stack: chainOf(tree, c.chain)})
			assert.Equal(t, c.want, textOf(tree, id), c.what)
		}
		want := int64(0)
		if c.pid == 2 && strings.HasSuffix(c.want, "[cut]") {
			want = 2
		}
		assert.Equal(t, want, s.Distrusted(), c.what)
	}
}

// TestPassingCode: the same addresses become another stack after other code has taken their place.
func TestPassingCode(t *testing.T) {
	tree := &callstack.Tree{}
	code := &fakeCode{}
	s := New(tree, code)
	chain := chainOf(tree, "4001; native start_thread")
	for range 2 {
		assert.Equal(t, "D::old; start_thread", textOf(tree, s.Of(Sample{PID: 1, PC: 0x1000, MonoNanos: 99, Stack: chain})))
		assert.Equal(t, "D::new; start_thread", textOf(tree, s.Of(Sample{PID: 1, PC: 0x1000, MonoNanos: 100, Stack: chain})))
	}
	code.asked = 0
	lasting := chainOf(tree, "1001; native start_thread")
	for i := range 10 {
		s.Of(Sample{PID: 1, PC: 0x1000, MonoNanos: int64(i), Stack: lasting})
	}
	assert.Equal(t, 2, code.asked, "what does not change is looked up once")
}

// TestNotChains: stacks that are not chains of addresses stay unchanged.
func TestNotChains(t *testing.T) {
	tree := &callstack.Tree{}
	walked := tree.Push(tree.Push(0, callstack.At(callstack.Cut, 0)), callstack.At(callstack.Native, 7))
	s := New(tree, &fakeCode{})
	for _, id := range []callstack.ID{0, 1, walked, walked + 1, callstack.NoRoom} {
		assert.Equal(t, id, s.Of(Sample{PID: 1, PC: 0x1000, Stack: id}))
	}
	require.Equal(t, 2, tree.Len())
}
