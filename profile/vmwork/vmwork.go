// Package vmwork says what HotSpot's library (libjvm) did when it was sampled: compile, collect garbage, load classes,
// serve the interpreter, and so on.
//
// The work of a thread of a JIT compiler or of the collector is clear from its name. For other threads, the sampled
// function and its callers in the library decide, from the innermost one outwards: the first function that is known to
// belong to a [Work] decides. So the loading of a class on behalf of the interpreter is class loading, and not the
// interpreter's runtime. The search ends at the first Java frame. The functions were collected from samples of JDK 8 to
// 28; unknown functions are ignored.
package vmwork

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/profile/tally"
	"github.com/gasm-profiler/gasm/profile/threads"
	"github.com/gasm-profiler/gasm/sampler"
)

// A Work is a kind of work of libjvm. It is a text for reports.
type Work string

// The kinds of work. None is for samples outside libjvm.
const (
	None         Work = ""
	JIT          Work = "JIT"
	GC           Work = "GC"
	Classes      Work = "class loading"
	Linking      Work = "resolving calls"
	Interpreter  Work = "interpreter's runtime"
	CompiledCode Work = "compiled code's runtime"
	Deopt        Work = "deoptimization"
	Allocation   Work = "allocation"
	Locks        Work = "locks and waits"
	Exceptions   Work = "exceptions and stack traces"
	Natives      Work = "native methods"
	Safepoints   Work = "safepoints"
	Recorder     Work = "Flight Recorder"
	Startup      Work = "start and end of the JVM"
	// Other is work of unknown functions, in threads other than those of the compilers and the collector. Unknown is
	// work of such threads if neither the function nor its callers have names. NoThread is work of unknown functions in
	// a thread without a name. It may be any work.
	Other    Work = "other runtime"
	Unknown  Work = "runtime, no names of functions"
	NoThread Work = "unknown, no names of threads"
)

