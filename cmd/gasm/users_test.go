package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// asNobody returns commands that run java as another user, by what they use for that.
func asNobody(java string) map[string][]string {
	program := []string{java, "-Dsec=1", "-cp", classes, "Spin"}
	return map[string][]string{
		"setpriv": append([]string{"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"}, program...),
		"su":      {"su", "-s", "/bin/sh", "nobody", "-c", strings.Join(program, " ")},
		"sudo":    append([]string{"sudo", "-n", "-E", "-u", "nobody"}, program...),
	}
}

// needNobody skips a test if the user nobody can't run the tests' programs by this command.
func needNobody(t *testing.T, command []string) {
	t.Helper()
	gasmtest.NeedRoot(t)
	gasmtest.NeedTool(t, command[0], "the package of its name has it")
	if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
		t.Skipf("nobody can't run it: %v: %s", err, out)
	}
}

// TestOtherUser checks that a command that changes its user is profiled like any other command.
func TestOtherUser(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	javaPrograms(t)
	for name, java := range jdks(t) {
		for how, command := range asNobody(java) {
			t.Run(name+"/"+how, func(t *testing.T) {
				t.Parallel()
				needNobody(t, command)
				r := runGasm(t, append([]string{"profile", "--format", "json", "--"}, command...))
				require.Equal(t, 0, r.code, r.said())
				assert.Regexp(t, `^READY \d+\nsink -?\d+\n\{`, r.stdout, "the program's own output, and the report")
				_, report, _ := strings.Cut(r.stdout, "\n{")
				p := readReport(t, []byte("{"+report)).Profiles[0]
				require.NotEmpty(t, p.Methods, "%s\n%s", r.said(), report)
				assert.Contains(t, p.Methods[0].Name, "Spin::")
				assert.Empty(t, r.said())
			})
		}
	}
}

// TestOtherUserShutOut checks the case that other users must not write to the folder to which root writes. Their JVMs
// that print code must then log in /tmp, and must run normally.
func TestOtherUserShutOut(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	javaPrograms(t)
	for name, java := range jdks(t) {
		command := asNobody(java)["setpriv"]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			needNobody(t, command)
			off := filepath.Join(t.TempDir(), "off")
			require.NoError(t, os.WriteFile(off, []byte("0\n"), 0o644))
			script :=
				`umount /proc/sys/fs/protected_symlinks 2>/dev/null; mount --bind "$0" /proc/sys/fs/protected_symlinks && exec "$@"`
			cmd := exec.Command("unshare", append([]string{"-m", "sh", "-c", script, off, binary, "profile", "--code", "print",
				"--"}, command...)...)
			out, err := cmd.Output()
			require.NoError(t, err, string(out))
			assert.Regexp(t, `(?m)^sink -?\d+$`, string(out))
			assert.Contains(t, string(out), "Spin::spin")
			log := regexp.MustCompile(`Forcing option -XX:LogFile=(/tmp/\S+)`).FindStringSubmatch(string(out))
			require.NotNil(t, log, string(out))
			assert.NoFileExists(t, log[1])
		})
	}
}

// TestLateJVM checks a JVM that prints its code, but starts only after gasm has ended. It must run normally, and a
// later gasm must remove the folder of its log.
func TestLateJVM(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	javaPrograms(t)
	for name, java := range jdks(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			temp, done := t.TempDir(), filepath.Join(t.TempDir(), "done")
			script :=
				`(read line <"$2"; "$0" -cp "$1" Exit 0; echo $? >"$3.part"; mv "$3.part" "$3") >/dev/null 2>&1 & exec "$0" -cp "$1" Exit 0`
			fifo := filepath.Join(t.TempDir(), "fifo")
			require.NoError(t, exec.Command("mkfifo", fifo).Run())
			r := runGasm(t, []string{"profile", "--code", "print", "--", "sh", "-c", script, java, classes, fifo, done},
				withEnv("TMPDIR="+temp))
			require.Equal(t, 0, r.code, r.stderr)
			said :=
				regexp.MustCompile(`^gasm: still running: sh \(\d+\); the logs of JVMs that may start there go to (\S+), which a later gasm profile removes$`).
					FindStringSubmatch(r.said())
			require.NotNil(t, said, r.said())
			assert.DirExists(t, said[1])
			require.NoError(t, os.WriteFile(fifo, []byte("\n"), 0)) // gasm has ended, so let the JVM start
			require.Eventually(t, func() bool { _, err := os.Stat(done); return err == nil }, hangs, 20*time.Millisecond)
			code, err := os.ReadFile(done)
			require.NoError(t, err)
			assert.Equal(t, "0\n", string(code))
			logs, err := filepath.Glob(filepath.Join(said[1], "*", "asm-pid*.log"))
			require.NoError(t, err)
			if _, err := os.Stat(said[1]); err == nil { // else another test's gasm has removed it
				assert.Len(t, logs, 1)
			}

			require.Equal(t, 0, runGasm(t, []string{"profile", "--", java, "-cp", classes, "Exit", "0"},
				withEnv("TMPDIR="+temp)).code)
			left, err := os.ReadDir(temp)
			require.NoError(t, err)
			assert.Empty(t, left)
		})
	}
}

// TestLongTemporaryFolder checks that a command is run and profiled however long the path in TMPDIR is.
func TestLongTemporaryFolder(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	temp := filepath.Join(t.TempDir(), strings.Repeat("long/", 600))
	require.NoError(t, os.MkdirAll(temp, 0o755))
	r := runGasm(t, []string{"profile", "--", "java", "-cp", javaPrograms(t), "Exit", "0"}, withEnv("TMPDIR="+temp))
	require.Equal(t, 0, r.code, r.stderr)
	assert.Contains(t, r.stdout, "Account of Samples")
}

// TestInheritedDescriptors checks that the command gets the file descriptors with which gasm was started. A shell may
// have redirected some.
func TestInheritedDescriptors(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	dir := t.TempDir()
	script := `exec 3>"$1/three" 5<"$0" 9>"$1/nine"; exec "$2" profile -- sh -c 'cat <&5 >&3; echo behind >&9'`
	in := filepath.Join(dir, "in")
	require.NoError(t, os.WriteFile(in, []byte("what is read\n"), 0o600))
	out, _ := exec.Command("sh", "-c", script, in, dir, binary).CombinedOutput() // fails: no JVM was started
	assert.Equal(t, "what is read\n", string(readFile(t, filepath.Join(dir, "three"))), "%s", out)
	assert.Equal(t, "behind\n", string(readFile(t, filepath.Join(dir, "nine"))), "%s", out)
}
