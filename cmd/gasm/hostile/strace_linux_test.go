package hostile

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// pathCalls are the system calls that have a path, or reach another process.
const pathCalls = "trace=%file,%process,setresuid,setfsuid,connect,getdents64,kill,tgkill,pidfd_send_signal,fchown,fchmod,ptrace,process_vm_writev,setns,unshare,mount"

// straceOf runs gasm below strace, and returns its calls in their order, with the descriptors' paths.
func straceOf(t *testing.T, args ...string) []string {
	t.Helper()
	strace := gasmtest.NeedTool(t, "strace", "apt install strace")
	log := filepath.Join(t.TempDir(), "strace.log")
	cmd := exec.Command(strace, slices.Concat([]string{"-f", "-qq", "-y", "-s", "200", "-o", log, "-e", pathCalls, binary}, args)...)
	cmd.Dir, cmd.Env = "/", append(os.Environ(), "TMPDIR="+kept)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	text, err := os.ReadFile(log)
	require.NoError(t, err)
	calls := strings.Split(strings.TrimSpace(string(text)), "\n")
	require.Greater(t, len(calls), 100, "strace sees what gasm opens")
	return calls
}

var (
	// A line is "4711 openat(3</proc/12>, "root", …) = 7".
	callLine = regexp.MustCompile(`^(\d+) +(?:<\.\.\. )?(\w+)`)
	becomes  = regexp.MustCompile(`setfsuid\(65534|setresuid\(-1, 65534, -1(\) += 0| <unfinished)`)
)

// TestNoPathAsRoot checks which thread makes each call into the files that the JVM sees: all of them have become the JVM's
// user, but for the one that opens the JVM's root folder, and those of the kernel's own texts of the process.
func TestNoPathAsRoot(t *testing.T) {
	needNative(t)
	a := startAttack(t, "no attack, own folder", newCanary(t), 0, spin(t, someJDKs(t)[0])...)
	pid := strconv.Itoa(a.pid)
	theirs := []string{a.root, "/proc/" + pid + "/root", "/proc/" + pid + "/cwd", "/tmp/gasm-probes-" + pid, "/tmp/gasm-jvm-", "/tmp/.java_pid" + pid, "/tmp/.attach_pid" + pid}
	user := map[string]bool{} // the threads that have become the JVM's user
	asUser, signals := 0, 0
	for _, call := range straceOf(t, append(append([]string{"attach", "--length", "300ms", "--skip-asm"}, everything...), pid)...) {
		m := callLine.FindStringSubmatch(call)
		if m == nil {
			continue
		}
		tid, asked := m[1], asksFor(call)
		reaches := slices.ContainsFunc(theirs, func(path string) bool { return strings.Contains(asked, path) })
		switch {
		case becomes.MatchString(call):
			user[tid] = true
		case strings.Contains(call, "+++ exited"):
			delete(user, tid) // its number may be another thread's
		case noSignal.MatchString(call):
		case strings.Contains(call, "pidfd_send_signal"):
			signals++
			assert.Contains(t, call, "SIGQUIT")
		case m[2] == "kill" && strings.Contains(call, "("):
			assert.Contains(t, call, ", 0)", "a signal by a process id: %s", call)
		case reaches && user[tid]:
			asUser++
		case reaches:
			assert.True(t, openRoot.MatchString(call), "as root: %s", call)
		}
	}
	assert.Greater(t, asUser, 20, "calls as the JVM's user")
	assert.Equal(t, 1, signals, "to have the JVM listen")
}

// noSignal sends nothing: Go's package os tries what the kernel can do with a child of its own.
var noSignal = regexp.MustCompile(`pidfd_send_signal\(\d+<[^>]*>, 0, `)

// openRoot opens the root folder of the process, by the descriptor of its folder in /proc, and reads nothing.
var openRoot = regexp.MustCompile(`openat\(\d+</proc/\d+>, "root", [A-Z_|]*O_PATH[A-Z_|]*[) ]`)

// asksFor is what a call is asked: without its result, and what it has written, such as where a link leads to. Of a call in
// two lines, because another thread made one meanwhile, the second line has nothing else.
func asksFor(call string) string {
	if strings.Contains(call, " resumed>") {
		return ""
	}
	asked, _, _ := strings.Cut(call, ") = ")
	if at := strings.Index(asked, "readlinkat("); at >= 0 {
		parts := strings.SplitN(asked[at:], ", ", 3)
		return strings.Join(parts[:min(len(parts), 2)], ", ")
	}
	return asked
}
