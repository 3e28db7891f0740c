package reporttest

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/profile/waits"
	"github.com/gasm-profiler/gasm/profile/windows"
	"github.com/gasm-profiler/gasm/wall"
)

// A Server writes what the threads of an imaginary server did, in the format of package wall. The workers wait for a
// socket, run, and wait for a lock of the first worker, which itself waits for a lock of a writer thread. From the
// middle of the time, two threads wait for each other. There are as many idle threads as workers.
type Server struct {
	PID      int
	From, To int64 // the recorded time, in ns of CLOCK_MONOTONIC
	Workers  int
	Suffix   string // appended to all names
}

// Threads is the number of threads apart from the workers and the idle ones.
const Threads = 7

// Write writes the file. It writes the same text each time.
func (s Server) Write(out io.Writer) error {
	w := &server{Server: s, Writer: wall.NewWriter(out, wall.Head{PID: s.PID, Hertz: 20, FromMonoNanos: s.From}),
		random: rand.New(rand.NewPCG(1, uint64(s.Workers)))}
	main := w.thread("main", true)
	w.spell(main, s.From, s.To, wall.Wait, w.java("acme.Main::main:12", "java.lang.Thread::join:1312",
		"java.lang.Object::wait:366"), 0, "")
	writer := w.thread("writer", true)
	w.writes(writer)
	w.deadlock()
	w.workers(writer)
	queue := w.java("java.lang.Thread::run:840", "java.util.concurrent.ThreadPoolExecutor::runWorker:1130",
		"java.util.concurrent.ThreadPoolExecutor::getTask:1070",
		"java.util.concurrent.LinkedBlockingQueue::take:435", "java.util.concurrent.locks.LockSupport::park:341")
	for i := range s.Workers {
		w.spell(w.thread(fmt.Sprintf("pool-1-thread-%d", i+1), true), s.From, s.To, wall.Park, queue, 0, "")
	}
	native := w.Push(0, callstack.Frame{Kind: callstack.Native, Module: "libc.so.6", Name: "clone3",
		BCI: callstack.Unknown, Line: callstack.Unknown})
	for _, name := range []string{"GC Thread#0", "GC Thread#1", "VM Thread"} {
		w.spell(w.thread(name, false), s.From, s.To, wall.NativeCall, native, 0, "futex")
	}
	if s.To-s.From > 3e9 {
		sleeping := w.java("java.lang.VirtualThread::run:309", "acme.Poller::poll:31", "java.lang.Thread::sleep:509")
		for at := int64(1); at <= 3; at++ {
			w.VirtualCount(&wall.VirtualCount{MonoNanos: s.From + at*1e9, Threads: int(9050 + 100*at), Looked: 300, Mounted: 2,
				Unread: 1})
			w.Virtual(&wall.Virtuals{MonoNanos: s.From + at*1e9, Count: int(9000 + 100*at), State: wall.Sleep, Stack: sleeping})
		}
	}
	w.End(wall.End{ToMonoNanos: s.To, Looks: 40_000, Moved: 12, Unread: 1, Left: 300, Threads: int64(w.threads),
		Clamped: 1200})
	return w.Flush()
}

// Waits returns the table of what a server's threads did. Nothing is left out.
func (s Server) Waits(tb testing.TB) *waits.Table {
	tb.Helper()
	var text bytes.Buffer
	if err := s.Write(&text); err != nil {
		tb.Fatal(err)
	}
	lines, _ := windows.Timelines([]windows.Measurement{{PIDs: []int{s.PID}}})
	x := waits.NewCounter(waits.Config{Trials: 1, Timelines: lines})
	if notes := x.Read(wall.NewReader(&text, "wall"), s.PID); len(notes) > 0 {
		tb.Fatal(notes)
	}
	return x.Table(0, []int{s.PID}, event.SiteOwn)
}

// A server is a Server whose file is being written.
type server struct {
	Server
	*wall.Writer
	random  *rand.Rand
	threads int
}

func (w *server) thread(name string, java bool) int {
	w.threads++
	t := wall.Thread{Number: w.threads, TID: w.PID + w.threads, NID: w.PID + w.threads, BornMonoNanos: w.From,
		Name: name + w.Suffix}
	if java {
		t.JavaID = int64(w.threads)
	}
	w.Thread(&t)
	return w.threads
}

