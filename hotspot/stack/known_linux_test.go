package stack

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// calling has, for each method of Stacks.java, texts of the lines at which it calls other methods.
var calling = map[string][]string{
	"recurse":     {"recurse(depth - 1)"},
	"recursion":   {"recurse(200)"},
	"random":      {"recurse((int)"},
	"lambda":      {"f.applyAsInt(3)", "IntUnaryOperator f ="},
	"megamorphic": {".area(next)"},
	"thrown":      {"work(2)", "throwing()"},
	"throwing":    {"throw new"},
	"sorted":      {"list.sort(ORDER)", "new ArrayList"},
	"compare":     {"work(1)", "a.compareTo(b)"},
	"reflected":   {".invoke(null, 4)"},
	"locked":      {"work(7)"},
	"format":      {"String.format("},
	"timed":       {"System.nanoTime()"},
	"copied":      {"System.arraycopy("},
	"built":       {"new StringBuilder", "b.append(i)", "b.toString()"},
	"loop":        {"body.run()"},
	"area":        {"work("},
}

var ours = regexp.MustCompile(`^Stacks(\$(Circle|Square|Star))?$`)

var source = sync.OnceValue(func() []string {
	text, _ := os.ReadFile(gasmtest.Testdata("programs", "Stacks.java"))
	return strings.Split(string(text), "\n")
})

// wrongLine returns a frame of a method of Stacks.java that is said to call another Java method at a line without
// such a call. It returns nil if there is none.
func (s *seen) wrongLine() *callstack.Frame {
	callee := s.leaf != ""
	for i := range s.stack {
		f := &s.stack[i]
		if !f.Kind.Java() {
			continue
		}
		class, method, _ := strings.Cut(f.Name, "::")
		calls, ok := calling[method]
		if callee && ok && ours.MatchString(class) && (f.Line < 1 || f.Line > len(source()) ||
			!slices.ContainsFunc(calls, func(part string) bool { return strings.Contains(source()[f.Line-1], part) })) {
			return f
		}
		callee = true
	}
	return nil
}

// fromLibc reports whether the outermost frame is one of libc, which has started the thread.
func (s *seen) fromLibc() bool {
	f := s.stack[len(s.stack)-1]
	return f.Kind == callstack.Native && strings.HasPrefix(f.Module, "libc.so")
}

// A score counts the samples of the known threads.
type score struct {
	samples int // of all threads
	judged  int
	whole   int
	right   int // of the whole stacks
}

func (s *score) add(o score) {
	s.samples += o.samples
	s.judged += o.judged
	s.whole += o.whole
	s.right += o.right
}

func (s *score) String() string {
	return fmt.Sprintf("%d samples, %d judged, %.3f %% whole, %.3f %% of these right", s.samples, s.judged,
		100*float64(s.whole)/float64(s.judged), 100*float64(s.right)/float64(s.whole))
}

// returning matches the codelets in which the interpreter gives up a method's frame. At the last instructions of such
// a codelet, it is not known which method the frame belonged to.
var returning = regexp.MustCompile(`^\w*return(_register_finalizer)?\+`)

// check fails the test if fewer of the judged stacks are whole than the fraction whole, or fewer of the whole stacks
// are right than the fraction right.
func (s *score) check(t *testing.T, whole, right float64) {
	t.Helper()
	if s.whole == 0 || float64(s.whole) < whole*float64(s.judged) || float64(s.right) < right*float64(s.whole) {
		t.Error(s)
	}
}

// judge compares the samples of the known threads with what the source says.
func judge(t *testing.T, all []seen) score {
	t.Helper()
	sum := score{samples: len(all)}
	shown := map[string]int{}
	for i := range all {
		s := &all[i]
		methods := s.java()
		if n := len(methods); n > 0 && methods[n-1] == "" && returning.MatchString(s.blob) {
			methods = methods[:n-1]
		}
		right, known := gasmtest.KnownStack(s.thread, methods)
		if !known {
			continue
		}
		sum.judged++
		mark := s.mark()
		if mark == 0 {
			sum.whole++
		}
		wrong := s.wrongLine()
		if mark == 0 && wrong == nil && right && s.fromLibc() {
			sum.right++
			continue
		}
		if shown[s.thread]++; shown[s.thread] <= 2 {
			t.Logf("%s: leaf %q %s, mark %v, kernel %v, wrong line %v, last %s: %q", s.thread, s.leaf, s.blob, mark, s.kernel,
				wrong, s.last, methods)
			for _, f := range s.stack {
				t.Logf("      %v %x %s %s@%d:%d", f.Kind, f.PC, f.Module, f.Name, f.BCI, f.Line)
			}
		}
	}
	return sum
}

