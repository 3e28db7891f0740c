package probes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/event/rings"
	"github.com/gasm-profiler/gasm/hotspot/jcmd"
	"github.com/gasm-profiler/gasm/hotspot/probe"
	"github.com/gasm-profiler/gasm/internal/foreign"
	"github.com/gasm-profiler/gasm/record/jvmfolder"
	"github.com/gasm-profiler/gasm/record/patience"
	"github.com/gasm-profiler/gasm/record/processend"
)

// Options say what is probed in running JVMs, and where problems and messages are reported.
type Options struct {
	Specs    []probe.Spec
	Dir      string // the capture's folder
	Patience *patience.Patience
	Problem  func(error)       // called when something is lost
	Message  func(text string) // called with a sentence for the user; may be nil
}

// path returns the path of a file in the capture.
func (o *Options) path(file string) string { return filepath.Join(o.Dir, file) }

func (o *Options) say(text string) {
	if o.Message != nil {
		o.Message(text)
	}
}

// An Attached sets probes in running JVMs, which load gasm's agent for that purpose. Stop must be called even if Start
// has returned an error.
type Attached struct {
	o     Options
	jvms  []*attachedJVM
	drain *Drain // nil if no probe opens windows
}

// An attachedJVM is a JVM in which probes are set or will be set.
type attachedJVM struct {
	JVM
	process   *foreign.Process // nil before it is opened
	world     *foreign.World   // the JVM's files; nil before enter
	session   *probe.Session   // nil before the agent is loaded
	note      *jvmfolder.Note  // exists while the JVM may have probes; otherwise nil
	publisher *Publisher       // nil if there are no probes for other tracers (--probe-sdt)
}

// NewAttached returns an Attached without JVMs.
func NewAttached(o Options) *Attached { return &Attached{o: o} }

// loadTime is how long a JVM may take to load the agent and to change the probed methods, and later to change them
// back.
const loadTime = 60 * time.Second

// A JVM is a running JVM. Ticks, the time of its start, distinguishes it from a later process with the same id.
type JVM struct {
	PID   int
	Ticks uint64
}

// Start makes JVMs load the agent, which sets the probes. It returns an error if the class of a probe is loaded, but
// does not have the probe's method.
func (a *Attached) Start(ctx context.Context, jvms []JVM) error {
	if len(a.o.Specs) == 0 {
		return nil
	}
	for _, j := range jvms {
		a.jvms = append(a.jvms, &attachedJVM{JVM: j})
	}
	for _, j := range a.jvms {
		rep, err := a.load(ctx, j)
		if err != nil {
			return err
		}
		if WantsSDT(a.o.Specs) {
			agents := map[int]Agent{j.PID: j.session}
			if j.publisher, err = Publish(func() map[int]Agent { return agents }, a.o.Problem, a.o.Message); err != nil {
				return err
			}
		}
		if err := a.sayMisses(rep); err != nil {
			return err
		}
	}
	rings := map[int]RingOpener{}
	for _, j := range a.jvms {
		if file := j.session.Rings(); file != nil {
			rings[j.PID] = func() (io.ReaderAt, func(), error) { return file, func() {}, nil }
		}
	}
	a.drain = DrainWindows(a.o.Specs, a.o.Dir, func() map[int]RingOpener { return rings }, a.o.Problem)
	return nil
}

// sayMisses tells the user which methods are not probed, and why. It returns an error if the class of a probe is
// loaded, but does not have the probe's method.
func (a *Attached) sayMisses(rep *rings.Report) error {
	for i := range rep.Refused[:min(len(rep.Refused), maxLines)] {
		a.o.say(refusalText(&rep.Refused[i]))
	}
	var misses []string
	for _, m := range rep.Missing {
		if m.ClassSeen {
			misses = append(misses, missText(m))
			continue
		}
		a.o.say(missText(m) + "; it is probed when it comes")
	}
	if len(misses) > 0 {
		return errors.New(strings.Join(misses, "; "))
	}
	return nil
}

// tryAgain is the end of a message about probes that a JVM still has. It says how they can be removed.
const tryAgain = "`gasm attach` ends them as soon as the JVM answers"

