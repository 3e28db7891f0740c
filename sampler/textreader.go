package sampler

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"

	"github.com/gasm-profiler/gasm/internal/fields"
)

const (
	// chunkSize is how many bytes of text are parsed at a time.
	chunkSize = 256 << 10
	// maxLine is the maximum length in bytes of a line that is parsed. It is larger than chunkSize, because a symbol of
	// C++ can be longer than a chunk.
	maxLine = 1 << 20
	// maxParsers is the maximum number of goroutines that parse. Further goroutines would only wait until the caller
	// has consumed records.
	maxParsers = 4
)

// A lineParser parses lines of one sampler's text. It remembers names, so that it allocates nothing for a name that it
// has seen before. Each goroutine that parses has a lineParser of its own.
type lineParser interface {
	// parse parses a line that is not empty, without the blanks around it. If the line is a sample, the function fills
	// in s.
	parse(line []byte, in place, s *Sample) outcome
	// parseCall parses a line of a stack, without the blanks around it. It returns what is wrong with the line, or "".
	parseCall(line []byte, c *Call) (fault string)
}

// A place says what a parser has to know about the text around a line.
type place struct {
	cut bool // the sampler was stopped while it wrote the line, so that the line's last word may be cut
	// If a stack begins on the next line (see stackLine), stack is that line without the blanks around it. It is empty
	// if the line is blank or longer than maxLine. If no stack begins there, it is nil.
	stack []byte
}

// stackLine is the first byte of each line of a stack. A stack belongs to the sample before it. The line of a sample
// begins with spaces or a word.
const stackLine = '\t'

// An outcome says what a line was.
type outcome struct {
	kind     recordKind
	userOnly bool   // for a sampleRecord: its event leaves the kernel out
	stack    bool   // for a sampleRecord: its address is in place.stack, which is the first line of its stack
	lost     int64  // for a lostRecord: the number of samples
	again    bool   // for a lostRecord: perf has reported these samples before, see Lost
	msg      string // for a badRecord: why the line could not be parsed
}

type recordKind uint8

const (
	noRecord recordKind = iota // the line says nothing about samples
	sampleRecord
	lostRecord
	badRecord
)

// A textReader reads text in chunks, parses several chunks at a time, and returns their records in the
// text's order. Its goroutines end when the text has been read to its end.
//
// Chunks go in a circle. The goroutine that reads the text takes a chunk from r.free and fills it. Then it passes the
// chunk to the goroutines that parse, and puts it into r.queue. The method advance takes the chunk from r.queue. When
// Scan has returned all records of the chunk, advance puts it back into r.free.
type textReader struct {
	name       string
	in         io.Reader
	newParser  func() lineParser
	started    bool
	keepChains bool
	queue      chan *chunk // in the text's order; parsed or being parsed
	free       chan *chunk
	current    *chunk                      // the chunk whose records are being returned
	next       struct{ sample, other int } // indexes in the current chunk
	line       int                         // the number of lines before the current chunk
	err        error

	record any // what the method Record returns: a sample of current, &lost or &bad
	lost   Lost
	bad    SyntaxError

	samples      bool // there was a sample
	kernelEvents bool // at least one sample belongs to an event that includes the kernel

	lostFirst, lostAgain, lostTotal int64 // sums of perf's first reports, of its second ones, and of Lost.Count
}

// A chunk is a part of the text that consists of whole lines, and the records in it.
type chunk struct {
	text    []byte
	cut     bool // the last line has no end
	split   bool // the last stack goes on in the next chunk, because it is very long
	tooLong bool // the chunk is one line that is longer than maxLine, and its text was dropped
	lines   int
	samples []Sample
	calls   []Call // the calls of all chains
	chains  []Chain
	kernel  bool // at least one sample belongs to an event that includes the kernel
	others  []otherLine
	err     error         // the I/O error that came after text
	parsed  chan struct{} // gets a value when the chunk has been parsed
}

// An otherLine is a line that is not a sample.
type otherLine struct {
	outcome
	line int // number of the line in the chunk, from 0
	at   int // how many samples of the chunk come before the line
}

func newTextReader(in io.Reader, name string, newParser func() lineParser) textReader {
	return textReader{name: name, in: in, newParser: newParser}
}

