package threaddump

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
)

// ReadJavaThreads reads the list of the Java threads. Renew uses the last list that was read.
func (l *Looker) ReadJavaThreads() error {
	addresses, err := l.names.Addresses()
	if err != nil {
		return fmt.Errorf("reading the JVM's list of threads: %w", err)
	}
	l.java = make(map[int]uint64, len(addresses))
	before := l.owners
	l.owners = newOwners()
	l.owners.locked, l.owners.searchAt = before.locked, before.searchAt
	for some := range slices.Chunk(addresses, fewTogether) {
		found, errs := make([]owner, len(some)), make([]error, len(some))
		l.ahead.Forget()
		l.ahead.Together(len(some), func(i int) { found[i], errs[i] = l.newOwner(some[i]) })
		for i, at := range some {
			if errs[i] == nil { // otherwise the thread is starting or ending
				l.java[found[i].nid] = at
				l.owners.add(at, found[i])
			}
		}
	}
	l.ahead.Forget()
	l.owners.sort()
	return nil
}

// fewTogether is the maximum number of threads that are read together. If there were many more, finding the data of one
// thread among all data would take longer than the saved system calls.
const fewTogether = 256

// errNotCounted is the error of Meet if the kernel does not count how often threads run.
var errNotCounted = errors.New("the kernel does not say how often threads have run (/proc/PID/task/TID/schedstat): it was built without CONFIG_SCHED_INFO")

// Meet returns what is known about a thread of the JVM, except for its name and its JavaThread, which Renew finds out.
// It opens the thread's files. The caller must call Forget.
func (l *Looker) Meet(tid int) (t *Known, runs Runs, err error) {
	t = &Known{TID: tid}
	if openThreads.take() {
		if t.files, err = l.openFiles(tid); err != nil {
			openThreads.free()
			return nil, runs, err
		}
	}
	if t.NID, err = l.ownID(tid); err == nil {
		runs, err = l.Runs(t)
	}
	if err == nil && !runs.Known {
		err = errNotCounted
	}
	if err != nil {
		l.Forget(t)
		return nil, runs, err
	}
	return t, runs, nil
}

// Kept reports whether the files of a thread are kept open. If too many are open already, each reading opens them
// again, which takes about ten times as long.
func (t *Known) Kept() bool { return t.files != nil }

// openThreads counts the threads whose files are kept open, in all JVMs together.
var openThreads slots

// A slots value counts the threads whose files are open.
type slots struct{ taken atomic.Int64 }

// take reports whether the two files of a further thread may be opened, and counts the thread if so. The files of all
// threads together may be up to half of the files that this process can open.
func (s *slots) take() bool {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return false
	}
	if s.taken.Add(1) > int64(min(limit.Cur/4, math.MaxInt32)) {
		s.free()
		return false
	}
	return true
}

func (s *slots) free() { s.taken.Add(-1) }

func (l *Looker) openFiles(tid int) (f *files, err error) {
	f = &files{}
	process := l.capturer.process
	if f.schedstat, err = process.OpenText(tid, "schedstat"); err != nil {
		return nil, err
	}
	if f.syscall, err = process.OpenText(tid, "syscall"); err != nil {
		f.schedstat.Close()
		return nil, err
	}
	return f, nil
}

// An identity has what Renew finds out about a thread.
type identity struct {
	java uint64
	id   int64
	name string
}

// Renew reads the names of threads again, and finds out again whether they are Java threads. Both can change soon after
// a thread's start.
func (l *Looker) Renew(threads ...*Known) {
	for some := range slices.Chunk(threads, fewTogether) {
		l.renew(some)
	}
}

func (l *Looker) renew(threads []*Known) {
	found := make([]identity, len(threads))
	l.ahead.Forget()
	l.ahead.Together(len(threads), func(i int) { found[i] = l.identify(threads[i]) })
	for i, t := range threads {
		new := &found[i]
		if t.spans == nil && new.java != 0 { // so that the first look can read ahead
			l.ahead.Note()
			if l.isOf(new.java, t) {
				object, _ := l.names.Object(new.java) // 0 after an error
				l.readThread(object)
			}
			t.spans = append([]vmstructs.Span{}, vmstructs.Merge(l.ahead.Noted())...)
			t.top = l.owners.java[new.java].base
		}
		t.Java, t.ID = new.java, new.id
		if new.name == "" {
			c := capture{tid: t.TID}
			new.name = strings.TrimSuffix(l.text(&c, "comm"), "\n")
		}
		if new.name != "" {
			t.Name = new.name
		}
	}
	l.ahead.Forget()
}

// identify reads what Renew needs to know about a thread. The name is "" if it can't be read.
func (l *Looker) identify(t *Known) (new identity) {
	at := l.java[t.NID]
	if at == 0 || !l.isOf(at, t) {
		return new
	}
	new.java = at
	if object, err := l.names.Object(at); err == nil {
		new.id = l.readThread(object).ID
		new.name, _ = l.names.Name(object) // "" after an error
	}
	return new
}

// Outdated reports whether the JavaThread of a thread has changed: it compares the last list that was read with t. The
// JavaThread changes when a thread is attached to the JVM or detached from it.
func (l *Looker) Outdated(t *Known) bool { return l.java[t.NID] != t.Java }

// isOf reports whether the JavaThread at an address belongs to thread t. After a thread has ended, another one may use
// the memory.
func (l *Looker) isOf(java uint64, t *Known) bool {
	tid, err := l.names.TID(java)
	return err == nil && tid == t.NID
}

// Forget closes a thread's files.
func (l *Looker) Forget(t *Known) {
	if t.files != nil {
		t.files.schedstat.Close()
		t.files.syscall.Close()
		t.files = nil
		openThreads.free()
	}
}

// Ask returns what Runs returns, and keeps the result for the next look at the thread.
func (l *Looker) Ask(t *Known) (r Runs, err error) {
	r, err = l.Runs(t)
	t.asked = r
	return r, err
}

// Told sets how often a thread has run, if the caller knows that without calling Ask. The next look uses it.
func (t *Known) Told(r Runs) { t.asked = r }

// Runs returns how often and how long a thread has run. If the thread's files are open, this is one system call.
func (l *Looker) Runs(t *Known) (Runs, error) {
	if t.files == nil {
		c := capture{tid: t.TID}
		if r := l.runs(&c); r.Known {
			return r, nil
		}
		return Runs{}, ErrEnded
	}
	text, err := t.files.schedstat.Read(t.files.buf[:])
	return parseSchedstat(text), err
}
