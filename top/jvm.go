package top

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/codemap"
	"github.com/gasm-profiler/gasm/profile/jvmcode"
	"github.com/gasm-profiler/gasm/profile/threads"
	"github.com/gasm-profiler/gasm/sampler"
)

// A JVM describes a JVM that is recorded, or that was recorded until it ended.
type JVM struct {
	PID            int
	Main, Version  string // "" if unknown
	StartMonoNanos int64
	Ended          bool
}

// A jvm is a JVM with its code.
type jvm struct {
	JVM
	endTick int64  // the Tick that noticed the JVM's end; 0 while the JVM runs
	head    []byte // the lines of its log before the first blob
	blobs   []printassembly.Blob
	code    []*Code           // for each blob; nil if it never had samples
	copy    []*chunk          // for each blob, the chunk with its code; nil if the code was not copied
	at      []int             // for each blob, its index in the chunk's log
	index   map[blobKey]int   // the index of each blob in blobs
	codes   map[int]*Code     // code that HotSpot does not print, by its index in where
	dropped map[blobKey]*Code // code that had samples, and is no longer in blobs
	// listed says for each blob whether the present recording has listed it.
	listed  []bool
	fresh   int          // number of Ticks until blobs that are not listed are dropped; 0 if they have been dropped
	where   *codemap.Map // finds the blob at an address; nil after blobs has changed
	grown   bool         // blobs has grown since the last call of Model.resolveAgain
	threads *threads.Table
	names   map[int][]string  // names of threads by thread id, the latest last
	named   int               // counts how often names has changed
	source  map[string]string // the source file of each class
	path    string            // the class path
	what    watched
	history []Load // by seconds, oldest first
}

func newJVM(j JVM) *jvm {
	return &jvm{JVM: j, index: map[blobKey]int{}, codes: map[int]*Code{}, dropped: map[blobKey]*Code{},
		threads: threads.NewTable(threads.Choice{}), names: map[int][]string{}, source: map[string]string{}}
}

// A blobKey identifies a piece of code of a JVM.
type blobKey struct {
	lo   uint64
	id   int
	osr  bool
	name string // "" for methods
}

func keyOf(b *printassembly.Blob) blobKey {
	if b.ID != 0 {
		return blobKey{lo: b.Lo, id: b.ID, osr: b.OSR}
	}
	return blobKey{lo: b.Lo, name: b.Name}
}

// A chunk is a part of a JVM's log. It has the code of some methods, which gasm has copied from the JVM.
type chunk struct {
	pid    int
	jvms   jvmcode.JVMs
	reader *jvmcode.Reader // nil until something is decoded
	size   int
	gone   bool // the text was dropped; code that has ended may still refer to the chunk
	// decoded is the number of instructions that the reader keeps.
	decoded int
	round   int   // counts how often the decoded instructions were dropped
	used    int64 // the last Tick that used it
}

// headEnd is the last line of the head of a log that gasm writes.
var headEnd = []byte("<writer thread='gasm'/>\n")

// settleTicks is the number of Ticks after which a new recording has listed all code that it finds at its start.
const settleTicks = 3

// addCode reads text of a JVM's log.
func (m *Model) addCode(j *jvm, text []byte) {
	if at := bytes.Index(text, headEnd); bytes.HasPrefix(text, []byte("<hotspot_log ")) && at >= 0 {
		j.head = bytes.Clone(text[:at+len(headEnd)])
		text = text[at+len(headEnd):]
		clear(j.listed)
		j.fresh = settleTicks
	}
	whole := append(bytes.Clone(j.head), text...)
	log, err := printassembly.NewLog(bytes.NewReader(whole), int64(len(whole)), fmt.Sprintf("the code of JVM %d", j.PID))
	if err != nil {
		return // odd names in the JVM have made the log unreadable
	}
	j.addNames(log.ThreadNames)
	for class, file := range log.SourceFiles {
		if len(j.source) < maxSources {
			j.source[class] = file
		}
	}
	if log.ClassPath != "" {
		j.path = log.ClassPath
	}
	var missing []int // code that has not been copied yet, as indexes of log.Blobs
	for i := range log.Blobs {
		b := &log.Blobs[i]
		n, known := j.index[keyOf(b)]
		if !known {
			n = len(j.blobs)
			j.index[keyOf(b)] = n
			j.blobs, j.code, j.copy, j.at, j.listed = append(j.blobs, *b), append(j.code, nil), append(j.copy, nil), append(j.at,
				0), append(j.listed, true)
			j.where, j.grown = nil, true
		}
		j.listed[n] = true
		if b.HasCode && j.copy[n] == nil {
			missing = append(missing, i)
		}
	}
	if len(missing) > 0 {
		m.addChunk(j, log, missing, whole)
	}
}

