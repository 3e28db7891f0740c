package jvmcode

import (
	"cmp"
	"errors"
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/printassembly/safepoints"
	"github.com/gasm-profiler/gasm/profile/decisions"
	"github.com/gasm-profiler/gasm/profile/jitprofile"
)

// A Reader reads the code of blobs from the JVMs' logs for one profile, and keeps what it has read recently. If it
// can't read all of a blob's code, it warns once for that blob, and goes on with the instructions that it could read.
type Reader struct {
	jvms   []*JVM
	native *Native
	syntax disasm.Syntax
	warnf  func(format string, args ...any) // adds a warning to the profile

	listings  map[Ref][]printassembly.Instruction // the blobs that were read recently
	listed    int                                 // number of instructions in listings
	debugInfo map[Ref]*printassembly.DebugInfo    // for blobs whose debug info was read without a listing
	placed    map[Ref]map[uint64]placed           // what is known about sampled instructions, by PC; see sparse
	unread    map[Ref]bool                        // blobs whose code could not be read completely
	guessed   map[Ref]bool                        // see SafepointsOnly
	profiled  map[Ref]*jitprofile.Code            // see Profiled
	decided   map[Ref]*decisions.Code             // see Decided
}

// NewReader returns a Reader of the code of these JVMs, with instructions in the given syntax. It calls the function
// warnf for each blob whose code can't be read completely.
func NewReader(jvms *JVMs, syntax disasm.Syntax, warnf func(format string, args ...any)) *Reader {
	return &Reader{jvms: jvms.List, native: jvms.Native, syntax: syntax, warnf: warnf,
		listings:  map[Ref][]printassembly.Instruction{},
		debugInfo: map[Ref]*printassembly.DebugInfo{}, placed: map[Ref]map[uint64]placed{}, unread: map[Ref]bool{},
		guessed: map[Ref]bool{}, profiled: map[Ref]*jitprofile.Code{},
		decided: map[Ref]*decisions.Code{}}
}

// Blob returns the blob that r names.
func (c *Reader) Blob(r Ref) *printassembly.Blob {
	if r.JVM == OfNative {
		return &c.native.blobs[r.Index]
	}
	return c.jvms[r.JVM].Code.Blob(r.Index)
}

// The type placed holds what a Reader still knows about a sampled instruction after it has dropped the instructions of
// the blob.
type placed struct {
	frames []printassembly.Frame
	end    uint64 // the address after the instruction
}

// read reads a blob's instructions. If HotSpot has recorded frames at safepoints only, package safepoints sets the
// frames of the other instructions, and safepointsOnly is true.
func (c *Reader) read(r Ref) (insts []printassembly.Instruction, safepointsOnly bool, err error) {
	insts, err = c.instructions(r, c.syntax)
	if !c.sparse(r) {
		return insts, false, err
	}
	return insts, safepoints.Spread(c.Blob(r), insts, &c.jvms[r.JVM].Log.Bodies), err
}

// instructions returns a blob's instructions as its log has them.
func (c *Reader) instructions(r Ref, syntax disasm.Syntax) ([]printassembly.Instruction, error) {
	if r.JVM == OfNative {
		return c.native.instructions(r.Index, syntax)
	}
	return c.jvms[r.JVM].Log.Code(c.Blob(r), syntax)
}

// SafepointsOnly reports whether a method was compiled without DebugNonSafepoints, so that HotSpot has recorded its
// frames at safepoints only, and all others are guesses. It is known once ReadAhead or Listing has read the method.
func (c *Reader) SafepointsOnly(r Ref) bool { return c.guessed[r] }

// sparse reports whether a blob may have records of frames at safepoints only.
func (c *Reader) sparse(r Ref) bool {
	b := c.Blob(r)
	if b.Kind != printassembly.NMethod {
		return false
	}
	j := c.jvms[r.JVM]
	return j.SafepointsOnly || j.DetailedFromMillis > 0 && b.UptimeMillis < j.DetailedFromMillis+inCompilation
}

