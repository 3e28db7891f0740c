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

// A Session controls the agent in a JVM that was already running when gasm loaded the agent.
//
// Its files are in two folders in the JVM's own /tmp, one inside the other ([Places]). The outer
// folder has the files that the JVM loads, and the inner folder those that the JVM writes. Both
// folders belong to the JVM's user. While a gasm process uses them, it keeps the outer folder
// locked.
type Session struct {
	p      *foreign.Process // nil if the JVM has ended
	ownPID int              // in the JVM's PID namespace
	path   string           // path of the outer folder, as the JVM sees it
	inner  string           // name of the inner folder; "" if there is only one folder, as in older releases
	tmp    *foreign.Folder  // the outer folder's parent
	outer  *foreign.Folder
	folder *foreign.Folder // the inner folder; nil if it was not opened

	// The files that the agent writes are opened as soon as they exist, so that they can still be
	// read if somebody cleans up /tmp.
	ring, report *foreign.File
	notOpened    error // why ring or report could not be opened; nil if both are open
	cleaned      bool  // one of the folders was removed meanwhile, and was created again
}

// open opens the two folders of a Session, and creates them if they are missing. The parameter folder is the path of
// the inner folder, as the JVM sees it. If the JVM has ended, p is nil.
func open(p *foreign.Process, w *foreign.World, folder string) (*Session, error) {
	if !IsFolder(folder) {
		return nil, fmt.Errorf("%s is not a folder for probes", folder)
	}
	s := &Session{p: p}
	s.path, s.inner = split(folder)
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
	if err := s.openFolders(); err != nil {
		s.tmp.Close()
		return nil, err
	}
	return s, nil
}

// openFolders opens both folders, and creates them if they do not exist.
func (s *Session) openFolders() error {
	outer, err := openFolder(s.tmp, path.Base(s.path))
	if err != nil {
		return err
	}
	inner, err := s.openInner(outer)
	if err != nil {
		outer.Close()
		return err
	}
	s.outer, s.folder = outer, inner
	return nil
}

// openInner opens the inner folder, and creates it if it does not exist. If there is only one
// folder, openInner opens that folder a second time.
func (s *Session) openInner(outer *foreign.Folder) (*foreign.Folder, error) {
	if s.inner == "" {
		return s.tmp.OwnFolder(path.Base(s.path))
	}
	folder, err := outer.OwnFolder(s.inner)
	if errors.Is(err, fs.ErrNotExist) {
		folder, err = outer.MakeFolder(s.inner)
	}
	return folder, err
}

// Load makes the agent probe methods of a running JVM. path is one of the paths that [Places]
// returned. The report says what the agent has done so far. When the JVM loads more classes that
// match, the agent adds them to its report. The process and its World must stay open until the
// Session is closed.
//
// If Load fails but probes may be left in the JVM, the error is a [*LeftError].
func Load(ctx context.Context, p *foreign.Process, w *foreign.World, path string,
	specs []Spec) (*Session, *rings.Report, error) {
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
	if err := cmp.Or(removeFiles(s.outer), removeFiles(s.folder)); err != nil {
		return nil, err
	}
	files, err := contents(path.Join(s.path, s.inner), s.path, specs)
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
		err = errors.New("gasm's agent did not start in it, and did not say why: please report this JDK")
	}
	if err != nil {
		if left := s.end(ctx); left != nil { // the agent may have changed some classes before it failed
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

// write writes files to the outer folder.
func (s *Session) write(files map[string][]byte) error {
	for name, content := range files {
		if err := s.outer.Create(name, content); err != nil {
			return err
		}
	}
	return nil
}

// tell makes the JVM load the agent. The agent's argument is a command ("attach:" or "stop:") and
// the path prefix of its files. If the JVM gave no answer but may still carry out the command, the
// error is a *LeftError.
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
		return notTold.Err // the caller's message says what could not be done
	case errors.Is(err, jcmd.ErrEnded):
		return err
	}
	return &LeftError{s.p.PID(), err}
}

// whyNotLoaded returns why a JVM has refused the agent. reply is the JVM's answer.
func whyNotLoaded(reply string) string {
	switch {
	case strings.Contains(reply, "EnableDynamicAgentLoading"):
		return "it was started with -XX:-EnableDynamicAgentLoading: start it without this flag, or with gasm profile"
	case strings.Contains(reply, "java.instrument"):
		return "its runtime has no module java.instrument: add the module to it (jlink --add-modules java.instrument)"
	case reply == "":
		return "it has refused the agent, and did not say why"
	}
	return "it did not take the agent: " + reply
}

// whyNotStarted returns why the agent could not even start. The agent writes the reason to the file
// "error". If there is no such file, whyNotStarted returns err.
func (s *Session) whyNotStarted(err error) error {
	if rep, readErr := read(s.outer, "error"); readErr == nil && len(rep.Errors) > 0 {
		return errors.New(rep.Errors[0])
	}
	return err
}

