package hostile

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// neighbour is the id of a user of the machine who is neither root nor the JVM's user. This user has no privileges,
// but can write to the JVM's /tmp, as everyone can.
const neighbour = 12345

// neighbourEnv is an environment variable that makes the test's program race against gasm as the neighbour. Its value
// is the JVM's process id. The program's argument is the path of the jar that it tries to make the JVM load.
const neighbourEnv = "GASM_TEST_NEIGHBOUR"

// noteFolders are the folders in which gasm may write a note about a JVM. Everyone can see when it does.
var noteFolders = []string{"/tmp", "/var/tmp", "/run"}

// raceForFolder makes the folder for probes as soon as gasm makes a note, and replaces the agent in it. It does so
// again and again.
func raceForFolder() int {
	jar, err := os.ReadFile(os.Args[1])
	if err == nil {
		err = raceWith(jar, "/tmp/gasm-probes-"+os.Getenv(neighbourEnv))
	}
	fmt.Fprintln(os.Stderr, "the neighbour:", err)
	return 1
}

func raceWith(jar []byte, dir string) error {
	watch, err := unix.InotifyInit1(unix.IN_CLOEXEC)
	if err != nil {
		return err
	}
	for _, dir := range noteFolders {
		if _, err := unix.InotifyAddWatch(watch, dir, unix.IN_CREATE); err != nil {
			return err
		}
	}
	fmt.Println("READY")
	syscall.Umask(0)
	buf := make([]byte, 1<<16)
	for {
		n, err := unix.Read(watch, buf)
		if err != nil {
			return err
		}
		if !bytes.Contains(buf[:n], []byte("gasm-events-")) || os.Mkdir(dir, 0o777) != nil {
			continue
		}
		own, agent := filepath.Join(dir, "own.jar"), filepath.Join(dir, "agent.jar")
		if err := os.WriteFile(own, jar, 0o644); err != nil {
			return err
		}
		for began := time.Now(); time.Since(began) < 2*time.Second; {
			if _, err := os.Lstat(agent); err == nil {
				if err := os.Rename(own, agent); err != nil && !errors.Is(err, fs.ErrNotExist) {
					return err
				}
				break
			}
		}
	}
}

// plantedJar returns a jar with an agent that only creates a file at the path mark. The JVM finds the agent's class
// even if it has loaded gasm's agent from the same path before.
func plantedJar(t *testing.T, mark string) []byte {
	t.Helper()
	dir := t.TempDir()
	source := filepath.Join(dir, "Planted.java")
	text :=
		fmt.Sprintf("public class Planted { public static void agentmain(String s) throws Exception { new java.io.File(%q).createNewFile(); } }", mark)
	require.NoError(t, os.WriteFile(source, []byte(text), 0o600))
	gasmtest.CompileJava(t, dir, 11, source)
	class, err := os.ReadFile(filepath.Join(dir, "Planted.class"))
	require.NoError(t, err)
	var jar bytes.Buffer
	w := zip.NewWriter(&jar)
	for name, content := range map[string][]byte{
		"META-INF/MANIFEST.MF": []byte("Manifest-Version: 1.0\nAgent-Class: Planted\nBoot-Class-Path: agent.jar\n\n"),
		"Planted.class":        class,
	} {
		f, err := w.Create(name)
		require.NoError(t, err)
		_, err = f.Write(content)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return jar.Bytes()
}

// newMark returns a path at which any user could create a file. The file does not exist yet.
func newMark(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp(folder, "mark-")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o777))
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "mark")
}

// startNeighbour makes the neighbour race for the folder of a JVM until the end of the test.
func startNeighbour(t *testing.T, v *jvm, jar []byte) {
	t.Helper()
	path := filepath.Join(filepath.Dir(newMark(t)), "planted.jar")
	require.NoError(t, os.WriteFile(path, jar, 0o644))
	cmd := exec.Command(attackerProgram(t), path)
	cmd.Env = append(os.Environ(), neighbourEnv+"="+v.pid())
	cmd.Dir, cmd.Stderr = "/", os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: neighbour, Gid: neighbour}}
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "READY\n", line)
	go func() { _, _ = io.Copy(io.Discard, out) }()
}

