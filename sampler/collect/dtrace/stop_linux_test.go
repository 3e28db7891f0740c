package dtrace

import (
	"bufio"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/internal/monotonic"
	"github.com/gasm-profiler/gasm/sampler/collect/collecttest"
	"github.com/gasm-profiler/gasm/sampler/collect/failure"
)

// stopsWith stops DTrace. The error must be a *failure.StoppedError with the message.
func stopsWith(t *testing.T, d *Tracer, message string) {
	t.Helper()
	began := time.Now()
	err := d.Stop()
	t.Logf("after %v: %v", time.Since(began), err)
	var stopped *failure.StoppedError
	if !errors.As(err, &stopped) || !strings.Contains(err.Error(), message) || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v, want %s", err, message)
	}
	if again := d.Stop(); again != err {
		t.Errorf("second Stop: %v", again)
	}
}

func TestKilled(t *testing.T) {
	gasmtest.NeedDTrace(t)
	x := collecttest.Hold(t, collecttest.Busy)
	d := starts(t, Options{Frequency: 1069})
	foreign := foreignTime(t)
	x.Release(t)
	gasmtest.AwaitWork(t, x.PID(), 2*time.Second)
	used := collecttest.CPUTime(t, x.PID())
	if err := syscall.Kill(-d.process.Cmd.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-d.process.Done
	stopsWith(t, d, "dtrace: stopped too early: signal: killed")
	// The samples that were in DTrace's buffers are lost: those of one pause between readings, and of one interval in
	// which DTrace empties its buffers.
	checkCount(t, "the loop", len(readSamples(t, d.TextFile(), true)[x.PID()]), 1069, used, paceInterval+lastPrint,
		foreignTime(t)-foreign)
	x.Alive(t)
	noneLeft(t, 1069)
}

// TestEndedByOthers ends DTrace properly, but not through gasm. The samples until then are there. It is an error
// nevertheless, because the samples after that are missing.
func TestEndedByOthers(t *testing.T) {
	gasmtest.NeedDTrace(t)
	d := starts(t, Options{Frequency: 1087})
	if err := d.process.Cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	within(t, "end", d.text.end)
	stopsWith(t, d, "dtrace: stopped too early: somebody else ended it")
	d.Wait()
	readSamples(t, d.TextFile(), false)
}

func TestCancel(t *testing.T) {
	gasmtest.NeedDTrace(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	d, err := Start(ctx, Options{Frequency: 1091, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	d.Wait()
	stopsWith(t, d, "signal: killed")
	noneLeft(t, 1091)
	if _, err := Start(ctx, Options{Frequency: 1091, Dir: t.TempDir()}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	noneLeft(t, 1091)
}

func TestDiskFull(t *testing.T) {
	gasmtest.NeedDTrace(t)
	dir := gasmtest.NeedSmallDisk(t, "64k")
	d := starts(t, Options{Frequency: 4993, Dir: dir})
	collecttest.Hold(t, collecttest.Busy).Release(t)
	collecttest.Eventually(t, "the disk is full", func() bool { return d.text.err() != nil })
	// gasm goes on reading, so that DTrace does not hang.
	read := d.text.lastRead.Load()
	collecttest.Eventually(t, "DTrace goes on", func() bool { return d.text.lastRead.Load() > read })
	stopsWith(t, d, "the samples could not be written: write "+dir+"/dtrace.txt: no space left on device; make room in "+dir)
	if !errors.Is(d.Stop(), syscall.ENOSPC) {
		t.Errorf("got %v", d.Stop())
	}
	n := 0
	for _, samples := range readSamples(t, d.TextFile(), true) {
		n += len(samples)
	}
	// The 64 kB are full of lines of at most 130 bytes, because each names a kernel function.
	if n < 500 {
		t.Errorf("%d samples", n)
	}
	d.Wait()
	noneLeft(t, 4993)
}

func TestSudo(t *testing.T) {
	gasmtest.NeedDTrace(t)
	needSudo(t)
	x := collecttest.Hold(t, collecttest.Busy)
	d := starts(t, Options{Frequency: 1093, Sudo: true})
	foreign := foreignTime(t)
	x.Release(t)
	gasmtest.AwaitWork(t, x.PID(), time.Second)
	used := collecttest.CPUTime(t, x.PID())
	began := time.Now()
	if err := d.Stop(); err != nil {
		t.Error(err)
	}
	stopping := time.Since(began)
	t.Logf("Stop took %v", stopping)
	// It is not known at which moment during Stop the sampling ended.
	checkCount(t, "the loop", len(readSamples(t, d.TextFile(), false)[x.PID()]), 1093, used, 0,
		foreignTime(t)-foreign+stopping)
	d.Wait()
	noneLeft(t, 1093)
}

// needSudo skips a test if sudo asks for a password.
func needSudo(t *testing.T) {
	t.Helper()
	gasmtest.NeedTool(t, "sudo", "apt install sudo")
	if out, err := exec.Command("sudo", "-n", "true").CombinedOutput(); err != nil {
		t.Skipf("sudo asks for a password (run the test as root): %v: %s", err, out)
	}
}

// TestSudoRunsOut stops DTrace after sudo's permission has expired.
func TestSudoRunsOut(t *testing.T) {
	gasmtest.NeedDTrace(t)
	gasmtest.NeedRoot(t)
	collecttest.FakeTool(t, "sudo", `shift
		[ "$1" = kill ] && { echo 'sudo: a password is required' >&2; exit 1; }
		exec "$@"`)
	x := collecttest.Hold(t, collecttest.Busy)
	d := starts(t, Options{Frequency: 1097, Sudo: true})
	x.Release(t)
	gasmtest.AwaitWork(t, x.PID(), time.Second)
	asked := monotonic.Nanos()
	stopsWith(t, d, "dtrace: stopped too early: its last samples may be missing: sudo -n kill: exit status 1: sudo: a password is required; let sudo run kill without a password (visudo)")
	samples := readSamples(t, d.TextFile(), true)[x.PID()]
	var last int64
	for _, s := range samples {
		last = max(last, s.MonoNanos)
	}
	// DTrace must deliver the samples that it had when it was asked to stop. The process has used CPU time until then.
	if last < asked-int64(500*time.Millisecond) {
		t.Errorf("%d samples, the last one %v before Stop", len(samples), time.Duration(asked-last))
	}
	noneLeft(t, 1097)
}

// TestGasmKilled checks that DTrace ends when gasm is killed, and leaves nothing in tracefs, even
// if it has not begun to sample.
func TestGasmKilled(t *testing.T) {
	gasmtest.NeedDTrace(t)
	gasmtest.NeedRoot(t)
	check := func(frequency int, how string, early time.Duration) {
		t.Helper()
		cmd := helper(t, frequency, how, t.TempDir(), nil)
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
		if early > 0 {
			time.Sleep(early)
		} else if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "samples\n" {
			t.Errorf("%s: got %q, %v", how, line, err)
		}
		found := collecttest.ProcessesWith(t, " profile-"+strconv.Itoa(frequency)+" /")
		if err := cmd.Process.Kill(); err != nil {
			t.Error(err)
		}
		cmd.Wait()
		began := time.Now()
		noneLeft(t, frequency)
		t.Logf("%s: DTrace ended %v after gasm", how, time.Since(began))
		if early == 0 && len(found) == 0 {
			t.Error("no DTrace was seen")
		}
		for _, process := range found {
			if pid := strings.Split(process, "/")[2]; strings.Contains(probesInTracefs(t), ":dt_"+pid+"_") {
				t.Errorf("%s: probes of DTrace %s are in tracefs", how, pid)
			}
		}
	}
	check(1103, "direct", 0)
	early := time.Duration(1 + rand.Int64N(int64(time.Second))) // dtrace needs half a second or more to begin
	t.Log("killed after", early)
	check(1104, "direct", early)
	needSudo(t)
	check(1109, "sudo", 0)
}

// probesInTracefs returns the content of the kernel's lists of uprobes.
func probesInTracefs(t *testing.T) (all string) {
	t.Helper()
	seen := false
	for file := range strings.FieldsSeq(uprobeFiles) {
		text, err := os.ReadFile(file)
		all, seen = all+string(text), seen || err == nil
	}
	if !seen {
		t.Skip("no tracefs is mounted")
	}
	return all
}

// TestLoses checks that DTrace reports the samples that it loses because it gets no CPU time. Its buffers of 16 kB
// have room for a few hundred samples. During the 2 s for which it is stopped, all CPUs together have 20 000.
func TestLoses(t *testing.T) {
	gasmtest.NeedDTrace(t)
	tool := collecttest.ToolPath(t, "dtrace")
	collecttest.FakeTool(t, "dtrace", "exec '"+tool+"' -x bufsize=16k \"$@\"")
	x := collecttest.Hold(t, collecttest.Busy)
	d := starts(t, Options{Frequency: 4999})
	x.Release(t)
	group := -d.process.Cmd.Process.Pid
	syscall.Kill(group, syscall.SIGSTOP)
	time.Sleep(2 * time.Second)
	syscall.Kill(group, syscall.SIGCONT)
	time.Sleep(time.Second)
	if err := d.Stop(); err != nil {
		t.Error(err)
	}
	stopped := d.Lost()
	d.Wait()
	n := len(readSamples(t, d.TextFile(), false)[x.PID()])
	t.Logf("%d samples, %d lost, %d of them known when it had stopped", n, d.Lost(), stopped)
	if d.Lost() < 1000 {
		t.Errorf("%d samples lost", d.Lost())
	}
}

func TestBadFakes(t *testing.T) {
	shorten := func(timeout *time.Duration, to time.Duration) {
		old := *timeout
		*timeout = to
		t.Cleanup(func() { *timeout = old })
	}
	refused := func(frequency int, script, message string) {
		t.Helper()
		collecttest.FakeTool(t, "dtrace", script)
		dir := t.TempDir()
		_, err := Start(t.Context(), Options{Frequency: frequency, Dir: dir})
		t.Log(err)
		if err == nil || !strings.HasSuffix(err.Error(), message) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want %s", script, err, message)
		}
		if files, _ := os.ReadDir(dir); len(files) > 0 {
			t.Errorf("%s: left %v", script, files)
		}
		noneLeft(t, frequency)
	}
	refused(1117, `exit 0`, "/dtrace: ended before it sampled (exit status 0): it does not say why")
	refused(1123, `echo 'dtrace: the moon is full' >&2; exit 3`,
		"/dtrace: ended before it sampled (exit status 3): the moon is full")
	refused(1129, `kill -9 $$`, "/dtrace: ended before it sampled (signal: killed): it does not say why")
	shorten(&startTimeout, 300*time.Millisecond)
	refused(1151, `sleep 1000 & wait`,
		"/dtrace: did not start to sample within 300ms; see whether 'sudo dtrace -n BEGIN' prints a line")
	// DTrace has printed why it can't sample, but does not end.
	refused(1193, `echo 'dtrace: invalid probe specifier BEGIN: probe description :::profile-1193 does not match any probes' >&2; sleep 1000 & wait`,
		"dtrace: it has no probe profile-1193; take a lower --frequency, on Linux 5000 at most")
	startTimeout = patience

	begins := func(frequency int, trap, script string) *Tracer {
		t.Helper()
		collecttest.FakeTool(t, "dtrace", trap+"\necho '  0      1                           :BEGIN gasm: begin 17'\n"+script)
		return starts(t, Options{Frequency: frequency})
	}
	ends := func(d *Tracer, frequency int) {
		t.Helper()
		d.Wait()
		if n := len(readSamples(t, d.TextFile(), true)); n > 0 {
			t.Errorf("samples of %d processes", n)
		}
		noneLeft(t, frequency)
	}
	const end = `echo '  0      2                             :END gasm: end'; exit 0`
	const forever = `while :; do sleep 0.05; done`
	d := begins(1153, `trap "`+end+`" TERM`, forever)
	if err := d.Stop(); err != nil || d.Lost() != 0 {
		t.Errorf("got %v, %d lost", err, d.Lost())
	}
	ends(d, 1153)

	d = begins(1163, "", `echo 'dtrace: 12 drops on CPU 1' >&2; echo 'dtrace: processing aborted' >&2; exit 1`)
	<-d.process.Done
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

// TestFileMode checks that only the user may read the text.
func TestFileMode(t *testing.T) {
	collecttest.FakeTool(t, "dtrace", `echo 'gasm: begin'; exec sleep 1000`)
	dir := t.TempDir()
	d := starts(t, Options{Frequency: 1181, Dir: dir})
	info, err := os.Stat(filepath.Join(dir, textName))
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("got %v, %v", info, err)
	}
	stopsWith(t, d, "signal: terminated")
}