// load makes a JVM load the agent, and returns the agent's report. If the name of the folder for the agent's files is
// already taken, load tries the next possible name.
func (a *Attached) load(ctx context.Context, j *attachedJVM) (rep *rings.Report, err error) {
	begin, cancel := context.WithTimeoutCause(a.o.Patience.Begin(ctx), loadTime,
		fmt.Errorf("it did not load the agent within %s", loadTime))
	defer cancel()
	defer a.o.Patience.Waiting(j.PID, "load the agent with the probes")()
	places, err := j.enter(begin, a.o.Patience.Reach(ctx))
	for i := 0; i < len(places) && (i == 0 || errors.Is(err, probe.ErrTaken)); i++ {
		j.endNote()
		if err = j.leaveNote(places[i]); err == nil {
			j.session, rep, err = probe.Load(begin, j.process, j.world, places[i], a.o.Specs)
		}
	}
	var left *probe.LeftError
	switch {
	case err == nil:
	case processend.HasEnded(j.PID, j.Ticks):
		err = fmt.Errorf("the JVM with pid %d can't be probed: %w", j.PID, jcmd.ErrEnded)
	case errors.As(err, &left):
		err = fmt.Errorf("%w; %s", err, tryAgain)
		j.keepNote()
	}
	return rep, err
}

// enter opens the JVM's process and files. It returns the possible paths of the folder for the agent's files. First, it
// switches off what a killed gasm process has left switched on in the JVM.
func (j *attachedJVM) enter(begin, reach context.Context) (places []string, err error) {
	jvmfolder.EndLeftOf(begin, j.PID, j.Ticks)
	if j.process, j.world, err = jvmfolder.Enter(reach, j.PID); err != nil {
		return nil, fmt.Errorf("the JVM with pid %d can't be probed: %w", j.PID, err)
	}
	status, err := j.process.Status()
	if err != nil {
		return nil, fmt.Errorf("the JVM with pid %d can't be probed: %w", j.PID, err)
	}
	return probe.Places(status.OwnPID), nil
}

// leaveNote writes a note that the JVM is about to get probes, with their files in the given folder. Any user can see
// the note, and could then take the folder's name before gasm makes the folder; see load.
func (j *attachedJVM) leaveNote(folder string) (err error) {
	if j.note, err = jvmfolder.Leave(j.PID, j.Ticks, j.world.User(), folder, ""); err != nil {
		return fmt.Errorf("the JVM with pid %d can't be probed: making a note of it: %w", j.PID, err)
	}
	return nil
}

// keepNote closes the note without removing it, because the JVM may still have probes. The next gasm process finds the
// note.
func (j *attachedJVM) keepNote() {
	j.note.Close()
	j.note = nil
}

// endNote removes the note, if there is one. If the JVM's folder may still exist, the note stays.
func (j *attachedJVM) endNote() {
	if j.note != nil {
		j.note.Done(j.world)
		j.note = nil
	}
}

// Stop makes the JVMs remove the probes from all methods, and saves the counts in the capture. It does so even if ctx
// is done.
func (a *Attached) Stop(ctx context.Context) {
	tell := a.o.Patience.Tell(context.WithoutCancel(ctx))
	var left []*attachedJVM
	for _, j := range a.jvms {
		if j.session != nil && !a.unload(tell, j) {
			left = append(left, j)
		}
	}
	a.drain.End(a.o.Patience.Reach(context.WithoutCancel(ctx)))
	for _, j := range a.jvms {
		if j.session != nil {
			a.take(j)
		}
		if slices.Contains(left, j) {
			j.session.Leave()
			j.keepNote()
		} else {
			if j.session != nil {
				j.session.Close()
			}
			j.endNote()
		}
		if j.world != nil {
			j.world.Close()
			j.process.Close()
		}
	}
}

// unload makes a JVM remove the probes from all methods. It returns false if the JVM may still have probes.
func (a *Attached) unload(ctx context.Context, j *attachedJVM) (done bool) {
	ctx, cancel := context.WithTimeoutCause(ctx, loadTime, fmt.Errorf("it did not answer within %s", loadTime))
	defer cancel()
	defer a.o.Patience.Waiting(j.PID, "remove the probes")()
	err := j.session.Unload(ctx)
	if err == nil || processend.HasEnded(j.PID, j.Ticks) {
		return true
	}
	a.o.Problem(fmt.Errorf("%w; %s", err, tryAgain))
	return false
}

// take saves the counts of a JVM's probes, and the report of its agent, in the capture.
func (a *Attached) take(j *attachedJVM) {
	j.publisher.End()
	ringsPath, reportPath := a.o.path(capture.ProbeRings(j.PID)), a.o.path(capture.ProbeReport(j.PID))
	counted, err := os.OpenFile(ringsPath, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		defer counted.Close()
		var report *os.File
		if report, err = os.OpenFile(reportPath, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err == nil {
			defer report.Close()
			err = j.session.Save(counted, report)
		}
	}
	if info, statErr := os.Stat(reportPath); statErr == nil && info.Size() == 0 { // the JVM has no probes
		os.Remove(reportPath)
		os.Remove(ringsPath)
	}
	if err != nil {
		a.o.Problem(fmt.Errorf("taking the probes of JVM %d: %w", j.PID, err))
	}
}
