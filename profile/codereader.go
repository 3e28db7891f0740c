package profile

import (
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/printassembly/safepoints"
	"github.com/gasm-profiler/gasm/profile/code"
	"github.com/gasm-profiler/gasm/profile/tally"
)

// A blobRef names a blob: the JVM's index in Builder.jvms, and the blob's index in the JVM's map of code.
type blobRef struct{ jvm, blob int }

// A codeReader reads the code of blobs from the JVMs' logs for one profile, and keeps what it has read recently. If it
// can't read all of a blob's code, it warns once for that blob, and goes on with the instructions that it could read.
type codeReader struct {
	jvms     []*jvmCode
	opts     *Options
	counters int                              // length of code.Line.Counts
	warnf    func(format string, args ...any) // adds a warning to the profile

	listings  map[blobRef][]printassembly.Instruction // of the blobs that were read recently
	listed    int                                     // number of instructions in listings
	debugInfo map[blobRef]*printassembly.DebugInfo    // of the blobs whose debug info was read without a listing
	placed    map[blobRef]map[uint64]placed           // what is known about sampled instructions, by PC; see sparse
	unread    map[blobRef]bool                        // blobs whose code could not be read completely
}

func newCodeReader(jvms []*jvmCode, opts *Options, counters int, warnf func(format string, args ...any)) *codeReader {
	return &codeReader{jvms: jvms, opts: opts, counters: counters, warnf: warnf, listings: map[blobRef][]printassembly.Instruction{},
		debugInfo: map[blobRef]*printassembly.DebugInfo{}, placed: map[blobRef]map[uint64]placed{}, unread: map[blobRef]bool{}}
}

// blob returns the blob that r names.
func (c *codeReader) blob(r blobRef) *printassembly.Blob { return c.jvms[r.jvm].code.Blob(r.blob) }

// A placed is what a codeReader still knows about a sampled instruction after it has dropped the instructions of the
// blob.
type placed struct {
	frames []printassembly.Frame
	end    uint64 // the address after the instruction
}

// read reads a blob's instructions. If HotSpot has recorded frames at safepoints only, package safepoints sets the
// frames of the other instructions.
func (c *codeReader) read(r blobRef) ([]printassembly.Instruction, error) {
	b := c.blob(r)
	insts, err := c.jvms[r.jvm].Log.Code(b, c.opts.Syntax)
	if c.sparse(r) {
		safepoints.Spread(b, insts)
	}
	return insts, err
}

// sparse reports whether a blob may have records of frames at safepoints only.
func (c *codeReader) sparse(r blobRef) bool {
	return c.jvms[r.jvm].SafepointsOnly && c.blob(r).Kind == printassembly.NMethod
}

// place returns what is known about the sampled instructions of a blob, by PC. insts are all instructions of the blob.
func place(s *sampledBlob, insts []printassembly.Instruction) map[uint64]placed {
	known := make(map[uint64]placed, len(s.atPC))
	for pc := range s.atPC {
		if i := find(insts, pc); i >= 0 {
			known[pc] = placed{insts[i].Frames, insts[i].Hi}
		}
	}
	return known
}

// maxListed limits the number of instructions that are kept in listings. The hot code of most programs has fewer. If
// there are more, all listings are dropped, and code that is needed again is read again.
const maxListed = 2 << 20

// listing returns a blob's instructions. If not all of them can be read, it warns, once for each blob.
func (c *codeReader) listing(r blobRef) []printassembly.Instruction {
	insts, ok := c.listings[r]
	if ok {
		return insts
	}
	insts, err := c.read(r)
	if err != nil && !c.unread[r] {
		c.unread[r] = true
		if tooMuch := new(printassembly.TooMuchError); errors.As(err, &tooMuch) {
			c.warnf("%v", err)
		} else {
			c.warnf("%v: shown without code", err)
		}
	}
	if c.listed += len(insts); c.listed > maxListed {
		clear(c.listings)
		c.listed = len(insts)
	}
	c.listings[r] = insts
	return insts
}

// readAhead reads the debug info of blobs, on all processors. A program that compiles much has samples in thousands of
// methods, but only the hottest of them are shown. If the debug info can't be read without the code, readAhead reads
// the listing instead, as long as all listings together have fewer than maxListed instructions. If a blob has records
// of frames at safepoints only, all of its code must be decoded to find the frames of an instruction. So readAhead does
// that once, and keeps what it finds about the sampled instructions. It ignores errors, because listing reads such code
// again and warns.
func (c *codeReader) readAhead(sampled []*sampledBlob) {
	infos := make([]*printassembly.DebugInfo, len(sampled))
	insts := make([][]printassembly.Instruction, len(sampled))
	known := make([]map[uint64]placed, len(sampled))
	var next, listed atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(sampled)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(sampled); i = int(next.Add(1)) - 1 {
				s := sampled[i]
				if c.opts.skips(s.Kind) {
					continue
				}
				if c.sparse(s.blobRef) {
					if code, err := c.read(s.blobRef); err == nil {
						known[i] = place(s, code)
					}
					continue
				}
				log := c.jvms[s.jvm].Log
				info, err := log.DebugInfo(s.Blob, c.opts.Syntax)
				if infos[i] = info; err != nil || info != nil || listed.Load() >= maxListed {
					continue
				}
				if code, err := log.Code(s.Blob, c.opts.Syntax); err == nil {
					insts[i] = code
					listed.Add(int64(len(code)))
				}
			}
		})
	}
	wg.Wait()
	for i, s := range sampled {
		if known[i] != nil {
			c.placed[s.blobRef] = known[i]
		}
		if infos[i] != nil {
			c.debugInfo[s.blobRef] = infos[i]
		}
		if insts[i] != nil {
			c.listings[s.blobRef] = insts[i]
			c.listed += len(insts[i])
		}
	}
}

