package nmethod

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/printassembly"
)

// oldProgram makes HotSpot compile methods of many classes, also on JDK 8.
const oldProgram = `
import java.lang.invoke.*;
import java.util.*;
import java.util.regex.*;
import java.util.stream.*;

public class Old {
    static int sink;

    static int twice(int n) { return 2 * n; }

    public static void main(String[] args) throws Throwable {
        MethodHandle twice = MethodHandles.lookup().findStatic(Old.class, "twice", MethodType.methodType(int.class, int.class));
        Pattern word = Pattern.compile("([a-z]+)(\\d*)");
        for (int n = 0; ; n++) {
            Map<String, Integer> counts = new TreeMap<>();
            Matcher m = word.matcher("abc12 def" + n + " and so on");
            while (m.find()) {
                counts.merge(m.group(1), n, Integer::sum);
            }
            sink += counts.hashCode() + (int) twice.invokeExact(n)
                    + IntStream.range(0, 50).mapToObj(Integer::toString).collect(Collectors.toList()).hashCode();
        }
    }
}`

// compileOld compiles oldProgram into a folder.
func compileOld(t testing.TB, folder string) {
	t.Helper()
	source := filepath.Join(folder, "Old.java")
	require.NoError(t, os.WriteFile(source, []byte(oldProgram), 0o600))
	gasmtest.CompileJava(t, folder, 8, source)
}

// TestMethodName compares names and bytecode sizes with those of LogCompilation's tags, on each JDK of the machine.
func TestMethodName(t *testing.T) {
	classPath := t.TempDir()
	compileOld(t, classPath)
	jdks := gasmtest.NeedJDKs(t, func(gasmtest.JDK) bool { return true })
	require.NotEmpty(t, jdks)
	for _, jdk := range jdks {
		t.Run(jdk.Name(), func(t *testing.T) { testMethodName(t, jdk, classPath) })
	}
}

func testMethodName(t *testing.T, jdk gasmtest.JDK, classPath string) {
	logPath := filepath.Join(t.TempDir(), "log")
	cmd := exec.Command(jdk.Java(), "-XX:+UnlockDiagnosticVMOptions", "-XX:+LogCompilation", "-XX:LogFile="+logPath,
		"-cp", classPath, "Old")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	require.NoError(t, cmd.Start())
	defer func() {
		cmd.Process.Kill()
		cmd.Wait()
		gasmtest.RemoveCompilerLogs(cmd.Process.Pid, time.Time{})
	}()
	tags := regexp.MustCompile(`(?m)^<nmethod .*\n`)
	var log []byte
	require.Eventually(t, func() (ok bool) {
		log, _ = os.ReadFile(logPath)
		return len(tags.FindAll(log, -1)) >= 200
	}, time.Minute, 20*time.Millisecond, "the JVM compiles methods: %s", &stderr)
	gasmtest.Stop(t, cmd.Process.Pid)
	vm, err := vmstructs.Open(cmd.Process.Pid)
	require.NoError(t, err)
	c, err := NewCopier(vm)
	require.NoError(t, err)
	assert.Equal(t, Known(jdk.Feature), c.Frames() == nil, "%v", c.Frames())

	same, freed := 0, 0
	for _, line := range tags.FindAll(log, -1) {
		tag, ok := printassembly.ParseInstalled(line)
		require.True(t, ok, "%s", line)
		if id, err := vm.Uint32(tag.Address + c.layout.compileID); err != nil || int(id) != tag.ID {
			continue // replaced since
		}
		method, err := vm.Uint64(tag.Address + methodField(t, vm))
		require.NoError(t, err)
		if method == 0 {
			continue // unloaded since
		}
		name, size, err := c.MethodName(method)
		if err != nil {
			freed++ // HotSpot overwrites freed nmethods, and a compile id may outlive its method
			continue
		}
		assert.Equal(t, tag.Name, name)
		assert.Equal(t, tag.BytecodeSize, size, name)
		same++
	}
	assert.LessOrEqual(t, freed*50, same) // it was 2 of 189 when the JVM had just made room
	assert.Greater(t, same, 100)
}

// methodField returns the offset of nmethod::_method.
func methodField(t *testing.T, vm *vmstructs.VM) uint64 {
	t.Helper()
	for _, name := range []string{"nmethod::_method", "CompiledMethod::_method"} {
		if offset, ok := vm.Offset(name); ok {
			return offset
		}
	}
	require.Fail(t, "HotSpot's tables have no nmethod::_method")
	return 0
}