// classes has the beginnings of the names of functions that belong to each Work. A beginning is a class, or the whole
// name of a function. If several beginnings match, the longest one decides.
var classes = map[Work][]string{
	JIT: {"CompileBroker::", "CompilationPolicy::", "TieredThresholdPolicy::", "SimpleThresholdPolicy::",
		"NonTieredCompPolicy::", "AdvancedThresholdPolicy::", "CompileQueue::",
		"CompileTask::", "Compile::", "Compiler::", "C2Compiler::", "Compilation::", "CodeCache::", "MethodData::",
		"CompilerOracle::", "nmethod::", "NMethodSweeper::"},
	GC: {"G1", "CollectedHeap::collect", "GenCollectedHeap::", "DefNewGeneration::", "TenuredGeneration::", "SerialHeap::",
		"SerialFullGC::", "GenMarkSweep::", "MarkSweep::",
		"ParallelScavengeHeap::", "PSParallelCompact", "PSPromotionManager::", "PSScavenge::", "PSAdaptive",
		"ParCompactionManager::", "Shenandoah", "ZBarrier", "ZCollect", "ZDriver", "ZGeneration", "ZHeap",
		"ZMark", "ZRelocate", "ZObjectAllocator", "ZPageAllocator", "ReferenceProcessor::", "VM_G1", "VM_Gen", "VM_Parallel",
		"VM_Serial", "VM_Collect", "VM_GC_", "WeakProcessor::", "StringDedup",
		"CardTable", "WorkGang", "WorkerThread", "GangWorker"},
	Classes: {"ClassFileParser::", "ClassFileStream::", "KlassFactory::", "SystemDictionary", "ClassLoader",
		"Dictionary::", "PlaceholderTable::", "LoaderConstraint", "Verifier::",
		"ClassVerifier::", "StackMap", "RawBytecodeStream::", "Rewriter::", "InstanceKlass::link",
		"InstanceKlass::initialize", "InstanceKlass::call_class_initializer", "InstanceKlass::eager_init",
		"klassVtable::", "klassItable::", "Modules::", "ModuleEntry", "PackageEntry", "MetaspaceShared::", "AOTMetaspace::",
		"FileMapInfo::", "LinkedClassTable", "AOTLinkedClass", "VerificationType::",
		"constantPoolHandle", "ConstantPool::klass", "Metaspace::", "JVM_DefineClass", "JVM_FindClass", "JVM_FindLoadedClass",
		"JVM_InitClassName", "JVM_LookupDefineClass", "jni_DefineClass", "jni_FindClass",
		"DefaultMethods::", "HierarchyVisitor", "FieldLayout", "ClassHierarchy"},
	Linking: {"LinkResolver::", "SharedRuntime::resolve", "SharedRuntime::find_callee",
		"SharedRuntime::handle_wrong_method", "SharedRuntime::reresolve", "CompiledIC::", "CompiledStaticCall::",
		"CompiledDirectCall::",
		"ICStub", "InterpreterRuntime::resolve", "InterpreterRuntime::ldc", "BootstrapInfo::", "ConstantPool::resolve",
		"MethodHandles::", "MHN_", "AdapterHandlerLibrary::", "VtableStubs::", "SignatureHandlerLibrary::",
		"Runtime1::patch_code", "Runtime1::move_", "InterpreterRuntime::prepare_native_call", "NativeLookup::"},
	Interpreter:  {"InterpreterRuntime::", "TemplateInterpreter::", "BytecodeInterpreter"},
	CompiledCode: {"OptoRuntime::", "Runtime1::", "SharedRuntime::", "JVMCIRuntime::", "StubRoutines::", "CodeBlob::"},
	Deopt:        {"Deoptimization::", "vframeArray", "DeoptimizationScope::", "VM_Deoptimize", "DeoptimizeMarked"},
	Allocation: {"MemAllocator::", "ObjAllocator::", "ObjArrayAllocator::", "CollectedHeap::", "InstanceKlass::allocate",
		"TypeArrayKlass::", "ObjArrayKlass::allocate", "ObjArrayKlass::multi", "oopFactory::",
		"ThreadLocalAllocBuffer::", "InterpreterRuntime::_new", "InterpreterRuntime::newarray",
		"InterpreterRuntime::anewarray", "InterpreterRuntime::multianewarray", "OptoRuntime::new_",
		"OptoRuntime::multianewarray",
		"Runtime1::new_", "java_lang_String::create"},
	Locks: {"ObjectMonitor::", "ObjectSynchronizer::", "LightweightSynchronizer::", "BiasedLocking::", "Parker::",
		"Unsafe_Park", "Unsafe_Unpark", "InterpreterRuntime::monitor", "SharedRuntime::complete_monitor",
		"SharedRuntime::monitor", "Runtime1::monitor", "JVM_MonitorWait", "JVM_MonitorNotify", "JVM_Sleep", "LockStack::"},
	Exceptions: {"Exceptions::", "java_lang_Throwable::", "java_lang_StackTraceElement::", "BacktraceBuilder::",
		"StackWalk::", "JVM_FillInStackTrace", "InterpreterRuntime::exception", "InterpreterRuntime::throw_",
		"OptoRuntime::handle_exception", "OptoRuntime::rethrow", "Runtime1::handle_exception", "Runtime1::exception_handler",
		"Runtime1::throw_", "SharedRuntime::compute_compiled_exc", "SharedRuntime::throw_", "SharedRuntime::raw_exception",
		"JVM_MoreStackWalk", "JVM_CallStackWalk"},
	Natives: {"JVM_", "jni_", "Unsafe_", "JVMCI_", "Reflection::", "WB_", "Perf_", "jmm_", "JvmtiEnv::",
		"JvmtiExport::", "JvmtiClass"},
	Safepoints: {"SafepointSynchronize::", "SafepointMechanism::", "HandshakeState::", "Handshake",
		"ThreadSafepointState::", "VMThread::", "VM_Operation::", "VM_"},
	Recorder: {"Jfr", "JFR", "jfr_"},
	Startup: {"Threads::create_vm", "Threads::destroy_vm", "JNI_CreateJavaVM", "before_exit", "vm_exit", "init_globals",
		"universe_init", "universe_post_init", "Arguments::", "SharedClassUtil", "StubGenerator::", "exit_globals"},
}

// words has the same content as classes, with the beginnings as keys.
var words = func() map[string]Work {
	all := map[string]Work{}
	for work, list := range classes {
		for _, w := range list {
			all[w] = work
		}
	}
	return all
}()