// addChunk keeps code of a log, whose text is whole.
func (m *Model) addChunk(j *jvm, log *printassembly.Log, code []int, whole []byte) {
	if part, text := onlyCode(log, code, whole, j.head); part != nil {
		log, whole = part, text
	}
	c := &chunk{pid: j.PID, size: len(whole), used: m.lastTick}
	for i := range log.Blobs {
		b := &log.Blobs[i]
		n, known := j.index[keyOf(b)]
		if !known || !b.HasCode || j.copy[n] != nil {
			continue
		}
		j.copy[n], j.at[n] = c, i
		j.blobs[n].HasCode = true
		if j.code[n] != nil {
			j.code[n].copied(c, i)
		}
	}
	// Whether HotSpot has recorded a method's frames only at safepoints is known only after the method is decoded. So
	// this is assumed for all methods.
	c.jvms.Add(capture.JVM{PID: j.PID, Log: log, StartMonoNanos: j.StartMonoNanos, SafepointsOnly: true})
	m.chunks = append(m.chunks, c)
	m.textBytes += c.size
}

// onlyCode returns a log, and its text, that has nothing but some of the code of another one: a new recording lists all
// code again, and little of it is new. It returns nil if that is not worthwhile.
func onlyCode(log *printassembly.Log, code []int, whole, head []byte) (part *printassembly.Log, text []byte) {
	text = bytes.Clone(head)
	for _, i := range code {
		lo, hi, ok := log.Extent(&log.Blobs[i])
		if !ok || len(text)+int(hi-lo) > len(whole)/2 {
			return nil, nil
		}
		text = append(text, whole[lo:hi]...)
	}
	part, err := printassembly.NewLog(bytes.NewReader(text), int64(len(text)), log.Name())
	if err != nil || len(part.Blobs) != len(code) {
		return nil, nil
	}
	for n, i := range code {
		if b := &part.Blobs[n]; !b.HasCode || keyOf(b) != keyOf(&log.Blobs[i]) {
			return nil, nil
		}
	}
	return part, text
}

// maxNames is the maximum number of names that are kept for one thread id.
const maxNames = 8

// addNames adds names of threads, by thread id. Unlike the names that the kernel keeps, they are not cut.
func (j *jvm) addNames(names map[int][]string) {
	if len(names) == 0 {
		return
	}
	if len(j.names) > maxThreads {
		clear(j.names)
	}
	for tid, latest := range names {
		for _, name := range latest {
			all := slices.DeleteFunc(j.names[tid], func(other string) bool { return other == name })
			j.names[tid] = append(all[max(0, len(all)-maxNames+1):], name)
		}
	}
	j.named++
	j.threads.AddNames(j.PID, j.names)
}

// settle drops blobs that the present recording has not listed, because they are gone.
func (j *jvm) settle() {
	if j.fresh == 0 {
		return
	}
	if j.fresh--; j.fresh > 0 {
		return
	}
	n := 0
	index := map[blobKey]int{}
	for i := range j.blobs {
		if !j.listed[i] {
			if j.code[i] != nil {
				j.drop(keyOf(&j.blobs[i]), j.code[i])
			}
			continue
		}
		j.blobs[n], j.code[n], j.copy[n], j.at[n], j.listed[n] = j.blobs[i], j.code[i], j.copy[i], j.at[i], true
		index[keyOf(&j.blobs[n])] = n
		n++
	}
	if n == len(j.blobs) {
		return
	}
	clear(j.blobs[n:])
	clear(j.code[n:])
	clear(j.copy[n:])
	j.blobs, j.code, j.copy, j.at, j.listed = j.blobs[:n], j.code[:n], j.copy[:n], j.at[:n], j.listed[:n]
	j.index, j.where = index, nil
}

