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
	"github.com/gasm-profiler/gasm/record/processend"
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
	logs, err := r.folder.MakeLogs()
	if err != nil {
		return flags, err
	}
	if strings.Contains(logs.Files, "=") {
		return flags, fmt.Errorf("a JVM can't load an agent from %s, because of the =: set TMPDIR to another folder", filepath.Dir(logs.Files))
	}
	if err := probe.Write(logs.Files, logs.Path, r.o.Probes); err != nil {
		return flags, err
	}
	if wantsSites(r.o.Probes) {
		var err error
		if r.sites, err = publishSites(func() map[int]agentFiles { return logAgents(logs) }, r.problem, r.o.Message); err != nil {
			return flags, err
		}
	}
	option := probe.StartOption(logs.Files)
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

// takeProbes moves what probes have counted into the capture, and notes in each JVM that it has them.
func (r *Recording) takeProbes(jvms []capture.JVM) (notes []string) {
	if len(r.o.Probes) == 0 {
		return nil
	}
	if err := r.folder.Gather(); err != nil {
		r.problem(err)
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
			agents := map[int]agentFiles{j.PID: j.probes}
			if j.sites, err = publishSites(func() map[int]agentFiles { return agents }, a.problem, a.o.Message); err != nil {
				return err
			}
		}
		if err := a.sayMisses(rep); err != nil {
			return err
		}
	}
	rings := map[int]ringOpener{}
	for _, j := range a.jvms {
		if file := j.probes.Rings(); file != nil {
			rings[j.PID] = func() (io.ReaderAt, func(), error) { return file, func() {}, nil }
		}
	}
	a.drain = a.drainWindows(a.o.Probes, func() map[int]ringOpener { return rings })
	return nil
}

// sayMisses says which methods are not probed. A probe of a loaded class that has no such method is an error.
func (a *Attachment) sayMisses(rep *rings.Report) error {
	say := func(text string) {
		if a.o.Message != nil {
			a.o.Message(text)
		}
	}
	for i := range rep.Refused[:min(len(rep.Refused), maxTold)] {
		say(refusalText(&rep.Refused[i]))
	}
	var misses []string
	for _, m := range rep.Missing {
		if m.ClassSeen {
			misses = append(misses, missText(m))
			continue
		}
		say(missText(m) + "; it is probed when it comes")
	}
	if len(misses) > 0 {
		return errors.New(strings.Join(misses, "; "))
	}
	return nil
}

// tryAgain is what ends probes that are left.
const tryAgain = "`gasm attach` ends them as soon as the JVM answers"

// loadProbes has a JVM load the agent.
func (a *Attachment) loadProbes(j *attachedJVM) (rep *rings.Report, err error) {
	ctx, cancel := context.WithTimeoutCause(a.patience.begin, loadTime, fmt.Errorf("it did not load the agent within %s", loadTime))
	defer cancel()
	defer a.sayWaiting(j.PID, "load the agent with the probes")()
	if err = a.noteProbes(ctx, j); err == nil {
		j.probes, rep, err = probe.Load(ctx, j.process, j.world, j.probeNote.path, a.o.Probes)
	}
	var left *probe.LeftError
	switch {
	case err == nil:
	case processend.HasEnded(j.PID, j.ticks):
		err = fmt.Errorf("the JVM with pid %d can't be probed: %w", j.PID, jcmd.ErrEnded)
	case errors.As(err, &left):
		err = fmt.Errorf("%w; %s", err, tryAgain)
		j.keepNote()
	}
	return rep, err
}

// noteProbes leaves a note of the probes that the JVM is about to have. What a gasm that was killed has left in it is ended before.
func (a *Attachment) noteProbes(ctx context.Context, j *attachedJVM) (err error) {
	endLeftEvents(ctx, j.PID, j.ticks)
	if j.process, j.world, err = enter(a.patience.reach, j.PID); err != nil {
		return fmt.Errorf("the JVM with pid %d can't be probed: %w", j.PID, err)
	}
	status, err := j.process.Status()
	folder := ""
	if err == nil {
		folder, err = probe.Place(j.world, status.OwnPID)
	}
	if err != nil {
		return fmt.Errorf("the JVM with pid %d can't be probed: %w", j.PID, err)
	}
	if j.probeNote, err = leaveEventNote(j.PID, j.ticks, j.world.User(), folder); err != nil {
		return fmt.Errorf("the JVM with pid %d can't be probed: making a note of it: %w", j.PID, err)
	}
	return nil
}

// keepNote ends the use of the note of probes that may be left. The next gasm finds it.
func (j *attachedJVM) keepNote() {
	j.probeNote.leave()
	j.probeNote = nil
}

// forgetNote removes the note of probes.
func (j *attachedJVM) forgetNote() {
	if j.probeNote != nil {
		j.probeNote.forget()
		j.probeNote = nil
	}
}

// stopProbes has the JVMs change all methods back, and takes what was counted.
func (a *Attachment) stopProbes() {
	var left []*attachedJVM
	for _, j := range a.jvms {
		if j.probes != nil && !a.unload(j) {
			left = append(left, j)
		}
	}
	a.drain.end()
	for _, j := range a.jvms {
		if j.probes != nil {
			a.takeCounted(j)
		}
		if slices.Contains(left, j) {
			j.probes.Leave()
			j.keepNote()
		} else {
			if j.probes != nil {
				j.probes.Close()
			}
			j.forgetNote()
		}
		if j.world != nil {
			j.world.Close()
			j.process.Close()
		}
	}
}

// unload has a JVM change all methods back. It is false where it may have probes on.
func (a *Attachment) unload(j *attachedJVM) (done bool) {
	ctx, cancel := context.WithTimeoutCause(a.patience.tell, loadTime, fmt.Errorf("it did not answer within %s", loadTime))
	defer cancel()
	defer a.sayWaiting(j.PID, "remove the probes")()
	err := j.probes.Unload(ctx)
	if err == nil || processend.HasEnded(j.PID, j.ticks) {
		return true
	}
	a.problem(fmt.Errorf("%w; %s", err, tryAgain))
	return false
}

// takeCounted takes what a JVM has counted into the capture.
func (a *Attachment) takeCounted(j *attachedJVM) {
	j.sites.end()
	counted, err := os.OpenFile(a.path(capture.ProbeRings(j.PID)), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		defer counted.Close()
		var told *os.File
		if told, err = os.OpenFile(a.path(capture.ProbeReport(j.PID)), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err == nil {
			defer told.Close()
			err = j.probes.Save(counted, told)
		}
	}
	if info, statErr := os.Stat(a.path(capture.ProbeReport(j.PID))); statErr == nil && info.Size() == 0 { // it has no probes
		os.Remove(a.path(capture.ProbeReport(j.PID)))
		os.Remove(a.path(capture.ProbeRings(j.PID)))
	}
	if err != nil {
		a.problem(fmt.Errorf("taking the probes of JVM %d: %w", j.PID, err))
	}
}
