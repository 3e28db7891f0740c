package probe

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/event/rings"
	"github.com/gasm-profiler/gasm/hotspot/jcmd"
	"github.com/gasm-profiler/gasm/internal/regular"
)

// A Session is the agent at work in a JVM that was running before.
//
// Its files are in a folder in the JVM's own /tmp, which belongs to the JVM's user. The folder has the same name each time, because the
// JVM adds the path of each agent to its class path once, and keeps it. It is locked by the gasm that uses it.
type Session struct {
	pid    int
	ownPID int      // in the JVM's PID namespace
	name   string   // of the folder
	dir    string   // by the descriptor of lock, which is good when the JVM has ended, too
	prefix string   // of the files, as the JVM sees them
	lock   *os.File // the folder
	tmp    *os.File // the folder that it is in
}

// Load has the agent probe methods of a JVM that runs. What it could do so far is in the report; more classes may come.
func Load(ctx context.Context, pid int, specs []Spec) (*Session, *rings.Report, error) {
	s, err := newSession(ctx, pid)
	if err != nil {
		return nil, nil, fmt.Errorf("the JVM with pid %d can't be probed: %w", pid, err)
	}
	rep, err := s.start(ctx, specs)
	if errors.Is(err, jcmd.ErrEnded) {
		err = jcmd.ErrEnded
	}
	if err != nil {
		s.Close()
		return nil, rep, fmt.Errorf("the JVM with pid %d can't be probed: %w", pid, err)
	}
	return s, rep, nil
}

func newSession(ctx context.Context, pid int) (*Session, error) {
	s := &Session{pid: pid, ownPID: pid}
	uid, gid, err := s.owner()
	if err != nil {
		return nil, err
	}
	tmp := fmt.Sprintf("/proc/%d/root/tmp", pid)
	if s.tmp, err = os.OpenFile(tmp, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0); err != nil {
		return nil, fmt.Errorf("its folder /tmp, which the agent's files would be in, can't be looked into: %w", err)
	}
	s.name = fmt.Sprint(folderHead, s.ownPID)
	s.dir, s.prefix = filepath.Join(tmp, s.name), "/tmp/"+s.name+"/"
	err = os.Mkdir(s.dir, 0o700)
	if errors.Is(err, fs.ErrExist) {
		if err = s.removeLeft(ctx, uid); err == nil {
			err = os.Mkdir(s.dir, 0o700)
		}
	}
	if err == nil {
		s.lock, err = lockFolder(s.dir)
	}
	if err != nil {
		s.tmp.Close()
		return nil, err
	}
	s.dir = fmt.Sprintf("/proc/self/fd/%d", s.lock.Fd())
	if err := os.Chown(s.dir, uid, gid); err != nil {
		s.Close()
		return nil, fmt.Errorf("making a folder for the JVM's user: %w", err)
	}
	return s, nil
}

// owner gives the JVM's user and group, and finds out its own process id.
func (s *Session) owner() (uid, gid int, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.pid))
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(line, ":")
		fields := strings.Fields(value)
		switch {
		case key == "Uid" && len(fields) > 1:
			uid, err = strconv.Atoi(fields[1])
		case key == "Gid" && len(fields) > 1:
			gid, err = strconv.Atoi(fields[1])
		case key == "NSpid" && len(fields) > 0:
			s.ownPID, err = strconv.Atoi(fields[len(fields)-1])
		}
		if err != nil {
			return 0, 0, err
		}
	}
	return uid, gid, nil
}

// lockFolder locks a folder until the file is closed.
func lockFolder(dir string) (*os.File, error) {
	f, err := os.OpenFile(dir, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		return nil, errors.New("another gasm probes it: wait until that has ended")
	}
	return f, nil
}

// removeLeft ends the probes of a gasm that was killed, and removes its folder.
func (s *Session) removeLeft(ctx context.Context, uid int) error {
	var stat unix.Stat_t
	if err := unix.Lstat(s.dir, &stat); err != nil {
		return err
	}
	if int(stat.Uid) != uid && int(stat.Uid) != os.Geteuid() {
		return fmt.Errorf("%s is there already, and is another user's: remove it", s.dir)
	}
	lock, err := lockFolder(s.dir)
	if err != nil {
		return err
	}
	defer lock.Close()
	if _, err := os.Lstat(filepath.Join(s.dir, jarFile)); err == nil {
		if err := jcmd.LoadAgent(ctx, s.pid, s.prefix+jarFile, "stop:"+s.prefix); err != nil {
			return err
		}
	}
	return os.RemoveAll(s.dir)
}

