package stack

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// Patterns for the Java methods on the stacks of Virtual.java, the outermost first: those of a carrier thread that
// runs a virtual thread, and those of the virtual threads.
var (
	carrier = regexp.MustCompile(`^java.util.concurrent.ForkJoinWorkerThread::run( java.util.concurrent.ForkJoin\S+)+( java.util.concurrent.ForkJoinTask\S*)*( java.lang.\S+)* ` +
		`java.lang.VirtualThread::runContinuation jdk.internal.vm.Continuation::run jdk.internal.vm.Continuation::enterSpecial$`)
	virtual = regexp.MustCompile(`^jdk.internal.vm.Continuation::enter( jdk.internal.vm.Continuation::enter0)? java.lang.VirtualThread\$VThreadContinuation\$1::run java.lang.VirtualThread::run( java.lang.(Virtual)?Thread::runWith)?` +
		`( \S*Lambda\S*::run)?( Virtual::lambda\$main\$\d+( Virtual::loop( \S*Lambda\S*::run)*( Virtual::lambda\$main\$\d+)?` +
		`( Virtual::yielding( Virtual::recurse){0,21}| Virtual::sleeping( Virtual::slept)?| Virtual::computing)?( Virtual::work)?( (java|jdk|sun)\.\S+)*)?)?$`)
	// thawed are the inner frames of a virtual thread whose outer ones are in the heap.
	thawed = regexp.MustCompile(`^(jdk.internal.vm.Continuation::enter0?|java.lang.VirtualThread\S*|\S*Lambda\S*::run|Virtual::\S+|(java|jdk|sun)\.\S+| )*$`)
)

// TestVirtualThreads compares the stacks of virtual threads with the source of the program. A mark stands for the
// frames that are in the heap, and the frames of the carrier thread follow it.
func TestVirtualThreads(t *testing.T) {
	gasmtest.NeedNative(t)
	classes := t.TempDir()
	gasmtest.CompileJava(t, classes, 8, gasmtest.Testdata("programs", "Virtual.java"))
	modes := [][]string{nil, {"-Xint"}, {"-XX:+UseSerialGC", onlyC1}, {"-XX:+UseZGC"}}
	for i, j := range gasmtest.NeedEachJDK(t, func(j gasmtest.JDK) bool { return j.Feature >= 21 }) {
		some := modes
		if !gasmtest.Long() {
			some = modes[i%len(modes):][:1]
		}
		for _, flags := range some {
			t.Run(strings.Join(append([]string{j.Name()}, flags...), " "), func(t *testing.T) {
				all := sampleStacks(t, j.Java(), 800, append(slices.Clone(flags), "-cp", classes, "Virtual")...)
				checkVirtual(t, all)
			})
		}
	}
}

func checkVirtual(t *testing.T, all []seen) {
	t.Helper()
	judged, right, ended, frozen, replaced := 0, 0, 0, 0, 0
	for i := range all {
		s := &all[i]
		if !strings.HasPrefix(s.thread, "ForkJoi") {
			continue
		}
		names := s.java()
		inCarrier := slices.Index(names, "jdk.internal.vm.Continuation::enterSpecial") + 1
		if s.mark() == 0 && inCarrier == 0 {
			continue // no virtual thread is mounted
		}
		if s.replaced {
			replaced++
			continue
		}
		judged++
		if s.mark() == 0 {
			ended++
		}
		isFrozen := slices.ContainsFunc(s.stack, func(f callstack.Frame) bool { return f.Kind == callstack.Frozen })
		inner := strings.Join(names[inCarrier:], " ")
		ok := carrier.MatchString(strings.Join(names[:inCarrier], " "))
		switch {
		case isFrozen:
			frozen++
			ok = ok && thawed.MatchString(inner)
		default:
			ok = ok && virtual.MatchString(strings.TrimSuffix(inner, " "))
		}
		if ok {
			right++
		} else if judged-right <= 8 {
			t.Logf("leaf %q %s, mark %v, frozen %v, last %s: %s", s.leaf, s.blob, s.mark(), isFrozen, s.last,
				strings.Join(names, " "))
			for _, f := range s.stack {
				t.Logf("      %v %x %s %s@%d:%d", f.Kind, f.PC, f.Module, f.Name, f.BCI, f.Line)
			}
		}
	}
	t.Logf("%d samples, %d judged, %d end at the bottom, %d right, %d with frozen frames, %d end at replaced code",
		len(all), judged, ended, right, frozen, replaced)
	// Seen was 0.8 %, after one collection had freed the code of methods that had been compiled again.
	assert.LessOrEqual(t, float64(replaced), 0.03*float64(len(all)))
	assert.Greater(t, judged, len(all)/2)
	assert.Positive(t, frozen)
	assert.GreaterOrEqual(t, float64(ended), 0.995*float64(judged))
	assert.GreaterOrEqual(t, float64(right), 0.995*float64(judged))
}
