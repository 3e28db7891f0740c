package wall

import (
	"fmt"
	"io"
	"strings"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/internal/lines"
)

// A SyntaxError reports a malformed line. The Reader skips that line and reads on.
type SyntaxError = lines.SyntaxError

const (
	// longestLine is the longest line that is read, in bytes. The names of a method and of its class have at most 64 kB
	// each, and may be escaped.
	longestLine = 1 << 20
	// maxThreads is the maximum number of threads. A program that starts a thread every millisecond reaches it after an
	// hour.
	maxThreads = 1 << 22
)

// A Reader reads a file. The spells of a thread that it returns cover the thread's life without a gap or an overlap. In
// place of damaged or missing lines, there are spells with the state Unseen.
type Reader struct {
	in      *lines.Reader
	name    string
	record  any
	queued  []any // to be returned next
	tree    callstack.Tree
	headed  bool
	ended   bool // the line "end" was read, or the text has ended
	now     int64
	threads []progress // by number - 1
	locks   int
	details []string // by number - 1
}

// A progress holds what was read so far about a thread.
type progress struct {
	to    int64 // where its last spell ends
	open  *Spell
	ended bool
}

// NewReader returns a Reader. Error messages contain the parameter name.
func NewReader(r io.Reader, name string) *Reader {
	return &Reader{in: lines.NewReader(&atMost{in: r, left: MaxSize}, longestLine), name: name}
}

// An atMost reads the first bytes of a file, up to a limit. If the file is longer, it then returns an error.
type atMost struct {
	in   io.Reader
	left int64
}

func (a *atMost) Read(buf []byte) (int, error) {
	if a.left == 0 {
		var more [1]byte
		if n, err := a.in.Read(more[:]); n == 0 {
			return 0, err
		}
		return 0, errTooLarge
	}
	n, err := a.in.Read(buf[:min(int64(len(buf)), a.left)])
	a.left -= int64(n)
	return n, err
}

// Stacks returns the tree that holds all stacks read so far.
func (r *Reader) Stacks() *callstack.Tree { return &r.tree }

// Err returns the error that ended the reading, or nil if the whole text was read.
func (r *Reader) Err() error {
	if err := r.in.Err(); err != nil {
		return fmt.Errorf("reading %s: %w", r.name, err)
	}
	return nil
}

// Record returns what the last call of Scan has read: a *Head, *Thread, *Ended, *Lock, *Spell, *VirtualCount,
// *Virtuals, *End or *SyntaxError. The caller may keep it. The threads and locks that a record refers to were returned
// earlier.
func (r *Reader) Record() any { return r.record }

// Scan reads up to the next record. It returns false at the end of the text or after an error. It skips an incomplete
// last line, which is there if gasm was killed while it wrote the line.
func (r *Reader) Scan() bool {
	for len(r.queued) == 0 && r.in.Scan() {
		msg := "the line is too long"
		if !r.in.TooLong() {
			msg = r.read(string(r.in.Line()))
		}
		if msg != "" {
			r.queued = append(r.queued, &SyntaxError{File: r.name, Line: r.in.Number(), Msg: msg})
		}
	}
	if len(r.queued) == 0 && !r.ended {
		r.ended = true
		r.closeOpen()
	}
	if len(r.queued) == 0 {
		r.record = nil
		return false
	}
	r.record, r.queued = r.queued[0], r.queued[1:]
	return true
}

// read reads a line. It returns a message about what is wrong with the line, or "".
func (r *Reader) read(line string) (msg string) {
	if line == "" || line[0] == '#' {
		return ""
	}
	word, rest, _ := strings.Cut(line, " ")
	l := parser{rest: rest}
	if !r.headed && word != "gasm" {
		return "not after the first line of a file of this version of gasm"
	}
	if r.ended {
		return `after the line "end"`
	}
	switch word {
	case "f", "s":
		return r.tree.AddLine([]byte(line))
	case "spell":
		return r.spell(&l)
	case "open":
		return r.open(&l)
	case "now":
		now := l.time()
		if !l.done() {
			return "not a time"
		}
		r.now = max(r.now, now)
		return ""
	case "gasm":
		return r.head(&l)
	case "thread":
		return r.thread(&l)
	case "ended":
		return r.threadEnded(&l)
	case "lock":
		return r.lock(&l)
	case "detail":
		return r.detail(&l)
	case "virtuals":
		return r.virtualCount(&l)
	case "virtual":
		return r.virtual(&l)
	case "end":
		return r.end(&l)
	}
	return "it does not begin with a word that is known"
}

func (r *Reader) head(l *parser) string {
	if l.word() != "wall" || l.word() != "1" {
		return "not the first line of a file of this version of gasm"
	}
	h := &Head{PID: l.count(), Hertz: l.count(), FromMonoNanos: l.time()}
	if !l.done() || r.headed {
		return "not a head"
	}
	r.headed, r.now = true, h.FromMonoNanos
	r.queued = append(r.queued, h)
	return ""
}

func (r *Reader) thread(l *parser) string {
	t := &Thread{Number: l.count(), TID: l.count(), NID: l.count(), JavaID: l.known(), BornMonoNanos: l.time(),
		Name: l.text()}
	if !l.done() || t.Number == 0 || t.Number > len(r.threads)+1 || t.Number > maxThreads {
		return "not a thread"
	}
	if t.Number == len(r.threads)+1 {
		r.threads = append(r.threads, progress{to: t.BornMonoNanos})
	}
	r.queued = append(r.queued, t)
	return ""
}

