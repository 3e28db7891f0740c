package printassembly

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// An Index is the result of the first pass over a log.
type Index struct {
	Header
	// Profiles has what HotSpot had counted in the methods whose code gasm has copied. Only gasm writes that into a log;
	// see [AppendMethodProfile].
	Profiles Profiles
	// Bodies has the references of these methods' bytecodes. These, too, are written only by gasm.
	Bodies Bodies
	// Blobs are in the order of the log. If a method's tag <nmethod …/> comes before its code, the tag's position decides.
	Blobs []Blob
	// Damaged is the number of blobs whose first lines could not be read or have an unknown form. Such blobs are not in
	// Blobs.
	Damaged int
	indent  int // bytes before each line, see lineReader
	ends    ends
	// Cut is true if the log has no end, because the JVM was killed or is still running.
	Cut bool
}

// A FormatError reports that a file is not a HotSpot log at all.
type FormatError struct{ File, Msg string }

func (e *FormatError) Error() string { return e.File + ": " + e.Msg }

// readIndex makes the index of a log of the given size. The name is used in messages only.
func readIndex(r io.ReaderAt, size int64, name string) (*Index, error) {
	x := newIndexer()
	x.idx.Blobs = make([]Blob, 0, size/usualBlob+16)
	err := x.findIndent(r)
	if err == nil {
		blocks := blockReader{log: r, size: size, block: blockSize, indent: x.idx.indent}
		err = blocks.each(func(b *block) error { return x.block(r, b) })
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
		return nil, &FormatError{name, "the assembly log is empty: the JVM ended before it could write, " +
			"or could not write"}
	case !x.seenHeader && len(x.idx.Blobs) == 0 && compressed(r):
		return nil, &FormatError{name, "is compressed: unpack it first, if it is a log; 'go tool pprof' shows the profiles of gasm watch"}
	case !x.seenHeader && len(x.idx.Blobs) == 0:
		return nil, &FormatError{name, "not a HotSpot log: neither <hotspot_log …> nor code of any method in it"}
	}
	// The output of -XX:+PrintAssembly on stdout has neither a header nor an end.
	x.idx.Cut = !x.seenEnd && (x.seenHeader || x.cut)
	return &x.idx, nil
}

// usualBlob is a low estimate of the size of a blob in a log, in bytes. It determines the initial capacity of the list
// of blobs. Growing the list would take more memory than the list itself.
const usualBlob = 6 << 10

// compressed reports whether the file begins as gzip, xz or zstd files do.
func compressed(r io.ReaderAt) bool {
	var magic [4]byte
	n, _ := r.ReadAt(magic[:], 0)
	return slices.ContainsFunc([]string{"\x1f\x8b", "\xfd7zX", "\x28\xb5\x2f\xfd"}, func(m string) bool {
		return strings.HasPrefix(string(magic[:n]), m)
	})
}

// An openBlob is the blob that a writer is writing into the log. A writer is a thread of the JVM.
type openBlob struct {
	index          int    // in Index.Blobs
	java           bool   // it is a Java method; the ranges of its parts are on lines of their own
	hasCode        bool   // a row of code has been read
	mainLo, mainHi uint64 // range of the main code of an nmethod
	stubLo, stubHi uint64 // range of the stub code of an nmethod
	active         bool
	turn           int64 // where the writer's current turn began; 0 if the blob began in this turn
	unranged             // used for blobs whose range is not on any line
}

// unknownRange reports whether the blob's range must be computed from its rows.
func (o *openBlob) unknownRange() bool {
	return o != nil && o.active && (o.mainHi == 0 || o.growing)
}

type indexer struct {
	idx        Index
	at         int64 // offset of the current line in the log
	cut        bool  // the last line has no '\n'
	seenHeader bool
	seenEnd    bool
	writer     string               // the writer of the current line
	open       map[string]*openBlob // by writer
	cur        *openBlob            // the blob of the current writer; nil before the writer's first blob
	tags       []namedTag
	lastStamp  int64  // the last time in any tag, in ms: a lower bound for the time of blobs without their own
	wants      string // tag of the header element whose text is on the next line, such as "<args>"; "" if there is none
	run        []byte // buffer for the lines of a run
}

func newIndexer() *indexer {
	x := &indexer{open: map[string]*openBlob{}}
	x.idx.ReservedCodeCache = defaultCodeCache
	return x
}

// findIndent finds out from the header whether the lines of a log are indented. JMH indents the lines of logs that it
// saves: with perfasm:saveLog=true, it puts a column of counts for each event to the left of them.
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

