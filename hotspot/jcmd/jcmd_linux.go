package jcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
	"github.com/gasm-profiler/gasm/internal/foreign"
)

// exchange sends the bytes of a request to the JVM and returns the text of the JVM's answer.
// command is used only in error messages.
func exchange(ctx context.Context, p *foreign.Process, command string, text []byte) (string, error) {
	t, err := newTarget(ctx, p)
	if err != nil {
		return "", &NotToldError{p.PID(), err}
	}
	defer t.close()
	reply, err := t.talk(ctx, text, true)
	if errors.Is(err, errNobody) {
		reply, err = t.talkAnew(ctx, text)
	}
	var notTold *NotToldError
	switch {
	case errors.As(err, &notTold):
		return "", err
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case len(reply) == 0 && endsSoon(ctx, p):
		err = ErrEnded
	}
	if err != nil {
		return "", fmt.Errorf("the JVM with pid %d gave no answer to %s: %w", p.PID(), commandName(command), err)
	}
	return parseReply(p.PID(), command, reply)
}

// errNobody means that no thread of the JVM will ever read the request.
var errNobody = errors.New("its thread for commands has ended")

// listenerPause is how long talk waits for an answer before it checks whether the JVM still has the thread that
// answers.
const listenerPause = 300 * time.Millisecond

// talk connects to the JVM, writes a request and reads the answer. If watch is true, it gives up with errNobody when
// there is no answer and the JVM has no thread that could answer.
func (t *target) talk(ctx context.Context, text []byte, watch bool) ([]byte, error) {
	conn, err := t.connect(ctx)
	if err != nil {
		if t.Ended() || errors.Is(err, unix.ECONNREFUSED) && endsSoon(ctx, t.Process) {
			err = ErrEnded
		}
		return nil, &NotToldError{t.PID(), err}
	}
	defer conn.Close()
	giveUp := func() { _ = conn.SetDeadline(time.Unix(1, 0)) }
	defer context.AfterFunc(ctx, giveUp)()
	var nobody atomic.Bool
	if watch {
		defer time.AfterFunc(listenerPause, func() {
			if !t.hasListener() {
				nobody.Store(true)
				giveUp()
			}
		}).Stop()
	}
	if _, err = conn.Write(text); err != nil {
		return nil, err
	}
	reply, err := io.ReadAll(io.LimitReader(conn, maxReply))
	if err != nil && nobody.Load() {
		err = errNobody
	}
	return reply, err
}

// talkAnew makes the JVM listen again, and talks to it. The JVM's listening thread ends when it fails to accept a
// connection, which happens if the JVM has reached its limit of open files (AttachListenerThread::thread_entry in
// attachListener.cpp). The socket remains, but nobody reads from it.
func (t *target) talkAnew(ctx context.Context, text []byte) ([]byte, error) {
	err := t.mayAsk(ctx)
	if err == nil {
		err = t.awaitRunning(ctx)
	}
	if err == nil {
		err = t.ask(ctx, t.dialed)
	}
	if err != nil {
		return nil, &NotToldError{t.PID(), fmt.Errorf("%w, and it can't be asked to begin another one: %w",
			errNobody, err)}
	}
	return t.talk(ctx, text, false)
}

// listenerThread is the name of the JVM's listening thread. It has 15 bytes, so the kernel, which keeps only 15, does
// not shorten it.
const listenerThread = "Attach Listener"

// hasListener reports whether the JVM has the thread that answers requests. It is also true if the
// threads can't be listed.
func (t *target) hasListener() bool {
	return t.HasThread(listenerThread) || len(t.Threads()) == 0
}

// A target is the process that is to run a command.
type target struct {
	*foreign.Process
	status foreign.Status
	world  *foreign.World
	tmp    *foreign.Folder
	dialed int64 // the result of socketChange for the socket that connect used last
	cancel func()
}

// removeTime is how long a target's World, which is its file system, can still be used after the caller's context is
// done. The time is long enough to remove the file that asks the JVM to listen.
const removeTime = 300 * time.Millisecond

// newTarget enters the file system of a process. The target can be used until removeTime after ctx
// is done.
func newTarget(ctx context.Context, p *foreign.Process) (*target, error) {
	t := &target{Process: p}
	var err error
	if t.status, err = p.Status(); err != nil {
		return nil, err
	}
	reach, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(removeTime, func() { cancel(context.Cause(ctx)) }) })
	t.cancel = func() {
		stop()
		cancel(nil)
	}
	if t.world, err = p.World(reach); err != nil {
		t.cancel()
		return nil, err
	}
	if ctx.Err() != nil {
		t.world.Close()
		t.cancel()
		return nil, context.Cause(ctx)
	}
	if t.tmp, err = t.world.Tmp(); err != nil {
		t.world.Close()
		t.cancel()
		return nil, fmt.Errorf("its /tmp can't be looked into: %w", err)
	}
	return t, nil
}

func (t *target) close() {
	t.tmp.Close()
	t.world.Close()
	t.cancel()
}

func (t *target) socketName() string { return fmt.Sprintf(".java_pid%d", t.status.OwnPID) }

// connect connects to the JVM's socket. If the JVM has no socket yet, connect makes it listen first.
func (t *target) connect(ctx context.Context) (net.Conn, error) {
	listens, err := t.listens()
	if err != nil {
		return nil, err
	}
	if !listens {
		if err := t.mayAsk(ctx); err != nil {
			return nil, err
		}
	}
	if err := t.awaitRunning(ctx); err != nil {
		return nil, err
	}
	if !listens {
		if err := t.ask(ctx, noSocket); err != nil {
			return nil, err
		}
	}
	t.dialed = t.socketChange()
	conn, err := t.tmp.Dial(ctx, t.socketName())
	if err != nil {
		return nil, fmt.Errorf("connecting to its socket: %w", err)
	}
	return conn, nil
}

