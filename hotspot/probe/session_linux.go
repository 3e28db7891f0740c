package probe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/gasm-profiler/gasm/event/rings"
	"github.com/gasm-profiler/gasm/hotspot/jcmd"
	"github.com/gasm-profiler/gasm/hotspot/sdt"
	"github.com/gasm-profiler/gasm/internal/foreign"
)

// A Session is the agent at work in a JVM that was running before.
//
// Its files are in a folder in the JVM's own /tmp, which belongs to the JVM's user. It is locked by the gasm that uses it.
type Session struct {
	p      *foreign.Process // nil where the JVM has ended
	ownPID int              // in the JVM's PID namespace
	path   string           // of the folder, as the JVM has it
	tmp    *foreign.Folder  // the folder that it is in
	folder *foreign.Folder

	// What the agent writes is opened when it has begun, so that it is still there when somebody cleans up /tmp.
	ring, report *foreign.File
	notOpened    error // why one of them was not; nil when both were
	cleaned      bool  // the folder was removed and made anew since
}

// open opens the folder of a Session, or makes it.
func open(p *foreign.Process, w *foreign.World, folder string) (*Session, error) {
	if !IsFolder(folder) {
		return nil, fmt.Errorf("%s is no folder for probes", folder)
	}
	s := &Session{p: p, path: folder}
	if p != nil {
		status, err := p.Status()
		if err != nil {
			return nil, err
		}
		s.ownPID = status.OwnPID
	}
	var err error
	if s.tmp, err = w.Tmp(); err != nil {
		return nil, err
	}
	if s.folder, err = openFolder(s.tmp, path.Base(folder)); err != nil {
		s.tmp.Close()
		return nil, err
	}
	return s, nil
}

// Load has the agent probe methods of a JVM that runs, by a folder at a path that [Place] has chosen. What it could do so
// far is in the report; more classes may come. The process and its World must stay open until the Session is closed.
//
// Where the JVM may have the probes all the same, the error is a [*LeftError].
func Load(ctx context.Context, p *foreign.Process, w *foreign.World, path string, specs []Spec) (*Session, *rings.Report, error) {
	s, err := open(p, w, path)
	if err != nil {
		return nil, nil, fmt.Errorf("the JVM with pid %d can't be probed: %w", p.PID(), err)
	}
	rep, err := s.start(ctx, specs)
	if err == nil {
		return s, rep, nil
	}
	defer s.release()
	if left := (*LeftError)(nil); errors.As(err, &left) {
		return nil, rep, err
	}
	s.remove()
	if errors.Is(err, jcmd.ErrEnded) {
		err = jcmd.ErrEnded
	}
	return nil, rep, fmt.Errorf("the JVM with pid %d can't be probed: %w", p.PID(), err)
}

func (s *Session) start(ctx context.Context, specs []Spec) (*rings.Report, error) {
	if err := removeFiles(s.folder); err != nil {
		return nil, err
	}
	files, err := contents(s.path, specs)
	if err == nil {
		err = s.write(files)
	}
	if err != nil {
		return nil, fmt.Errorf("writing the agent for the probes: %w", err)
	}
	if err := s.tell(ctx, "attach:"); err != nil {
		return nil, err
	}
	rep, err := s.Report()
	switch {
	case err != nil:
		err = fmt.Errorf("gasm's agent did not start in it: %w", s.whyNotStarted(err))
	case len(rep.Errors) > 0:
		err = errors.New(rep.Errors[0])
	case !rep.Started:
		err = errors.New("gasm's agent did not start in it, and does not say why: please report this JDK")
	}
	if err != nil {
		if left := s.end(ctx); left != nil { // it may have begun
			return rep, &LeftError{s.p.PID(), fmt.Errorf("%w; %w", err, left)}
		}
		return rep, err
	}
	var noRing, noReport error
	s.ring, noRing = s.folder.Open(RingFile(s.ownPID))
	s.report, noReport = s.folder.Open(ReportFile(s.ownPID))
	s.notOpened = cmp.Or(noRing, noReport)
	return rep, nil
}

// write writes files into the folder.
func (s *Session) write(files map[string][]byte) error {
	for name, content := range files {
		if err := s.folder.Create(name, content); err != nil {
			return err
		}
	}
	return nil
}

// tell has the JVM load the agent with a command and the prefix of its files. Where the JVM may do it although it gave no
// answer, the error is a *LeftError.
func (s *Session) tell(ctx context.Context, command string) error {
	prefix := s.path + "/"
	err := jcmd.LoadAgent(ctx, s.p, prefix+jarFile, command+prefix)
	var refused *jcmd.FailedError
	var notTold *jcmd.NotToldError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused):
		return errors.New(whyNotLoaded(refused.Brief()))
	case errors.As(err, &notTold):
		return notTold.Err // the caller says that it can't be told anything
	case errors.Is(err, jcmd.ErrEnded):
		return err
	}
	return &LeftError{s.p.PID(), err}
}

