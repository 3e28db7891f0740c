package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/hotspot/stack"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/sampler/collect/failure"
)

func init() { helpers["stacks"] = helpStacks }

// helpStacks checks the stacks of a JDK, for a user who may lock no more memory than kernel.perf_event_mlock_kb. It
// prints the finding as JSON.
func helpStacks(args []string) int {
	if err := unix.Setrlimit(unix.RLIMIT_MEMLOCK, &unix.Rlimit{}); err != nil {
		panic(err)
	}
	f := (&foundJDK{home: args[0]}).checkStacks(context.Background(), "jdk", os.TempDir())
	if err := json.NewEncoder(os.Stdout).Encode(f); err != nil {
		panic(err)
	}
	return 0
}

// needStacks skips a test if stacks of a JVM can't be walked here.
func needStacks(t *testing.T) {
	t.Helper()
	gasmtest.NeedNative(t)
	if !stack.Supported() {
		t.Skip("stacks are not walked on this kind of processor")
	}
}

// On all JDKs, the walked stacks are those that the source of the program implies.
func TestStacks(t *testing.T) {
	gasmtest.NeedNoRaceDetector(t)
	needStacks(t)
	for _, j := range gasmtest.NeedJDKs(t, func(j gasmtest.JDK) bool { return j.Feature >= 8 }) {
		temp := t.TempDir()
		f := (&foundJDK{home: j.Home}).checkStacks(t.Context(), "jdk", temp)
		assert.Equal(t, OK, f.Status, "%s: %s", j.Name(), f.Text)
		assert.Regexp(t, `^[1-9]\d{2,} of [1-9]\d{2,} whole, all as expected$`, f.Text, j.Name())
		assertClean(t, temp)
	}
}

// The finding names what prevents gasm from walking stacks, and the fix. In this test it is the JVM, the kernel or a
// resource limit.
func TestStacksInjected(t *testing.T) {
	needStacks(t)
	java := gasmtest.NeedJava(t)
	home := filepath.Dir(filepath.Dir(java))
	check := func(j *foundJDK) Finding {
		t.Helper()
		temp := t.TempDir()
		f := j.checkStacks(t.Context(), "jdk", temp)
		assertClean(t, temp)
		return f
	}
	t.Run("libjvm without .eh_frame", func(t *testing.T) {
		damaged := copyJDK(t, home)
		libjvm := filepath.Join(damaged, "lib/server/libjvm.so")
		text, err := os.ReadFile(libjvm)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(libjvm, bytes.ReplaceAll(text, []byte("\x00.eh_frame\x00"),
			[]byte("\x00.no_frame\x00")), 0o755))
		f := check(&foundJDK{home: damaged, libjvm: libjvm})
		assert.Equal(t, Note, f.Status)
		assert.Regexp(t, `^\d+ of [1-9]\d+ whole: libjvm has no \.eh_frame, by which gasm finds the callers of its functions$`, f.Text)
		assert.Equal(t, installJDK(osRelease()), f.Fix)
	})
	t.Run("java that ends", func(t *testing.T) {
		broken := t.TempDir()
		script(t, filepath.Join(broken, "bin/java"), "exit 1")
		f := check(&foundJDK{home: broken})
		assert.Equal(t, Note, f.Status)
		assert.Contains(t, f.Text, "no call stacks: ") // java may have ended before it could be sampled
	})
	t.Run("java that is missing", func(t *testing.T) {
		f := check(&foundJDK{home: t.TempDir()})
		assert.Equal(t, Note, f.Status)
		assert.Contains(t, f.Text, "no call stacks: java does not run: ")
	})
	t.Run("little locked memory", func(t *testing.T) {
		if os.Geteuid() != 0 {
			t.Skip("root runs this test as nobody")
		}
		f := stacksOfNobody(t, home)
		switch f.Status {
		case OK: // kernel.perf_event_mlock_kb is high enough
			assert.Contains(t, f.Text, "all as expected")
		default:
			assert.Equal(t, Note, f.Status, f.Text)
			assert.Regexp(t, `there is room for only \d+ KiB of a stack in the kernel's buffers|users may sample nothing`,
				f.Text)
			assert.Regexp(t, `^sudo sysctl kernel\.perf_event_(mlock_kb=4100 \(or ulimit -l \d+\)|paranoid=1)$`, f.Fix)
		}
	})
}