// Scan reads the next record. It returns false at EOF and on an I/O error.
func (r *textReader) Scan() bool {
	if !r.started {
		r.start()
	}
	for {
		if r.current != nil && r.take() {
			return true
		}
		if !r.advance() {
			r.record = nil
			return false
		}
	}
}

// Record returns what Scan has read: a *Sample, *Lost or *SyntaxError. It belongs to
// the reader and is valid until the next Scan. Its strings stay valid.
func (r *textReader) Record() any { return r.record }

// Err returns the I/O error that ended the reading. It returns nil at EOF.
func (r *textReader) Err() error { return r.err }

// UserOnly reports whether all samples so far belong to events that leave the kernel out. It is false
// as long as there is no sample.
func (r *textReader) UserOnly() bool { return r.samples && !r.kernelEvents }

// start starts the goroutines.
func (r *textReader) start() {
	r.started = true
	parsers := min(runtime.GOMAXPROCS(0), maxParsers)
	chunks := 2*parsers + 1
	r.queue, r.free = make(chan *chunk, chunks), make(chan *chunk, chunks)
	for range chunks {
		r.free <- &chunk{parsed: make(chan struct{}, 1)}
	}
	jobs := make(chan *chunk, chunks)
	for range parsers {
		go func() {
			stack := &stackParser{parser: r.newParser(), keep: r.keepChains}
			for c := range jobs {
				c.parse(stack)
				c.parsed <- struct{}{}
			}
		}()
	}
	go r.read(jobs)
}

// read cuts the text into chunks. Nothing else reads from r.in.
func (r *textReader) read(jobs chan<- *chunk) {
	defer close(r.queue)
	defer close(jobs)
	var rest []byte // text that the last chunk has left: an incomplete line or stack
	for ended := false; !ended; {
		c := <-r.free
		c.text, c.err, c.cut, c.split, c.tooLong = append(c.text[:0], rest...), nil, false, false, false
		rest, ended = c.fill(r.in, rest)
		jobs <- c
		r.queue <- c
	}
}

// fill reads until the chunk has at least half of chunkSize, and at least one whole sample: a line, and the lines of
// its stack. It moves the text after the last whole sample to buf, and returns it as rest. The result ended is true if
// this is the last chunk.
func (c *chunk) fill(in io.Reader, buf []byte) (rest []byte, ended bool) {
	last := lastEnd(c.text) // the end of the last whole sample, or -1
	for {
		have := len(c.text)
		if cap(c.text)-have < chunkSize/4 {
			c.text = append(make([]byte, 0, max(2*cap(c.text), chunkSize+chunkSize/4)), c.text...)
		}
		n, err := in.Read(c.text[have:min(cap(c.text), have+chunkSize)])
		c.text = c.text[:have+n]
		if err != nil {
			if !errors.Is(err, io.EOF) {
				c.err = err
				c.text = c.text[:bytes.LastIndexByte(c.text, '\n')+1]
			}
			c.cut = len(c.text) > 0 && c.text[len(c.text)-1] != '\n'
			return nil, true
		}
		from := max(have-1, 0) // the line that ends at this index may be the last one of a sample
		if i := lastEnd(c.text[from:]); i >= 0 {
			last = from + i
		}
		if last < 0 && len(c.text) > maxLine {
			last = bytes.LastIndexByte(c.text, '\n') // splits a very long stack; its other lines become bad records
			c.split = true
		}
		switch {
		case last >= 0 && len(c.text) >= chunkSize/2:
			rest = append(buf[:0], c.text[last+1:]...)
			c.text = c.text[:last+1]
			return rest, false
		case last < 0 && len(c.text) > maxLine:
			return c.skipLine(in, buf)
		}
	}
}

// lastEnd returns the index of the last line end after which no stack continues, or -1. A line end at the end of the
// text does not count, because the stack may continue in the text that was not read yet.
func lastEnd(text []byte) int {
	for i := len(text) - 1; i > 0; i-- {
		if i = bytes.LastIndexByte(text[:i], '\n'); i < 0 || text[i+1] != stackLine {
			return i
		}
	}
	return -1
}

// skipLine is called if a chunk has only the start of a line, because the line is too long. It reads to the end of
// the line, and drops the line. Its results are like those of the method fill: rest is the text after the line that
// was already read, and ended is true if this is the last chunk.
func (c *chunk) skipLine(in io.Reader, buf []byte) (rest []byte, ended bool) {
	c.tooLong = true
	for {
		n, err := in.Read(c.text)
		if end := bytes.IndexByte(c.text[:n], '\n'); end >= 0 { // an error comes again with the next Read
			return append(buf[:0], c.text[end+1:n]...), false
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				c.err = err
			}
			return nil, true
		}
	}
}

