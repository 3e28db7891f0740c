package jcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
)

// Run has the JVM with a process id run a command of jcmd, with its arguments, and gives what it prints. It
// waits until the JVM has done it, or ctx is done. A command that the JVM refuses is a *FailedError.
func Run(ctx context.Context, pid int, command string) (string, error) {
	text, err := request(command)
	if err != nil {
		return "", err
	}
	return exchange(ctx, pid, command, text)
}

// LoadAgent has the JVM load a Java agent, and call its agentmain with an argument. It returns when that is done. The jar's path is
// that of the JVM, which may have another root than gasm.
func LoadAgent(ctx context.Context, pid int, jar, argument string) error {
	text, err := operation("load", "instrument", "false", jar+"="+argument)
	if err != nil {
		return err
	}
	reply, err := exchange(ctx, pid, "load", text)
	if err != nil {
		return err
	}
	return agentLoaded(pid, reply)
}

// exchange writes a request, and gives the text of the answer. The command is for messages.
func exchange(ctx context.Context, pid int, command string, text []byte) (string, error) {
	t, err := lookAt(pid)
	if err != nil {
		return "", &NotToldError{pid, err}
	}
	defer t.close()
	conn, err := t.connect(ctx)
	if err != nil {
		if hasEnded(pid) || errors.Is(err, unix.ECONNREFUSED) && endsSoon(pid) {
			err = ErrEnded
		}
		return "", &NotToldError{pid, err}
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	reply, err := talk(conn, text)
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case len(reply) == 0 && endsSoon(pid):
		err = ErrEnded
	}
	if err != nil {
		return "", fmt.Errorf("the JVM with pid %d did not answer to %s: %w", pid, commandName(command), err)
	}
	return parseReply(pid, command, reply)
}

func talk(conn net.Conn, text []byte) ([]byte, error) {
	if _, err := conn.Write(text); err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(conn, maxReply))
}

// A target is a process that is to be asked.
type target struct {
	pid      int
	ownPID   int // in its own PID namespace
	uid, gid int // the effective ones
	catches  uint64
	tmp      int // a descriptor of its /tmp
}

func (t *target) close() {
	if t.tmp >= 0 {
		unix.Close(t.tmp)
	}
}

// openTmp opens the JVM's /tmp. What is a link there would lead to a file of this process's own root.
func (t *target) openTmp() error {
	path := fmt.Sprintf("/proc/%d/root/tmp", t.pid)
	fd, err := unix.Open(path, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("its /tmp can't be looked into: %w", &fs.PathError{Op: "open", Path: path, Err: err})
	}
	t.tmp = fd
	return nil
}

func (t *target) socketName() string { return fmt.Sprintf(".java_pid%d", t.ownPID) }

// lookAt reads what is needed of /proc/PID/status, which everyone can.
func lookAt(pid int) (*target, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no process has the id %d", pid)
	}
	if err != nil {
		return nil, fmt.Errorf("looking at process %d: %w", pid, err)
	}
	t := &target{pid: pid, ownPID: pid, uid: -1, gid: -1, tmp: -1}
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(line, ":")
		fields := strings.Fields(value)
		switch {
		case key == "Uid" && len(fields) > 1:
			t.uid, err = strconv.Atoi(fields[1])
		case key == "Gid" && len(fields) > 1:
			t.gid, err = strconv.Atoi(fields[1])
		case key == "NSpid" && len(fields) > 0:
			t.ownPID, err = strconv.Atoi(fields[len(fields)-1])
		case key == "SigCgt" && len(fields) > 0:
			t.catches, err = strconv.ParseUint(fields[0], 16, 64)
		}
		if err != nil {
			return nil, fmt.Errorf("looking at process %d: %w", pid, err)
		}
	}
	if t.uid < 0 || t.gid < 0 {
		return nil, fmt.Errorf("process %d has ended", pid)
	}
	return t, nil
}

// connect connects to the JVM's socket, and has the JVM make it before if need be.
func (t *target) connect(ctx context.Context) (net.Conn, error) {
	if self := os.Geteuid(); self != 0 && self != t.uid {
		return nil, errors.New("it belongs to another user: run gasm as that user or as root")
	}
	if err := t.openTmp(); err != nil {
		return nil, err
	}
	listens, err := t.listens()
	if err != nil {
		return nil, err
	}
	if !listens {
		if err := t.mayAsk(); err != nil {
			return nil, err
		}
	}
	if err := t.awaitRunning(ctx); err != nil {
		return nil, err
	}
	if !listens {
		if err := t.ask(ctx); err != nil {
			return nil, err
		}
	}
	return t.dial()
}