// copyJDK makes a copy of a JDK with its own libjvm. Other large files are links to the original.
func copyJDK(t *testing.T, home string) string {
	t.Helper()
	dir := t.TempDir()
	for _, path := range []string{"bin/java", "lib/libjli.so", "lib/jvm.cfg", "lib/server/libjvm.so"} {
		text, err := os.ReadFile(filepath.Join(home, path))
		require.NoError(t, err)
		to := filepath.Join(dir, path)
		require.NoError(t, os.MkdirAll(filepath.Dir(to), 0o755))
		require.NoError(t, os.WriteFile(to, text, 0o755))
	}
	for _, sub := range []string{"", "lib", "lib/server"} {
		files, err := os.ReadDir(filepath.Join(home, sub))
		require.NoError(t, err)
		for _, f := range files {
			to := filepath.Join(dir, sub, f.Name())
			if _, err := os.Lstat(to); err != nil {
				require.NoError(t, os.Symlink(filepath.Join(home, sub, f.Name()), to))
			}
		}
	}
	return dir
}

// stacksOfNobody returns the finding of helpStacks as the user nobody.
func stacksOfNobody(t *testing.T, home string) (f Finding) {
	t.Helper()
	temp, err := os.MkdirTemp("/tmp", "gasm-doctor-test-") // t.TempDir is for this user alone
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(temp) })
	require.NoError(t, os.Chown(temp, gasmtest.Nobody, gasmtest.Nobody))
	cmd := exec.Command("/proc/self/exe", home)
	cmd.Env = append(os.Environ(), helperEnv+"=stacks", "TMPDIR="+temp, "HOME=/nonexistent")
	cmd.Dir = temp
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: gasmtest.JVMOfNobody(t)}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, stderr.String())
	require.NoError(t, json.Unmarshal(out, &f))
	assertClean(t, temp)
	return f
}

// TestJudgeStacks checks findings that do not occur on CI's machines.
func TestJudgeStacks(t *testing.T) {
	const calls = "KnownStack::run KnownStack::recurse"
	install := installJDK(osRelease())
	for _, c := range []struct {
		name  string
		trial stackTrial
		want  Finding
	}{
		{"all", stackTrial{size: 65528, samples: 120, whole: 120, deep: 118},
			Finding{"jdk", "stacks", OK, "120 of 120 whole, all as expected", ""}},
		{"the last moments", stackTrial{size: 65528, samples: 120, whole: 117, deep: 110},
			Finding{"jdk", "stacks", OK, "117 of 120 whole, all as expected", ""}},
		{"paranoid", stackTrial{err: &failure.RefusedError{Reason: failure.ReasonParanoid, Cause: "users may sample nothing",
			Hint: "sudo sysctl kernel.perf_event_paranoid=1"}},
			Finding{"jdk", "stacks", Note, "no call stacks: users may sample nothing",
				"sudo sysctl kernel.perf_event_paranoid=1"}},
		{"another error", stackTrial{err: errors.New("java ended at once")},
			Finding{"jdk", "stacks", Note, "no call stacks: java ended at once", ""}},
		{"no sample", stackTrial{size: 65528}, Finding{"jdk", "stacks", Note, "not tried: a busy program gave no samples",
			""}},
		{"the kernel copies nothing", stackTrial{size: 65528, samples: 120}, Finding{"jdk", "stacks", Note,
			"0 of 120 whole: the callers of the others were not found, as in a JVM of a version that this gasm does not know",
			"gasm profile --stacks off ..."}},
		{"no .eh_frame", stackTrial{size: 65528, samples: 120, whole: 3, noFrameInfo: true}, Finding{"jdk", "stacks", Note,
			"3 of 120 whole: libjvm has no .eh_frame, by which gasm finds the callers of its functions", install}},
		{"little room", stackTrial{size: 12 << 10, samples: 120, whole: 120, deep: 120}, Finding{"jdk", "stacks", Note,
			"120 of 120 whole, all as expected; but there is room for only 12 KiB of a stack in the kernel's buffers: deeper ones are cut, and --stacks auto records none", moreLocked()}},
		{"no room", stackTrial{size: 1 << 10, samples: 120, whole: 20, cut: 100, deep: 20}, Finding{"jdk", "stacks", Note,
			"20 of 120 whole, 100 cut: there is room for only 1 KiB of a stack in the kernel's buffers", moreLocked()}},
		{"wrong", stackTrial{size: 65528, samples: 120, whole: 120, deep: 119, wrong: 1, example: calls + " Other::method"},
			Finding{"jdk", "stacks", Problem,
				"120 of 120 whole, but 1 not as the program's source says: " + calls + " Other::method; please report this",
				"gasm profile --stacks off ..."}},
		{"frames are missing", stackTrial{size: 65528, samples: 120, whole: 120, deep: 5}, Finding{"jdk", "stacks", Problem,
			"120 of 120 whole, but only 5 with all calls of the program; please report this", "gasm profile --stacks off ..."}},
	} {
		assert.Equal(t, c.want, c.trial.judge("jdk"), c.name)
	}
}

