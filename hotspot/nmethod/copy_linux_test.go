package nmethod

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/hotspot/codecache"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/printassembly"
)

// enoughMethods is how many methods must be compiled before the program is stopped. That many methods include much
// code of both C1 and C2. On an idle machine, compiling them takes two seconds.
var enoughMethods = flag.Int("methods", 600, "how many methods TestCopy compares: fewer where a JVM is slow")

// A followedJVM holds what a JVM has printed about its code, and what was copied from its memory.
type followedJVM struct {
	printed, copied map[string]*printedMethod
	installed       map[string]bool // compile ids of the methods that have tags
	result          tagResult
	lateness        time.Duration // how late this process was woken at most, because others had the CPUs
}

// A choice says which methods are printed, which are copied, and when to stop: as soon as the log contains the text
// in the field words at least as often as the field enough says.
type choice struct {
	printed printassembly.Selection
	copied  CompilerSet
	enough  int
	words   string
}

// all returns the choice of all methods.
func all(enough int) choice { return choice{copied: C1 | C2, enough: enough, words: "\n<nmethod "} }

// follow runs a program in a JVM that prints its code and LogCompilation's tags, while a tagFollower copies the same
// code. When enough methods were compiled, it stops the JVM until the tagFollower has read the log to its end. So no
// method is lost because the JVM ended, however busy the machine is. Then the JVM goes on and exits, which completes
// its output.
func follow(t *testing.T, chosen choice, java string, args ...string) followedJVM {
	t.Helper()
	dir := t.TempDir()
	logPath, copiesPath := filepath.Join(dir, "printed.log"), filepath.Join(dir, "copied.log")
	flags := append(printassembly.CaptureFlags(logPath, chosen.printed), "-XX:+LogCompilation",
		"-XX:CompileCommand=log,gasm.none::none")
	cmd := exec.Command(java, append(flags, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	require.NoError(t, cmd.Start())
	defer gasmtest.RemoveCompilerLogs(cmd.Process.Pid, time.Time{}) // of a JVM that was killed
	defer cmd.Process.Kill()
	var f *tagFollower
	require.Eventually(t, func() (ok bool) {
		var err error
		f, err = newTagFollower(cmd.Process.Pid, chosen.copied, logPath, copiesPath+".tmp")
		return err == nil
	}, time.Minute, time.Millisecond, "the JVM makes its log")
	require.NoError(t, f.open())
	f.copier.SetNames(Names{Stub: stubNames(t, f.copier), Function: FunctionNames(cmd.Process.Pid)})
	late := gasmtest.Lateness(t)
	go f.run()
	require.Eventually(t, func() (ok bool) {
		log, err := os.ReadFile(logPath)
		return err == nil && bytes.Count(log, []byte(chosen.words)) >= chosen.enough
	}, 10*time.Minute, 100*time.Millisecond, "the JVM compiles methods")
	gasmtest.Stop(t, cmd.Process.Pid)
	result, lateness := f.Stop(), late()
	untilStop, err := os.ReadFile(logPath)
	require.NoError(t, err)
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, cmd.Process.Signal(syscall.SIGCONT))
	cmd.Wait()
	require.Equal(t, 128+int(syscall.SIGTERM), cmd.ProcessState.ExitCode(), "%s", &stderr)
	require.NoError(t, os.WriteFile(copiesPath, nil, 0o600))
	require.NoError(t, f.appendTo(copiesPath))

	log, err := os.ReadFile(logPath)
	require.NoError(t, err)
	copies, err := os.ReadFile(copiesPath)
	require.NoError(t, err)
	installed := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^<nmethod compile_id='(\d+)'.*\n`).FindAllSubmatch(untilStop, -1) {
		installed[string(m[1])] = true
	}
	return followedJVM{readPrinted(t, bytes.NewReader(log)), readPrinted(t, bytes.NewReader(copies)), installed, result,
		lateness}
}

// stubNames returns a function that names stubs. HotSpot makes new stubs when a compiler starts.
func stubNames(t *testing.T, c *Copier) func(addr uint64) string {
	cache, err := codecache.New(c.vm, c.MethodName)
	require.NoError(t, err)
	return func(addr uint64) string {
		b := cache.Find(addr)
		if b == nil || b.Kind != printassembly.Stub {
			_, err := cache.Poll(1)
			require.NoError(t, err)
			b = cache.Find(addr)
		}
		if b == nil || b.Kind != printassembly.Stub {
			return ""
		}
		_, name, _ := strings.Cut(b.Name, "::")
		return name
	}
}

// TestCopy compares each method that a program has compiled with what HotSpot printed of it: its name, its code, and
// the frames of each instruction that has any.
func TestCopy(t *testing.T) {
	gasmtest.NeedTime(t)
	classPath := t.TempDir()
	gasmtest.CompileJava(t, classPath, 11, gasmtest.Testdata("programs", "Library.java"))
	jdks := gasmtest.NeedJDKs(t, func(j gasmtest.JDK) bool { return Known(j.Feature) })
	require.NotEmpty(t, jdks)
	for _, jdk := range jdks {
		flags := []string{"-XX:+UseCompressedOops"}
		switch jdk.Feature { // one flag for each way in which HotSpot lays out its code
		case 11:
			flags = append(flags, "-XX:-UseCompressedOops") // the code cache is then far from all other memory
		case 17, 25:
			flags = append(flags, "-XX:+UseZGC") // it has no compressed oops, and barriers of its own
		}
		for _, flag := range flags {
			t.Run(jdk.Name()+" "+flag, func(t *testing.T) {
				testCopy(t, jdk, follow(t, all(*enoughMethods), jdk.Java(), flag, "-Dsec=3600", "-cp", classPath, "Library"))
			})
		}
	}
}

// TestCopyGraal compares the code of a compiler that is not one of HotSpot's own, for those methods that are printed.
func TestCopyGraal(t *testing.T) {
	if !gasmtest.Whole() {
		t.Skip("it takes half a minute of CPU time, and TestGraal compares lines and frames with a known program")
	}
	java, flags := gasmtest.NeedGraal(t)
	classPath := t.TempDir()
	gasmtest.CompileJava(t, classPath, 11, gasmtest.Testdata("programs", "Library.java"))
	const least = 20
	jvm := follow(t, choice{printassembly.Selection{Methods: []string{"Library::*", "java.util.*::*"}}, C2, least,
		"\nCompiled method (JVMCI)"},
		java, append(flags, "-Dsec=3600", "-cp", classPath, "Library")...)
	t.Logf("%+v", jvm.result)
	require.NoError(t, jvm.result.Disk)
	assert.Zero(t, jvm.result.Missed, "%v", jvm.result.Why)
	c := comparison{T: t, rest: map[string]int{}}
	for head, printed := range jvm.printed {
		if copied := jvm.copied[head]; copied != nil && strings.HasPrefix(head, "(jvmci)") {
			copied.check(t, head)
			c.compare(printed, copied)
		}
	}
	t.Logf("%+v %v", c.figures, c.rest)
	assert.GreaterOrEqual(t, c.methods, least-jvm.result.Late)
	assert.Greater(t, c.comments, 10*least)
	assert.Less(t, float64(c.patched), 0.02*float64(c.bytes), "bytes that differ")
	assert.Less(t, float64(c.otherRelocs), 0.01*float64(c.relocs), "relocations that differ")
}

func testCopy(t *testing.T, jdk gasmtest.JDK, jvm followedJVM) {
	result := jvm.result
	t.Logf("%+v", result)
	require.NoError(t, result.Disk)
	assert.GreaterOrEqual(t, len(jvm.installed), *enoughMethods)
	assert.Equal(t, len(jvm.installed), result.Copied+result.Late+result.Missed,
		"each method that has a tag is counted")
	// HotSpot may replace a method and free the old one before it could be copied.
	assert.LessOrEqual(t, result.Missed, result.Copied/100, "%v", result.Why)
	most := result.Copied / 100
	// Many methods are replaced within ms. When 36 threads wanted 2 processors, 51 of 602 methods were late. When
	// this process was woken up to 10.7 ms late, 59 of 610 were.
	if jvm.lateness > 5*time.Millisecond {
		most = result.Copied / 4
	}
	assert.LessOrEqual(t, result.Late, most, "this process was woken %v late", jvm.lateness)
	assert.Len(t, jvm.copied, result.Copied)
	for head, c := range jvm.copied {
		c.check(t, head)
	}
	if jdk.Feature < printassembly.OldestWithBytes {
		return // there are no printed methods to compare with
	}
	c := comparison{T: t, rest: map[string]int{}}
	unseen := 0
	for head, printed := range jvm.printed {
		if copied := jvm.copied[head]; copied != nil {
			c.compare(printed, copied)
		} else if jvm.installed[printed.id] {
			unseen++
		}
	}
	t.Logf("%+v", c.figures)
	for what, n := range c.rest {
		t.Logf("%6d %s", n, what)
	}
	least := 10_000
	if *enoughMethods < 600 { // a JVM's first methods are small: 19 relocations and 10 comments on the average
		least = 5 * *enoughMethods
	}
	// Once a call is resolved, stubs of static calls lead to the interpreter's adapters: 0.1 to 0.3 % of all
	// relocations.
	assert.Less(t, float64(c.otherRelocs), 0.01*float64(c.relocs), "relocations that differ")
	assert.Greater(t, c.relocs, least, "a method has 30 to 40 on the average")
	assert.Equal(t, result.Copied, c.methods)
	assert.LessOrEqual(t, unseen, result.Missed+result.Late)
	assert.Greater(t, c.comments, least, "a method has 22 to 35 on the average")
	// HotSpot fills in calls and classes after it has printed the code: 0.1 to 0.2 % of the bytes, and more where a
	// busy machine makes the copy late. A copy of another method would differ in most bytes.
	assert.Less(t, float64(c.patched), 0.02*float64(c.bytes), "bytes that differ")
}

// figures count what was compared: methods, bytes of code, comments that have frames, and relocations.
type figures struct{ methods, bytes, patched, comments, wrong, relocs, otherRelocs int }

// A comparison compares methods, and fails the test for each difference.
type comparison struct {
	*testing.T
	figures
	rest map[string]int // relocations that differ, by what was printed and copied
}

func (c *comparison) compare(printed, copied *printedMethod) {
	c.methods++
	assert.Equal(c, printed.lo, copied.lo)
	assert.LessOrEqual(c, len(copied.code)-len(printed.code), 3, "HotSpot prints four bytes or none")
	for i := range min(len(printed.code), len(copied.code)) {
		c.bytes++
		if printed.code[i] != copied.code[i] {
			c.patched++
		}
	}
	c.compareRelocations(printed, copied)
	byCell := map[uint64]string{}
	for _, k := range copied.comments {
		cell := k.at &^ 3
		if _, ok := byCell[cell]; !ok && k.frames != "" {
			byCell[cell] = k.frames // HotSpot prints only the first comment in each four bytes
		}
	}
	for _, k := range printed.comments {
		if k.frames == "" {
			continue
		}
		c.comments++
		if byCell[k.at] != k.frames {
			c.wrong++
			if c.wrong <= 5 {
				c.Errorf("%s at %#x:\n%s\ncopied:\n%s", printed.head, k.at, k.frames, byCell[k.at])
			}
		}
		delete(byCell, k.at)
	}
	for cell, frames := range byCell {
		c.wrong++
		if c.wrong <= 5 {
			c.Errorf("%s at %#x: not printed:\n%s", printed.head, cell, frames)
		}
	}
}

// compareRelocations compares the text of each printed relocation with that of the copy. HotSpot prints one relocation
// for each four bytes, and prefers some kinds to others.
func (c *comparison) compareRelocations(printed, copied *printedMethod) {
	byCell := map[uint64]string{}
	for _, k := range copied.comments {
		if old := byCell[k.at&^3]; k.reloc != "" && (old == "" || old == "other") {
			byCell[k.at&^3] = k.reloc
		}
	}
	for _, k := range printed.comments {
		if k.reloc == "" {
			continue
		}
		c.relocs++
		if got := byCell[k.at]; got != k.reloc && !(got == "oop" && strings.HasPrefix(k.reloc, "oop(")) {
			c.otherRelocs++
			c.rest[k.reloc+"  ≠  "+got]++
			kind, _, _ := strings.Cut(k.reloc, "(")
			if kind, _, _ = strings.Cut(kind, " "); !strings.HasPrefix(got, kind) {
				c.Errorf("%s at %#x: %q was printed and %q copied", printed.head, k.at, k.reloc, got)
			}
		}
		delete(byCell, k.at)
	}
	for at, got := range byCell {
		c.Errorf("%s at %#x: %q was not printed", printed.head, at, got)
	}
}

// namesProgram has names with letters of one, two, three and four bytes in UTF-8. A letter of four bytes has six bytes
// in modified UTF-8, and two units in UTF-16.
const namesProgram = `
public class Names {
    static class A𝒜ö日 {
        int felt𝒜ö日;

        int sum𝒜ö日(int n) {
            int sum = 0;
            for (int i = 0; i < n; i++) {
                sum += felt𝒜ö日 + i;
            }
            return sum;
        }
    }

    public static void main(String[] args) {
        A𝒜ö日 a = new A𝒜ö日();
        long sum = 0;
        while (true) {
            sum += a.sum𝒜ö日(100);
        }
    }
}`

// TestCopyNames: tags have the names of classes in modified UTF-8, and a copy has them in UTF-8. The outermost frames
// must still be recognized as those of the method.
func TestCopyNames(t *testing.T) {
	t.Setenv("LC_ALL", "C.UTF-8") // Java names class files in the locale's encoding, which is ASCII without a locale
	classPath := t.TempDir()
	source := filepath.Join(classPath, "Names.java")
	require.NoError(t, os.WriteFile(source, []byte(namesProgram), 0o600))
	gasmtest.CompileJava(t, classPath, 11, source)
	jdks := gasmtest.NeedJDKs(t, func(j gasmtest.JDK) bool { return Known(j.Feature) })
	require.NotEmpty(t, jdks)
	for _, jdk := range jdks {
		t.Run(jdk.Name(), func(t *testing.T) {
			jvm := follow(t, all(4), jdk.Java(), "-XX:CompileCommand=compileonly,Names*::*", "-cp", classPath, "Names")
			assert.Zero(t, jvm.result.Missed, "%v", jvm.result.Why)
			const name = "Names$A𝒜ö日::sum𝒜ö日"
			found := 0
			for head, m := range jvm.copied {
				if strings.Contains(head, name) {
					found++
					first := slices.IndexFunc(m.comments, func(c comment) bool { return c.frames != "" })
					require.GreaterOrEqual(t, first, 0)
					assert.Contains(t, m.comments[first].frames, name)
				}
			}
			assert.Positive(t, found, "%v", jvm.copied)
		})
	}
}
