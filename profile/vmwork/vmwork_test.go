package vmwork

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/profile/threads"
	"github.com/gasm-profiler/gasm/sampler"
)

func TestOf(t *testing.T) {
	var tree callstack.Tree
	stack := func(names ...string) (id callstack.ID) { // the outermost function first
		for _, name := range names {
			f := callstack.Frame{Kind: callstack.Native, Module: "libjvm.so", Name: name}
			if name == "Java" {
				f = callstack.Frame{Kind: callstack.Interpreted, Name: "A::a"}
			}
			id = tree.Push(id, f)
		}
		return id
	}
	c := New(&tree)
	for _, at := range []struct {
		kind, symbol string
		callers      []string
		want         Work
	}{
		{threads.Compilers, "Node::Node", nil, JIT},
		{threads.Collector, "", nil, GC},
		{threads.Application, "Symbol::as_C_string", []string{"Threads::create_vm", "Java",
			"InterpreterRuntime::resolve_from_cache", "SystemDictionary::resolve_or_fail"}, Classes},
		{threads.Application, "Symbol::as_C_string", []string{"Threads::create_vm", "Java",
			"InterpreterRuntime::resolve_from_cache"}, Linking},
		{threads.Application, "InterpreterRuntime::frequency_counter_overflow", []string{"Java"}, Interpreter},
		{threads.Application, "os::javaTimeNanos", []string{"Threads::create_vm", "Java"}, Other},
		{threads.Application, "os::javaTimeNanos", []string{"Threads::create_vm"}, Startup},
		{threads.Application, "", []string{"Java", ""}, Unknown},
		{threads.Application, "", []string{"Java", "os::malloc"}, Other},
		{threads.Application, "", []string{"Java", "OptoRuntime::new_instance_C", ""}, Allocation},
		{threads.Application, "G1ParScanThreadState::trim_queue", nil, GC},
		{threads.OtherJVM, "BlockOffsetTable::block_start", []string{"VMThread::run", "VM_GenCollectForAllocation::doit"},
			GC},
		{threads.OtherJVM, "Monitor::wait", []string{"VMThread::run"}, Safepoints},
		{threads.Application, "G", nil, Other},
	} {
		for range 2 { // the second result comes from the cache
			s := sampler.Sample{Module: "libjvm.so", Symbol: at.symbol, Thread: "main"}
			assert.Equal(t, at.want, c.Of(&s, at.kind, stack(at.callers...)), "%s below %q", at.symbol, at.callers)
		}
	}
	assert.Equal(t, None, c.Of(&sampler.Sample{Module: "libc.so.6", Symbol: "malloc"}, threads.Compilers, 0))
	assert.Equal(t, NoThread, New(nil).Of(&sampler.Sample{Module: "libjvm.so", Symbol: "Node::Node"}, threads.Application,
		0))
	assert.Equal(t, Unknown, New(nil).Of(&sampler.Sample{Module: "libjvm.so", Thread: "main"}, threads.Application, 7))
}

// Each beginning of a function name belongs to one kind of work.
func TestClasses(t *testing.T) {
	n := 0
	for _, list := range classes {
		n += len(list)
	}
	assert.Len(t, words, n)
}