// TestFolderRace lets a neighbour make the folder for probes at the very moment at which gasm is about to make it.
// The JVM must load gasm's agent nevertheless, and never the neighbour's.
func TestFolderRace(t *testing.T) {
	needNative(t)
	for _, jdk := range someJDKs(t) {
		t.Run(jdk.Name(), func(t *testing.T) {
			v := startJVM(t, jdk)
			mark := newMark(t)
			startNeighbour(t, v, plantedJar(t, mark))
			taken := "/tmp/gasm-probes-" + v.pid()
			raced := 0
			for range 8 {
				r := runGasm(t, "attach", "--length", "100ms", "--skip-asm", "--probe", "Spin::spin", v.pid())
				require.NoFileExists(t, mark, "the JVM has loaded the neighbour's agent")
				assert.Zero(t, r.code, r.stderr)
				assert.Contains(t, r.stdout, "Spin::spin")
				if _, err := os.Lstat(taken); err == nil {
					raced++
				}
				left := slices.DeleteFunc(v.left(t), func(path string) bool { return isNeighbours(t, path) })
				assert.Empty(t, left)
				require.NoError(t, os.RemoveAll(taken))
			}
			assert.Positive(t, raced, "the neighbour was never there")
		})
	}
}

// isNeighbours reports whether a file or folder is the neighbour's.
func isNeighbours(t *testing.T, path string) bool {
	t.Helper()
	info, err := os.Lstat(path)
	return err == nil && info.Sys().(*syscall.Stat_t).Uid == neighbour
}

// plant replaces a folder with a folder of the neighbour's that has the given files.
func plant(t *testing.T, dir string, mode os.FileMode, files map[string][]byte) {
	t.Helper()
	require.NoError(t, os.RemoveAll(dir)) // as a program that cleans up /tmp does
	require.NoError(t, os.Mkdir(dir, 0o700))
	t.Cleanup(func() { os.RemoveAll(dir) })
	for name, content := range files {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, content, 0o644))
		require.NoError(t, os.Chown(path, neighbour, neighbour))
	}
	require.NoError(t, os.Chown(dir, neighbour, neighbour))
	require.NoError(t, os.Chmod(dir, mode))
}

// startSampling starts gasm, and waits until it samples a JVM.
func startSampling(t *testing.T, v *jvm, flags ...string) (*exec.Cmd, *started) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hangTime)
	t.Cleanup(cancel)
	cmd := gasmCommand(ctx, slices.Concat([]string{"attach", "--length", "60s", "--skip-asm"}, flags,
		[]string{v.pid()})...)
	s := start(t, cmd)
	s.sayUntil(t, "sampling pid")
	return cmd, s
}

// TestFolderTaken replaces the folder for probes of a JVM that still has probes by a folder of a neighbour. That is
// possible after a program that cleans up /tmp has removed the folder. The JVM must load nothing from the neighbour's
// folder. gasm must say what is in the way, and remove the probes when that folder is gone. gasm is killed with every
// other JDK; as a whole, the test tries both with each.
func TestFolderTaken(t *testing.T) {
	needNative(t)
	jdks := someJDKs(t)
	for i, jdk := range jdks {
		for k, killed := range []bool{true, false} {
			if !gasmtest.Whole() && len(jdks) > 1 && (i+k)%2 == 1 {
				continue
			}
			t.Run(fmt.Sprintf("%s, gasm was killed %t", jdk.Name(), killed), func(t *testing.T) {
				v := startJVM(t, jdk)
				mark := newMark(t)
				cmd, s := startSampling(t, v, "--probe", "Spin::spin")
				dir := "/tmp/gasm-probes-" + v.pid()
				jar := plantedJar(t, mark)
				plant(t, dir, 0o777, map[string][]byte{"agent.jar": jar, "agent.classes": jar})
				var r run
				if killed {
					// gasm must not be killed earlier, because any other gasm on this machine would clean up what it
					// leaves.
					require.NoError(t, cmd.Process.Kill())
					finish(t, cmd, s)
					r = runGasm(t, "attach")
					assert.Zero(t, r.code, r.stderr)
				} else {
					require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
					r = finish(t, cmd, s)
				}
				require.NoFileExists(t, mark, "the JVM has loaded the neighbour's agent")
				assert.Contains(t, r.stderr, dir+" belongs to another user ("+strconv.Itoa(neighbour)+"): remove it")
				assert.NotEmpty(t, v.notes(t))
				require.ElementsMatch(t, []string{"agent.jar", "agent.classes"}, readNames(t, dir))
				require.NoError(t, os.RemoveAll(dir))
				v.cleanedUp(t)
				v.isUnchanged(t)
			})
		}
	}
}