// java returns a stack of Java methods with their lines ("acme.Main::main:12"), listed from the outermost one.
func (w *server) java(frames ...string) (id callstack.ID) {
	for _, text := range frames {
		f := callstack.Frame{Kind: callstack.Interpreted, BCI: 5}
		at := len(text) - 1
		for text[at] != ':' {
			at--
		}
		_, _ = fmt.Sscan(text[at+1:], &f.Line)
		f.Name = text[:at] + w.Suffix
		id = w.Push(id, f)
	}
	return id
}

func (w *server) spell(thread int, from, to int64, state wall.State, stack callstack.ID, lock int, detail string) {
	if detail != "" {
		detail += w.Suffix
	}
	s := wall.Spell{Thread: thread, FromMonoNanos: from, ToMonoNanos: min(to, w.To), State: state, Stack: stack,
		Lock: lock, Detail: detail}
	switch length := s.ToMonoNanos - from; {
	case length <= 0:
		return
	case state == wall.OnProcessor:
		s.Ran = length - length/50
		s.Runnable = length / 50
	case state != wall.Unseen:
		s.Ran = length / 1000
	}
	w.Spell(&s)
}

// writes adds the spells of the writer thread, which syncs a file again and again, and runs for a short time in
// between.
func (w *server) writes(writer int) {
	stack := w.java("acme.Writer::run:20", "acme.Journal::sync:77", "java.nio.channels.FileChannel::force:1")
	for at := w.From; at < w.To; at += 300e6 {
		w.spell(writer, at, at+250e6, wall.File, stack, 0, "fdatasync of /data/journal")
		w.spell(writer, min(at+250e6, w.To), at+300e6, wall.OnProcessor, 0, 0, "")
	}
}

// deadlock makes two threads run until the middle of the time, and then wait for each other.
func (w *server) deadlock() {
	left, right := w.thread("left", true), w.thread("right", true)
	of := func(owner int, class string, at string) int {
		return w.Lock(wall.Lock{Kind: wall.MonitorLock, Address: 0x7f0000 + uint64(owner)<<4, Class: class + w.Suffix,
			Owner: owner, Taken: w.java(at)})
	}
	locks := []int{of(right, "acme.Account", "acme.Bank::move:10"), of(left, "acme.Account", "acme.Bank::move:10")}
	middle := w.From + (w.To-w.From)/2
	for i, thread := range []int{left, right} {
		w.spell(thread, w.From, middle+int64(i)*1e6, wall.Sleep, w.java("acme.Bank::work:3", "java.lang.Thread::sleep:509"),
			0, "")
		w.spell(thread, middle+int64(i)*1e6, w.To, wall.Monitor, w.java("acme.Bank::work:4", "acme.Bank::move:11"), locks[i],
			"")
	}
}

// workers writes what the workers of a Server do.
func (w *server) workers(writer int) {
	handle := "acme.Server::handle:40"
	read := w.java("java.lang.Thread::run:840", handle, "acme.Db::read:88", "java.net.SocketInputStream::read:181")
	take := w.java("java.lang.Thread::run:840", handle, "acme.Pool::take:12")
	locking := w.java("java.lang.Thread::run:840", handle, "acme.Report::handle:45", "acme.Journal::append:31",
		"java.util.concurrent.locks.ReentrantLock::lock:322", "java.util.concurrent.locks.LockSupport::park:211")
	first := w.threads + 1
	for i := range w.Workers {
		w.thread(fmt.Sprintf("http-nio-8080-exec-%d", i+1), true)
	}
	pool := w.Lock(wall.Lock{Kind: wall.MonitorLock, Address: 0x7f0010, Class: "acme.Pool" + w.Suffix, Owner: first,
		Taken: w.java(handle, "acme.Report::handle:45")})
	journal := w.Lock(wall.Lock{Kind: wall.Synchronizer, Address: 0x7f0020,
		Class: "java.util.concurrent.locks.ReentrantLock$NonfairSync" + w.Suffix, Owner: writer})
	for i := range w.Workers {
		n := first + i
		for at, round := w.From, 0; at < w.To; round++ {
			length := int64(w.random.IntN(40)+10) * 10e6
			switch {
			case i == 0 && round%2 == 0:
				w.spell(n, at, at+length, wall.Park, locking, journal, "")
			case round%3 == 0:
				w.spell(n, at, at+length, wall.Socket, read, 0, fmt.Sprintf("recvfrom from socket 10.0.0.1:%d to 10.0.0.2:5432",
					40000+i))
			case round%3 == 1 && i > 0:
				w.spell(n, at, at+length, wall.Monitor, take, pool, "")
			default:
				length /= 10
				w.spell(n, at, at+length, wall.OnProcessor, 0, 0, "")
			}
			at += length
		}
	}
}
