package codecache

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/hotspot/nmethod"
	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/printassembly"
)

func TestMain(m *testing.M) {
	gasmtest.ProtectTmp()
	os.Exit(m.Run())
}

// program makes HotSpot compile methods of many classes, also on JDK 8.
const program = `
import java.lang.invoke.*;
import java.util.*;
import java.util.regex.*;
import java.util.stream.*;

public class Busy {
    static int sink;

    static int twice(int n) { return 2 * n; }

    public static void main(String[] args) throws Throwable {
        MethodHandle twice = MethodHandles.lookup().findStatic(Busy.class, "twice", MethodType.methodType(int.class, int.class));
        Pattern word = Pattern.compile("([a-z]+)(\\d*)");
        long end = System.nanoTime() + (args.length > 0 ? Long.parseLong(args[0]) * 1000000L : Long.MAX_VALUE / 2);
        for (int n = 0; n < 20_000 || System.nanoTime() < end; n++) { // on a busy machine a time alone is not enough
            Map<String, Integer> counts = new TreeMap<>();
            Matcher m = word.matcher("abc12 def" + n + " and so on");
            while (m.find()) {
                counts.merge(m.group(1), n, Integer::sum);
            }
            sink += counts.hashCode() + (int) twice.invokeExact(n)
                    + IntStream.range(0, 50).mapToObj(Integer::toString).collect(Collectors.toList()).hashCode();
        }
        System.out.println("quiet");
        Thread.sleep(1000000);
    }
}`

// A jvm is a running JVM.
type jvm struct {
	*exec.Cmd
	log    string // path
	vm     *vmstructs.VM
	copier *nmethod.Copier
}

func classPath(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	source := filepath.Join(dir, "Busy.java")
	require.NoError(t, os.WriteFile(source, []byte(program), 0o600))
	gasmtest.CompileJava(t, dir, 8, source)
	return dir
}

// start starts a JVM that writes LogCompilation's log, and waits until a number of methods are compiled.
func start(t *testing.T, jdk gasmtest.JDK, methods int, args ...string) *jvm {
	t.Helper()
	j := &jvm{log: filepath.Join(t.TempDir(), "log")}
	flags := []string{"-XX:+UnlockDiagnosticVMOptions", "-XX:+LogCompilation", "-XX:LogFile=" + j.log}
	j.Cmd = exec.Command(jdk.Java(), append(flags, args...)...)
	stderr, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	require.NoError(t, err)
	defer stderr.Close()
	j.Stderr = stderr
	require.NoError(t, j.Start())
	t.Cleanup(func() {
		j.Process.Kill()
		j.Wait()
		gasmtest.RemoveCompilerLogs(j.Process.Pid, time.Time{})
	})
	t.Cleanup(func() {
		if errors, _ := os.ReadFile(stderr.Name()); t.Failed() {
			t.Logf("the JVM's errors: %s", errors)
		}
	})
	gasmtest.AwaitOf(t, j.Process.Pid, "it has compiled methods", func() bool {
		log, _ := os.ReadFile(j.log)
		return bytes.Count(log, []byte("\n<nmethod ")) >= methods
	})
	return j
}

var tagLine = regexp.MustCompile(`(?m)^<nmethod .*\n`)

// tags returns the tags of installed methods in the log.
func (j *jvm) tags() (tags []printassembly.Installed) {
	log, _ := os.ReadFile(j.log)
	for _, line := range tagLine.FindAll(log, -1) {
		if t, ok := printassembly.ParseInstalled(line); ok {
			tags = append(tags, t)
		}
	}
	return tags
}

// open opens the JVM and returns a Cache for it.
func (j *jvm) open(t *testing.T) *Cache {
	t.Helper()
	var err error
	j.vm, err = vmstructs.Open(j.Process.Pid)
	require.NoError(t, err)
	j.copier, err = nmethod.NewCopier(j.vm)
	require.NoError(t, err)
	c, err := New(j.vm, j.copier.MethodName)
	require.NoError(t, err)
	return c
}

