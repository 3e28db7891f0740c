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

// keeper is the shell script that starts DTrace for Linux, and that ends DTrace when gasm is
// killed.
//
// If DTrace is ended by a signal that it does not handle, its BEGIN and END probes stay in tracefs.
// DTrace never handles SIGPIPE, and handles SIGTERM only once it samples. So the script makes
// DTrace ignore SIGPIPE, and starts a second shell that waits for the end of gasm. That shell reads
// from descriptor 3, a pipe whose other end gasm holds. When DTrace has ended, gasm writes a line
// into the pipe. If gasm is killed, the pipe ends without a line, and the second shell sends
// SIGTERM to DTrace.
//
// As soon as DTrace has removed its probes, the shell kills it, because DTrace would take a few more seconds to end. If
// DTrace did not handle SIGTERM yet, the shell removes the probes that are left. If DTrace runs under sudo, only root
// can kill it or remove its probes.
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

// uprobeFiles are the files that list the kernel's uprobes. tracefs may be mounted in either place.
const uprobeFiles = "/sys/kernel/tracing/uprobe_events /sys/kernel/debug/tracing/uprobe_events"

// newProcess prepares to run DTrace under the shell script keeper, so that DTrace ends properly even if gasm is killed.
// If there is no shell, it prepares to run DTrace alone.
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
			// A killed DTrace can't remove its probes. The shell that runs in the background (see keeper) removes them
			// only if gasm is killed.
			removeUprobes(p.Cmd.Process.Pid)
		}
		_, _ = ours.WriteString("ended\n") // if the shell was killed, nobody reads this
		ours.Close()
	}
	return p, nil
}

// hasUprobes reports whether the BEGIN or END probe of this DTrace is in tracefs. It also returns false if gasm can't
// find out: only root can read tracefs, and gasm does not know the process id of a DTrace that sudo started.
func (d *Tracer) hasUprobes() bool {
	probes := []byte(fmt.Sprintf(":dt_%d_dtrace/", d.process.Cmd.Process.Pid))
	for file := range strings.FieldsSeq(uprobeFiles) {
		if text, err := os.ReadFile(file); err == nil && bytes.Contains(text, probes) {
			return true
		}
	}
	return false
}

// released waits until DTrace has removed its probes from tracefs, which usually takes less than a second. It must be
// called after DTrace has printed everything. It returns false if gasm can't see the probes, or if they are still there
// after releaseTimeout.
func (d *Tracer) released() bool {
	for end := time.Now().Add(releaseTimeout); d.inTracefs && time.Now().Before(end); time.Sleep(lookForRelease) {
		if d.process.Ended() || !d.hasUprobes() {
			return true
		}
	}
	return false
}

// lookForRelease is the pause between two checks of tracefs for the probes.
const lookForRelease = 20 * time.Millisecond

// removeUprobes removes the probes that a DTrace has left in tracefs. It works only if gasm runs as root. Otherwise
// DTrace runs under sudo, and pid is that of sudo, while the probes are named after DTrace's own.
func removeUprobes(pid int) {
	for file := range strings.FieldsSeq(uprobeFiles) {
		for _, name := range []string{"BEGIN", "END"} {
			// The file is opened again for each line. If a probe does not exist, writing its line fails, and then all
			// further writes to the same descriptor fail, too.
			if f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0); err == nil {
				_, _ = fmt.Fprintf(f, "-:dt_%d_dtrace/%s\n", pid, name)
				f.Close()
			}
		}
	}
}
