package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// filterEnv is set in a process of this test that installs a filter of system calls and then becomes another program.
// It has the names of the allowed system calls.
const filterEnv = "GASM_TEST_SYSTEM_CALLS"

func TestMain(m *testing.M) {
	if calls := os.Getenv(filterEnv); calls != "" {
		fmt.Fprintln(os.Stderr, becomeFiltered(strings.Fields(calls), os.Args[1:]))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// becomeFiltered installs a filter that allows only these system calls, and becomes another program. All other system
// calls fail with EPERM, except openat2: systemd lets it fail with ENOSYS in a service with DynamicUser=yes, which
// includes RestrictSUIDSGID=yes.
func becomeFiltered(calls, program []string) error {
	os.Unsetenv(filterEnv)
	filter := seccomp.Filter{NoNewPrivs: true, Flag: seccomp.FilterFlagTSync, Policy: seccomp.Policy{
		DefaultAction: seccomp.ActionErrno, Syscalls: []seccomp.SyscallGroup{{Action: seccomp.ActionAllow, Names: calls},
			{Action: seccomp.ActionErrno | seccomp.Action(syscall.ENOSYS), Names: []string{"openat2"}}}}}
	if err := seccomp.LoadFilter(filter); err != nil {
		return err
	}
	return syscall.Exec(program[0], program, os.Environ())
}

// directives returns the values of a directive of the unit, in their order.
func directives(name string) (values []string) {
	for line := range strings.Lines(string(unit)) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && key == name {
			values = append(values, value)
		}
	}
	return values
}

// TestUnit checks the unit with systemd's own tool, which knows how much a service may do.
func TestUnit(t *testing.T) {
	tool, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("no systemd-analyze on PATH: scripts/setup.sh installs it")
	}
	file := filepath.Join(t.TempDir(), "gasm-watch.service")
	require.NoError(t, os.WriteFile(file, unit, 0o644))
	out, err := exec.Command(tool, "security", "--offline=true", "--no-pager", "--threshold=25", file).CombinedOutput()
	require.NoError(t, err, "%s", out)
	exposure := regexp.MustCompile(`exposure level for gasm-watch.service: ([0-9.]+) OK`).FindSubmatch(out)
	require.NotNil(t, exposure, "%s", out)
	level, err := strconv.ParseFloat(string(exposure[1]), 64)
	require.NoError(t, err)
	assert.LessOrEqual(t, level, 2.5)

	for _, command := range directives("ExecReload") { // not /bin/kill, which a bare Debian does not have
		assert.Regexp(t, "^/bin/sh ", command)
	}
	// verify looks for the program, which is not installed here.
	installed := bytes.Replace(unit, []byte("/usr/bin/gasm "), []byte("/bin/true "), 1)
	require.NoError(t, os.WriteFile(file, installed, 0o644))
	out, err = exec.Command(tool, "verify", "--man=no", file).CombinedOutput()
	assert.NoError(t, err, "%s", out)
	assert.NotContains(t, string(out), "gasm-watch.service:", "systemd knows all directives")
}

// allowedCalls returns the system calls that the unit allows, as systemd expands their groups.
func allowedCalls(t *testing.T, tool string) []string {
	t.Helper()
	info, err := arch.GetInfo("")
	require.NoError(t, err)
	var expand func(name string, calls map[string]bool)
	expand = func(name string, calls map[string]bool) {
		if !strings.HasPrefix(name, "@") {
			calls[name] = true
			return
		}
		out, err := exec.Command(tool, "syscall-filter", "--no-pager", name).Output()
		require.NoError(t, err)
		for line := range strings.Lines(string(out)) {
			if word := strings.TrimSpace(line); strings.HasPrefix(line, "    ") && !strings.HasPrefix(word, "#") {
				expand(word, calls)
			}
		}
	}
	allowed := map[string]bool{}
	expand("@default", allowed)
	for _, line := range directives("SystemCallFilter") {
		list, taken := strings.CutPrefix(line, "~")
		calls := map[string]bool{}
		for _, name := range strings.Fields(list) {
			expand(name, calls)
		}
		for name := range calls {
			if taken {
				delete(allowed, name)
			} else {
				allowed[name] = true
			}
		}
	}
	var names []string
	for name := range allowed {
		if _, known := info.SyscallNames[name]; known { // some are of other architectures
			names = append(names, name)
		}
	}
	slices.Sort(names)
	require.Equal(t, []string{"yes"}, directives("DynamicUser"))
	names = slices.DeleteFunc(names, func(name string) bool { return name == "openat2" }) // see becomeFiltered
	require.Greater(t, len(names), 100)
	require.NotContains(t, names, "setuid")
	return names
}

// needRoot skips a test that makes namespaces and changes its user.
func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can run this test")
	}
}

// buildGasm builds gasm for this machine.
func buildGasm(t *testing.T) string {
	t.Helper()
	r := release{version: "1.2.3", goTool: "go", source: "..", work: openFolder(t)}
	gasm := r.programPath("linux", "test")
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", gasm, "./cmd/gasm")
	cmd.Dir, cmd.Env = "..", append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return gasm
}