// readDebugInfo reads the debug info of one blob, unless it was read already. It reads nothing if the frames are in the
// blob's listing.
func (c *codeReader) readDebugInfo(r blobRef) {
	if _, ok := c.debugInfo[r]; !ok && !c.sparse(r) {
		c.debugInfo[r], _ = c.jvms[r.jvm].Log.DebugInfo(c.blob(r), c.opts.Syntax) // the listing has the error, too
	}
}

// chain returns the inlining chain at a PC of compiled code, innermost frame first. An instruction without debug info
// belongs to the method itself.
func (c *codeReader) chain(s *sampledBlob, pc uint64) []printassembly.Frame {
	chain := c.wholeChain(s, pc)
	if c.jvms[s.jvm].SafepointsOnly {
		return withoutAgent(chain)
	}
	return chain
}

func (c *codeReader) wholeChain(s *sampledBlob, pc uint64) []printassembly.Frame {
	if at, ok := c.placed[s.blobRef][pc]; ok {
		if len(at.frames) > 0 {
			return at.frames
		}
	} else if info := c.debugInfo[s.blobRef]; info != nil {
		if frames := info.Frames(pc); len(frames) > 0 {
			return frames
		}
	} else if insts := c.listing(s.blobRef); find(insts, pc) >= 0 && len(insts[find(insts, pc)].Frames) > 0 {
		return insts[find(insts, pc)].Frames
	}
	return []printassembly.Frame{{Method: s.Name}}
}

// agentClasses is the beginning of the names of the agent's classes, such as java.lang.GasmProbes. Probed methods call
// these classes.
const agentClasses = "java.lang.Gasm"

// withoutAgent removes the frames of gasm's agent, and the frames of what the agent calls, from the inner end of a
// chain. It is for JVMs that keep debug info for safepoints only, so that an instruction has the frames of the next
// safepoint. In a method with probes, the next safepoint of nearly every instruction is in a call of the agent.
func withoutAgent(chain []printassembly.Frame) []printassembly.Frame {
	for i := len(chain) - 2; i >= 0; i-- {
		if strings.HasPrefix(chain[i].Method, agentClasses) {
			return chain[i+1:]
		}
	}
	return chain
}

// instructionEnd returns the end of the instruction at a PC. It returns false if the log has no instruction there.
func (c *codeReader) instructionEnd(r blobRef, pc uint64) (uint64, bool) {
	if at, ok := c.placed[r][pc]; ok {
		return at.end, true
	}
	if info := c.debugInfo[r]; info != nil {
		return info.End(pc)
	}
	insts := c.listing(r)
	i := find(insts, pc)
	if i < 0 {
		return 0, false
	}
	return insts[i].Hi, true
}

// line returns an instruction's line of a listing, without samples. If the instruction jumps to other code, the line
// has that code's name.
func (c *codeReader) line(from *mergedCode, in printassembly.Instruction) code.Line {
	l := code.Line{Instruction: in, Counts: make(tally.Counts, c.counters)}
	if l.Direct() && (in.Target < from.Lo || in.Target >= from.Hi) {
		j := c.jvms[from.jvm]
		if i, ok := j.code.Find(in.Target, from.UptimeMillis); ok {
			l.TargetName = j.Log.Blobs[i].Name
		}
	}
	return l
}

// lines returns a line for each instruction of a listing, with the instruction's samples. It also returns the samples
// at addresses where there is no instruction.
func (c *codeReader) lines(from *mergedCode, insts []printassembly.Instruction) (lines []code.Line, beside tally.Counts) {
	lines, beside = make([]code.Line, len(insts)), make(tally.Counts, c.counters)
	for i, in := range insts {
		lines[i] = c.line(from, in)
	}
	for pc, counts := range from.mergedAtPC {
		if i := find(insts, pc); i >= 0 {
			lines[i].Counts.Add(counts)
		} else {
			beside.Add(counts)
		}
	}
	return lines, beside
}

// otherSyntax returns the texts of instructions in the other syntax: in AT&T's if insts have Intel's, and the other way
// around. It returns nil if the texts are the same, or if the log has texts instead of bytes.
func (c *codeReader) otherSyntax(from *mergedCode, insts []printassembly.Instruction) []string {
	other := disasm.Intel
	if c.opts.Syntax == disasm.Intel {
		other = disasm.ATT
	}
	again, err := c.jvms[from.jvm].Log.Code(c.blob(from.blobRef), other)
	if err != nil || len(again) != len(insts) {
		return nil
	}
	texts, same := make([]string, len(again)), 0
	for i, in := range again {
		texts[i] = in.Text
		if in.Text == insts[i].Text {
			same++
		}
	}
	if same == len(texts) {
		return nil
	}
	return texts
}
