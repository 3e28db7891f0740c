package sampler

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// stopsWith stops DTrace, which must fail with a *StoppedError.
func stopsWith(t *testing.T, d *DTrace, message string) {
	t.Helper()
	began := time.Now()
	err := d.Stop()
	t.Logf("after %v: %v", time.Since(began), err)
	var stopped *StoppedError
	if !errors.As(err, &stopped) || !strings.Contains(err.Error(), message) || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v, want %s", err, message)
	}
	if again := d.Stop(); again != err {
		t.Errorf("second Stop: %v", again)
	}
}

func TestDTraceKilled(t *testing.T) {
	needDTrace(t)
	x := hold(t, busy)
	d := startDTrace(t, DTraceOptions{Frequency: 1069})
	x.release(t)
	time.Sleep(2 * time.Second)
	if err := syscall.Kill(-d.process.cmd.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-d.process.done
	stopsWith(t, d, "dtrace: stopped too early: signal: killed")
	if n := len(readSamples(t, d.TextFile(), true)[x.pid()]); n < 300 {
		t.Errorf("%d samples", n)
	}
	if x.cmd.Process.Signal(syscall.Signal(0)) != nil {
		t.Error("the command has ended with DTrace")
	}
	noDTraceLeft(t, 1069)
}

// Somebody else ends it properly: the samples until then are whole, but those
// after it are missing.
func TestDTraceEndedByOthers(t *testing.T) {
	needDTrace(t)
	d := startDTrace(t, DTraceOptions{Frequency: 1087})
	if err := d.process.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	within(t, "end", d.text.end)
	stopsWith(t, d, "dtrace: stopped too early: somebody else ended it")
	d.Wait()
	readSamples(t, d.TextFile(), false)
}

func TestDTraceCancel(t *testing.T) {
	needDTrace(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	d, err := StartDTrace(ctx, DTraceOptions{Frequency: 1091, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	d.Wait()
	stopsWith(t, d, "signal: killed")
	noDTraceLeft(t, 1091)
	if _, err := StartDTrace(ctx, DTraceOptions{Frequency: 1091, Dir: t.TempDir()}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	noDTraceLeft(t, 1091)
}

func TestDTraceDiskFull(t *testing.T) {
	needDTrace(t)
	needRoot(t)
	dir := t.TempDir()
	if err := exec.Command("mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", dir).Run(); err != nil {
		t.Skipf("can't mount a small file system: %v", err)
	}
	defer exec.Command("umount", "-l", dir).Run() // before the folder is removed
	x := hold(t, busy)
	d := startDTrace(t, DTraceOptions{Frequency: 4993, Dir: dir})
	x.release(t)
	eventually(t, "the disk is full", func() bool { return d.text.err() != nil })
	// It is read on: DTrace does not hang.
	read := d.text.lastRead.Load()
	eventually(t, "DTrace goes on", func() bool { return d.text.lastRead.Load() > read })
	stopsWith(t, d, "the samples could not be written: write "+dir+"/dtrace.txt: no space left on device; make room in "+dir)
	if !errors.Is(d.Stop(), syscall.ENOSPC) {
		t.Errorf("got %v", d.Stop())
	}
	if n := len(readSamples(t, d.TextFile(), true)[x.pid()]); n < 100 {
		t.Errorf("%d samples", n)
	}
	d.Wait()
	noDTraceLeft(t, 4993)
}

func TestDTraceSudo(t *testing.T) {
	needDTrace(t)
	needRoot(t)
	if out, err := exec.Command("sudo", "-n", "true").CombinedOutput(); err != nil {
		t.Skipf("no sudo: %v: %s", err, out)
	}
	x := hold(t, busy)
	d := startDTrace(t, DTraceOptions{Frequency: 1093, Sudo: true})
	x.release(t)
	time.Sleep(time.Second)
	began := time.Now()
	if err := d.Stop(); err != nil {
		t.Error(err)
	}
	t.Logf("Stop took %v", time.Since(began))
	if n := len(readSamples(t, d.TextFile(), false)[x.pid()]); n < 100 {
		t.Errorf("%d samples", n)
	}
	d.Wait()
	noDTraceLeft(t, 1093)
}

// sudo's permission has run out meanwhile.
func TestDTraceSudoRunsOut(t *testing.T) {
	needDTrace(t)
	needRoot(t)
	fakeTool(t, "sudo", `shift
		[ "$1" = kill ] && { echo 'sudo: a password is required' >&2; exit 1; }
		exec "$@"`)
	x := hold(t, busy)
	d := startDTrace(t, DTraceOptions{Frequency: 1097, Sudo: true})
	x.release(t)
	time.Sleep(time.Second)
	asked := monotonic()
	stopsWith(t, d, "dtrace: stopped too early: its last samples may be missing: sudo -n kill: exit status 1: sudo: a password is required; let sudo run kill without a password (visudo)")
	samples := readSamples(t, d.TextFile(), true)[x.pid()]
	if len(samples) < 100 || samples[len(samples)-1].MonoNanos < asked-int64(100*time.Millisecond) {
		t.Errorf("%d samples", len(samples))
	}
	noDTraceLeft(t, 1097)
}

// When gasm is killed, DTrace has nobody to print to.
func TestDTraceGasmKilled(t *testing.T) {
	needDTrace(t)
	needRoot(t)
	check := func(frequency int, how string) {
		t.Helper()
		cmd := dtraceHelper(t, frequency, how, t.TempDir(), nil)
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		defer stdin.Close()
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(stdout).ReadString('\n')
		if line != "samples\n" {
			t.Errorf("%s: got %q, %v", how, line, err)
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Error(err)
		}
		cmd.Wait()
		began := time.Now()
		noDTraceLeft(t, frequency)
		t.Logf("%s: DTrace ended %v after gasm", how, time.Since(began))
	}
	check(1103, "direct")
	if exec.Command("sudo", "-n", "true").Run() == nil {
		check(1109, "sudo")
	}
}

// A DTrace that gets no CPU time loses samples and says so.
func TestDTraceLoses(t *testing.T) {
	needDTrace(t)
	tool, err := exec.LookPath("dtrace")
	if err != nil {
		t.Fatal(err)
	}
	fakeTool(t, "dtrace", "exec '"+tool+"' -x bufsize=16k \"$@\"")
	x := hold(t, busy)
	d := startDTrace(t, DTraceOptions{Frequency: 4999})
	x.release(t)
	group := -d.process.cmd.Process.Pid
	syscall.Kill(group, syscall.SIGSTOP)
	time.Sleep(2 * time.Second)
	syscall.Kill(group, syscall.SIGCONT)
	time.Sleep(time.Second)
	if err := d.Stop(); err != nil {
		t.Error(err)
	}
	stopped := d.Lost()
	d.Wait()
	n := len(readSamples(t, d.TextFile(), false)[x.pid()])
	t.Logf("%d samples, %d lost, %d of them known when it had stopped", n, d.Lost(), stopped)
	if d.Lost() < 1000 {
		t.Errorf("%d samples lost", d.Lost())
	}
}

func TestDTraceBadFakes(t *testing.T) {
	shorten := func(timeout *time.Duration, to time.Duration) {
		old := *timeout
		*timeout = to
		t.Cleanup(func() { *timeout = old })
	}
	refused := func(frequency int, script, message string) {
		t.Helper()
		fakeTool(t, "dtrace", script)
		dir := t.TempDir()
		_, err := StartDTrace(t.Context(), DTraceOptions{Frequency: frequency, Dir: dir})
		t.Log(err)
		if err == nil || !strings.HasSuffix(err.Error(), message) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want %s", script, err, message)
		}
		if files, _ := os.ReadDir(dir); len(files) > 0 {
			t.Errorf("%s: left %v", script, files)
		}
		noDTraceLeft(t, frequency)
	}
	refused(1117, `exit 0`, "/dtrace: ended before it sampled (exit status 0): it does not say why")
	refused(1123, `echo 'dtrace: the moon is full' >&2; exit 3`, "/dtrace: ended before it sampled (exit status 3): the moon is full")
	refused(1129, `kill -9 $$`, "/dtrace: ended before it sampled (signal: killed): it does not say why")
	shorten(&dtraceStartTimeout, 300*time.Millisecond)
	refused(1151, `sleep 1000 & wait`, "/dtrace: did not start to sample within 300ms; see whether 'sudo dtrace -n BEGIN' prints a line")
	dtraceStartTimeout = startTimeout

	begins := func(frequency int, trap, script string) *DTrace {
		t.Helper()
		fakeTool(t, "dtrace", trap+"\necho '  0      1                           :BEGIN gasm: begin 17'\n"+script)
		return startDTrace(t, DTraceOptions{Frequency: frequency})
	}
	ends := func(d *DTrace, frequency int) {
		t.Helper()
		d.Wait()
		if n := len(readSamples(t, d.TextFile(), true)); n > 0 {
			t.Errorf("samples of %d processes", n)
		}
		noDTraceLeft(t, frequency)
	}
	const end = `echo '  0      2                             :END gasm: end'; exit 0`
	const forever = `while :; do sleep 0.05; done`
	d := begins(1153, `trap "`+end+`" TERM`, forever)
	if err := d.Stop(); err != nil || d.Lost() != 0 {
		t.Errorf("got %v, %d lost", err, d.Lost())
	}
	ends(d, 1153)

	d = begins(1163, "", `echo 'dtrace: 12 drops on CPU 1' >&2; echo 'dtrace: processing aborted' >&2; exit 1`)
	<-d.process.done
	stopsWith(t, d, "dtrace: stopped too early: processing aborted")
	if d.Lost() != 12 {
		t.Errorf("%d lost", d.Lost())
	}
	ends(d, 1163)

	shorten(&endTimeout, 100*time.Millisecond)
	d = begins(1171, `trap '' TERM`, forever)
	stopsWith(t, d, "dtrace: stopped too early: it was killed because SIGTERM did not end it within 100ms")
	ends(d, 1171)
}

// The text is where it was said to be, for its user alone.
func TestDTraceFileMode(t *testing.T) {
	fakeTool(t, "dtrace", `echo 'gasm: begin'; exec sleep 1000`)
	dir := t.TempDir()
	d := startDTrace(t, DTraceOptions{Frequency: 1181, Dir: dir})
	info, err := os.Stat(filepath.Join(dir, DTraceFile))
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("got %v, %v", info, err)
	}
	stopsWith(t, d, "signal: terminated")
}
