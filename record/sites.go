package record

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gasm-profiler/gasm/event/rings"
	"github.com/gasm-profiler/gasm/hotspot/probe"
	"github.com/gasm-profiler/gasm/hotspot/sdt"
	"github.com/gasm-profiler/gasm/internal/regular"
)

// A sitePublisher shows the probes of JVMs to other tracers (--probe-sdt): as gasm's agent tells of a method, in the report that it
// writes, the method is added to the shared object that the JVM has loaded.
type sitePublisher struct {
	reports func() []writtenLog // of the agents, by now
	problem func(error)
	tell    func(string)
	machine *sdt.Machine
	jvms    map[int]*publishedJVM
	stop    chan struct{} // closed when it is to end
	done    chan struct{} // closed when it has
}

// A publishedJVM is what a sitePublisher knows of a JVM.
type publishedJVM struct {
	read    int64 // the size of the report that was read
	object  *sdt.Published
	path    string
	failing bool // its object can't be used, which was told
}

// lookEvery is the time between two looks at the reports. A tracer that is started by hand comes later.
const lookEvery = 100 * time.Millisecond

// publishSites begins to publish what agents report. It looks at once, and then from time to time until end.
func publishSites(reports func() []writtenLog, problem func(error), tell func(string)) (*sitePublisher, error) {
	m, err := sdt.ThisMachine()
	if err != nil {
		return nil, err
	}
	p := &sitePublisher{reports: reports, problem: problem, tell: tell, machine: m, jvms: map[int]*publishedJVM{},
		stop: make(chan struct{}), done: make(chan struct{})}
	p.look()
	go p.run()
	return p, nil
}

func (p *sitePublisher) run() {
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

// end ends it, and removes the objects. The JVMs have them mapped, and run on. A nil publisher has nothing.
func (p *sitePublisher) end() {
	if p == nil {
		return
	}
	close(p.stop)
	<-p.done
	for pid, j := range p.jvms {
		if j.object == nil {
			continue
		}
		if err := j.object.Remove(); err != nil {
			p.problem(fmt.Errorf("removing the probes of JVM %d: %w", pid, err))
		}
	}
}

func (p *sitePublisher) look() {
	for _, r := range p.reports() {
		j := p.jvms[r.pid]
		if j == nil {
			j = &publishedJVM{}
			p.jvms[r.pid] = j
		}
		info, err := os.Lstat(r.path)
		if err != nil || info.Size() == j.read || j.failing {
			continue
		}
		j.read = info.Size()
		if err := p.update(j, r); err != nil {
			j.failing = true
			p.problem(fmt.Errorf("other tracers do not see all probes of JVM %d: %w", r.pid, err))
		}
	}
}

// update reads a report, and publishes what is new in it.
func (p *sitePublisher) update(j *publishedJVM, r writtenLog) error {
	f, _, err := regular.OpenNoLink(r.path)
	if err != nil {
		return err
	}
	defer f.Close()
	rep, err := rings.ReadReport(f, r.path)
	if err != nil || rep.Object == "" {
		return err
	}
	if j.object == nil {
		j.path = filepath.Join(filepath.Dir(r.path), rep.Object)
		if j.object, err = sdt.NewPublished(j.path, p.machine); err != nil {
			return err
		}
	}
	before := len(j.object.Methods)
	for i := range rep.Sites {
		s := &rep.Sites[i]
		if s.Kind != rings.SDT || j.object.Has(s.First) {
			continue
		}
		if err := j.object.Add(s.First, sdt.Method{Class: s.Class, Name: s.Method, Descriptor: s.Descriptor, Static: s.Static}); err != nil {
			return err
		}
	}
	if err := j.object.Publish(); err != nil {
		return err
	}
	if before == 0 && len(j.object.Methods) > 0 && p.tell != nil {
		p.tell(publishedText(r.pid, j))
	}
	return nil
}

// maxNamed is how many methods are named when a JVM has the first ones.
const maxNamed = 4

// publishedText says where the probes are.
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
		pid, strings.Join(names, ", "), pid, shortPath(forOthers(pid, j.path)))
}

// forOthers is the path by which other programs find a file of a JVM's that is in a folder which gasm has open:
// gasm itself knows it as /proc/self/fd/N/java-4711.so.
func forOthers(pid int, path string) string {
	dir, err := os.Readlink(filepath.Dir(path))
	if err != nil { // it is no link
		return path
	}
	return fmt.Sprintf("/proc/%d/root%s", pid, filepath.Join(dir, filepath.Base(path)))
}

// shortPath leaves out that a path is below a process's own root, where that is gasm's.
func shortPath(path string) string {
	parts := strings.SplitN(path, "/", 5) // "", "proc", "4711", "root", "tmp/…"
	if len(parts) < 5 || parts[1] != "proc" || parts[3] != "root" {
		return path
	}
	short := "/" + parts[4]
	own, err := os.Stat(short)
	if err != nil {
		return path
	}
	if there, err := os.Stat(path); err != nil || !os.SameFile(own, there) {
		return path
	}
	return short
}

// wantsSites tells whether other tracers are to see probes.
func wantsSites(specs []probe.Spec) bool {
	for i := range specs {
		if specs[i].Kind == probe.SDT {
			return true
		}
	}
	return false
}