// parse turns the chunk's text into records.
func (c *chunk) parse(stack *stackParser) {
	stack.chunk = c
	c.lines, c.samples, c.calls, c.chains, c.others, c.kernel =
		0, c.samples[:0], c.calls[:0], c.chains[:0], c.others[:0], false
	tooLong := outcome{kind: badRecord, msg: "longer than 1 MB, which no sampler's line is"}
	if c.tooLong {
		c.lines, c.others = 1, append(c.others, otherLine{outcome: tooLong})
		return
	}
	for rest := c.text; len(rest) > 0; c.lines++ {
		if rest[0] != stackLine {
			stack.end()
		}
		line, after, whole := bytes.Cut(rest, []byte{'\n'})
		rest = after
		line = bytes.TrimSuffix(line, []byte{'\r'})
		if len(line) > maxLine {
			c.others = append(c.others, otherLine{tooLong, c.lines, len(c.samples)})
			stack.cut = true
			continue
		}
		in := place{cut: !whole && c.cut && len(line) > 0 && !fields.IsBlank(line[len(line)-1]), stack: stackAt(after)}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if stack.open {
			if fault := stack.line(line, in.cut); fault != "" {
				c.others = append(c.others, otherLine{outcome{kind: badRecord, msg: fault}, c.lines, len(c.samples)})
			}
			continue
		}
		c.samples = append(c.samples, Sample{})
		o := stack.parser.parse(line, in, &c.samples[len(c.samples)-1])
		if o.kind == sampleRecord {
			c.kernel = c.kernel || !o.userOnly
			if o.stack {
				stack.begin()
			}
			continue
		}
		c.samples = c.samples[:len(c.samples)-1]
		if o.kind != noRecord {
			c.others = append(c.others, otherLine{o, c.lines, len(c.samples)})
		}
	}
	stack.cut = stack.cut || c.split
	stack.end()
}

// stackAt returns the first line of a text without the blanks around it, or nil if no stack begins there. The result is
// empty, but not nil, if the line is blank or longer than maxLine.
func stackAt(text []byte) []byte {
	if len(text) == 0 || text[0] != stackLine {
		return nil
	}
	line, _, _ := bytes.Cut(text, []byte{'\n'})
	if trimmed := bytes.TrimSpace(line); len(trimmed) > 0 && len(line) <= maxLine {
		return trimmed
	}
	return line[:0]
}

// advance makes the next chunk the current one. It returns false after the last one.
func (r *textReader) advance() bool {
	if c := r.current; c != nil {
		r.line += c.lines
		if c.err != nil {
			r.err = fmt.Errorf("%s:%d: %w", r.name, r.line+1, c.err)
		}
		r.current = nil
		r.free <- c
	}
	c, ok := <-r.queue
	if !ok {
		return false
	}
	<-c.parsed
	r.current, r.next.sample, r.next.other = c, 0, 0
	return true
}

// take makes the next record of the current chunk the reader's record. It returns false after the last
// record.
func (r *textReader) take() bool {
	c, n := r.current, &r.next
	if n.other < len(c.others) && c.others[n.other].at == n.sample {
		o := &c.others[n.other]
		n.other++
		if o.kind == badRecord {
			r.bad = SyntaxError{File: r.name, Line: r.line + o.line + 1, Msg: o.msg}
			r.record = &r.bad
		} else {
			r.lose(o)
		}
		return true
	}
	if n.sample == len(c.samples) {
		return false
	}
	r.record = &c.samples[n.sample]
	n.sample++
	r.samples, r.kernelEvents = true, r.kernelEvents || c.kernel
	return true
}

// lose makes a Lost the reader's current record. perf reports each loss twice (see [Lost]). So Lost.Count is not the
// number in the line, but the number by which the line increases the total.
func (r *textReader) lose(o *otherLine) {
	if o.again {
		r.lostAgain += o.lost
	} else {
		r.lostFirst += o.lost
	}
	total := max(r.lostFirst, r.lostAgain)
	r.lost = Lost{Count: total - r.lostTotal}
	r.lostTotal = total
	r.record = &r.lost
}