// TestStackTrial adds stacks, the innermost frame first.
func TestStackTrial(t *testing.T) {
	native, java := callstack.Frame{Kind: callstack.Native, Name: "clone3"}, func(name string) callstack.Frame {
		return callstack.Frame{Kind: callstack.Compiled, Name: name}
	}
	run, recurse, work := java("KnownStack::run"), java("KnownStack::recurse"), java("KnownStack::work")
	var all []callstack.Frame
	for range 31 {
		all = append(all, recurse)
	}
	all = append(all, run, native)
	var trial stackTrial
	add := func(frames ...callstack.Frame) {
		trial.add(func(yield func(*callstack.Frame) bool) {
			for i := range frames {
				if !yield(&frames[i]) {
					return
				}
			}
		})
	}
	add(all...)
	add(append([]callstack.Frame{work}, all...)...)
	add(recurse, recurse, run, native)
	add(native)
	assert.Equal(t, stackTrial{samples: 4, whole: 4, deep: 2}, trial)
	add()
	add(recurse, callstack.Frame{Kind: callstack.Unwalked})
	add(recurse, recurse, callstack.Frame{Kind: callstack.Cut})
	assert.Equal(t, stackTrial{samples: 7, whole: 4, deep: 2, cut: 1}, trial)
	add(work, run, native)
	add(append([]callstack.Frame{recurse}, all...)...)
	assert.Equal(t, 2, trial.wrong)
	assert.Equal(t, "KnownStack::run"+strings.Repeat(" KnownStack::recurse", 32), trial.example)
	trial.example = strings.Repeat("x", 300)
	assert.Contains(t, trial.judge("jdk").Text, ": "+strings.Repeat("x", 200)+"...; please")
}

// constants matches the numbers of constants in what javap prints.
var constants = regexp.MustCompile(`#\d+(, +\d+)?`)

// TestKnownStackClass checks that the committed class file was compiled from its source.
func TestKnownStackClass(t *testing.T) {
	javap := gasmtest.NeedTool(t, "javap", "scripts/setup.sh installs a JDK")
	dir := t.TempDir()
	gasmtest.CompileJava(t, dir, 8, "knownstack/KnownStack.java")
	code := func(path string) string {
		out, err := exec.Command(javap, "-p", "-c", path).CombinedOutput()
		require.NoError(t, err, "%s", out)
		_, text, ok := strings.Cut(string(out), "{") // the text before it may name the source file
		require.True(t, ok)
		return strings.Join(strings.Fields(constants.ReplaceAllString(text, "#")), " ")
	}
	assert.Equal(t, code(filepath.Join(dir, "KnownStack.class")), code("knownstack/KnownStack.class"))
	assert.EqualValues(t, 52, knownStack[7], "JDK 8 can read it")
}
