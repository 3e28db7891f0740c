package printassembly

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// An Index is what the first pass over a log gives.
type Index struct {
	Header
	// Blobs are in the log's own order, that is, by the time they were printed.
	Blobs []Blob
	// Damaged counts the blobs whose first lines could not be read; they are
	// left out of Blobs.
	Damaged int
	indent  int // of each line, see lineReader
	// Cut tells that the log has no end: the JVM was killed, or runs still.
	Cut bool
}

// A FormatError tells that a file is no log of HotSpot's at all.
type FormatError struct{ File, Msg string }

func (e *FormatError) Error() string { return e.File + ": " + e.Msg }

// readIndex makes the index of a log of the given size; name is for messages.
func readIndex(r io.ReaderAt, size int64, name string) (*Index, error) {
	x := newIndexer()
	x.idx.Blobs = make([]Blob, 0, size/usualBlob+16)
	br := blockReader{r: r, size: size, block: blockSize}
	err := x.findIndent(r)
	if err == nil {
		br.indent = x.idx.indent
		err = br.each(x.block)
	}
	if err == nil {
		x.finish(size)
		err = x.addNamed(r)
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s %w", name, err)
	}
	switch {
	case size == 0:
		return nil, &FormatError{name, "the assembly log is empty: the JVM ended before it could write, or could not write"}
	case !x.seenHeader && len(x.idx.Blobs) == 0 && compressed(r):
		return nil, &FormatError{name, "is compressed: unpack it first"}
	case !x.seenHeader && len(x.idx.Blobs) == 0:
		return nil, &FormatError{name, "not a HotSpot log: neither <hotspot_log …> nor code of any method in it"}
	}
	// What -XX:+PrintAssembly printed to stdout has neither header nor end.
	x.idx.Cut = !x.seenEnd && (x.seenHeader || x.cut)
	return &x.idx, nil
}

// usualBlob is how much of a log a blob takes, or more: it saves the list of blobs
// from growing, which would take more memory than the list.
const usualBlob = 6 << 10

// compressed knows files of gzip, xz and zstd.
func compressed(r io.ReaderAt) bool {
	var magic [4]byte
	n, _ := r.ReadAt(magic[:], 0)
	return slices.ContainsFunc([]string{"\x1f\x8b", "\xfd7zX", "\x28\xb5\x2f\xfd"}, func(m string) bool { return strings.HasPrefix(string(magic[:n]), m) })
}

// An openBlob is the blob that one writer is in the middle of.
type openBlob struct {
	place          int    // in Index.Blobs
	java           bool   // its ranges come on lines of their own
	hasCode        bool   // a row of code was seen
	mainLo, mainHi uint64 // of an nmethod's main code
	stubLo, stubHi uint64 // of its stub code
	active         bool
	unranged       // for blobs whose range no line tells
}

type indexer struct {
	idx        Index
	at         int64 // offset of the line in the log
	cut        bool  // the last line has no end
	seenHeader bool
	seenEnd    bool
	writer     string               // whose lines these are
	open       map[string]*openBlob // by writer
	cur        *openBlob            // of the current writer; nil before its first blob
	tags       []namedTag
	lastStamp  int64  // of any tag, ms: an earliest time for what has none of its own
	wants      string // the header element whose text comes next
}

func newIndexer() *indexer {
	x := &indexer{open: map[string]*openBlob{}}
	x.idx.ReservedCodeCache = defaultCodeCache
	return x
}

// findIndent finds out from the header that the lines of a log stand further to
// the right: perfasm:saveLog=true puts a column of counts per event in front of
// them.
func (x *indexer) findIndent(r io.ReaderAt) error {
	start := make([]byte, 1<<16)
	n, err := r.ReadAt(start, 0)
	for line := range bytes.Lines(start[:n]) {
		at := bytes.Index(line, []byte("<hotspot_log "))
		if at < 0 || len(bytes.TrimLeft(line[:at], " ")) > 0 {
			continue
		}
		x.idx.indent = at
		break
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("at offset %d: %w", n, err)
	}
	return nil
}

