package printassembly

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
)

// The first pass reads a log in blocks, on all cores. Of a log's lines nearly
// all are rows of code and their comments, and of these the index only has to
// know that they are there. So each block is split by whoever reads it: into
// single lines, and runs of rows, which are one to the indexer. The indexer
// takes the blocks in the log's order, for what a line means depends on those
// in front of it.

// blockSize is what a core reads at once: large enough for the making of a
// mapping not to count.
const blockSize = 2 << 20

// lineRoom is how far behind a mapped block its last line may end; a longer one
// is read.
const lineRoom = 64 << 10

// maxLine is longer than any line of HotSpot's: a longer one is a hole in the
// file, or a log that is none. It is not held in memory.
const maxLine = 4 << 20

// maxReaders bounds the goroutines that split blocks: the indexer takes no more
// than some GB/s.
const maxReaders = 8

// A block is the lines of a log that start in one part of it, and a part of the
// next part where the last line ends there.
type block struct {
	at    int64 // offset of data in the log
	data  []byte
	spans []span
	err   error

	own    []byte // data's memory, where it is not mapped
	mapped []byte
}

// A span is a part of a block's data: one line without its end, or a run of
// lines that are rows (empty, or two blanks in front) or idle.
type span struct {
	from, to int
	rows     bool
	code     bool // one of the rows is of code
}

// blockReader reads the blocks of a log.
type blockReader struct {
	r      io.ReaderAt
	size   int64
	block  int64 // bytes of a block: blockSize
	indent int   // see lineReader
}

// each hands on all blocks in order, which are valid until do returns.
func (br *blockReader) each(do func(*block)) (err error) {
	blocks := int((br.size + br.block - 1) / br.block)
	pool := make([]*splitter, min(runtime.GOMAXPROCS(0), maxReaders, blocks))
	done := make(chan struct{})
	var working sync.WaitGroup
	for i := range pool {
		s := newSplitter()
		pool[i] = s
		working.Go(func() { s.work(br, i, len(pool), blocks, done) })
	}
	defer func() {
		close(done)
		working.Wait()
		for _, s := range pool {
			unmapFile(s.blocks[0].mapped)
			unmapFile(s.blocks[1].mapped)
		}
	}()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	at := int64(0)
	defer func() { err = faultError(recover(), at, err) }()
	for n := range blocks {
		s := pool[n%len(pool)]
		b := <-s.full
		if b.err != nil {
			return b.err
		}
		at = b.at
		do(b)
		s.empty <- b
	}
	return nil
}

// A splitter reads and splits every n-th block, one while the other is indexed.
type splitter struct {
	blocks      [2]block
	full, empty chan *block
}

func newSplitter() *splitter {
	s := &splitter{full: make(chan *block, 2), empty: make(chan *block, 2)}
	s.empty <- &s.blocks[0]
	s.empty <- &s.blocks[1]
	return s
}

// work fills blocks until there are no more, or until done.
func (s *splitter) work(br *blockReader, first, step, blocks int, done <-chan struct{}) {
	for n := first; n < blocks; n += step {
		select {
		case b := <-s.empty:
			br.read(b, int64(n)*br.block)
			s.full <- b
		case <-done:
			return
		}
	}
}

// faultError makes an error of the fault that it is to read a mapping of what a
// file no longer has. Other panics go on.
func faultError(caught any, at int64, err error) error {
	if caught == nil {
		return err
	}
	if _, fault := caught.(interface{ Addr() uintptr }); !fault {
		panic(caught)
	}
	return fmt.Errorf("at offset %d: %w", at, io.ErrUnexpectedEOF)
}

// read fills a block with the lines that start in [from, from+br.block).
func (br *blockReader) read(b *block, from int64) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { b.err = faultError(recover(), b.at, b.err) }()
	unmapFile(b.mapped)
	b.data, b.mapped, b.spans, b.err = nil, nil, b.spans[:0], nil
	b.at = max(from-1, 0) // the end of the line in front
	to := min(from+br.block, br.size)
	if !br.mapLines(b, to) {
		b.data = b.own[:0]
		b.err = br.readLines(b, to)
		b.own = b.data
	}
	if from > 0 {
		nl := bytes.IndexByte(b.data, '\n')
		if nl < 0 || b.at+int64(nl)+1 >= to {
			b.data = nil // the inside of one long line
			return
		}
		b.at, b.data = b.at+int64(nl)+1, b.data[nl+1:]
	}
	if br.indent > 0 {
		b.splitLines(br.indent)
	} else {
		b.split()
	}
}

