package record

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
	"github.com/gasm-profiler/gasm/internal/regular"
)

// addProbeFlag adds the option that starts gasm's agent in the command's JVMs. All JVMs read it, and some twice, which the agent
// knows. The error is of a command whose JVMs might not start with it.
func (r *Recording) addProbeFlag(flags javaFlags) (javaFlags, error) {
	if len(r.o.Probes) == 0 {
		return flags, nil
	}
	if changer := rootChanger(r.o.Command); changer != "" && !startsJava(r.o.Command) {
		return flags, fmt.Errorf("a JVM that %s starts would not find gasm's agent, and not start: leave out the probes, or attach to it (gasm attach --probe …)", changer)
	}
	if r.folder.logs == nil {
		logs, err := newLogFolder(r.folder)
		if err != nil {
			return flags, err
		}
		r.folder.logs = logs
	}
	logs := r.folder.logs
	if strings.Contains(logs.files, "=") {
		return flags, fmt.Errorf("a JVM can't load an agent from %s, because of the =: set TMPDIR to another folder", filepath.Dir(logs.files))
	}
	if err := probe.Write(logs.files, logs.path, r.o.Probes); err != nil {
		return flags, err
	}
	if wantsSites(r.o.Probes) {
		var err error
		if r.sites, err = publishSites(logs.probeReports, r.problem, r.o.Message); err != nil {
			return flags, err
		}
	}
	option := probe.StartOption(logs.files)
	flags.tool = append(slices.Clip(flags.tool), option)
	flags.launcher = append(slices.Clip(flags.launcher), option)
	return flags, nil
}

// rootChanger names the program of a command that gives what it runs another root directory, or other mounts; "" without one.
func rootChanger(command []string) string {
	for _, word := range command {
		for _, w := range strings.Fields(word) { // sh -c "chroot /srv java …"
			if slices.Contains(rootChangers, filepath.Base(w)) {
				return filepath.Base(w)
			}
		}
	}
	return ""
}

// gatherProbes moves what probes have counted into the capture's folder.
func (l *logFolder) gatherProbes(dir string) error {
	var errs []error
	for _, tail := range []string{".ring", ".txt"} {
		for _, f := range logsIn(l.path, "probes-", tail) {
			if err := takeLog(f.path, filepath.Join(dir, fmt.Sprintf("probes-%d%s", f.pid, tail))); err != nil {
				errs = append(errs, fmt.Errorf("taking the probes of JVM %d: %w", f.pid, err))
			}
		}
	}
	return errors.Join(errs...)
}

// probeReports are those that agents have begun to write by now.
func (l *logFolder) probeReports() []writtenLog { return logsIn(l.path, "probes-", ".txt") }

// takeProbes moves what probes have counted into the capture, and notes in each JVM that it has them.
func (r *Recording) takeProbes(jvms []capture.JVM) (notes []string) {
	if len(r.o.Probes) == 0 {
		return nil
	}
	if !r.folder.gathered.Load() {
		if err := r.folder.gather(); err != nil {
			r.problem(err)
		}
	}
	notes = r.probesOf(jvms)
	for _, n := range notes {
		if r.o.Message != nil {
			r.o.Message(n)
		}
	}
	return notes
}

// probesOf notes which JVMs have probes, and gives what is to be told of these.
func (s *session) probesOf(jvms []capture.JVM) []string {
	var told toldProbes
	for i := range jvms {
		j := &jvms[i]
		f, _, err := regular.Open(s.path(capture.ProbeReport(j.PID)))
		if err != nil {
			told.without = append(told.without, fmt.Sprintf("JVM %d", j.PID))
			continue
		}
		rep, err := rings.ReadReport(f, capture.ProbeReport(j.PID))
		f.Close()
		if err != nil {
			s.problem(err)
		}
		j.Probed = true
		told.add(rep)
	}
	return told.notes()
}

// toldProbes sum up what the agents of several JVMs have told.
type toldProbes struct {
	lines   []string
	missing map[string]string // by probe, unless some JVM has a method for it
	found   map[string]bool
	without []string
	started int
}

// maxTold is how many lines there are of methods that can't be probed.
const maxTold = 8

