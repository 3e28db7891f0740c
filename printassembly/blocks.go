package printassembly

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
)

// The first pass reads a log on all cores, in blocks. Nearly all lines of a log are rows of code and their comments,
// and the index only needs to know that they exist. So the readers classify all lines and keep those that the indexer
// must parse. The indexer handles the blocks in the log's order, because the meaning of a line depends on the lines
// before it.

// blockSize is the size of a block in bytes.
const blockSize = 1 << 20

// readSize is the number of bytes that a reader reads at once. It is small enough for the bytes to fit into a core's
// own cache.
const readSize = 128 << 10

// maxLine is an upper bound for the length of HotSpot's lines. A longer line means that the file has a hole or is
// not a log. gasm looks only at the beginning of such a line.
const maxLine = 4 << 20

// maxReaders is the maximum number of goroutines that read blocks. If there were more, they would only wait for the
// indexer, which is a single goroutine.
const maxReaders = 8

// A block has what the indexer needs to know about the lines that start in one part of a log.
type block struct {
	items []item
	text  []byte // the text of all items that are single lines
	cut   bool   // the last byte that was read is not a line end
	err   error
}

// An item is one line that the indexer must parse, or a run of lines that it usually need not parse. The lines of a
// run have the classes rowLine, codeLine and idleLine.
type item struct {
	class lineClass // the class of the line; for a run, codeLine if one of its lines is a codeLine, and otherwise rowLine
	at    int64     // offset in the log of the run, or of the text of a single line after its indent
	size  int       // number of bytes in the log; for a single line, without its indent and its line end
}

// isRun reports whether the item is a run and not a single line.
func (i *item) isRun() bool { return i.class <= codeLine }

// A blockReader reads the blocks of a log.
type blockReader struct {
	log    io.ReaderAt
	size   int64 // size of the log in bytes
	block  int64 // size of a block in bytes: blockSize, except in tests
	indent int   // see lineReader
	buffer []byte
}

// each calls do(block) for all blocks in order, until there is an error. A block can be used only until do returns,
// because it is then filled with other lines.
func (r *blockReader) each(do func(*block) error) error {
	blocks := int((r.size + r.block - 1) / r.block)
	readers := min(runtime.GOMAXPROCS(0), maxReaders, blocks)
	type queue struct{ full, empty chan *block }
	queues := make([]queue, readers)
	done := make(chan struct{})
	var working sync.WaitGroup
	for i := range queues {
		q := queue{make(chan *block, 2), make(chan *block, 2)}
		q.empty <- new(block)
		q.empty <- new(block)
		queues[i] = q
		working.Go(func() {
			own := *r
			for n := i; n < blocks; n += readers {
				select {
				case b := <-q.empty:
					own.read(b, int64(n)*r.block)
					q.full <- b
				case <-done:
					return
				}
			}
		})
	}
	defer working.Wait()
	defer close(done)
	for n := range blocks {
		q := queues[n%readers]
		b := <-q.full
		if b.err != nil {
			return b.err
		}
		if err := do(b); err != nil {
			return err
		}
		q.empty <- b
	}
	return nil
}

// read fills b with the lines that start in [from, from+r.block).
func (r *blockReader) read(b *block, from int64) {
	*b = block{items: b.items[:0], text: b.text[:0]}
	to := min(from+r.block, r.size)
	at := max(from-1, 0) // the end of the previous line, if a line starts at from
	inside := from > 0   // the next bytes belong to a line that started before
	for have := 0; at < to && (!inside || at+int64(have) < to); {
		data, err := r.more(at, have, to)
		if err != nil {
			b.err = err
			return
		}
		b.cut = data[len(data)-1] != '\n'
		start := 0
		if inside {
			start = min(lineEnd(data, 0)+1, len(data))
			inside = data[start-1] != '\n'
		}
		end := wholeLines(data, start, to-at)
		if end == start && (at+int64(len(data)) == r.size || len(data)-start >= maxLine) {
			end, inside = len(data), true // a line without an end
		}
		b.addLines(data[start:end], at+int64(start), r.indent)
		at += int64(end)
		have = copy(data, data[end:])
	}
}

// wholeLines looks at the complete lines in data that begin at or after the offset start and before the offset limit.
// It returns the offset at which the last of them ends, or the parameter start if there are none.
func wholeLines(data []byte, start int, limit int64) (end int) {
	if limit <= int64(start) {
		return start
	}
	if limit < int64(len(data)) {
		if nl := bytes.IndexByte(data[limit-1:], '\n'); nl >= 0 {
			return int(limit) + nl
		}
		data = data[:limit]
	}
	return start + bytes.LastIndexByte(data[start:], '\n') + 1
}

// more reads the next bytes of the log into the buffer, after the bytes that are there already, and returns the whole
// buffer. The buffer already holds log[at:at+have]. Beyond log[:to], only the rest of one line is needed, so only a
// little is read at a time there. It returns an error if the file has become shorter.
func (r *blockReader) more(at int64, have int, to int64) ([]byte, error) {
	end := at + int64(have)
	more := min(to-end, int64(max(readSize, have)))
	if more <= 0 {
		more = int64(max(4<<10, have))
	}
	size := have + int(min(more, r.size-end))
	if size > len(r.buffer) {
		r.buffer = append(r.buffer[:have], make([]byte, size-have)...)
	}
	n, err := r.log.ReadAt(r.buffer[have:size], end)
	switch {
	case have+n == size:
		return r.buffer[:size], nil
	case err == nil || errors.Is(err, io.EOF):
		err = io.ErrUnexpectedEOF
	}
	return nil, fmt.Errorf("at offset %d: %w", end+int64(n), err)
}

// addLines adds the lines in data. The parameter at is the offset in the log at which data begins.
func (b *block) addLines(data []byte, at int64, indent int) {
	run := item{at: at} // the run of lines since the last line that has an item of its own
	for pos := 0; pos < len(data); {
		end := lineEnd(data, pos)
		from := min(pos+indent, end)
		line := trimCR(data[from:end])
		class := classify(line)
		if class > codeLine {
			b.addRun(run, at+int64(pos))
			b.items = append(b.items, item{class, at + int64(from), len(line)})
			b.text = append(b.text, line...)
			run = item{at: at + int64(end) + 1}
		} else {
			run.class = max(run.class, class)
		}
		pos = end + 1
	}
	b.addRun(run, at+int64(len(data)))
}

// addRun adds a run of lines. The parameter end is the offset in the log at which the run ends. addRun does nothing if
// the index needs none of these lines (idleLine).
func (b *block) addRun(run item, end int64) {
	if run.class != idleLine {
		run.size = int(end - run.at)
		b.items = append(b.items, run)
	}
}

// lineEnd returns where the line at pos ends: at its '\n', or at the end of data.
func lineEnd(data []byte, pos int) int {
	if nl := bytes.IndexByte(data[pos:], '\n'); nl >= 0 {
		return pos + nl
	}
	return len(data)
}