// Report returns what the agent has reported so far.
func (s *Session) Report() (*rings.Report, error) { return read(s.folder, ReportFile(s.ownPID)) }

// stopReport is like Report, for an agent that was told to stop. If the agent had no probes, its
// report that it has stopped is not in the inner folder but in the outer one, beside the jar.
func (s *Session) stopReport() (*rings.Report, error) {
	rep, err := s.Report()
	if err == nil && rep.Stopped {
		return rep, nil
	}
	if beside, other := read(s.outer, ReportFile(s.ownPID)); other == nil && beside.Stopped {
		return beside, nil
	}
	return rep, err
}

func read(folder *foreign.Folder, name string) (*rings.Report, error) {
	f, err := folder.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return rings.ReadReport(io.NewSectionReader(f, 0, MaxReport), f.Path())
}

// ReportSize returns the size in bytes of what the agent has reported so far.
func (s *Session) ReportSize() (int64, error) {
	info, err := s.folder.Stat(ReportFile(s.ownPID))
	return info.Size, err
}

// Rings returns the file into which the JVM writes events and counts; nil if it could not be
// opened. The Session closes it.
func (s *Session) Rings() *foreign.File { return s.ring }

// OpenObject opens a shared object for writing, so that probes of methods can be added to it. name is the object's name
// in the agent's report.
func (s *Session) OpenObject(name string) (sdt.Storage, error) {
	f, err := s.outer.OpenToWrite(name)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// RemoveObject removes a shared object, so that tracers don't find its probes any more.
func (s *Session) RemoveObject(name string) error { return s.outer.Remove(name) }

// ObjectPath returns the path by which other programs on this machine find a shared object.
func (s *Session) ObjectPath(name string) string {
	return fmt.Sprintf("/proc/%d/root%s/%s", s.p.PID(), s.path, name)
}

// Save copies the JVM's file of events and counts to the first file, and the agent's report to the second one. Both
// files must be empty.
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
	return errors.New(
		"somebody has removed the folder in its /tmp meanwhile, so that methods which were probed later are missing")
}

// Unload makes the agent restore the original code of all classes. The files stay until Close. If some classes may
// still be changed, the error is a [*LeftError].
func (s *Session) Unload(ctx context.Context) error {
	if err := s.end(ctx); err != nil {
		return &LeftError{s.p.PID(), err}
	}
	return nil
}

// end makes the agent restore the original code of all classes. It returns nil if the agent has reported that this is
// done, or if the JVM has ended. The agent needs its files and folders for that, so they are created again if somebody
// has removed them.
func (s *Session) end(ctx context.Context) error {
	if rep, err := s.stopReport(); err == nil && rep.Stopped { // the answer to an earlier stop came late
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
	rep, err := s.stopReport()
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

// restore creates the agent's files again, and the folders if they are missing, because the JVM loads the agent from
// these files for each command. Files that are still there are replaced, because a killed gasm process may have left
// them and somebody may have changed them since.
func (s *Session) restore() error {
	if err := s.restoreFolders(); err != nil {
		return err
	}
	files, err := program()
	if err != nil {
		return err
	}
	for name := range files {
		if err := s.outer.Remove(name); err != nil {
			return err
		}
	}
	return s.write(files)
}

// restoreFolders creates the folders that somebody has removed, and opens the new ones instead of
// the old.
func (s *Session) restoreFolders() error {
	outer, err := s.outer.Removed()
	if err != nil {
		return err
	}
	inner, err := s.folder.Removed()
	if err != nil || !outer && !inner {
		return err
	}
	s.cleaned = true
	was := *s
	if outer {
		if err := s.openFolders(); err != nil {
			return err
		}
		was.outer.Close()
	} else if s.folder, err = s.openInner(s.outer); err != nil {
		s.folder = was.folder
		return err
	}
	was.folder.Close()
	return nil
}

// Close removes the files and the folders, and unlocks them.
func (s *Session) Close() {
	s.remove()
	s.release()
}

// Leave unlocks the folders but does not remove them, because probes may be left in the JVM.
func (s *Session) Leave() { s.release() }

// remove removes the files and the folders. If the JVM's user has put other files into a folder,
// these files and the folder stay.
func (s *Session) remove() {
	removeInner(s.outer)
	_ = removeFiles(s.outer)
	_ = s.tmp.RemoveFolder(path.Base(s.path))
}

func (s *Session) release() {
	for _, f := range []*foreign.File{s.ring, s.report} {
		if f != nil {
			f.Close()
		}
	}
	if s.folder != nil {
		s.folder.Close()
	}
	s.outer.Close()
	s.tmp.Close()
}
