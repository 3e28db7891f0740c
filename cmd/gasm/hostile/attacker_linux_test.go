package hostile

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// attackEnv has the test's program attack: its value is the name of the attack. canaryEnv has the path of root's files,
// and seedEnv what makes the attack the same again. Its arguments are a command that is a JVM.
const (
	attackEnv = "GASM_TEST_ATTACK"
	canaryEnv = "GASM_TEST_CANARY"
	seedEnv   = "GASM_TEST_SEED"
)

// An attacker is a user without rights, who is root in user and mount namespaces of its own, and runs a JVM there.
type attacker struct {
	canary string
	seed   uint64
	root   string // of the JVM, as the attacker sees it; "" for /
	pid    int    // of the JVM
	stop   chan struct{}
	all    sync.WaitGroup
}

// An attackPlan is what an attacker does.
type attackPlan struct {
	before func(a *attacker) error // before there is a JVM
	jvm    func(a *attacker, cmd *exec.Cmd)
	noJVM  bool
	after  func(a *attacker) error // when the JVM runs
	during func(a *attacker)       // again and again, until gasm has ended
}

// tmp is a path in the JVM's /tmp.
func (a *attacker) tmp(name string) string { return filepath.Join(a.root, "/tmp", name) }

// probes is a path in the folder that gasm makes for probes.
func (a *attacker) probes(name string) string {
	return a.tmp(fmt.Sprintf("gasm-probes-%d/%s", a.pid, name))
}

// attack is what the attacker's process does. It ends when its stdin does.
func attack() int {
	plan, ok := attackPlans[os.Getenv(attackEnv)]
	a := &attacker{canary: os.Getenv(canaryEnv), stop: make(chan struct{})}
	a.seed, _ = strconv.ParseUint(os.Getenv(seedEnv), 10, 64) // 0 without
	err := fmt.Errorf("no attack is called %s", os.Getenv(attackEnv))
	if ok {
		err = a.run(plan)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "the attacker:", err)
		return 1
	}
	return 0
}

func (a *attacker) run(plan attackPlan) error {
	if plan.before != nil {
		if err := plan.before(a); err != nil {
			return err
		}
	}
	if !plan.noJVM {
		jvm, err := a.startJVM(plan)
		if err != nil {
			return err
		}
		defer jvm.Wait()
		defer jvm.Process.Kill()
	}
	if plan.after != nil {
		if err := plan.after(a); err != nil {
			return err
		}
	}
	if plan.during != nil {
		a.all.Go(func() {
			for {
				select {
				case <-a.stop:
					return
				default:
					plan.during(a)
				}
			}
		})
	}
	fmt.Printf("READY %d %s\n", a.pid, filepath.Join(a.root, "/"))
	_, err := io.Copy(io.Discard, os.Stdin)
	close(a.stop)
	a.all.Wait()
	return err
}

// startJVM starts the JVM, and waits until its program runs.
func (a *attacker) startJVM(plan attackPlan) (*exec.Cmd, error) {
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Dir, cmd.Stderr = "/", os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if plan.jvm != nil {
		plan.jvm(a, cmd)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	a.pid = cmd.Process.Pid
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "READY") {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return cmd, nil
		}
	}
	_ = cmd.Process.Kill()
	return nil, fmt.Errorf("%s has ended before it was ready: %w", os.Args[1], cmd.Wait())
}

// await waits until a path is there, or gasm has ended.
func (a *attacker) await(path string) bool {
	for {
		if _, err := os.Lstat(path); err == nil {
			return true
		}
		select {
		case <-a.stop:
			return false
		case <-time.After(50 * time.Microsecond):
		}
	}
}

// own gives the attacker a root folder of its own, where all of the machine's folders are but /tmp.
func (a *attacker) own() (err error) {
	if a.root, err = os.MkdirTemp("/var/tmp", "gasm-attacker-"); err != nil {
		return err
	}
	entries, err := os.ReadDir("/")
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(a.root, e.Name())
		switch {
		case e.Type()&os.ModeSymlink != 0:
			to, err := os.Readlink("/" + e.Name())
			if err == nil {
				err = os.Symlink(to, path)
			}
			if err != nil {
				return err
			}
		case e.IsDir() && e.Name() != "tmp" && e.Name() != "mnt":
			if err := os.Mkdir(path, 0o755); err != nil {
				return err
			}
			_ = syscall.Mount("/"+e.Name(), path, "", syscall.MS_BIND|syscall.MS_REC, "") // what can't be seen is not needed
		}
	}
	for _, name := range []string{"tmp", "tmp2"} {
		if err := os.Mkdir(filepath.Join(a.root, name), 0o777); err != nil {
			return err
		}
		if err := os.Chmod(filepath.Join(a.root, name), 0o777|os.ModeSticky); err != nil {
			return err
		}
	}
	return nil
}