// noSocket is what socketChange returns for a JVM that has no socket.
const noSocket = 0

// socketChange returns the time of the last change of the JVM's socket, in nanoseconds. This time distinguishes the
// socket from a later one with the same name.
func (t *target) socketChange() int64 {
	info, err := t.tmp.Stat(t.socketName())
	if err != nil {
		return noSocket
	}
	return info.ChangedNanos
}

// listens reports whether the JVM's socket exists.
func (t *target) listens() (bool, error) {
	listens, err := t.tmp.HasSocket(t.socketName())
	switch {
	case errors.Is(err, foreign.ErrNotSocket):
		err = fmt.Errorf("/tmp/%s is not the JVM's socket: remove it", t.socketName())
	case err != nil:
		err = fmt.Errorf("looking for its socket: %w", err)
	}
	return listens, err
}

// mayAsk returns nil if SIGQUIT will make the JVM listen and have no other effect. It checks that the process is
// still a JVM, because the process may have executed another program (exec), and SIGQUIT ends most programs, even
// many of those that handle it.
func (t *target) mayAsk(ctx context.Context) error {
	disabled, err := vmstructs.Ask(ctx, vmstructs.FlagsTime, t.PID(), func(vm *vmstructs.VM) (bool, error) {
		flags, err := vm.Flags("DisableAttachMechanism")
		return err == nil && flags["DisableAttachMechanism"].Value != 0, nil
	})
	other := (*vmstructs.OpenError)(nil)
	switch {
	case errors.As(err, &other) && slices.Contains(notHotSpot, other.Reason):
		return errors.New("it is not a JVM with HotSpot")
	case err != nil && other == nil: // a process that can't be read (an OpenError) may still be a JVM
		return err
	case disabled:
		return errors.New("it was started with -XX:+DisableAttachMechanism: start it without this flag")
	}
	return t.checkCatches()
}

// notHotSpot lists the reasons in an OpenError that leave no doubt: the process does not run HotSpot.
var notHotSpot = []vmstructs.Reason{vmstructs.NoJVM, vmstructs.OpenJ9, vmstructs.NativeImage}

// checkCatches checks that the process handles SIGQUIT now.
func (t *target) checkCatches() error {
	now, err := t.Status()
	if err == nil && now.Catches&(1<<(unix.SIGQUIT-1)) == 0 {
		err = errors.New("it does not handle SIGQUIT: it is not a JVM, or one that has just been started")
	}
	return err
}

// askTime limits the time that gasm waits until a JVM listens. The JVM has to reach a safepoint first, which can take
// long on a busy machine.
const askTime = 10 * time.Second

// ask makes the JVM create a socket, and waits for it. old is what socketChange returned for the socket that the JVM
// had before. As long as that socket is still there, ask keeps waiting, even if the JVM already has a new listening
// thread: the thread replaces the old socket a moment after it has started (LinuxAttachListener::init).
func (t *target) ask(ctx context.Context, old int64) error {
	remove, err := t.trigger()
	if err != nil {
		return fmt.Errorf("the file that asks it to listen can't be made: %w", err)
	}
	defer remove()
	if err := t.checkCatches(); err != nil { // the process may have executed another program in the meantime
		return err
	}
	if err := t.Signal(unix.SIGQUIT); err != nil {
		return fmt.Errorf("sending it SIGQUIT: %w", err)
	}
	late := fmt.Errorf(
		"it did not listen within %s: it may be stopped, or was started with -XX:+DisableAttachMechanism", askTime)
	ctx, cancel := context.WithTimeoutCause(ctx, askTime, late)
	defer cancel()
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		listens, err := t.listens()
		if err != nil || listens && t.hasListener() && t.socketChange() != old {
			return err
		}
		if t.Ended() {
			return ErrEnded
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

func triggerName(ownPID int) string { return fmt.Sprintf(".attach_pid%d", ownPID) }

// trigger creates the file from which the JVM learns that SIGQUIT asks it to listen. The file must belong to the JVM's
// user. If a file of that name already exists, for example because a killed program left it behind, that file is used.
// If nothing can be created in /tmp, the file is created in the JVM's working folder, where the JVM looks as well.
func (t *target) trigger() (remove func(), err error) {
	name := triggerName(t.status.OwnPID)
	removeHere := func() { _ = t.tmp.Remove(name) } // if this fails, RemoveTrigger removes the file later
	if err = t.tmp.Create(name, nil); err == nil {
		return removeHere, nil
	}
	if there, statErr := t.tmp.Stat(name); statErr == nil && there.Regular && there.UID == t.status.UID {
		return removeHere, nil
	}
	works, worksErr := t.WorkingFolder(t.world)
	if worksErr != nil {
		return nil, err
	}
	if works.Create(name, nil) != nil {
		works.Close()
		return nil, err
	}
	return func() {
		_ = works.Remove(name)
		works.Close()
	}, nil
}

// RemoveTrigger removes the file that a killed gasm process created to ask a JVM to listen. If the JVM does not listen,
// RemoveTrigger leaves the file, because it may belong to another program that is about to send SIGQUIT.
func RemoveTrigger(ctx context.Context, p *foreign.Process) error {
	t, err := newTarget(ctx, p)
	if err != nil {
		return err
	}
	defer t.close()
	if listens, err := t.listens(); !listens || err != nil {
		return nil // the caller's next command returns the same error
	}
	return t.tmp.Remove(triggerName(t.status.OwnPID))
}