// block takes the lines of one block.
func (x *indexer) block(b *block) {
	for _, s := range b.spans {
		x.at = b.at + int64(s.from)
		if s.rows {
			x.rows(b.data[s.from:s.to], s.code)
		} else {
			x.line(trimCR(b.data[s.from:s.to]))
		}
	}
	if len(b.data) > 0 {
		x.cut = b.data[len(b.data)-1] != '\n'
	}
}

// rows takes a run of rows. Only a blob whose range comes from its rows has to
// see each of them.
func (x *indexer) rows(run []byte, code bool) {
	o := x.cur
	if o == nil || !o.active {
		return
	}
	if o.mainHi != 0 && !o.growing {
		o.hasCode = o.hasCode || code
		return
	}
	at := x.at
	for pos := 0; pos < len(run); {
		end := lineEnd(run, pos)
		x.at = at + int64(pos)
		x.line(trimCR(run[pos:end]))
		pos = end + 1
	}
}

func trimCR(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\r' {
		return line[:n-1]
	}
	return line
}

// line looks at one line. Nearly all are rows of code, so these go first.
func (x *indexer) line(line []byte) {
	if len(line) < 4 && (x.wants == "" || len(line) == 0) { // a class may have a short name
		return
	}
	if idle(line) {
		return
	}
	switch c := line[0]; {
	case c == ' ':
		x.indented(line)
	case c == '<':
		x.tag(line)
	case c == '[':
		x.mark(line)
	case (c == '-' || c == '=') && x.wants == "": // no header's text
	case x.wants != "":
		x.headerText(line)
	case bytes.HasPrefix(line, []byte("Compiled method (")):
		x.start(parseCompiled(line[len("Compiled method ("):]))
	case bytes.HasPrefix(line, []byte("Decoding ")):
		x.decoding(line[len("Decoding "):])
	case bytes.HasPrefix(line, []byte("argument handler #")):
		x.handler(line)
	case line[len(line)-1] == 's' || line[len(line)-1] == ')':
		if b, ok := parseRanged(line); ok {
			x.ranged(b)
		}
	}
}

// indented takes rows of code and the ranges of a compiled method.
func (x *indexer) indented(line []byte) {
	o := x.cur
	if o == nil || !o.active {
		return
	}
	if line[1] == ' ' {
		if o.mainHi == 0 || o.growing {
			x.learn(o, line)
			return
		}
		o.hasCode = o.hasCode || line[2] == '0' && line[3] == 'x'
		return
	}
	if !o.java {
		return
	}
	switch {
	case bytes.HasPrefix(line, []byte(" total in heap ")):
		o.address, _, _, _, _ = addrRange(line)
	case bytes.HasPrefix(line, []byte(" main code ")):
		o.mainLo, o.mainHi, _, _, _ = addrRange(line)
	case bytes.HasPrefix(line, []byte(" stub code ")):
		o.stubLo, o.stubHi, _, _, _ = addrRange(line)
	}
}

// tag takes lines that start with "<".
func (x *indexer) tag(line []byte) {
	if bytes.HasPrefix(line, []byte("<writer ")) {
		x.switchTo(attr(line, "thread"))
		return
	}
	if ms, ok := stampMillis(attr(line, "stamp")); ok {
		x.lastStamp = max(x.lastStamp, ms)
	}
	switch {
	case bytes.HasPrefix(line, []byte("<nmethod ")):
		if !x.describe(line) {
			x.named(line)
		}
	case bytes.HasPrefix(line, []byte("<hotspot_log ")):
		x.seenHeader = true
		x.idx.PID, _ = strconv.Atoi(string(attr(line, "process")))
		x.idx.StartWallMillis, _ = strconv.ParseInt(string(attr(line, "time_ms")), 10, 64)
	case bytes.HasPrefix(line, []byte("</hotspot_log>")):
		x.seenEnd = true
	case bytes.Equal(line, []byte("<release>")), bytes.Equal(line, []byte("<info>")), bytes.Equal(line, []byte("<command>")),
		bytes.Equal(line, []byte("<args>")):
		x.wants = string(line)
	default:
		x.wants = ""
	}
}