// openFolder returns a temporary folder that all users can enter.
func openFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "gasm-packaging-")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, 0o755))
	return dir
}

const (
	nobody  = 65534
	service = 61234 // an id from the range of DynamicUser
)

// startJVM starts a busy JVM that belongs to the user nobody, and has a label in its environment. It returns the JVM's
// process id.
func startJVM(t *testing.T) int {
	t.Helper()
	java, err := exec.LookPath("java")
	if err != nil {
		t.Skip("no java on PATH: scripts/setup.sh installs it")
	}
	dir := openFolder(t)
	out, err := exec.Command("javac", "-d", dir, filepath.Join("..", "testdata", "programs", "Hosts.java")).CombinedOutput()
	require.NoError(t, err, "%s", out)
	cmd := exec.Command(java, "-cp", dir, "Hosts", "50", "3600000")
	cmd.Dir, cmd.Env = "/", append(os.Environ(), "OTEL_SERVICE_NAME=shop")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody},
		Pdeathsig: syscall.SIGKILL}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		assert.Empty(t, stderr.String(), "the JVM's messages")
	})
	return cmd.Process.Pid
}

// A watched is a line of gasm watch.
type watched struct {
	Labels  map[string]string
	Samples int
	Stacks  []struct {
		Samples int
		Frames  []string
	}
}

// checkWatch runs a command that is a gasm watch of one JVM. Profiles must come, with whole stacks through native code
// into the hot methods.
func checkWatch(t *testing.T, pid int, cmd *exec.Cmd) {
	t.Helper()
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	require.NoError(t, cmd.Start())
	defer func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait()
		t.Logf("gasm's messages: %s", &stderr)
	}()
	all, whole := 0, 0
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for all < 100 && lines.Scan() {
		var w watched
		require.NoError(t, json.Unmarshal(lines.Bytes(), &w), "%s", lines.Bytes())
		assert.Equal(t, strconv.Itoa(pid), w.Labels["process.pid"])
		assert.Equal(t, "shop", w.Labels["service.name"], "of the JVM's environment")
		for _, s := range w.Stacks {
			if inner := s.Frames[len(s.Frames)-1]; strings.HasPrefix(inner, "Hosts::") {
				all += s.Samples
				if slices.Contains(s.Frames, "JavaCalls::call_helper") || slices.Contains(s.Frames, "thread_native_entry") {
					whole += s.Samples
				}
			}
		}
	}
	require.GreaterOrEqual(t, all, 100, "samples in Hosts::alpha and beta: %s", &stderr)
	assert.GreaterOrEqual(t, whole, all*9/10, "of %d samples, those with whole stacks through libjvm.so", all)
}

// TestServiceRights runs gasm watch with exactly what the unit allows: as an ordinary user, with the unit's
// capabilities and system calls, no new privileges, and a file system that is read-only but for the cache folder. It
// profiles a JVM of another user.
func TestServiceRights(t *testing.T) {
	needRoot(t)
	tool, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("no systemd-analyze on PATH: scripts/setup.sh installs it")
	}
	capabilities := directives("CapabilityBoundingSet")
	require.Equal(t, directives("AmbientCapabilities"), capabilities)
	require.Len(t, capabilities, 1)
	keep := "-all"
	for _, c := range strings.Fields(capabilities[0]) {
		keep += ",+" + strings.ToLower(strings.TrimPrefix(c, "CAP_"))
	}
	gasm, cache, calls := buildGasm(t), openFolder(t), allowedCalls(t, tool)
	require.NoError(t, os.Chown(cache, service, service))
	self, err := os.Executable()
	require.NoError(t, err)
	tester := filepath.Join(openFolder(t), "tester") // that any user can run
	text, err := os.ReadFile(self)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(tester, text, 0o755))
	pid := startJVM(t)

	const enter = `set -e
mount --make-rprivate /
mount --bind "$CACHE" "$CACHE"
mount -o remount,bind,ro /
for point in $(awk '$2 != "/" && $2 != ENVIRON["CACHE"] && $2 !~ "^/(proc|dev|sys)" { print $2 }' /proc/self/mounts); do
  mount -o remount,bind,ro "$point" 2>/dev/null || true
done
if touch /gasm-test "$TESTER" 2>/dev/null; then echo "the file system is not read-only" >&2; exit 1; fi
exec setpriv --reuid "$USERID" --regid "$USERID" --clear-groups --inh-caps "$KEEP" --ambient-caps "$KEEP" \
  --bounding-set "$KEEP" --no-new-privs "$TESTER" "$@"`
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "unshare", "--mount", "sh", "-c", enter, "sh", gasm, "watch", "--every", "5s",
		strconv.Itoa(pid))
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + cache, "CACHE=" + cache, "KEEP=" + keep,
		"USERID=" + strconv.Itoa(service), "TESTER=" + tester, filterEnv + "=" + strings.Join(calls, " ")}
	checkWatch(t, pid, cmd)
}
