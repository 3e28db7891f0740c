package probes

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gasm-profiler/gasm/event/rings"
	"github.com/gasm-profiler/gasm/hotspot/probe"
	"github.com/gasm-profiler/gasm/hotspot/sdt"
	"github.com/gasm-profiler/gasm/internal/foreign"
	"github.com/gasm-profiler/gasm/internal/regular"
	"github.com/gasm-profiler/gasm/record/folder"
)

// A Publisher makes the probes of JVMs visible to other tracers, such as bpftrace (--probe-sdt). Each JVM has loaded a
// shared object for this. When gasm's agent reports a probed method, the Publisher adds the method to the object.
type Publisher struct {
	agents  func() map[int]Agent // returns the agents that have begun so far, by process id
	problem func(error)
	tell    func(string)
	machine *sdt.Machine
	jvms    map[int]*publishedJVM
	stop    chan struct{} // closed to end the Publisher
	done    chan struct{} // closed when the Publisher has ended
}

// An Agent gives access to the files of gasm's agent in one JVM. The files of a command's JVMs are in the folder of the
// command's logs (logAgent). Otherwise they are in the JVM's own /tmp (*probe.Session).
type Agent interface {
	ReportSize() (int64, error)
	Report() (*rings.Report, error)
	OpenObject(name string) (sdt.Storage, error)
	RemoveObject(name string) error
	ObjectPath(name string) string // the path by which other programs find the object
}

// A publishedJVM is a JVM whose probes are made visible to other tracers.
type publishedJVM struct {
	files   Agent
	read    int64 // the size of the agent's report when it was last read, in bytes
	object  *sdt.Published
	name    string // file name of the object
	failing bool   // an error was reported; the JVM's probes are not updated any more
}

// lookEvery is the time between two readings of the reports. It is shorter than the time a user needs to start a
// tracer.
const lookEvery = 100 * time.Millisecond

// Publish begins to make the probes that agents report visible to other tracers. It reads the agents' reports at once,
// and then from time to time until End. The parameter tell is called with a sentence for the user; it may be nil.
func Publish(agents func() map[int]Agent, problem func(error), tell func(string)) (*Publisher, error) {
	m, err := sdt.ThisMachine()
	if err != nil {
		return nil, err
	}
	p := &Publisher{agents: agents, problem: problem, tell: tell, machine: m, jvms: map[int]*publishedJVM{},
		stop: make(chan struct{}), done: make(chan struct{})}
	p.look()
	go p.run()
	return p, nil
}

func (p *Publisher) run() {
	defer close(p.done)
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-p.stop:
			return
		case <-ticker.C:
			p.look()
		}
	}
}

// End removes the shared objects. A JVM that has mapped its object can still use it. If p is nil, End does nothing.
func (p *Publisher) End() {
	if p == nil {
		return
	}
	close(p.stop)
	<-p.done
	for pid, j := range p.jvms {
		if j.object == nil {
			continue
		}
		if err := errors.Join(j.object.Close(), j.files.RemoveObject(j.name)); err != nil {
			p.problem(fmt.Errorf("removing the probes of JVM %d: %w", pid, err))
		}
	}
}

func (p *Publisher) look() {
	for pid, files := range p.agents() {
		j := p.jvms[pid]
		if j == nil {
			j = &publishedJVM{files: files}
			p.jvms[pid] = j
		}
		size, err := files.ReportSize()
		if err != nil || size == j.read || j.failing {
			continue
		}
		j.read = size
		if err := p.update(pid, j); err != nil {
			j.failing = true
			p.problem(fmt.Errorf("other tracers do not see all probes of JVM %d: %w", pid, err))
		}
	}
}

// update reads the report of an agent, and adds methods that are new in the report to the shared object.
func (p *Publisher) update(pid int, j *publishedJVM) error {
	rep, err := j.files.Report()
	if err != nil || rep.Object == "" {
		return err
	}
	if j.object == nil {
		object, err := j.files.OpenObject(rep.Object)
		if err != nil {
			return fmt.Errorf("opening the shared object with probes: %w", err)
		}
		j.name = rep.Object
		if j.object, err = sdt.NewPublished(object, p.machine); err != nil {
			return fmt.Errorf("%s: %w", j.name, err)
		}
	}
	before := len(j.object.Methods)
	for i := range rep.Sites {
		s := &rep.Sites[i]
		if s.Kind != rings.SDT || j.object.Has(s.First) {
			continue
		}
		if err := j.object.Add(s.First, sdt.Method{Class: s.Class, Name: s.Method, Descriptor: s.Descriptor,
			Static: s.Static}); err != nil {
			return err
		}
	}
	if err := j.object.Publish(); err != nil {
		return err
	}
	if before == 0 && len(j.object.Methods) > 0 && p.tell != nil {
		p.tell(publishedText(pid, j))
	}
	return nil
}

// maxNamed is the maximum number of methods that the message about a JVM's first probes lists.
const maxNamed = 4

// publishedText returns a text that says how other tracers can find the probes.
func publishedText(pid int, j *publishedJVM) string {
	var names []string
	for _, m := range j.object.Methods {
		if len(names) == maxNamed {
			names = append(names, fmt.Sprintf("%d more", len(j.object.Methods)-maxNamed))
			break
		}
		names = append(names, m.ProbeName())
	}
	return fmt.Sprintf("java%d has probes of %s: dtrace -l -n 'java%d:::' lists them, perf and bpftrace find them in %s",
		pid, strings.Join(names, ", "), pid, shortPath(j.files.ObjectPath(j.name)))
}

// shortPath removes /proc/PID/root from the beginning of a path if the process has the same root directory and mounts
// as gasm.
func shortPath(path string) string {
	parts := strings.SplitN(path, "/", 5) // "", "proc", "4711", "root", "tmp/…"
	if len(parts) < 5 || parts[1] != "proc" || parts[3] != "root" {
		return path
	}
	if pid, err := strconv.Atoi(parts[2]); err != nil || !foreign.SharesFiles(pid) {
		return path
	}
	return "/" + parts[4]
}

// WantsSDT reports whether any of the probes should be visible to other tracers.
func WantsSDT(specs []probe.Spec) bool {
	for i := range specs {
		if specs[i].Kind == probe.SDT {
			return true
		}
	}
	return false
}

// A logAgent is the Agent of one of the command's JVMs. Its files are in the folder of the command's logs.
type logAgent struct {
	dir string
	pid int
}

func (a logAgent) path(name string) string { return filepath.Join(a.dir, name) }

func (a logAgent) ReportSize() (int64, error) {
	info, err := os.Lstat(a.path(probe.ReportFile(a.pid)))
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (a logAgent) Report() (*rings.Report, error) {
	path := a.path(probe.ReportFile(a.pid))
	f, _, err := regular.OpenNoLink(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return rings.ReadReport(io.LimitReader(f, probe.MaxReport), path)
}

func (a logAgent) OpenObject(name string) (sdt.Storage, error) {
	f, err := os.OpenFile(a.path(name), os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		_, err = folder.CheckLog(info)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func (a logAgent) RemoveObject(name string) error {
	err := os.Remove(a.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (a logAgent) ObjectPath(name string) string { return a.path(name) }

// LogAgents returns, by process id, the agents of the command's JVMs that have begun to write their reports.
func LogAgents(l *folder.Logs) map[int]Agent {
	found := map[int]Agent{}
	for _, report := range l.Reports() {
		found[report.PID] = logAgent{l.Path, report.PID}
	}
	return found
}