func (s *Session) start(ctx context.Context, specs []Spec) (*rings.Report, error) {
	if err := Write(s.dir+"/", strings.TrimSuffix(s.prefix, "/"), specs); err != nil {
		return nil, err
	}
	if err := jcmd.LoadAgent(ctx, s.pid, s.prefix+jarFile, "attach:"+s.prefix); err != nil {
		var failed *jcmd.FailedError
		if errors.As(err, &failed) {
			return nil, errors.New(whyNotLoaded(failed.Reply))
		}
		return nil, err
	}
	rep, err := s.Report()
	switch {
	case err != nil:
		return nil, fmt.Errorf("gasm's agent did not start in it: %w", s.whyNotStarted(err))
	case len(rep.Errors) > 0:
		return rep, errors.New(rep.Errors[0])
	case !rep.Started:
		return rep, errors.New("gasm's agent did not start in it, and does not say why: please report this JDK")
	}
	return rep, nil
}

// whyNotLoaded says why a JVM has refused the agent.
func whyNotLoaded(reply string) string {
	reply = strings.Join(strings.Fields(reply), " ")
	switch {
	case strings.Contains(reply, "EnableDynamicAgentLoading"):
		return "it was started with -XX:-EnableDynamicAgentLoading: start it without this flag, or with gasm profile"
	case strings.Contains(reply, "java.instrument"):
		return "its runtime has no module java.instrument: add the module to it (jlink --add-modules java.instrument)"
	case reply == "":
		return "it does not take agents, and does not say why"
	}
	return "it did not take the agent: " + reply
}

// whyNotStarted reads what the agent has written when it could not even begin.
func (s *Session) whyNotStarted(err error) error {
	f, _, openErr := regular.OpenNoLink(s.dir + "/error")
	if openErr != nil {
		return err
	}
	defer f.Close()
	if rep, _ := rings.ReadReport(f, "error"); len(rep.Errors) > 0 {
		return errors.New(rep.Errors[0])
	}
	return err
}

// Report reads what the agent has told so far.
func (s *Session) Report() (*rings.Report, error) {
	path := s.path(ReportFile(s.ownPID))
	f, _, err := regular.OpenNoLink(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return rings.ReadReport(f, path)
}

func (s *Session) path(name string) string { return filepath.Join(s.dir, name) }

// Rings and ReportText are the paths of what the agent writes, as this process sees them.
func (s *Session) Rings() string      { return s.path(RingFile(s.ownPID)) }
func (s *Session) ReportText() string { return s.path(ReportFile(s.ownPID)) }

// Unload has the agent change all classes back. The files stay until Close.
func (s *Session) Unload(ctx context.Context) error {
	if err := jcmd.LoadAgent(ctx, s.pid, s.prefix+jarFile, "stop:"+s.prefix); err != nil {
		return fmt.Errorf("the probes of the JVM with pid %d can't be removed: %w", s.pid, err)
	}
	rep, err := s.Report()
	if err != nil {
		return fmt.Errorf("the probes of the JVM with pid %d may not all be removed: %w", s.pid, err)
	}
	if len(rep.Errors) > 0 || !rep.Stopped {
		return fmt.Errorf("the probes of the JVM with pid %d may not all be removed: %s", s.pid, strings.Join(append(rep.Errors, "restart it to be sure"), "; "))
	}
	return nil
}

// Close removes the files.
func (s *Session) Close() {
	entries, _ := os.ReadDir(s.dir + "/")
	for _, e := range entries {
		os.RemoveAll(s.path(e.Name()))
	}
	_ = unix.Unlinkat(int(s.tmp.Fd()), s.name, unix.AT_REMOVEDIR) // what is left of it, the next gasm removes
	s.lock.Close()
	s.tmp.Close()
}
