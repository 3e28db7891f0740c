package hostile

import (
	"bytes"
	"debug/elf"
	"maps"
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

// pathCalls selects the system calls that take a path, or that affect another process.
const pathCalls = "trace=%file,%process,openat2,setresuid,setfsuid,connect,getdents64,kill,tgkill,pidfd_send_signal,fchown,fchmod,ptrace,process_vm_writev,setns,unshare,mount"

// straceOf runs gasm under strace, and returns its system calls in order, with the paths of file descriptors.
func straceOf(t *testing.T, args ...string) []string {
	t.Helper()
	strace := gasmtest.NeedTool(t, "strace", "apt install strace")
	log := filepath.Join(t.TempDir(), "strace.log")
	cmd := exec.Command(strace, slices.Concat([]string{"-f", "-qq", "-y", "-s", "200", "-o", log, "-e", pathCalls, binary},
		args)...)
	cmd.Dir, cmd.Env = "/", append(os.Environ(), "TMPDIR="+kept)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	text, err := os.ReadFile(log)
	require.NoError(t, err)
	calls := gasmtest.StraceCalls(string(text))
	require.Greater(t, len(calls), 100, "strace sees what gasm opens")
	return calls
}

var (
	// A line is "4711 openat(3</proc/12>, "root", …) = 7".
	callLine = regexp.MustCompile(`^(\d+) +(?:<\.\.\. )?(\w+)`)
	becomes  = regexp.MustCompile(`setfsuid\(65534|setresuid\(-1, 65534, -1\) += 0`)
)

// Folders of the attacker, next to the canary. The programs in endedFolder are replaced by links as soon as they have
// ended. The attacker mounts the folder of the shell over debugFolder, but everybody else sees a link there.
const endedFolder, debugFolder = "-ended", "-debug"

// startingJVM returns the command of a JVM whose class path contains a secret of root's. The JVM starts programs that
// soon end: one is then replaced by a link to the secret, and the other one is in debugFolder.
func startingJVM(t *testing.T, j gasmtest.JDK, c *canary) []string {
	t.Helper()
	secret := filepath.Join(c.dir, "secrets", "key")
	for _, name := range []string{endedFolder, debugFolder} {
		dir := c.dir + name
		require.NoError(t, os.Mkdir(dir, 0o755))
		t.Cleanup(func() { os.RemoveAll(dir) })
		if name == debugFolder {
			require.NoError(t, os.Symlink(secret, filepath.Join(dir, debugLink(t, shell()))))
		}
		require.NoError(t, os.Chown(dir, gasmtest.Nobody, gasmtest.Nobody))
	}
	const script = `work='i=0; while [ $i -lt $0 ]; do i=$((i+1)); done'
cd "$1-ended"
# One at a time: for so long that gasm reads it while it runs. gasm samples for more than two turns, so one turn begins
# and ends while gasm samples.
if mkdir turn 2>/dev/null; then
	(timeout 15 "$1-debug/${3##*/}" -c 'while :; do :; done'; rmdir turn) &
fi
cp "$3" program-$$
./program-$$ -c "$work" 40000
ln -s "$2" link-$$
mv link-$$ program-$$`
	java := spin(t, j)
	java = java[:len(java)-3] // without the class path and the class
	return append(java, "-cp", secret+":"+programs(t), "Starts", shell(), "-c", script, "sh", c.dir, secret, shell())
}

// shell returns the path of the system's shell, with all links resolved.
func shell() string {
	if path, err := filepath.EvalSymlinks("/bin/sh"); err == nil {
		return path
	}
	return "/bin/sh"
}

// debugLink returns the name of the file with a program's debug information. If the program names no such file, it
// can't be attacked, and debugLink returns some other name.
func debugLink(t *testing.T, program string) string {
	t.Helper()
	f, err := elf.Open(program)
	require.NoError(t, err)
	defer f.Close()
	section := f.Section(".gnu_debuglink")
	if section == nil {
		return "none.debug"
	}
	data, err := section.Data()
	require.NoError(t, err)
	name, _, _ := bytes.Cut(data, []byte{0})
	return string(name)
}

// TestNoPathAsRoot checks which thread makes each system call with a path. A thread that has changed its user to the
// JVM's may use any path. All other threads run as root, and may use only paths of gasm itself, of the kernel or of
// the system. The files that they open must not be anything else, either, which could happen through a link.
func TestNoPathAsRoot(t *testing.T) {
	needNative(t)
	j := someJDKs(t)[0]
	c := newCanary(t)
	a := startAttack(t, "links at debug files", c, 0, startingJVM(t, j, c)...)
	pid := strconv.Itoa(a.pid)
	allowed := rootsPaths(gasmtest.Testdata("programs"))
	user := map[string]bool{}   // the threads that have changed their user to the JVM's
	mapped := map[string]bool{} // the targets of the kernel's links to mapped files
	var wrong []string
	asUser, ended, signals, checked := 0, 0, 0, 0
	args := slices.Concat([]string{"attach", "--length", "35s", "--frequency", "1001", "--skip-asm", "--source",
		gasmtest.Testdata("programs")}, everything, []string{pid})
	for _, call := range straceOf(t, args...) {
		m := callLine.FindStringSubmatch(call)
		if m == nil {
			continue
		}
		tid := m[1]
		if strings.Contains(call, " resumed>") {
			continue // strace missed its beginning
		}
		switch {
		case becomes.MatchString(call):
			user[tid] = true
			continue
		case strings.Contains(call, "+++ exited"):
			delete(user, tid) // another thread may get the same id
			continue
		case noSignal.MatchString(call):
			continue
		case strings.Contains(call, "pidfd_send_signal"):
			signals++
			assert.Contains(t, call, "SIGQUIT")
			continue
		case m[2] == "kill" && strings.Contains(call, "("):
			assert.Contains(t, call, ", 0)", "a signal by a process id: %s", call)
			continue
		}
		asked, opened := pathsOf(call)
		if user[tid] {
			asUser += len(asked)
			ended += strings.Count(strings.Join(asked, " "), c.dir+endedFolder)
			continue
		}
		right := true
		for _, path := range asked {
			checked++
			if strings.HasSuffix(path, "/root") && inProc.MatchString(path) && !openRoot.MatchString(call) &&
				!looksAtRoot.MatchString(call) {
				right = false
			}
			right = right && allowed.MatchString(path)
			if toMapped.MatchString(path) {
				mapped[opened] = true
			}
		}
		if !right || opened != "" && !allowed.MatchString(opened) && !mapped[opened] {
			wrong = append(wrong, call)
		}
	}
	assert.Empty(t, wrong, "as root:\n%s", strings.Join(wrong[:min(len(wrong), 20)], "\n"))
	assert.Greater(t, asUser, 20, "paths as the JVM's user")
	assert.Positive(t, ended, "paths of programs that have ended, as the JVM's user")
	assert.Greater(t, checked, 200, "paths as root")
	assert.True(t, slices.ContainsFunc(slices.Collect(maps.Keys(mapped)), func(path string) bool {
		return filepath.Base(path) == filepath.Base(shell())
	}), "the program whose debug file is a link was read: %q", mapped)
	assert.Equal(t, 1, signals, "to have the JVM listen")
}

// TestStacksNoPathAsRoot checks the same for gasm stacks, which needs only the files that the JVM has mapped. gasm
// stacks must also send no signal, stop no thread and write nothing.
func TestStacksNoPathAsRoot(t *testing.T) {
	needNative(t)
	j := someJDKs(t)[0]
	v := startJVM(t, j)
	allowed := rootsPaths(gasmtest.Testdata("programs"), j.Home) // only root can write there
	user := map[string]bool{}
	checked := 0
	for _, call := range straceOf(t, "stacks", v.pid()) {
		m := callLine.FindStringSubmatch(call)
		if m == nil || strings.Contains(call, " resumed>") || noSignal.MatchString(call) {
			continue
		}
		if becomes.MatchString(call) {
			user[m[1]] = true
		}
		switch m[2] {
		case "ptrace", "process_vm_writev", "pidfd_send_signal", "mount", "setns":
			assert.Fail(t, "gasm stacks only reads", "%s", call)
		case "tgkill":
			assert.Contains(t, call, "SIGURG", "which Go sends to gasm's own threads")
		}
		asked, _ := pathsOf(call)
		for _, path := range asked {
			checked++
			assert.True(t, user[m[1]] || allowed.MatchString(path), "as root: %s", call)
			assert.NotContains(t, call, "O_RDWR", "of a process")
		}
	}
	assert.Greater(t, checked, 100)
}

var (
	// strace prints the path of a descriptor: `3</proc/12>, "root"`, `AT_FDCWD</>, "/etc/passwd"`.
	pathArgument = regexp.MustCompile(`(?:(?:\d+|AT_FDCWD)<((?:[^>\\]|\\.)*)>(?:\(deleted\))?, )?"((?:[^"\\]|\\.)*)"`)
	openedFile   = regexp.MustCompile(`\) += \d+<(/(?:[^>\\]|\\.)*)>(?:\(deleted\))?$`)
	inProc       = regexp.MustCompile(`^/proc/\w+/`)
	toMapped     = regexp.MustCompile(`^/proc/\d+/(?:map_files/|exe$)`)
)

// pathsOf returns the paths in the arguments of a system call, and the path of the file that it has opened. opened is
// "" if it has opened none.
func pathsOf(call string) (asked []string, opened string) {
	name := callLine.FindStringSubmatch(call)[2]
	result := strings.LastIndex(call, ") ")
	if result < 0 {
		return nil, ""
	}
	text := call[:result]
	switch {
	case strings.HasPrefix(name, "readlink"): // the target of the link is only returned as text
		text, _, _ = strings.Cut(text, `", "`)
	case strings.HasPrefix(name, "execve"): // the program's arguments are not paths
		text, _, _ = strings.Cut(text, "[")
	}
	for _, m := range pathArgument.FindAllStringSubmatch(text, -1) {
		switch folder, path := m[1], m[2]; {
		case filepath.IsAbs(path):
			asked = append(asked, filepath.Clean(path))
		default:
			asked = append(asked, filepath.Join(folder, path))
		}
	}
	if m := openedFile.FindStringSubmatch(call); m != nil {
		opened = m[1]
	}
	return asked, opened
}

// rootsPaths returns an expression for the paths that gasm may use as root if it looks for files in some folders. It
// matches no path that a JVM has chosen, and no path in the folders of users.
func rootsPaths(folders ...string) *regexp.Regexp {
	patterns := []string{
		// The kernel's files about processes, and its links to the files that processes have mapped. Below root, cwd
		// and fd there are files of the JVM's.
		`/proc/\d+(?:/(?:task/\d+/)?(?:stat|status|schedstat|syscall|comm|maps|mountinfo|cgroup|cmdline|environ|mem|exe|root|fd|task|ns/\w+|fdinfo/\d+))?`,
		`/proc/\d+/task/\d+`, `/proc/\d+/net/(?:tcp6?|udp6?|unix)`, `/proc/\d+/fd/\d+`,
		`/proc/\d+/map_files/[0-9a-f]+-[0-9a-f]+`,
		`/proc(?:/self(?:/(?:stat|status|maps|mem|mountinfo|cgroup|exe|fd|fd/\d+|fdinfo/\d+|ns/\w+))?)?`,
		`/proc/(?:kallsyms|kcore|stat|cpuinfo|meminfo|filesystems|sys/.*)`, `/sys/.*`, `/dev/(?:null|tty|shm)`,
		// The system's.
		`/(?:usr|lib|lib64|bin|sbin)(?:/.*)?`, `/opt(?:/.*)?`, `/Library/Java/.*`,
		`/etc(?:/(?:passwd|group|nsswitch\.conf|ld\.so\..*|localtime|os-release|alternatives(?:/.*)?|.*java.*))?`,
		`/(?:var/)?run/nscd/.*`,
		// gasm's own files: its captures, and notes for the next gasm about what this one has left behind.
		regexp.QuoteMeta(binary), regexp.QuoteMeta(kept) + `(?:/.*)?`,
		`(?:/var)?/tmp`, `(?:/var)?/tmp/gasm-\d+(?:/lock)?`, `/run`, `/`,
		`(?:(?:/var)?/tmp|/run)/gasm-(?:events|debug-info)-\d+(?:/[\w.]+)?`,
	}
	for _, dir := range folders { // what the user has named
		patterns = append(patterns, regexp.QuoteMeta(dir)+`(?:/.*)?`)
		for at := dir; at != "/"; at = filepath.Dir(at) {
			patterns = append(patterns, regexp.QuoteMeta(at))
		}
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		patterns = append(patterns, regexp.QuoteMeta(filepath.Join(dir, "java")))
	}
	if home := os.Getenv("JAVA_HOME"); home != "" {
		patterns = append(patterns, regexp.QuoteMeta(filepath.Clean(home))+`/(?:release|lib/.*|bin/java)`)
	}
	return regexp.MustCompile(`^(?:` + strings.Join(patterns, "|") + `)$`)
}

// noSignal matches a call that sends nothing. Go's package os makes it to find out what the kernel can do with a
// child process.
var noSignal = regexp.MustCompile(`pidfd_send_signal\(\d+<[^>]*>, 0, `)

// openRoot matches a call that opens the root folder of a process, relative to the process's folder in /proc, without
// reading it. looksAtRoot matches a call that compares this folder with gasm's own root.
var (
	openRoot    = regexp.MustCompile(`openat\(\d+</proc/\d+>, "root", [A-Z_|]*O_PATH[A-Z_|]*[) ]`)
	looksAtRoot = regexp.MustCompile(`newfstatat\(\d+</proc/\d+>, "root", `)
)