// A configuration is a JVM with flags.
type configuration struct {
	jdk   gasmtest.JDK
	flags []string
}

func (c *configuration) String() string {
	return strings.Join(append([]string{c.jdk.Name()}, c.flags...), " ")
}

var collectors = []string{"-XX:+UseSerialGC", "-XX:+UseParallelGC", "-XX:+UseG1GC", "-XX:+UseZGC",
	"-XX:+UseShenandoahGC"}

// modes are the choices of compilers, without and with debug info for more instructions than HotSpot needs.
var modes = [][]string{nil, {nonSafepoints}, {"-Xint"}, {onlyC1}, {onlyC1, nonSafepoints}, {onlyC2},
	{onlyC2, nonSafepoints}}

const onlyC1, onlyC2, nonSafepoints = "-XX:TieredStopAtLevel=1", "-XX:-TieredCompilation", "-XX:+DebugNonSafepoints"

// has reports whether a JDK has a collector.
func has(j gasmtest.JDK, collector string) bool {
	return j.Feature >= 11 || collector != "-XX:+UseZGC" && collector != "-XX:+UseShenandoahGC"
}

// usual are the flags with which the JDKs are tested unless -long is set: the oldest JDK with the first ones, and so
// on. Each collector and each mode is among them, so each is tested with some JDK.
var usual = [][]string{nil, {"-XX:+UseShenandoahGC", onlyC2, nonSafepoints}, nil, {"-XX:+UseParallelGC", nonSafepoints},
	{"-XX:+UseSerialGC", "-Xint"},
	{"-XX:+UseZGC", onlyC1}, nil}

// configurations returns the configurations with which a JDK is tested. number is the JDK's index in the list of all
// JDKs.
func configurations(j gasmtest.JDK, number int) []configuration {
	if !gasmtest.Long() {
		return []configuration{{j, usual[number%len(usual)]}}
	}
	var all []configuration
	for _, c := range collectors {
		if !has(j, c) {
			continue
		}
		for _, m := range modes {
			all = append(all, configuration{j, append([]string{c}, m...)})
		}
	}
	return all
}

// TestKnownStacks compares stacks with the source of the program. With -long it tries all collectors and modes. The
// samples of a single configuration are few, so the required shares are lower for them than for all samples together.
func TestKnownStacks(t *testing.T) {
	gasmtest.NeedNoRaceDetector(t)
	gasmtest.NeedNative(t)
	classes := t.TempDir()
	gasmtest.CompileJava(t, classes, 8, gasmtest.Testdata("programs", "Stacks.java"))
	var sum score
	var table strings.Builder
	for i, j := range gasmtest.NeedEachJDK(t, func(j gasmtest.JDK) bool { return j.Feature >= 8 }) {
		var ofJDK score
		for _, c := range configurations(j, i) {
			t.Run(c.String(), func(t *testing.T) {
				args := append([]string{"-XX:+UnlockDiagnosticVMOptions", "-XX:+UnlockExperimentalVMOptions",
					"-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,Stacks::work"}, c.flags...)
				s := judge(t, sampleStacks(t, j.Java(), 1000, append(args, "-cp", classes, "Stacks")...))
				t.Log(&s)
				s.check(t, 0.98, 0.995)
				ofJDK.add(s)
			})
		}
		if gasmtest.Long() && ofJDK.judged > 0 {
			ofJDK.check(t, 0.995, 0.999)
		}
		fmt.Fprintf(&table, "%s: %s\n", j.Name(), &ofJDK)
		sum.add(ofJDK)
	}
	if sum.judged > 0 { // otherwise -run has chosen nothing
		sum.check(t, 0.995, 0.999)
	}
	t.Logf("\n%s", &table)
}
