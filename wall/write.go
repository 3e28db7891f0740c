package wall

import (
	"bufio"
	"fmt"
	"io"
	"strconv"

	"github.com/gasm-profiler/gasm/callstack"
)

const (
	// longestText is the maximum length of a name, a class or a detail, in bytes. The rest is not written.
	longestText = 4 << 10
	// maxDetails is the maximum number of different details. Spells with further details are written without one.
	maxDetails = 1 << 18
	// maxLocks is the maximum number of different locks. Spells with further locks are written without one.
	maxLocks = 1 << 20
	// maxKept is the maximum number of bytes of text that a Writer keeps: of all details, and of the classes of all
	// locks. Spells with further details or locks are written without them.
	maxKept = 64 << 20
)

// A Writer writes a file. Only Flush returns errors. A Writer is not safe for use by several goroutines.
type Writer struct {
	out     *bufio.Writer
	stacks  *callstack.Writer
	err     error
	line    []byte
	details map[string]int
	locks   map[Lock]int
	kept    int // bytes of text in details and locks; see maxKept
	written limited
}

// NewWriter returns a Writer, and writes the head.
func NewWriter(out io.Writer, h Head) *Writer {
	w := &Writer{details: map[string]int{}, locks: map[Lock]int{}, written: limited{out: out, most: mostWritten}}
	w.out = bufio.NewWriterSize(&w.written, 64<<10)
	w.stacks = callstack.NewWriterAmong(w.out)
	w.begin("gasm wall 1").number(int64(h.PID)).number(int64(h.Hertz)).number(h.FromMonoNanos).end()
	return w
}

// MaxSize is the largest size of a file in bytes. A spell takes about 60 bytes, so this is enough for an hour in which
// 1000 threads are found at another place 20 times a second.
const MaxSize = 4 << 30

// mostWritten is the size of a file, in bytes, at which its Writer is full. The rest, up to MaxSize, is for the last
// lines: the spells that have not ended yet, at most one for each thread.
const mostWritten = MaxSize - 64<<20

// errTooLarge is the error of a file that is longer than MaxSize.
var errTooLarge = fmt.Errorf("it has more than %d bytes; the rest is left out", int64(MaxSize))

// The type limited is a file that counts what is written to it.
type limited struct {
	out  io.Writer
	n    int64
	most int64 // see Writer.Full
}

func (l *limited) Write(data []byte) (int, error) {
	if l.n+int64(len(data)) > MaxSize {
		return 0, errTooLarge
	}
	n, err := l.out.Write(data)
	l.n += int64(n)
	return n, err
}

// Limit sets the size at which the file is full.
func (w *Writer) Limit(size int64) { w.written.most = min(size, mostWritten) }

// Full reports whether the file has reached the size that Limit has set, or almost MaxSize, so that the recording must
// end.
func (w *Writer) Full() bool { return w.written.n >= w.written.most }

// Push adds a frame on top of a stack, as [callstack.Writer.Push] does.
func (w *Writer) Push(parent callstack.ID, f callstack.Frame) callstack.ID {
	f.Name, f.Module = clip(f.Name), clip(f.Module)
	return w.stacks.Push(parent, f)
}

// Thread writes a thread. The caller chooses its number.
func (w *Writer) Thread(t *Thread) {
	w.begin("thread").number(int64(t.Number)).number(int64(t.TID)).number(int64(t.NID)).known(t.JavaID).number(t.BornMonoNanos).text(t.Name).end()
}

// Ended writes that a thread has ended.
func (w *Writer) Ended(e Ended) { w.begin("ended").number(int64(e.Thread)).number(e.MonoNanos).end() }

// Lock returns the number of a lock, and writes the lock if it is new. It ignores l.Number. If there are too many locks
// already (see maxLocks and maxKept), it returns 0 for a new one.
func (w *Writer) Lock(l Lock) int {
	l.Number = 0
	l.Class, l.Of = clip(l.Class), clip(l.Of)
	if n, known := w.locks[l]; known {
		return n
	}
	if len(w.locks) >= maxLocks || w.kept > maxKept {
		return 0
	}
	n := len(w.locks) + 1
	w.locks[l] = n
	w.kept += len(l.Class) + len(l.Of)
	w.begin("lock").number(int64(n)).word(string(l.Kind)).word(strconv.FormatUint(l.Address, 16)).text(l.Class).text(l.Of).
		known(int64(l.Owner)).stack(l.Taken).end()
	return n
}