// inCompilation is the time in milliseconds that a compilation at the start of a JVM takes at most. A method whose
// compilation had begun before DebugNonSafepoints was switched on may be installed that much later, and still has
// records at safepoints only.
const inCompilation = 1000

// readAt returns what is known about the instructions at these PCs of a blob that may have records of frames at
// safepoints only. It returns nil if not all of the blob's code can be read. safepointsOnly is true if frames are
// guesses.
func (c *Reader) readAt(r Ref, pcs iter.Seq[uint64]) (known map[uint64]placed, safepointsOnly bool) {
	j := c.jvms[r.JVM]
	text, err := j.Log.Text(c.Blob(r))
	if err != nil {
		return nil, false
	}
	if safepoints.IsExcerpt(text.Lead()) {
		if info := text.DebugInfo(c.syntax); info != nil {
			return placeExcerpt(pcs, info), true
		}
	}
	insts, err := text.Outline(c.syntax)
	if err != nil {
		return nil, false
	}
	known = map[uint64]placed{}
	at := map[uint64]int{}
	var indices []int
	for pc := range pcs {
		if i := Index(insts, pc); i >= 0 {
			at[pc] = i
			indices = append(indices, i)
		}
	}
	safepointsOnly = safepoints.SpreadAt(c.Blob(r), insts, text, &j.Log.Bodies, indices)
	for pc, i := range at {
		known[pc] = placed{insts[i].Frames, insts[i].Hi}
	}
	return known, safepointsOnly
}

// placeExcerpt does the same as readAt for an excerpt, which is code in which only the sampled instructions have
// records (see package safepoints). It takes the frames from the debug info, so the instructions need not be decoded.
func placeExcerpt(pcs iter.Seq[uint64], info *printassembly.DebugInfo) map[uint64]placed {
	known := map[uint64]placed{}
	for pc := range pcs {
		if end, ok := info.End(pc); ok {
			known[pc] = placed{safepoints.Guessed(info.Frames(pc)), end}
		}
	}
	return known
}

// maxListed limits the number of instructions that are kept in listings. The hot code of most programs has fewer. If
// there are more, all listings are dropped, and code that is needed again is read again.
const maxListed = 2 << 20

// Listing returns a blob's instructions. If not all of them can be read, it warns, once for each blob.
func (c *Reader) Listing(r Ref) []printassembly.Instruction {
	insts, ok := c.listings[r]
	if ok {
		return insts
	}
	insts, guessed, err := c.read(r)
	if guessed {
		c.guessed[r] = true
	}
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

// ReadAhead reads the debug info of blobs, on all processors. A program that compiles much has samples in thousands of
// methods, but only the hottest of them are shown. If the debug info can't be read without the code, ReadAhead reads
// the listing instead, as long as all listings together have fewer than maxListed instructions.
//
// If a blob has records of frames at safepoints only, finding the frames of a single instruction usually takes decoding
// all of its code (see readAt). So ReadAhead does this once, for all sampled instructions: pcs(i) are their addresses
// in blobs[i].
//
// ReadAhead ignores errors, because Listing reads such code again and warns.
func (c *Reader) ReadAhead(blobs []Ref, pcs func(i int) iter.Seq[uint64]) {
	infos := make([]*printassembly.DebugInfo, len(blobs))
	insts := make([][]printassembly.Instruction, len(blobs))
	known := make([]map[uint64]placed, len(blobs))
	guessed := make([]bool, len(blobs))
	var next, listed atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(blobs)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(blobs); i = int(next.Add(1)) - 1 {
				r := blobs[i]
				if c.sparse(r) {
					known[i], guessed[i] = c.readAt(r, pcs(i))
					continue
				}
				log := c.jvms[r.JVM].Log
				info, err := log.DebugInfo(c.Blob(r), c.syntax)
				if infos[i] = info; err != nil || info != nil || listed.Load() >= maxListed {
					continue
				}
				if code, err := log.Code(c.Blob(r), c.syntax); err == nil {
					insts[i] = code
					listed.Add(int64(len(code)))
				}
			}
		})
	}
	wg.Wait()
	for i, r := range blobs {
		if known[i] != nil {
			c.placed[r] = known[i]
		}
		if guessed[i] {
			c.guessed[r] = true
		}
		if infos[i] != nil {
			c.debugInfo[r] = infos[i]
		}
		if insts[i] != nil {
			c.listings[r] = insts[i]
			c.listed += len(insts[i])
		}
	}
}

