package collect

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// keeper is what the shell runs in front of DTrace for Linux, which leaves its BEGIN and END probes in tracefs when a signal ends it
// that it does not handle. It handles SIGTERM once it samples, and never SIGPIPE. So that is ignored, and a second shell waits for the
// end of gasm, which has the other end of descriptor 3: a line comes when DTrace has ended before, and none when gasm is killed.
// A DTrace whose probes are gone needs some seconds more by itself, and none when it is killed. What is left of one that had not
// come to handle SIGTERM is removed. Below sudo only root can do these two.
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

// uprobeFiles are the lists of the kernel's uprobes, where tracefs is mounted.
const uprobeFiles = "/sys/kernel/tracing/uprobe_events /sys/kernel/debug/tracing/uprobe_events"

// newDTraceProcess prepares DTrace. When gasm is killed it ends properly, and by itself.
func newDTraceProcess(run func(path string, args []string) *process, command []string) (*process, error) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		return run(command[0], command[1:]), nil
	}
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p := run(shell, append([]string{"-c", keeper, filepath.Base(shell)}, command...))
	p.cmd.ExtraFiles = []*os.File{theirs}
	p.started = func() { theirs.Close() }
	p.after = func() {
		if p.cmd.ProcessState != nil && p.status().Signaled() {
			removeUprobes(p.cmd.Process.Pid) // by SIGKILL, its shell was killed with it
		}
		_, _ = ours.WriteString("ended\n") // nobody reads it when the shell was killed
		ours.Close()
	}
	return p, nil
}

// hasUprobes tells whether the BEGIN and END probes of a DTrace are in tracefs. It is false where that can't be seen: by users other
// than root, and where sudo has started it.
func (d *DTrace) hasUprobes() bool {
	probes := []byte(fmt.Sprintf(":dt_%d_dtrace/", d.process.cmd.Process.Pid))
	for file := range strings.FieldsSeq(uprobeFiles) {
		if text, err := os.ReadFile(file); err == nil && bytes.Contains(text, probes) {
			return true
		}
	}
	return false
}

// released waits until a DTrace that has printed all has removed its probes from tracefs, which takes it less than a second.
func (d *DTrace) released() bool {
	for end := time.Now().Add(releaseTimeout); d.inTracefs && time.Now().Before(end); time.Sleep(lookForRelease) {
		if d.process.ended() || !d.hasUprobes() {
			return true
		}
	}
	return false
}

// lookForRelease is the time between two looks for the probes of a DTrace that ends.
const lookForRelease = 20 * time.Millisecond

// removeUprobes removes the probes from tracefs that a DTrace has left there. Only root can; another user's DTrace is sudo's child,
// of which gasm does not know the process id.
func removeUprobes(pid int) {
	for file := range strings.FieldsSeq(uprobeFiles) {
		for _, name := range []string{"BEGIN", "END"} {
			// Each line is opened for itself: what is refused, because it is not there, ends a file's writing.
			if f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0); err == nil {
				_, _ = fmt.Fprintf(f, "-:dt_%d_dtrace/%s\n", pid, name)
				f.Close()
			}
		}
	}
}
