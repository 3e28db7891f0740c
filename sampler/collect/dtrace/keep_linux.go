package dtrace

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/gasm-profiler/gasm/sampler/collect/external"
)

// keeper is what the shell runs before DTrace for Linux. If a signal that DTrace does not handle ends
// it, its BEGIN and END probes stay in tracefs. DTrace handles SIGTERM once it samples, and never
// SIGPIPE. So the script ignores SIGPIPE, and a second shell waits for the end of gasm, which has the
// other end of descriptor 3: it reads a line if DTrace has ended before gasm, and no line if gasm is
// killed. A DTrace that has removed its probes takes some seconds more to end by itself, so it is
// killed. Probes of a DTrace that did not handle SIGTERM yet are removed. If DTrace runs under sudo,
// only root can do these two things.
const keeper = `trap "" PIPE
dtrace=$$
{
  exec >/dev/null 2>&1
  read -r ended <&3 && exit
  tracer=$dtrace
  case $1 in */sudo) # which may have a process of its own between
    tracer=$(pgrep -P $dtrace -x dtrace || pgrep -P $(pgrep -P $dtrace -x sudo) -x dtrace)
  esac
  kill -TERM $dtrace || sudo -n kill -TERM $dtrace
  [ "$tracer" ] || exit
  i=0
  while [ -e /proc/$tracer/exe ] && [ $i -lt 300 ]; do
    grep -q ":dt_${tracer}_dtrace/" ` + uprobeFiles + ` || kill -KILL $tracer
    sleep 0.1
    i=$((i+1))
  done
  while grep -q ":dt_${tracer}_dtrace/" ` + uprobeFiles + ` && [ $i -lt 400 ]; do
    for events in ` + uprobeFiles + `; do
      for probe in $(grep -o "dt_${tracer}_dtrace/[A-Z]*" $events); do echo "-:$probe" >>$events; done
    done
    sleep 0.1
    i=$((i+1))
  done
} &
exec 3<&-
exec "$@"`

// uprobeFiles are the lists of the kernel's uprobes in the places where tracefs is mounted.
const uprobeFiles = "/sys/kernel/tracing/uprobe_events /sys/kernel/debug/tracing/uprobe_events"

// newProcess prepares DTrace. When gasm is killed, DTrace ends properly, and by itself.
func newProcess(run func(path string, args []string) *external.Process, command []string) (*external.Process, error) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		return run(command[0], command[1:]), nil
	}
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p := run(shell, append([]string{"-c", keeper, filepath.Base(shell)}, command...))
	p.Cmd.ExtraFiles = []*os.File{theirs}
	p.Started = func() { theirs.Close() }
	p.After = func() {
		if p.Cmd.ProcessState != nil && p.Status().Signaled() {
			removeUprobes(p.Cmd.Process.Pid) // SIGKILL has also killed its shell
		}
		_, _ = ours.WriteString("ended\n") // nobody reads it if the shell was killed
		ours.Close()
	}
	return p, nil
}

// hasUprobes reports whether the BEGIN and END probes of a DTrace are in tracefs. It returns false if
// that can't be seen: by users other than root, and if sudo has started DTrace.
func (d *Tracer) hasUprobes() bool {
	probes := []byte(fmt.Sprintf(":dt_%d_dtrace/", d.process.Cmd.Process.Pid))
	for file := range strings.FieldsSeq(uprobeFiles) {
		if text, err := os.ReadFile(file); err == nil && bytes.Contains(text, probes) {
			return true
		}
	}
	return false
}

// released waits until a DTrace that has printed everything has removed its probes from tracefs, which
// takes it less than a second.
func (d *Tracer) released() bool {
	for end := time.Now().Add(releaseTimeout); d.inTracefs && time.Now().Before(end); time.Sleep(lookForRelease) {
		if d.process.Ended() || !d.hasUprobes() {
			return true
		}
	}
	return false
}

// lookForRelease is the time between two looks for the probes of a DTrace that ends.
const lookForRelease = 20 * time.Millisecond

// removeUprobes removes the probes that a DTrace has left in tracefs. Only root can do that; another
// user's DTrace is a child of sudo, and gasm does not know its process id.
func removeUprobes(pid int) {
	for file := range strings.FieldsSeq(uprobeFiles) {
		for _, name := range []string{"BEGIN", "END"} {
			// Each line has a file of its own, because the kernel accepts nothing more after a line
			// that it refuses: a probe may not be there.
			if f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0); err == nil {
				_, _ = fmt.Fprintf(f, "-:dt_%d_dtrace/%s\n", pid, name)
				f.Close()
			}
		}
	}
}