// listens tells whether the JVM's socket is there. Anyone can make a file of that name where the JVM has made none, so it
// must belong to the JVM's user.
func (t *target) listens() (bool, error) {
	var stat unix.Stat_t
	switch err := unix.Fstatat(t.tmp, t.socketName(), &stat, unix.AT_SYMLINK_NOFOLLOW); {
	case errors.Is(err, unix.ENOENT):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("looking for its socket: %w", err)
	case stat.Mode&unix.S_IFMT != unix.S_IFSOCK || int(stat.Uid) != t.uid:
		return false, fmt.Errorf("/tmp/%s is not a socket of the JVM's: remove it", t.socketName())
	}
	return true, nil
}

// mayAsk finds out whether SIGQUIT will have the JVM listen, and do nothing else.
func (t *target) mayAsk() error {
	if vm, err := vmstructs.Open(t.pid); err == nil { // otherwise it can't be found out
		flags, err := vm.Flags("DisableAttachMechanism")
		if err == nil && flags["DisableAttachMechanism"].Value != 0 {
			return errors.New("it was started with -XX:+DisableAttachMechanism: start it without this flag")
		}
	}
	if t.catches&(1<<(unix.SIGQUIT-1)) == 0 {
		return errors.New("it does not handle SIGQUIT: it is no JVM, or one that has just been started")
	}
	return nil
}

// askTime is how long a JVM may take until it listens. A safepoint must pass, and a busy machine is slow.
const askTime = 10 * time.Second

// ask has the JVM make its socket.
func (t *target) ask(ctx context.Context) error {
	remove, err := t.trigger()
	if err != nil {
		return fmt.Errorf("the file that asks it to listen can't be made: %w", err)
	}
	defer remove()
	if err := unix.Kill(t.pid, unix.SIGQUIT); err != nil {
		return fmt.Errorf("sending it SIGQUIT: %w", err)
	}
	late := fmt.Errorf("it did not listen within %s: it may be stopped, or was started with -XX:+DisableAttachMechanism", askTime)
	ctx, cancel := context.WithTimeoutCause(ctx, askTime, late)
	defer cancel()
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		if listens, err := t.listens(); listens || err != nil {
			return err
		}
		if hasEnded(t.pid) {
			return ErrEnded
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

// trigger makes the file that tells the JVM what SIGQUIT is for. The JVM also looks in the folder that it works in, for the
// case that /tmp can't be written to.
func (t *target) trigger() (remove func(), err error) {
	name := fmt.Sprintf(".attach_pid%d", t.ownPID)
	if remove, err = t.triggerIn(t.tmp, name); err == nil {
		return remove, nil
	}
	cwd, cwdErr := unix.Open(fmt.Sprintf("/proc/%d/cwd", t.pid), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if cwdErr != nil {
		return nil, err
	}
	if remove, cwdErr = t.triggerIn(cwd, name); cwdErr != nil {
		unix.Close(cwd)
		return nil, err
	}
	return func() { remove(); unix.Close(cwd) }, nil
}

// triggerIn makes the file in a folder. It must belong to the JVM's user.
func (t *target) triggerIn(folder int, name string) (remove func(), err error) {
	fd, err := unix.Openat(folder, name, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, &fs.PathError{Op: "create", Path: name, Err: err}
	}
	defer unix.Close(fd)
	remove = func() { _ = unix.Unlinkat(folder, name, 0) }
	if os.Geteuid() != t.uid {
		if err := unix.Fchown(fd, t.uid, t.gid); err != nil {
			remove()
			return nil, &fs.PathError{Op: "chown", Path: name, Err: err}
		}
	}
	return remove, nil
}

// dial connects to the socket as the JVM's user, whom the JVM asks the kernel for.
func (t *target) dial() (net.Conn, error) {
	type dialed struct {
		conn net.Conn
		err  error
	}
	done := make(chan dialed)
	go func() {
		// The thread is of another user from here on. It ends with the goroutine, because it stays locked.
		runtime.LockOSThread()
		conn, err := t.dialAs()
		done <- dialed{conn, err}
	}()
	d := <-done
	return d.conn, d.err
}

func (t *target) dialAs() (net.Conn, error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "jvm")
	defer f.Close()
	if err := t.become(); err != nil {
		return nil, err
	}
	if err := unix.Connect(fd, &unix.SockaddrUnix{Name: fmt.Sprintf("/proc/self/fd/%d/%s", t.tmp, t.socketName())}); err != nil {
		return nil, fmt.Errorf("connecting to its socket: %w", err)
	}
	return net.FileConn(f)
}

// become makes the thread one of the JVM's user and group.
func (t *target) become() error {
	keep := ^uintptr(0)
	if os.Getegid() != t.gid && os.Geteuid() == 0 {
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESGID, keep, uintptr(t.gid), keep); errno != 0 {
			return fmt.Errorf("taking on its group: %w", errno)
		}
	}
	if os.Geteuid() != t.uid {
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, keep, uintptr(t.uid), keep); errno != 0 {
			return fmt.Errorf("taking on its user: %w", errno)
		}
	}
	return nil
}