// mapLines maps what lies from the block's start to the end of the line at to;
// false where that can't be had.
func (br *blockReader) mapLines(b *block, to int64) bool {
	page := int64(os.Getpagesize())
	start := b.at &^ (page - 1)
	end := min(to+lineRoom, br.size)
	b.mapped = mapFile(br.r, start, int(end-start))
	if b.mapped == nil {
		return false
	}
	data := b.mapped[b.at-start:]
	if end == br.size && to == br.size {
		b.data = data
		return true
	}
	last := int(to - b.at - 1)
	nl := bytes.IndexByte(data[last:], '\n')
	if nl < 0 && end < br.size {
		unmapFile(b.mapped)
		b.mapped = nil
		return false
	}
	if nl >= 0 {
		data = data[:last+nl+1]
	}
	b.data = data
	return true
}

// readLines reads the same into memory, of a last line that is longer than
// maxLine a part.
func (br *blockReader) readLines(b *block, to int64) error {
	if err := br.more(b, to-b.at); err != nil {
		return err
	}
	if b.at > 0 && bytes.IndexByte(b.data[:len(b.data)-1], '\n') < 0 {
		return nil // no line starts here
	}
	own := len(b.data)
	for step := int64(1 << 12); b.data[len(b.data)-1] != '\n' && len(b.data)-own < maxLine; step *= 2 {
		have := len(b.data)
		n := min(br.size-b.at-int64(have), step, maxLine)
		if n == 0 {
			break
		}
		if err := br.more(b, n); err != nil {
			return err
		}
		if nl := bytes.IndexByte(b.data[have:], '\n'); nl >= 0 {
			b.data = b.data[:have+nl+1]
		}
	}
	return nil
}

// more reads n bytes more. A file that became shorter meanwhile ends early.
func (br *blockReader) more(b *block, n int64) error {
	have := len(b.data)
	if need := have + int(n); cap(b.data) < need {
		b.data = append(make([]byte, 0, max(need, int(br.block)+1<<13)), b.data...)
	}
	b.data = b.data[:have+int(n)]
	got, err := br.r.ReadAt(b.data[have:], b.at+int64(have))
	b.data = b.data[:have+got]
	switch {
	case got == int(n):
		return nil
	case err == nil || errors.Is(err, io.EOF):
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("at offset %d: %w", b.at+int64(have+got), err)
}

// split finds the spans.
func (b *block) split() {
	data := b.data
	run := span{rows: true} // what is not in the spans yet
	for pos := 0; pos < len(data); {
		if rowAt(data, pos) {
			run.code = run.code || data[pos] == ' ' && pos+3 < len(data) && data[pos+2] == '0' && data[pos+3] == 'x'
			if run.code {
				pos += rowsEnd(data[pos:])
			}
			pos = lineEnd(data, pos) + 1
			continue
		}
		end := lineEnd(data, pos)
		if !idle(data[pos:end]) {
			b.add(run, pos)
			b.spans = append(b.spans, span{from: pos, to: end})
			run = span{from: end + 1, rows: true}
		}
		pos = end + 1
	}
	b.add(run, len(data))
}

// add adds a run, if there is anything in it.
func (b *block) add(run span, to int) {
	if run.from < to {
		run.to = to
		b.spans = append(b.spans, run)
	}
}

// rowAt tells whether an empty line or one with two blanks starts at pos.
func rowAt(data []byte, pos int) bool {
	return data[pos] == '\n' || data[pos] == ' ' && pos+1 < len(data) && data[pos+1] == ' '
}

// lineEnd gives where the line at pos ends: its '\n', or the end of data.
func lineEnd(data []byte, pos int) int {
	if nl := bytes.IndexByte(data[pos:], '\n'); nl >= 0 {
		return pos + nl
	}
	return len(data)
}

// splitLines makes every line of an indented log a span.
func (b *block) splitLines(indent int) {
	for pos := 0; pos < len(b.data); {
		end := lineEnd(b.data, pos)
		b.spans = append(b.spans, span{from: min(pos+indent, end), to: end})
		pos = end + 1
	}
}
