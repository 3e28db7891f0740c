package perfevent

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// helperEnv is the environment variable that makes the test binary a program for tests to sample.
const helperEnv = "GASM_PERFEVENT_HELPER"

func TestMain(m *testing.M) {
	if name := os.Getenv(helperEnv); name != "" {
		help(name == "calls")
	}
	os.Exit(m.Run())
}

// marked is the number of words that the helper's thread has written to its stack. Their values are mark, mark+1 and
// so on.
const (
	marked = 1024
	mark   = 0x5ac4_7e57_0000_0000
)

// help prints the id of its thread and the address of the pattern (marked words) on the thread's stack. Then it works
// forever. If calls is true, it makes system calls. Otherwise it only writes the pattern again and again.
func help(calls bool) {
	runtime.LockOSThread()
	zero, err := unix.Open("/dev/zero", unix.O_RDONLY, 0)
	if err != nil {
		panic(err)
	}
	buf := make([]byte, 1<<20)
	var marks [marked]uint64
	for i := range marks {
		marks[i] = mark + uint64(i)
	}
	fmt.Println(unix.Gettid(), uintptr(unsafe.Pointer(&marks)))
	for i := uint64(0); ; i++ {
		marks[i%marked] = mark + i%marked // so that the array stays in memory
		if calls {
			_, _ = unix.Read(zero, buf)
		}
	}
}

// A helper is a running program that one of the tests samples.
type helper struct {
	pid, tid int
	pattern  uint64 // address of the pattern on the stack of the thread
}

// startHelper starts a helper, which is killed after the test.
func startHelper(t *testing.T, name string) helper {
	t.Helper()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), helperEnv+"="+name, "GOGC=off") // the collector would move the stack
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	h := helper{pid: cmd.Process.Pid}
	_, err = fmt.Sscan(line, &h.tid, &h.pattern)
	require.NoError(t, err)
	return h
}

// asNobody runs one of the tests as the user nobody.
func asNobody(t *testing.T, test string) {
	t.Helper()
	gasmtest.NeedRoot(t)
	cmd := exec.Command("/proc/self/exe", "-test.v", "-test.run=^"+test+"$")
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: gasmtest.Nobody, Gid: gasmtest.Nobody}}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	if strings.Contains(string(out), "--- SKIP") {
		t.Skipf("as uid %s: %s", strconv.Itoa(gasmtest.Nobody), out)
	}
	t.Logf("%s", out)
}
