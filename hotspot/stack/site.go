package stack

import (
	"time"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/hotspot/nmethod"
	"github.com/gasm-profiler/gasm/internal/native"
)

// A place is the code that a frame belongs to: a piece of the code cache, a mapped file, or neither.
type place struct {
	code   *code
	mapped *mapped
}

func (p place) isInterpreter() bool { return p.code != nil && p.code.rule == interpreter }

// The type mapped is a mapping of a file, together with what is known about that file.
type mapped struct {
	native.Mapping
	library *library
}

// A frame is a frame of a stack. id is its number in the Writer, or 0 if the Writer has not been asked for it yet.
type frame struct {
	callstack.Frame
	id     callstack.FrameID
	method nmethod.Frame // what was read about a Java method, including its source file and its locks
	used   bool          // a sample needed it since the last check; only for frames in sites.methods
}

// A site has the code and the frames of a return address. Sites are kept, because nearly all stacks consist of the same
// few thousand addresses.
type site struct {
	place
	since  int64    // the site is valid for samples after this time (CLOCK_MONOTONIC)
	frames []*frame // innermost first; nil if nobody has looked for them yet, or they could not be found
}

// sites has the sites found so far, and other results of searches. It is valid until the code cache or the mappings
// change, because until then a new search would find the same.
type sites struct {
	generation, version int
	byPC                map[uint64]*site
	interrupted         map[uint64]*frame  // frames of library functions, by the address at which they were interrupted
	mappings            map[uint64]*mapped // by their first address

	// The frames of interpreted methods are known to be right for no longer than a Copier keeps their names. After that,
	// those that were used are stale. When a frame is needed that is not in methods, all stale ones are checked at once.
	methods, stale map[methodAt]*frame
	until          int64 // when methods become stale (CLOCK_MONOTONIC)
}

// A methodAt identifies a bytecode that is executed: the address of a Method, and the address of the bytecode in it.
type methodAt struct{ method, bcp uint64 }

const (
	// When there are mostSites sites, all are forgotten. Each takes about 100 bytes.
	mostSites = 1 << 16
	// keepMethods is how long frames of interpreted methods are kept without a check.
	keepMethods = 250 * time.Millisecond
	// mostStale limits how many frames are checked at once.
	mostStale = 64
)

// refresh forgets what may be out of date. The parameter now is the present time, not that of a sample: many samples
// may be walked at once, and what was read for the first of them holds for the others, too.
func (s *sites) refresh(generation, version int, now int64) {
	if s.byPC == nil || s.generation != generation || s.version != version || len(s.byPC) >= mostSites {
		s.generation, s.byPC = generation, map[uint64]*site{}
	}
	if s.mappings == nil || s.version != version {
		s.version, s.mappings, s.interrupted = version, map[uint64]*mapped{}, map[uint64]*frame{}
	}
	if s.methods == nil || now > s.until {
		if len(s.methods) > 0 {
			s.stale = map[methodAt]*frame{}
		}
		for at, f := range s.methods {
			if f.used && len(s.stale) < mostStale {
				f.used, s.stale[at] = false, f
			}
		}
		s.methods, s.until = map[methodAt]*frame{}, now+int64(keepMethods)
	}
}

// site returns what is known about the current return address.
func (k *walk) site() *site {
	if k.here != nil && k.herePC == k.at.PC {
		return k.here
	}
	s := k.jvm.sites.byPC[k.at.PC]
	if s == nil || k.monoNanos <= s.since {
		s = k.newSite()
	}
	k.here, k.herePC = s, k.at.PC
	return s
}

func (k *walk) newSite() *site {
	s := &site{}
	sure := true
	pc := k.at.PC - 1 // in the call instruction, because the return address may be the first byte of other code
	if j := k.jvm; j.openJVM != nil {
		b, only := j.view.Cache.Only(pc)
		if b == nil && only { // as in the function find
			b, only = j.view.Cache.Only(k.at.PC)
		}
		if b != nil {
			s.since = b.NotBeforeMonoNanos
		}
		sure = only
	}
	if s.place = k.find(pc); k.late {
		return s
	}
	if sure && k.monoNanos > s.since && (s.mapped == nil || s.mapped.library.settled(k.pid)) {
		k.jvm.sites.byPC[k.at.PC] = s
	}
	return s
}

// find returns the code at an address.
func (k *walk) find(pc uint64) (p place) {
	if j := k.jvm; j.openJVM != nil {
		b, ambiguous := j.view.Cache.At(pc, k.monoNanos)
		if b == nil && !k.exact { // deoptimization makes interpreter frames that return to the start of a codelet
			b, ambiguous = j.view.Cache.At(k.at.PC, k.monoNanos)
		}
		if b != nil {
			if !ambiguous { // otherwise two methods may have been there at that time
				p.code = k.codeOf(b)
			}
			return p
		}
	}
	p.mapped = k.mapping(pc)
	return p
}

// mapping returns the mapping of an address. It is nil if no file is mapped there.
func (k *walk) mapping(pc uint64) *mapped {
	found, ok := k.mappings.Mapping(k.pid, pc)
	if !ok {
		return nil
	}
	known := &k.jvm.sites.mappings
	m := (*known)[found.Lo]
	if m == nil {
		m = &mapped{Mapping: found}
		(*known)[found.Lo] = m
	}
	if m.library == nil || !m.library.settled(k.pid) {
		m.library = k.w.library(k.jvm, &m.Mapping, k.mappings)
	}
	return m
}
