package sampler

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
)

const (
	// chunkSize is how much text is parsed at once.
	chunkSize = 256 << 10
	// maxLine is the longest line that is read. A symbol of C++ can be longer
	// than a chunk.
	maxLine = 16 << 20
	// maxParsers bounds the goroutines that parse; what comes behind takes no
	// more than they give.
	maxParsers = 4
)

var errTooLong = errors.New("a line of more than 16 MB: no sampler's text")

// A lineParser knows one sampler's text. It remembers names, so that nothing is
// allocated for one that was seen before; each goroutine has its own.
type lineParser interface {
	// parse reads a line without blanks around it that is not empty, into s where
	// it is a sample. cut tells that the line's last word may go on: its writer
	// was stopped.
	parse(line []byte, cut bool, s *Sample) outcome
}

// An outcome is what a line was.
type outcome struct {
	kind     recordKind
	userOnly bool   // the sample's event leaves the kernel out
	lost     int64  // samples
	again    bool   // lost is perf's second account of what was lost
	msg      string // why the line could not be read
}

type recordKind uint8

const (
	noRecord recordKind = iota // the line tells nothing
	sampleRecord
	lostRecord
	badRecord
)

// A textReader reads text chunk by chunk, parses chunks side by side, and gives
// their records in the text's order. It has to be read to its end: its
// goroutines end there.
type textReader struct {
	name      string
	in        io.Reader
	newParser func() lineParser
	started   bool
	queue     chan *chunk // in the text's order
	free      chan *chunk
	cur       *chunk
	next      struct{ sample, other int } // in cur
	line      int                         // lines in front of cur
	err       error

	record any
	lost   Lost
	bad    SyntaxError

	samples      bool // a sample was seen
	kernelEvents bool // one of them was of an event that includes the kernel

	lostFirst, lostAgain, lostTotal int64 // see Lost
}

// A chunk is some whole lines, and what they are.
type chunk struct {
	text    []byte
	cut     bool // the last line has no end
	lines   int
	samples []Sample
	kernel  bool // a sample's event includes the kernel
	others  []other
	err     error // behind text
	parsed  chan struct{}
}

// An other is a line that is no sample.
type other struct {
	outcome
	line int // in the chunk, from 0
	at   int // how many samples are in front of it
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
		if r.cur != nil && r.take() {
			return true
		}
		if !r.advance() {
			r.record = nil
			return false
		}
	}
}

// Record returns what Scan read: a *Sample, *Lost or *SyntaxError. It belongs to
// the reader and is valid until the next Scan; its strings stay valid.
func (r *textReader) Record() any { return r.record }

// Err returns the I/O error that ended the reading, nil after plain EOF.
func (r *textReader) Err() error { return r.err }

// UserOnly tells whether all samples so far are of events that leave the kernel
// out: then a missing kernel sample means nothing. It is false as long as there
// is no sample.
func (r *textReader) UserOnly() bool { return r.samples && !r.kernelEvents }

// start sets the goroutines to work.
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
			p := r.newParser()
			for c := range jobs {
				c.parse(p)
				c.parsed <- struct{}{}
			}
		}()
	}
	go r.read(jobs)
}

// read cuts the text into chunks. It owns r.in.
func (r *textReader) read(jobs chan<- *chunk) {
	defer close(r.queue)
	defer close(jobs)
	var rest []byte // the begun line behind the last chunk
	for ended := false; !ended; {
		c := <-r.free
		c.text, c.err, c.cut = append(c.text[:0], rest...), nil, false
		rest, ended = c.fill(r.in, rest)
		jobs <- c
		r.queue <- c
	}
}

// fill reads until the chunk has its size, and one whole line at least. What
// follows its last line is the rest.
func (c *chunk) fill(in io.Reader, buf []byte) (rest []byte, ended bool) {
	for {
		have, scanned := len(c.text), len(c.text)
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
		last := scanned + bytes.LastIndexByte(c.text[scanned:], '\n')
		switch {
		case last >= scanned && len(c.text) >= chunkSize/2:
			rest = append(buf[:0], c.text[last+1:]...)
			c.text = c.text[:last+1]
			return rest, false
		case last < scanned && len(c.text) > maxLine && bytes.IndexByte(c.text, '\n') < 0:
			c.text, c.err = c.text[:0], errTooLong
			return nil, true
		}
	}
}

// parse makes the records of the chunk's text.
func (c *chunk) parse(p lineParser) {
	c.lines, c.samples, c.others, c.kernel = 0, c.samples[:0], c.others[:0], false
	for rest := c.text; len(rest) > 0; c.lines++ {
		line, after, whole := bytes.Cut(rest, []byte{'\n'})
		rest = after
		line = bytes.TrimSuffix(line, []byte{'\r'})
		cut := !whole && c.cut && len(line) > 0 && !isBlank(line[len(line)-1])
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		c.samples = append(c.samples, Sample{})
		o := p.parse(line, cut, &c.samples[len(c.samples)-1])
		if o.kind == sampleRecord {
			c.kernel = c.kernel || !o.userOnly
			continue
		}
		c.samples = c.samples[:len(c.samples)-1]
		if o.kind != noRecord {
			c.others = append(c.others, other{o, c.lines, len(c.samples)})
		}
	}
}

// advance takes the next chunk; false behind the last one.
func (r *textReader) advance() bool {
	if c := r.cur; c != nil {
		r.line += c.lines
		if c.err != nil {
			r.err = fmt.Errorf("%s:%d: %w", r.name, r.line+1, c.err)
		}
		r.cur = nil
		r.free <- c
	}
	c, ok := <-r.queue
	if !ok {
		return false
	}
	<-c.parsed
	r.cur, r.next.sample, r.next.other = c, 0, 0
	return true
}

// take makes the next record of the current chunk; false behind its last one.
func (r *textReader) take() bool {
	c, n := r.cur, &r.next
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

// lose adds up what was lost.
func (r *textReader) lose(o *other) {
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