func (t *toldProbes) add(rep *rings.Report) {
	if t.found == nil {
		t.found, t.missing = map[string]bool{}, map[string]string{}
	}
	t.started++
	for _, s := range rep.Sites {
		t.found[s.Probe] = true
	}
	for _, m := range rep.Missing {
		t.missing[m.Probe] = missText(m)
	}
	for _, r := range rep.Refused {
		t.found[r.Probe] = true
		t.say(refusalText(&r))
	}
	for _, e := range rep.Errors {
		t.say("probes: " + e)
	}
}

func (t *toldProbes) say(line string) {
	if len(t.lines) < maxTold && !slices.Contains(t.lines, line) {
		t.lines = append(t.lines, line)
	}
}

func (t *toldProbes) notes() []string {
	var probes []string
	for p := range t.missing {
		if !t.found[p] {
			probes = append(probes, p)
		}
	}
	slices.Sort(probes)
	for _, p := range probes {
		t.say(t.missing[p])
	}
	if len(t.without) > 0 {
		t.say("no probes in " + strings.Join(t.without[:min(len(t.without), maxWithout)], ", ") + ": gasm's agent did not start there (was its environment cleared, is java.instrument not in its runtime, or has a JVM of JDK 9 or newer a security manager?)")
	}
	return t.lines
}

func refusalText(r *rings.Refusal) string {
	return fmt.Sprintf("%s is not probed: %s", r.Method, r.Reason)
}

// missText says that a probe has no method, and what has a similar name.
func missText(m rings.Miss) string {
	text := "no method is " + m.Probe + ": no such class was loaded"
	switch {
	case m.Idle:
		return "nothing is probed by " + m.Probe + ": such methods take no locks by synchronized, or make no objects"
	case m.ClassSeen:
		text = "no method is " + m.Probe + ": the class has none of this name and these arguments"
	}
	if m.Near != "" {
		text += "; similar are " + m.Near
	}
	return text
}

// loadTime is how long a JVM may take to load the agent and to change the methods.
const loadTime = 60 * time.Second

// startProbes has all JVMs that are attached to load the agent.
func (a *Attachment) startProbes() error {
	if len(a.o.Probes) == 0 {
		return nil
	}
	for _, j := range a.jvms {
		rep, err := a.loadProbes(j)
		if err != nil {
			return err
		}
		if wantsSites(a.o.Probes) {
			report := writtenLog{j.PID, j.probes.ReportText()}
			if j.sites, err = publishSites(func() []writtenLog { return []writtenLog{report} }, a.problem, a.o.Message); err != nil {
				return err
			}
		}
		for i := range rep.Refused[:min(len(rep.Refused), maxTold)] {
			if a.o.Message != nil {
				a.o.Message(refusalText(&rep.Refused[i]))
			}
		}
		var misses []string
		for _, m := range rep.Missing {
			switch {
			case m.ClassSeen:
				misses = append(misses, missText(m))
			case a.o.Message != nil:
				a.o.Message(missText(m) + "; it is probed when it comes")
			}
		}
		if len(misses) > 0 {
			return errors.New(strings.Join(misses, "; "))
		}
	}
	files := map[int]string{}
	for _, j := range a.jvms {
		files[j.PID] = j.probes.Rings()
	}
	a.drain = a.drainWindows(a.o.Probes, func() map[int]string { return files })
	return nil
}

// loadProbes has a JVM load the agent.
func (a *Attachment) loadProbes(j *attachedJVM) (rep *rings.Report, err error) {
	ctx, cancel := context.WithTimeoutCause(context.Background(), loadTime, fmt.Errorf("it did not load the agent within %s", loadTime))
	defer cancel()
	defer a.sayWaiting(j.PID, "load the agent with the probes")()
	if err = j.noteProbes(ctx); err == nil {
		j.probes, rep, err = probe.Load(ctx, j.PID, a.o.Probes)
	}
	if err != nil && hasEnded(j.PID, j.ticks) {
		err = fmt.Errorf("the JVM with pid %d can't be probed: %w", j.PID, jcmd.ErrEnded)
	}
	return rep, err
}

// noteProbes leaves a note of the probes that the JVM is about to have. What a gasm that was killed has left in it is ended before.
func (j *attachedJVM) noteProbes(ctx context.Context) error {
	endLeftEvents(ctx, j.PID, j.ticks)
	folder, err := probe.Folder(j.PID)
	if err == nil {
		j.probeNote, err = leaveEventNote(j.PID, j.ticks, folder)
	}
	if err != nil {
		return fmt.Errorf("the JVM with pid %d can't be probed: making a note of it: %w", j.PID, err)
	}
	return nil
}