func (r *Reader) threadEnded(l *parser) string {
	e := &Ended{Thread: l.count(), MonoNanos: l.time()}
	p := r.progress(e.Thread)
	if !l.done() || p == nil || p.ended || e.MonoNanos < p.to {
		return "not the end of a thread"
	}
	r.fill(e.Thread, e.MonoNanos)
	p.ended, p.open = true, nil
	r.queued = append(r.queued, e)
	return ""
}

func (r *Reader) lock(l *parser) string {
	k := &Lock{Number: l.count(), Kind: LockKind(l.word()), Address: l.hex(), Class: l.text(), Of: l.text(),
		Owner: int(l.known()), Taken: l.stack(&r.tree)}
	if !l.done() || k.Number != r.locks+1 || k.Number > maxLocks || k.Kind != MonitorLock && k.Kind != Synchronizer ||
		k.Owner > len(r.threads) {
		return "not a lock"
	}
	r.locks++
	r.queued = append(r.queued, k)
	return ""
}

func (r *Reader) detail(l *parser) string {
	n, text := l.count(), l.text()
	if !l.done() || n != len(r.details)+1 || n > maxDetails {
		return "not a detail"
	}
	r.details = append(r.details, text)
	return ""
}

// spell reads a spell that has ended.
func (r *Reader) spell(l *parser) string {
	s := &Spell{Thread: l.count(), FromMonoNanos: l.time()}
	length, ran, runnable := l.time(), l.time(), l.time()
	r.place(l, s)
	p := r.progress(s.Thread)
	if !l.done() || p == nil || p.ended {
		return "not a spell"
	}
	if s.FromMonoNanos < p.to || length == 0 || length > maxTime-s.FromMonoNanos {
		return "the spell does not follow the one before it"
	}
	if ran > length || runnable > length-ran {
		return "the times of the spell are longer than the spell"
	}
	r.fill(s.Thread, s.FromMonoNanos)
	s.ToMonoNanos = s.FromMonoNanos + length
	s.Ran, s.Runnable, s.Blocked = ran, runnable, length-ran-runnable
	p.to, p.open = s.ToMonoNanos, nil
	r.now = max(r.now, s.ToMonoNanos)
	r.queued = append(r.queued, s)
	return ""
}

// place reads the state of a spell and the values after it: the stack, the lock, the detail and the virtual thread.
func (r *Reader) place(l *parser, s *Spell) {
	s.State, s.Stack = l.state(), l.stack(&r.tree)
	s.Lock = l.upTo(r.locks)
	if n := l.upTo(len(r.details)); n > 0 {
		s.Detail = r.details[n-1]
	}
	s.Virtual = l.known()
}

// open reads the beginning of a spell that had not ended when the line was written.
func (r *Reader) open(l *parser) string {
	s := &Spell{Thread: l.count(), FromMonoNanos: l.time(), Open: true}
	r.place(l, s)
	p := r.progress(s.Thread)
	if !l.done() || p == nil || p.ended || s.FromMonoNanos < p.to {
		return "not the beginning of a spell"
	}
	p.open = s
	return ""
}

func (r *Reader) virtualCount(l *parser) string {
	c := &VirtualCount{MonoNanos: l.time(), Threads: l.count(), Looked: l.count(), Mounted: l.count(), Unread: l.count(),
		Untracked: l.count()}
	if !l.done() || c.Mounted > c.Looked || c.Unread > c.Looked-c.Mounted {
		return "not a number of virtual threads"
	}
	r.queued = append(r.queued, c)
	return ""
}

func (r *Reader) virtual(l *parser) string {
	v := &Virtuals{MonoNanos: l.time(), Count: l.count(), State: l.state(), Stack: l.stack(&r.tree), Lock: l.upTo(r.locks)}
	if !l.done() {
		return "not a count of virtual threads"
	}
	r.queued = append(r.queued, v)
	return ""
}

func (r *Reader) end(l *parser) string {
	e := &End{ToMonoNanos: l.time(), Looks: l.time(), Moved: l.time(), Unread: l.time(), Left: l.time(), Threads: l.time(),
		Clamped: l.time()}
	if l.rest != "" { // otherwise it is of an older gasm
		e.Unrecorded, e.Reopened = l.time(), l.time()
		e.Full, e.Together = l.number(1) == 1, l.number(1) == 1
	}
	if !l.done() || e.ToMonoNanos < r.now {
		return "not the end"
	}
	r.ended, r.now = true, e.ToMonoNanos
	for i := range r.threads {
		if !r.threads[i].ended {
			r.fill(i+1, e.ToMonoNanos)
		}
	}
	r.queued = append(r.queued, e)
	return ""
}

// closeOpen queues the spells that had not ended when gasm was killed.
func (r *Reader) closeOpen() {
	for i := range r.threads {
		s := r.threads[i].open
		if s == nil || s.FromMonoNanos >= r.now {
			continue
		}
		r.fill(i+1, s.FromMonoNanos)
		s.ToMonoNanos, s.Blocked = r.now, r.now-s.FromMonoNanos
		if s.State == OnProcessor {
			s.Ran, s.Blocked = s.Blocked, 0
		}
		r.queued = append(r.queued, s)
	}
}

// fill adds a spell with the state Unseen from the end of the thread's last spell up to the time given by to, if there
// is time in between.
func (r *Reader) fill(thread int, to int64) {
	p := &r.threads[thread-1]
	if p.to < to {
		r.queued = append(r.queued, &Spell{Thread: thread, FromMonoNanos: p.to, ToMonoNanos: to, Blocked: to - p.to,
			State: Unseen})
		p.to = to
	}
}

// progress returns what was read about a thread, or nil if there is no such thread.
func (r *Reader) progress(thread int) *progress {
	if thread <= 0 || thread > len(r.threads) {
		return nil
	}
	return &r.threads[thread-1]
}