// TestOwnFolderIsNotTrusted checks that gasm loads no file that it finds in the folder of a gasm that was killed.
func TestOwnFolderIsNotTrusted(t *testing.T) {
	needNative(t)
	v := startJVM(t, someJDKs(t)[0])
	mark := newMark(t)
	jar := plantedJar(t, mark)
	cmd, s := startSampling(t, v, "--probe", "Spin::spin")
	agent := "/tmp/gasm-probes-" + v.pid() + "/agent.jar"
	require.NoError(t, os.Remove(agent))
	require.NoError(t, os.WriteFile(agent, jar, 0o644))
	require.NoError(t, cmd.Process.Kill())
	finish(t, cmd, s)
	v.cleanedUp(t)
	assert.NoFileExists(t, mark)
	v.isUnchanged(t)
}

// A preciousFile is the path of a file that belongs to the JVM's user. A neighbour can't write to it.
type preciousFile string

func newPrecious(t *testing.T) preciousFile {
	t.Helper()
	path := newMark(t)
	require.NoError(t, os.WriteFile(path, []byte("precious"), 0o600))
	require.NoError(t, os.Chown(path, gasmtest.Nobody, gasmtest.Nobody))
	return preciousFile(path)
}

// plantLinks makes a folder of the neighbour's. All names in it are links to the file.
func (f preciousFile) plantLinks(t *testing.T, dir string, names ...string) {
	t.Helper()
	plant(t, dir, 0o777, nil)
	for _, name := range names {
		require.NoError(t, os.Symlink(string(f), filepath.Join(dir, name)))
	}
}

func (f preciousFile) isUnchanged(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile(string(f))
	require.NoError(t, err)
	assert.Equal(t, "precious", string(text[:min(len(text), 200)])) // a report of the agent may be long
}

// TestEventsFolderTaken removes the folder for events while a JVM records, as a program that cleans up /tmp does. A
// neighbour makes a folder with the same name. In it, all names to which the JVM may write are links to a file of the
// JVM's user. The JVM must not write to that file.
func TestEventsFolderTaken(t *testing.T) {
	needNative(t)
	for _, jdk := range someJDKs(t) {
		t.Run(jdk.Name(), func(t *testing.T) {
			v := startJVM(t, jdk)
			precious := newPrecious(t)
			cmd, s := startSampling(t, v, withEvents...)
			var dir string
			for _, path := range v.left(t) {
				if strings.HasPrefix(path, "/tmp/gasm-jvm-") {
					dir = path
				}
			}
			require.NotEmpty(t, dir)
			precious.plantLinks(t, dir, "events.log", "events.log.0", "events.jfr", "gasm.jfc")
			require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
			finish(t, cmd, s)
			precious.isUnchanged(t)
			require.NoError(t, os.RemoveAll(dir))
			v.endLeft(t)
			assert.Empty(t, v.left(t))
			v.isUnchanged(t)
		})
	}
}

// TestReportTaken does the same with the folder for probes. The agent continues to write its report there, and to
// count the calls of methods that are probed later.
func TestReportTaken(t *testing.T) {
	needNative(t)
	for _, jdk := range someJDKs(t) {
		t.Run(jdk.Name(), func(t *testing.T) {
			v := startJVM(t, jdk)
			precious := newPrecious(t)
			cmd, s := startSampling(t, v, "--probe", "jdk.jfr.internal.dcmd.DCmdCheck::*")
			dir := "/tmp/gasm-probes-" + v.pid()
			precious.plantLinks(t, dir, "probes-"+v.pid()+".txt", "probes-"+v.pid()+".ring")
			v.ask(t, "JFR.check") // loads the class and calls it in a thread whose calls were not counted before
			precious.isUnchanged(t)
			require.NoError(t, os.RemoveAll(dir))
			require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
			finish(t, cmd, s)
			v.endLeft(t)
			assert.Empty(t, v.left(t))
			v.isUnchanged(t)
		})
	}
}