// forgetProbes removes the note. Where probes may be left, the next gasm finds it.
func (j *attachedJVM) forgetProbes(left bool) {
	switch {
	case j.probeNote == nil:
	case left:
		j.probeNote.lock.close()
	default:
		j.probeNote.forget()
	}
	j.probeNote = nil
}

// drainEvery is how often windows are saved. A ring has room for 32 768 of a thread.
const drainEvery = 50 * time.Millisecond

// A windowDrain saves the windows that JVMs tell of, while they run.
type windowDrain struct {
	s     *session
	files func() map[int]string // paths of rings by the process id that their JVM has in the capture
	open  map[int]*drained
	stop  chan struct{}
	done  chan struct{}
}

type drained struct {
	*rings.Drain
	in, out *os.File
	failed  bool
}

// drainWindows begins to save windows, if any probe is one; nil when none is. files is called now and then.
func (s *session) drainWindows(specs []probe.Spec, files func() map[int]string) *windowDrain {
	if !slices.ContainsFunc(specs, func(p probe.Spec) bool { return p.Window }) {
		return nil
	}
	d := &windowDrain{s: s, files: files, open: map[int]*drained{}, stop: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(d.done)
		for {
			select {
			case <-d.stop:
				d.take((*rings.Drain).End)
				return
			case <-time.After(drainEvery):
				d.take((*rings.Drain).Take)
			}
		}
	}()
	return d
}

// end saves what is left. The files must still be there.
func (d *windowDrain) end() {
	if d == nil {
		return
	}
	close(d.stop)
	<-d.done
	for _, f := range d.open {
		f.in.Close()
		if f.out != nil {
			f.out.Close()
		}
	}
}

func (d *windowDrain) take(some func(*rings.Drain, io.Writer) error) {
	for pid, path := range d.files() {
		f := d.open[pid]
		if f == nil {
			in, _, err := regular.OpenNoLink(path)
			if err != nil {
				continue // the JVM has not made it yet
			}
			f = &drained{Drain: rings.NewDrain(in), in: in}
			d.open[pid] = f
			if f.out, err = os.OpenFile(d.s.path(capture.ProbeWindows(pid)), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
				f.failed = true
				d.s.problem(fmt.Errorf("saving the calls of the window's method: %w", err))
			}
		}
		if f.failed {
			continue
		}
		if err := some(f.Drain, f.out); err != nil {
			f.failed = true
			d.s.problem(fmt.Errorf("saving the calls of the window's method: %w", err))
		}
	}
}

// ringFiles finds the files that the command's JVMs count in.
func (r *Recording) ringFiles() map[int]string {
	found := map[int]string{}
	for _, f := range logsIn(r.folder.logs.path, "probes-", ".ring") {
		found[f.pid] = f.path
	}
	return found
}

// stopProbes has the JVMs change all methods back, and takes what was counted.
func (a *Attachment) stopProbes() {
	for _, j := range a.jvms {
		if j.probes == nil || hasEnded(j.PID, j.ticks) {
			j.forgetProbes(false)
			continue
		}
		ctx, cancel := context.WithTimeoutCause(context.Background(), loadTime, fmt.Errorf("it did not answer within %s", loadTime))
		done := a.sayWaiting(j.PID, "remove the probes")
		err := j.probes.Unload(ctx)
		done()
		if err != nil && !hasEnded(j.PID, j.ticks) {
			a.problem(err)
		}
		j.forgetProbes(err != nil)
		cancel()
	}
	a.drain.end()
	for _, j := range a.jvms {
		if j.probes == nil {
			continue
		}
		j.sites.end()
		for from, to := range map[string]string{j.probes.Rings(): capture.ProbeRings(j.PID), j.probes.ReportText(): capture.ProbeReport(j.PID)} {
			if err := copyLog(from, a.path(to)); err != nil && !errors.Is(err, os.ErrNotExist) {
				a.problem(fmt.Errorf("taking the probes of JVM %d: %w", j.PID, err))
			}
		}
		j.probes.Close()
	}
}