// longestWord is the length of the longest beginning.
var longestWord = func() (n int) {
	for w := range words {
		n = max(n, len(w))
	}
	return n
}()

// ofFunction returns the Work that a function belongs to, or None.
func ofFunction(symbol string) Work {
	symbol = strings.TrimPrefix(symbol, "non-virtual thunk to ")
	for n := min(longestWord, len(symbol)); n > 1; n-- {
		if work, ok := words[symbol[:n]]; ok {
			return work
		}
	}
	return None
}

// A Classifier finds the Work of samples. It remembers what it found for functions and stacks.
type Classifier struct {
	stacks    *callstack.Tree // nil if there are none
	functions map[string]Work
	callers   []known // what is known about each stack, by its ID
}

// The type known holds what is known about a stack: the Work of the functions of libjvm at its inner end, up to the
// first Java frame.
type known struct {
	work         Work
	named, found bool // named: one of these functions has a name; found: the other fields are set
}

// maxFunctions is the maximum number of functions that a Classifier remembers. A libjvm.so has about 60,000 symbols.
const maxFunctions = 1 << 17

// New returns a Classifier. stacks are the stacks of the samples, nil if there are none.
func New(stacks *callstack.Tree) *Classifier {
	return &Classifier{stacks: stacks, functions: map[string]Work{}}
}

// Of returns the Work of a sample: None outside libjvm. kind is the kind of the sample's thread, and stack has its
// callers.
func (c *Classifier) Of(s *sampler.Sample, kind string, stack callstack.ID) Work {
	if !InLibrary(s.Module) || s.Kernel() {
		return None
	}
	switch kind {
	case threads.Compilers:
		return JIT
	case threads.Collector:
		return GC
	}
	if work := c.function(s.Symbol); work != None {
		return work
	}
	at := c.caller(stack)
	switch {
	case at.work != None:
		return at.work
	case s.Thread == "":
		return NoThread
	case s.Symbol == "" && !at.named:
		return Unknown
	}
	return Other
}

// InLibrary reports whether a module is HotSpot's library.
func InLibrary(module string) bool { return strings.HasPrefix(module, "libjvm.") }

// function does the same as ofFunction, but remembers the results.
func (c *Classifier) function(symbol string) Work {
	work, ok := c.functions[symbol]
	if !ok {
		work = ofFunction(symbol)
		if len(c.functions) < maxFunctions {
			c.functions[symbol] = work
		}
	}
	return work
}

// maxDepth is the maximum number of functions that caller looks at: the deepest recursion in libjvm is shorter.
const maxDepth = 1000

// caller returns what is known about the callers of a sample.
func (c *Classifier) caller(stack callstack.ID) (found known) {
	if c.stacks == nil {
		return known{}
	}
	var path []callstack.ID
	for len(path) < maxDepth {
		f, up := c.stacks.Frame(stack)
		if f == nil || f.Kind != callstack.Native {
			break
		}
		for len(c.callers) <= int(stack) {
			c.callers = append(c.callers, known{})
		}
		if at := c.callers[stack]; at.found {
			found = at
			break
		}
		path = append(path, stack)
		stack = up
	}
	for i := len(path) - 1; i >= 0; i-- {
		f, _ := c.stacks.Frame(path[i])
		if InLibrary(f.Module) {
			if work := c.function(f.Name); work != None {
				found.work = work
			}
			found.named = found.named || f.Name != ""
		}
		found.found = true
		c.callers[path[i]] = found
	}
	return found
}

// A Share has the samples of one kind of work.
type Share struct {
	Work
	Counts tally.Counts
}

// Shares returns the samples of each kind of work, the most frequent first.
func Shares(byWork map[Work]tally.Counts, counters int) []Share {
	var list []Share
	for work, c := range byWork {
		full := make(tally.Counts, counters)
		copy(full, c)
		list = append(list, Share{work, full})
	}
	slices.SortFunc(list, func(a, b Share) int {
		return cmp.Or(tally.Compare(a.Counts, b.Counts),
			cmp.Compare(a.Work, b.Work))
	})
	return list
}