// maxDropped limits the number of pieces of code of a JVM that are remembered after they are gone.
const maxDropped = 1 << 12

// drop remembers code that is gone, so that it counts as the same code if a recording lists it again.
func (j *jvm) drop(at blobKey, c *Code) {
	if len(j.dropped) >= maxDropped {
		clear(j.dropped)
	}
	j.dropped[at] = c
}

// If too many JVMs have ended, dropEnded drops those that ended first.
func (m *Model) dropEnded() {
	var ended []*jvm
	for _, j := range m.jvms {
		switch {
		case !j.Ended:
			j.endTick = 0
		case j.endTick == 0:
			j.endTick = m.lastTick
			fallthrough
		default:
			ended = append(ended, j)
		}
	}
	if len(ended) <= maxEnded {
		return
	}
	slices.SortFunc(ended, func(a, b *jvm) int { return cmp.Or(cmp.Compare(a.endTick, b.endTick), a.PID-b.PID) })
	for _, j := range ended[:len(ended)-maxEnded] {
		delete(m.jvms, j.PID)
		delete(m.allPauses, j.PID)
	}
	m.order = slices.DeleteFunc(m.order, func(pid int) bool { return m.jvms[pid] == nil })
}

// dropTaken drops the JVMs that ended before the given time (CLOCK_MONOTONIC), with all their code. TakeSettled must
// have returned their samples.
func (m *Model) dropTaken(before int64) {
	taken := map[int]bool{}
	for pid, j := range m.jvms {
		if j.Ended && j.endTick != 0 && j.endTick < before {
			taken[pid] = true
			delete(m.jvms, pid)
			delete(m.allPauses, pid)
		}
	}
	if len(taken) == 0 {
		return
	}
	isTaken := func(pid int) bool { return taken[pid] }
	m.order = slices.DeleteFunc(m.order, isTaken)
	maps.DeleteFunc(m.frames, func(at place, _ []printassembly.Frame) bool { return isTaken(at.code.PID) })
	m.chunks = slices.DeleteFunc(m.chunks, func(c *chunk) bool {
		if isTaken(c.pid) {
			m.textBytes -= c.size
			m.decoded -= c.decoded
			c.gone, c.jvms, c.reader = true, jvmcode.JVMs{}, nil
		}
		return isTaken(c.pid)
	})
}

// find returns the code that a sample was in, or nil.
func (j *jvm) find(s *sampler.Sample) *Code {
	if j.where == nil {
		// The map keeps the slice. It needs no copy: new blobs are appended after its end, the map ignores HasCode, and
		// settle, which moves blobs, drops the map.
		j.where = codemap.New(slices.Clip(j.blobs))
		clear(j.codes)
	}
	uptime := (s.MonoNanos - j.StartMonoNanos) / 1e6
	i, ok := j.where.Find(s.PC, uptime)
	if !ok && s.Module == "" {
		i, ok = j.where.FindUnprinted(s.PC)
	}
	if !ok {
		return nil
	}
	if i >= len(j.code) {
		c := j.codes[i]
		if c == nil {
			c = newCode(j.PID, j.where.Blob(i))
			j.codes[i] = c
		}
		return c
	}
	if j.code[i] == nil {
		at := keyOf(&j.blobs[i])
		if j.code[i] = j.dropped[at]; j.code[i] == nil {
			j.code[i] = newCode(j.PID, &j.blobs[i])
		}
		delete(j.dropped, at)
		if j.copy[i] != nil {
			j.code[i].copied(j.copy[i], j.at[i])
		}
	}
	return j.code[i]
}

// nameAt returns the name of the code at an address, or "".
func (j *jvm) nameAt(pc uint64) string {
	if j.where == nil {
		return ""
	}
	if i, ok := j.where.Find(pc, 1<<60); ok {
		return j.where.Blob(i).Name
	}
	return ""
}