// eachJDK runs a test with each JDK on this machine.
func eachJDK(t *testing.T, test func(t *testing.T, jdk gasmtest.JDK)) {
	jdks := gasmtest.NeedJDKs(t, func(gasmtest.JDK) bool { return true })
	require.NotEmpty(t, jdks)
	for _, jdk := range jdks {
		t.Run(jdk.Name(), func(t *testing.T) {
			t.Parallel()
			test(t, jdk)
		})
	}
}

// TestInstalled compares the headers of nmethods with LogCompilation's tags.
func TestInstalled(t *testing.T) {
	dir := classPath(t)
	eachJDK(t, func(t *testing.T, jdk gasmtest.JDK) {
		// G1's collections may free methods that are not entered any more, so the serial collector is used.
		j, c := testInstalled(t, jdk, 250, "-XX:+UseSerialGC", "-cp", dir, "Busy")
		checkStates(t, j, c)
		checkText(t, c)
	})
}

// TestKindsOfJVM does the same for JVMs with other garbage collectors and other ways to compile.
func TestKindsOfJVM(t *testing.T) {
	gasmtest.NeedTime(t)
	dir := classPath(t)
	for _, jdk := range gasmtest.NeedJDKs(t, gasmtest.WholeJDK17) {
		for _, flags := range [][]string{{"-XX:+UseSerialGC"}, {"-XX:+UseParallelGC"}, {"-XX:+UseG1GC"},
			{"-XX:+UseZGC"}, {"-XX:+UseShenandoahGC"},
			{"-XX:-UseCompressedOops"}, {"-XX:-SegmentedCodeCache"}, {"-XX:-TieredCompilation"},
			{"-XX:TieredStopAtLevel=1"}, {"-Xcomp"}, {"-Xshare:off"},
			{"-XX:ReservedCodeCacheSize=2g"}} {
			t.Run(fmt.Sprint(jdk.Name(), flags), func(t *testing.T) {
				t.Parallel()
				testInstalled(t, jdk, 30, append(flags, "-cp", dir, "Busy")...)
			})
		}
	}
}

func testInstalled(t *testing.T, jdk gasmtest.JDK, methods int, args ...string) (*jvm, *Cache) {
	t.Helper()
	j := start(t, jdk, methods, args...)
	gasmtest.Stop(t, j.Process.Pid)
	began := time.Now()
	c := j.open(t)
	opened := time.Since(began)
	began = time.Now()
	changes, err := c.Poll(1000)
	require.NoError(t, err)
	c.check(t)
	t.Logf("opened in %v, walked in %v: %d blobs", opened, time.Since(began), len(changes.Added))
	type key struct {
		address uint64
		id      int
	}
	tags := map[key]printassembly.Installed{}
	for _, tag := range j.tags() {
		tags[key{tag.Address, tag.ID}] = tag
	}
	found, untold, kinds := 0, 0, map[string]int{}
	for _, b := range changes.Added {
		if b.Method == nil {
			kinds[fmt.Sprint(b.Kind)]++
			continue
		}
		kinds[b.Method.Kind+" "+b.Method.Compiler]++
		tag, ok := tags[key{b.Method.Address, b.Method.ID}]
		if !ok {
			untold++ // its tag is still in a buffer of HotSpot's
			continue
		}
		found++
		require.Equal(t, likeMemory(jdk, tag, b.Method), *b.Method)
	}
	t.Logf("%d tags, %d found, %d without a tag; %v", len(tags), found, untold, kinds)
	assert.Greater(t, found, methods*8/10)
	return j, c
}

// likeMemory fills in what a tag does not have, from what was found in memory.
func likeMemory(jdk gasmtest.JDK, tag printassembly.Installed,
	memory *printassembly.Installed) printassembly.Installed {
	tag.UptimeMillis = 0
	if tag.Level == 0 && tag.Compiler != "" { // without tiers, tags have no level
		tag.Level = memory.Level
	}
	if jdk.Feature == 8 { // its tags do not say where the metadata is, which lies between the code and the scopes
		if tag.Stub == tag.Hi {
			tag.Stub = memory.Hi
		}
		tag.Hi, tag.Metadata = min(tag.Hi, memory.Hi), memory.Metadata
	}
	return tag
}