// block handles the lines of one block of the log.
func (x *indexer) block(log io.ReaderAt, b *block) error {
	text := b.text
	for i := range b.items {
		next := &b.items[i]
		switch {
		case !next.isRun():
			x.at = next.at
			x.line(text[:next.size], next.class)
			text = text[next.size:]
		case x.cur.unknownRange():
			if err := x.rows(log, next); err != nil {
				return err
			}
		case next.class == codeLine && x.cur != nil:
			x.cur.hasCode = true
		}
	}
	x.cut = b.cut
	return nil
}

// rows reads the lines of a run again, for a blob whose range must be computed from them.
func (x *indexer) rows(log io.ReaderAt, run *item) error {
	x.run = slices.Grow(x.run[:0], run.size)[:run.size]
	if _, err := log.ReadAt(x.run, run.at); err != nil {
		return fmt.Errorf("at offset %d: %w", run.at, err)
	}
	for line := range bytes.Lines(x.run) {
		line = trimCR(bytes.TrimSuffix(line[min(x.idx.indent, len(line)):], []byte{'\n'}))
		x.line(line, classify(line))
	}
	return nil
}

// line handles one line, without its line end.
func (x *indexer) line(line []byte, class lineClass) {
	switch class {
	case idleLine:
		return
	case rowLine, codeLine:
		x.row(line, class)
		return
	case partLine:
		x.part(line)
		return
	case tagLine:
		x.tag(line)
		return
	case machCodeLine:
		x.machCode()
		return
	}
	if x.wants != "" {
		x.headerText(line)
		return
	}
	switch class {
	case compiledLine:
		x.start(parseCompiled(line[len(compiledPrefix):]))
	case decodingLine:
		x.decoding(line[len(decodingPrefix):])
	case handlerLine:
		x.handler(line)
	case rangedLine:
		if b, ok := parseRanged(line); ok {
			x.ranged(b)
		}
	}
}

// machCode handles the mark [MachCode] before a blob's bytes. Each blob has only one such mark. A second mark, or one
// before the first blob, belongs to a blob whose first line was not recognized. That can happen with a new JDK.
// machCode counts such a blob as damaged.
func (x *indexer) machCode() {
	if x.cur == nil || x.cur.active && x.cur.machine {
		x.idx.Damaged++
	}
	if x.cur != nil {
		x.cur.machine = true
	}
}

// row handles a line of a blob's code. Only blobs of unknown range need its contents.
func (x *indexer) row(line []byte, class lineClass) {
	switch {
	case x.cur.unknownRange():
		x.learn(x.cur, line)
	case class == codeLine && x.cur != nil:
		x.cur.hasCode = true
	}
}

// part handles the address range of a part of a compiled method.
func (x *indexer) part(line []byte) {
	o := x.cur
	if o == nil || !o.active || !o.java {
		return
	}
	switch {
	case bytes.HasPrefix(line, totalPart):
		o.address, _, _, _, _ = addrRange(line)
	case bytes.HasPrefix(line, mainCodePart):
		o.mainLo, o.mainHi, _, _, _ = addrRange(line)
	case bytes.HasPrefix(line, stubCodePart):
		o.stubLo, o.stubHi, _, _, _ = addrRange(line)
	}
}

// tag handles a line that starts with "<".
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
	case bytes.HasPrefix(line, sourceFileTag):
		x.idx.sourceFile(line)
	case bytes.HasPrefix(line, threadNameTag):
		x.idx.threadName(line)
	case bytes.HasPrefix(line, inliningLimitsTag):
		x.idx.inliningLimits(line)
	case x.idx.Profiles.tag(line), x.idx.Bodies.tag(line):
	case bytes.Equal(line, []byte("<release>")), bytes.Equal(line, []byte("<info>")),
		bytes.Equal(line, []byte("<command>")),
		bytes.Equal(line, []byte("<args>")), bytes.Equal(line, []byte("<properties>")):
		x.wants = string(line)
	default:
		x.idx.ends.tag(line)
		x.wants = ""
	}
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
		args := unescape(line)
		x.idx.ReservedCodeCache, x.idx.FramePointers = reservedCodeCache(args), framePointers(args)
	case "<properties>":
		x.idx.property(line)
		return // more lines of properties follow
	}
	x.wants = ""
}