// Spell writes a spell that has ended. It does not write Blocked, which is the rest of the spell's length.
func (w *Writer) Spell(s *Spell) {
	detail := w.detail(s.Detail)
	w.begin("spell").number(int64(s.Thread)).number(s.FromMonoNanos).number(s.ToMonoNanos -
		s.FromMonoNanos).number(s.Ran).number(s.Runnable).
		word(s.State.word()).stack(s.Stack).known(int64(s.Lock)).known(int64(detail)).known(s.Virtual).end()
}

// Open writes the beginning of a spell that has not ended yet. When the spell has ended, it must be written with Spell.
func (w *Writer) Open(s *Spell) {
	detail := w.detail(s.Detail)
	w.begin("open").number(int64(s.Thread)).number(s.FromMonoNanos).
		word(s.State.word()).stack(s.Stack).known(int64(s.Lock)).known(int64(detail)).known(s.Virtual).end()
}

// Now writes the present time. All open spells last at least until then.
func (w *Writer) Now(monoNanos int64) { w.begin("now").number(monoNanos).end() }

// VirtualCount writes how many virtual threads there were. The Virtuals of the same time follow it.
func (w *Writer) VirtualCount(c *VirtualCount) {
	w.begin("virtuals").number(c.MonoNanos).number(int64(c.Threads)).number(int64(c.Looked)).number(int64(c.Mounted)).
		number(int64(c.Unread)).number(int64(c.Untracked)).end()
}

// Virtual writes how many virtual threads waited at a place.
func (w *Writer) Virtual(v *Virtuals) {
	w.begin("virtual").number(v.MonoNanos).number(int64(v.Count)).word(v.State.word()).stack(v.Stack).known(int64(v.Lock)).end()
}

// End writes the last line.
func (w *Writer) End(e End) {
	w.begin("end").number(e.ToMonoNanos).number(e.Looks).number(e.Moved).number(e.Unread).number(e.Left).number(e.Threads).number(e.Clamped).
		number(e.Unrecorded).number(e.Reopened).flag(e.Full).flag(e.Together).end()
}

// Flush passes all buffered text to the file. It returns the first error of writing to it.
func (w *Writer) Flush() error {
	w.flushStacks()
	if w.err == nil {
		w.err = w.out.Flush()
	}
	return w.err
}

// flushStacks writes the stacks before the lines that refer to them.
func (w *Writer) flushStacks() {
	if err := w.stacks.Flush(); w.err == nil {
		w.err = err
	}
}

// detail returns the number of a detail, and writes the detail if it is new. It returns 0 if text is "" or there were
// too many details.
func (w *Writer) detail(text string) int {
	if text == "" {
		return 0
	}
	text = clip(text)
	if n, known := w.details[text]; known {
		return n
	}
	if len(w.details) >= maxDetails || w.kept > maxKept {
		return 0
	}
	n := len(w.details) + 1
	w.details[text] = n
	w.kept += len(text)
	w.begin("detail").number(int64(n)).text(text).end()
	return n
}

func clip(text string) string {
	if len(text) > longestText {
		return text[:longestText] + "…"
	}
	return text
}

// begin begins a line.
func (w *Writer) begin(word string) *Writer {
	w.line = append(w.line[:0], word...)
	return w
}

func (w *Writer) word(word string) *Writer {
	w.line = append(append(w.line, ' '), word...)
	return w
}

func (w *Writer) number(n int64) *Writer {
	w.line = strconv.AppendInt(append(w.line, ' '), n, 10)
	return w
}

// flag appends a 1 or a 0.
func (w *Writer) flag(is bool) *Writer {
	if is {
		return w.number(1)
	}
	return w.number(0)
}

// known appends a number, or a "-" if it is 0 or negative. Numbers that gasm has read from the JVM's memory may be
// wrong, and therefore negative.
func (w *Writer) known(n int64) *Writer {
	if n <= 0 {
		return w.word("-")
	}
	return w.number(n)
}

// stack appends the id of a stack, or a "-" if the stack is not known.
func (w *Writer) stack(id callstack.ID) *Writer {
	if id == callstack.NoRoom {
		id = 0
	}
	return w.known(int64(id))
}

func (w *Writer) text(text string) *Writer {
	w.line = strconv.AppendQuote(append(w.line, ' '), clip(text))
	return w
}

// end ends the line and writes it.
func (w *Writer) end() {
	w.flushStacks()
	w.line = append(w.line, '\n')
	if w.err == nil {
		_, w.err = w.out.Write(w.line)
	}
}