// ReadDebugInfo reads the debug info of one blob, unless it was read already. It reads nothing if the frames are in the
// blob's listing.
func (c *Reader) ReadDebugInfo(r Ref) {
	if _, ok := c.debugInfo[r]; !ok && !c.sparse(r) {
		c.debugInfo[r], _ = c.jvms[r.JVM].Log.DebugInfo(c.Blob(r), c.syntax) // Listing meets the same error, and warns
	}
}

// Chain returns the inlining chain at a PC of compiled code, innermost frame first. An instruction without debug info
// belongs to the method itself.
func (c *Reader) Chain(r Ref, pc uint64) []printassembly.Frame {
	chain := c.wholeChain(r, pc)
	if c.sparse(r) {
		return withoutAgent(chain)
	}
	return chain
}

func (c *Reader) wholeChain(r Ref, pc uint64) []printassembly.Frame {
	if at, ok := c.placed[r][pc]; ok {
		if len(at.frames) > 0 {
			return at.frames
		}
	} else if info := c.debugInfo[r]; info != nil {
		if frames := info.Frames(pc); len(frames) > 0 {
			return frames
		}
	} else if insts := c.Listing(r); Index(insts, pc) >= 0 && len(insts[Index(insts, pc)].Frames) > 0 {
		return insts[Index(insts, pc)].Frames
	}
	return []printassembly.Frame{{Method: c.Blob(r).Name}}
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

// TargetName returns the name of the code to which a direct jump or call of the blob goes. It returns "" if the target
// is in the blob itself, or in no known code.
func (c *Reader) TargetName(r Ref, in *printassembly.Instruction) string {
	b := c.Blob(r)
	if in.Target == 0 || in.Kind == disasm.Plain || in.Target >= b.Lo && in.Target < b.Hi {
		return ""
	}
	if r.JVM == OfNative {
		return c.native.table.Functions[r.Index].Targets[in.Target]
	}
	j := c.jvms[r.JVM]
	i, ok := j.Code.Find(in.Target, b.UptimeMillis)
	if !ok {
		return ""
	}
	return j.Log.Blobs[i].Name
}

// Index returns the index of the instruction that holds pc, or -1. The instructions are in the order of their
// addresses.
func Index(insts []printassembly.Instruction, pc uint64) int {
	i, ok := slices.BinarySearchFunc(insts, pc, func(in printassembly.Instruction, pc uint64) int {
		return cmp.Compare(in.Lo, pc)
	})
	if !ok {
		i--
	}
	if i < 0 || pc >= insts[i].Hi {
		return -1
	}
	return i
}

// InstructionEnd returns the end of the instruction at a PC. It returns false if the log has no instruction there.
func (c *Reader) InstructionEnd(r Ref, pc uint64) (uint64, bool) {
	if at, ok := c.placed[r][pc]; ok {
		return at.end, true
	}
	if info := c.debugInfo[r]; info != nil {
		return info.End(pc)
	}
	insts := c.Listing(r)
	i := Index(insts, pc)
	if i < 0 {
		return 0, false
	}
	return insts[i].Hi, true
}

// OtherSyntax returns the texts of a blob's instructions in the other syntax: in AT&T's if insts have Intel's, and the
// other way around. It returns nil if the texts are the same, or if the log has texts instead of bytes.
func (c *Reader) OtherSyntax(r Ref, insts []printassembly.Instruction) []string {
	other := disasm.Intel
	if c.syntax == disasm.Intel {
		other = disasm.ATT
	}
	again, err := c.instructions(r, other)
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