func inOwnRoot(a *attacker, cmd *exec.Cmd) { cmd.SysProcAttr.Chroot = a.root }

// bind mounts a file or a folder over another one, and makes what it is mounted over. A folder has a file in it below
// the mount: an empty one could be removed without a look at what is mounted there.
func bind(what, over string) error {
	info, err := os.Stat(what)
	if err != nil {
		return err
	}
	file := over
	if info.IsDir() {
		if err := os.MkdirAll(over, 0o755); err != nil {
			return err
		}
		file = filepath.Join(over, "full")
	}
	// it may be a pipe by now
	if f, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY|syscall.O_NONBLOCK, 0o600); err == nil {
		f.Close()
	}
	return syscall.Mount(what, over, "", syscall.MS_BIND, "")
}

// An attackingProcess is an attacker at work.
type attackingProcess struct {
	cmd   *exec.Cmd
	stdin io.Closer
	pid   int    // of the JVM, or of the attacker where it has none
	root  string // of the JVM
	once  sync.Once
}

// startAttack starts an attacker, and waits until its JVM runs. It ends with the test, or by end.
func startAttack(t *testing.T, name string, c *canary, seed uint64, jvm ...string) *attackingProcess {
	t.Helper()
	program := attackerProgram(t)
	args := append([]string{"--reuid=65534", "--regid=65534", "--clear-groups", "unshare", "-Urm", program}, jvm...)
	gasmtest.NeedTool(t, "unshare", "apt install util-linux")
	cmd := exec.Command(gasmtest.NeedTool(t, "setpriv", "apt install util-linux"), args...)
	cmd.Env = append(os.Environ(), attackEnv+"="+name, canaryEnv+"="+c.dir, fmt.Sprintf("%s=%d", seedEnv, seed))
	cmd.Dir, cmd.Stderr = "/", os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	gasmtest.JVMOfNobody(t) // removes the sockets of other JVMs with the same ids
	require.NoError(t, cmd.Start())
	p := &attackingProcess{cmd: cmd, stdin: stdin}
	t.Cleanup(p.end)
	lines := bufio.NewScanner(out)
	require.True(t, lines.Scan(), "the attacker %s has failed", name)
	_, err = fmt.Sscanf(lines.Text(), "READY %d %s", &p.pid, &p.root)
	require.NoError(t, err, lines.Text())
	if p.pid == 0 {
		p.pid = cmd.Process.Pid
	}
	return p
}

// end kills the attacker and the attacker's JVM. Their mounts are gone then, so end can remove the attacker's files.
func (p *attackingProcess) end() {
	p.once.Do(func() {
		p.stdin.Close()
		kill := time.AfterFunc(10*time.Second, func() { _ = p.cmd.Process.Kill() }) // it may wait for a pipe of its own
		_ = p.cmd.Wait()                                                            // and the JVM is killed
		kill.Stop()
		if p.root != "/" {
			os.RemoveAll(p.root)
			return
		}
		for _, pattern := range []string{"/tmp/gasm-probes-%d*", "/tmp/.java_pid%d", "/tmp/.attach_pid%d", "/tmp/.away%d"} {
			found, _ := filepath.Glob(fmt.Sprintf(pattern, p.pid))
			for _, path := range found {
				os.RemoveAll(path)
			}
		}
	})
}

var copying sync.Mutex

// attackerProgram copies this test's program to where all users can run it, once.
func attackerProgram(t *testing.T) string {
	t.Helper()
	copying.Lock()
	defer copying.Unlock()
	path := filepath.Join(folder, "attacker")
	if _, err := os.Stat(path); err == nil {
		return path
	}
	self, err := os.ReadFile("/proc/self/exe")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, self, 0o755))
	return path
}

// spin is the command line of a JVM that spins for a fifth of the time, and does nothing else.
func spin(t *testing.T, j gasmtest.JDK) []string {
	t.Helper()
	return []string{j.Java(), "-Xmx64m", "-XX:+UseSerialGC", "-Dsec=600", "-Drest=4", "-cp", programs(t), "Spin"}
}