// whyNotLoaded says why a JVM has refused the agent.
func whyNotLoaded(reply string) string {
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
	if rep, readErr := s.read("error"); readErr == nil && len(rep.Errors) > 0 {
		return errors.New(rep.Errors[0])
	}
	return err
}

// Report reads what the agent has told so far.
func (s *Session) Report() (*rings.Report, error) { return s.read(ReportFile(s.ownPID)) }

func (s *Session) read(name string) (*rings.Report, error) {
	f, err := s.folder.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return rings.ReadReport(io.NewSectionReader(f, 0, MaxReport), path.Join(s.path, name))
}

// ReportSize returns the size of what the agent has told so far, in bytes.
func (s *Session) ReportSize() (int64, error) {
	info, err := s.folder.Stat(ReportFile(s.ownPID))
	return info.Size, err
}

// Rings returns the file that the JVM counts in; nil where it has made none. It is the Session's.
func (s *Session) Rings() *foreign.File { return s.ring }

// OpenObject opens the shared object that the report names, to publish methods in it.
func (s *Session) OpenObject(name string) (sdt.Storage, error) {
	f, err := s.folder.OpenToWrite(name)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// RemoveObject removes a shared object, so that no tracer finds its probes any more.
func (s *Session) RemoveObject(name string) error { return s.folder.Remove(name) }

// ObjectPath returns the path by which other programs of this machine find a file in the folder.
func (s *Session) ObjectPath(name string) string {
	return fmt.Sprintf("/proc/%d/root%s/%s", s.p.PID(), s.path, name)
}

// Save copies what the JVM has counted, and what the agent has told, into empty files.
func (s *Session) Save(counted, told *os.File) error {
	err := s.notOpened
	if s.ring != nil {
		err = cmp.Or(err, s.ring.CopyTo(counted, MaxRings))
	}
	if s.report != nil {
		err = cmp.Or(err, s.report.CopyTo(told, MaxReport))
	}
	if gone, _ := s.folder.Removed(); err != nil || !gone && !s.cleaned {
		return err
	}
	return errors.New("somebody has removed the folder in its /tmp meanwhile, so that methods which were probed later are missing")
}

// Unload has the agent change all classes back. The files stay until Close. The error is a [*LeftError] where they may
// not all be what they were.
func (s *Session) Unload(ctx context.Context) error {
	if err := s.end(ctx); err != nil {
		return &LeftError{s.p.PID(), err}
	}
	return nil
}

// end has the agent change all classes back, and returns nil when it has said that it did. It is told so in its own
// folder, which is made anew where somebody has removed it.
func (s *Session) end(ctx context.Context) error {
	if rep, err := s.Report(); err == nil && rep.Stopped { // it did when nobody waited for it any more
		return checkStopped(rep)
	}
	if err := s.restore(); err != nil {
		return err
	}
	err := s.tell(ctx, "stop:")
	if errors.Is(err, jcmd.ErrEnded) {
		return nil
	}
	if err != nil {
		if left := (*LeftError)(nil); errors.As(err, &left) {
			err = left.Err
		}
		return err
	}
	rep, err := s.Report()
	if err != nil {
		return err
	}
	return checkStopped(rep)
}

func checkStopped(rep *rings.Report) error {
	if rep.Stopped && len(rep.Errors) == 0 {
		return nil
	}
	return errors.New(strings.Join(append(rep.Errors, "restart it to be sure"), "; "))
}

// restore makes the folder and the agent's files anew where they are missing: the JVM can be told nothing without them.
func (s *Session) restore() error {
	gone, err := s.folder.Removed()
	if err != nil {
		return err
	}
	if gone {
		folder, err := openFolder(s.tmp, path.Base(s.path))
		if err != nil {
			return err
		}
		s.folder.Close()
		s.folder, s.cleaned = folder, true
	}
	files, err := program()
	if err != nil {
		return err
	}
	for name := range files {
		if _, err := s.folder.Stat(name); !errors.Is(err, fs.ErrNotExist) {
			delete(files, name)
		}
	}
	return s.write(files)
}

// Close removes the files, and ends the use of the folder.
func (s *Session) Close() {
	s.remove()
	s.release()
}

// Leave ends the use of the folder, which stays: probes may be left in the JVM.
func (s *Session) Leave() { s.release() }

// remove removes the folder. What the JVM's user has put into it stays, and then the folder does.
func (s *Session) remove() {
	_ = removeFiles(s.folder)
	_ = s.tmp.RemoveFolder(path.Base(s.path))
}

func (s *Session) release() {
	for _, f := range []*foreign.File{s.ring, s.report} {
		if f != nil {
			f.Close()
		}
	}
	s.folder.Close()
	s.tmp.Close()
}