// idle tells lines that mean nothing to the index, wherever they stand. It is for
// those that are many: whoever splits the log leaves them out.
func idle(line []byte) bool {
	if len(line) < 4 {
		return false
	}
	switch line[0] {
	case ' ': // "total in heap", "main code", "stub code" are not
		return line[1] != ' ' && line[1] != 't' && string(line[1:3]) != "ma" && string(line[1:3]) != "st"
	case '[':
		return line[1] != 'M' // as in [MachCode]
	case '-', '=':
		return line[2] == line[0] && (line[1] == line[0] || line[1] == ' ') // rulers, and "- - - [END] - - -"
	case '<':
		name := line[1:]
		if i := bytes.IndexByte(name, ' '); i >= 0 {
			name = name[:i]
		}
		return idleTag(name)
	}
	return false
}

// idleTag knows the names of what LogCompilation has the most of within a <task>,
// with neither a stamp nor a name of ours.
func idleTag(name []byte) bool {
	switch string(name) {
	case "bc", "branch", "call", "dependency", "inline_fail", "inline_success", "intrinsic", "klass", "loop", "/loop>",
		"loop_tree>", "/loop_tree>", "method", "type", "/print_nmethod>":
		return true
	}
	return false
}

func (x *indexer) headerText(line []byte) {
	switch x.wants {
	case "<release>":
		x.idx.VMVersion = unescape(line)
	case "<info>":
		x.idx.VMInfo = unescape(line)
	case "<command>":
		x.idx.Command = unescape(bytes.TrimSpace(line))
	case "<args>":
		x.idx.ReservedCodeCache = reservedCodeCache(unescape(line))
	}
	x.wants = ""
}

func (x *indexer) switchTo(writer []byte) {
	if string(writer) == x.writer {
		return
	}
	x.writer = string(writer)
	x.cur = x.open[x.writer]
}

// start closes the writer's blob and begins the next.
func (x *indexer) start(b Blob, ok bool) {
	if x.cur == nil {
		x.cur = new(openBlob)
		x.open[x.writer] = x.cur
	}
	x.close(x.cur)
	if !ok {
		x.idx.Damaged++
		return
	}
	b.offset, b.writer = x.at, x.writer
	if b.Stamped {
		x.lastStamp = max(x.lastStamp, b.UptimeMillis)
	} else {
		b.UptimeMillis = x.lastStamp
	}
	// The blob takes its place in the log's order now, its ranges come later.
	x.idx.Blobs = append(x.idx.Blobs, b)
	*x.cur = openBlob{place: len(x.idx.Blobs) - 1, java: b.Kind.Java(), active: true}
	if !b.Kind.Java() {
		x.cur.mainLo, x.cur.mainHi = b.Lo, b.Hi
	}
}

// close writes what was learned since start into the blob's place.
func (x *indexer) close(o *openBlob) {
	if !o.active {
		return
	}
	o.active = false
	b := &x.idx.Blobs[o.place]
	b.HasCode = o.hasCode
	b.Lo, b.Hi = o.mainLo, o.mainHi
	if o.stubLo == o.mainHi && o.stubHi > o.mainHi {
		b.Hi = o.stubHi
	}
	b.end = x.at
}

// maxBlob is more than HotSpot gives to one piece of code, so a longer range is
// damage. It bounds what a reader of the index spends on one blob.
const maxBlob = 1 << 26

// finish closes all blobs, drops those that never said where they are, and
// keeps the first of several prints of one method: PrintNativeNMethods and
// LogCompilation both print native wrappers.
func (x *indexer) finish(size int64) {
	for _, o := range x.open {
		if o.active {
			x.close(o)
			x.idx.Blobs[o.place].end = size
		}
	}
	type print struct {
		lo, hi uint64
		id     int
		name   string
	}
	seen := map[print]int{}
	kept := x.idx.Blobs[:0]
	for _, b := range x.idx.Blobs {
		if b.Lo >= b.Hi || b.Hi-b.Lo > maxBlob {
			x.idx.Damaged++
			continue
		}
		if p := (print{b.Lo, b.Hi, b.ID, b.Name}); b.ID > 0 {
			if i, again := seen[p]; again {
				if !b.HasCode || kept[i].HasCode {
					continue
				}
				b.UptimeMillis = kept[i].UptimeMillis
				kept[i].Hi = kept[i].Lo // this print has the code, and keeps its place
			}
			seen[p] = len(kept)
		}
		kept = append(kept, b)
	}
	x.idx.Blobs = slices.DeleteFunc(kept, func(b Blob) bool { return b.Lo == b.Hi })
}