func (x *indexer) switchTo(writer []byte) {
	if string(writer) == x.writer {
		return
	}
	x.endTurn()
	x.writer = string(writer)
	if x.cur = x.open[x.writer]; x.cur != nil {
		x.cur.turn = x.at
	}
}

// endTurn records where the current writer's lines end, because lines of another writer or another blob begin.
func (x *indexer) endTurn() {
	if x.cur == nil || !x.cur.active {
		return
	}
	b := &x.idx.Blobs[x.cur.index]
	if x.cur.turn == 0 {
		b.end = x.at
	} else {
		b.turns = append(b.turns, turn{x.cur.turn, x.at})
	}
}

// start closes the writer's current blob and begins b, the next one. ok is false if the first line of b could not be
// read. In that case b is only counted as damaged.
func (x *indexer) start(b Blob, ok bool) {
	if x.cur == nil {
		x.cur = new(openBlob)
		x.open[x.writer] = x.cur
	}
	x.endTurn()
	x.close(x.cur)
	if !ok || len(b.Name) > maxName {
		x.idx.Damaged++
		return
	}
	b.offset = x.at
	if b.Stamped {
		x.lastStamp = max(x.lastStamp, b.UptimeMillis)
	} else {
		b.UptimeMillis = x.lastStamp
	}
	// Blobs are in the order in which they begin. The range of this blob may be set later.
	x.idx.Blobs = append(x.idx.Blobs, b)
	*x.cur = openBlob{index: len(x.idx.Blobs) - 1, java: b.Kind.Java(), active: true}
	if !b.Kind.Java() {
		x.cur.mainLo, x.cur.mainHi = b.Lo, b.Hi
	}
}

// close ends a blob. It sets the range of the blob, and whether it has code. Both are known from the lines that were
// read since the blob began.
func (x *indexer) close(o *openBlob) {
	if !o.active {
		return
	}
	o.active = false
	b := &x.idx.Blobs[o.index]
	b.HasCode = o.hasCode
	b.Lo, b.Hi = o.mainLo, o.mainHi
	if o.stubLo == o.mainHi && o.stubHi > o.mainHi {
		b.Hi = o.stubHi
	}
	// Remove a blob without a range at once if it is the last, because a damaged log may consist of
	// such blobs only.
	if last := len(x.idx.Blobs) - 1; o.index == last && !hasRange(b) {
		x.idx.Blobs = x.idx.Blobs[:last]
		x.idx.Damaged++
	}
}

// maxName is an upper bound for the length of a method's name: class and method have at most 64 kB each (CONSTANT_Utf8
// in class files). A longer name means that the log is damaged, and its blob is left out.
const maxName = 1 << 17

// maxBlob is an upper bound for the size of a piece of code in HotSpot. A longer range means that the log is damaged,
// and its blob is left out. So maxBlob also limits the time that a user of the index spends on one blob.
const maxBlob = 1 << 26

func hasRange(b *Blob) bool { return b.Lo < b.Hi && b.Hi-b.Lo <= maxBlob }

// finish closes all blobs and removes those whose range is unknown. If a method was printed several times, it keeps
// the first print that has code, or else the first print. For example, PrintNativeNMethods and LogCompilation both
// print native wrappers.
func (x *indexer) finish(size int64) {
	x.at = size
	x.endTurn()
	open := slices.SortedFunc(maps.Values(x.open), func(a, b *openBlob) int { return cmp.Compare(b.index, a.index) })
	for _, o := range open { // begin with the last blob, see close
		x.close(o)
	}
	// HotSpot may have printed a method twice. Two blobs are the same method if all of these fields agree.
	type identity struct {
		lo, hi uint64
		id     int
		name   string
	}
	seen := map[identity]int{} // index in kept
	kept := x.idx.Blobs[:0]
	for _, b := range x.idx.Blobs {
		if !hasRange(&b) {
			x.idx.Damaged++
			continue
		}
		if p := (identity{b.Lo, b.Hi, b.ID, b.Name}); b.ID > 0 {
			if i, again := seen[p]; again {
				if !b.HasCode || kept[i].HasCode {
					continue
				}
				b.UptimeMillis, b.SeenMillis = kept[i].UptimeMillis, kept[i].SeenMillis
				// The first print has no code and the second one has, so mark the first one to be deleted below.
				kept[i].Hi = kept[i].Lo
			}
			seen[p] = len(kept)
		}
		kept = append(kept, b)
	}
	x.idx.Blobs = slices.DeleteFunc(kept, func(b Blob) bool { return b.Lo == b.Hi })
}
