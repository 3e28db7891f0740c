package perfetto

import (
	"cmp"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/calltree"
	"github.com/gasm-profiler/gasm/sampler"
)

// sample writes a sample.
func (b *builder) sample(p *profile.PlacedSample) error {
	if p.MonoNanos < 0 {
		b.timeless++
		return nil
	}
	tid := p.TID
	if tid <= 0 {
		tid = p.JVM // the sampler's text has no thread ids
	}
	key := trackKey{pid: p.JVM, tid: tid}
	if t := b.trackOf(key, p.Name); t.name != p.Name && p.Name != "" {
		t.name = p.Name // the thread was renamed, or the kernel gave its id to another one
		b.describe(key, t)
	}
	s := b.counter(p)
	s.prepare()
	stack := s.stack(p.Place, func(ids []uint64) []uint64 {
		p.Frames(func(f *callstack.Frame, guessed bool) bool {
			ids = append(ids, frameID(b, s, f, guessed))
			return true
		})
		return ids
	})
	body := b.body[:0]
	body.uint(samplePID, uint64(p.JVM))
	body.uint(sampleTID, uint64(tid))
	body.uint(sampleCallstack, stack)
	mode := uint64(modeUser)
	if p.Kernel() {
		mode = modeKernel
	}
	body.uint(sampleMode, mode)
	switch end, hasStacks := p.End(); {
	case hasStacks && end == calltree.Cut:
		body.uint(sampleUnwindError, errorMemory)
	case hasStacks && end == calltree.Unwalked:
		body.uint(sampleUnwindError, errorUnwindInfo)
	}
	b.body = body
	s.packetAt(p.MonoNanos, packetPerfSample, body)
	b.last = max(b.last, p.MonoNanos)
	return b.failed()
}

// failed returns the first error of writing, if there is one. The caller then stops, for example because the disk is
// full.
func (b *builder) failed() error {
	_, err := b.out.Write(nil)
	return err
}

// counter returns the packet sequence for the samples of a counter, such as cycles.
func (b *builder) counter(p *profile.PlacedSample) *sequence[profile.Place] {
	for len(b.samples) <= p.Counter {
		b.samples = append(b.samples, nil)
	}
	s := b.samples[p.Counter]
	if s == nil {
		s = newSequence[profile.Place](b.writer, uint64(firstSamples+p.Counter),
			perfDefaults(p.Event, b.trace.Capture.Frequency))
		b.samples[p.Counter] = s
	}
	return s
}

// perfCounters maps perf's counters to their numbers in PerfEvents.Counter. Perfetto derives the unit of a counter from
// its number.
var perfCounters = map[string]uint64{"cpu-clock": 1, "page-faults": 2, "task-clock": 3, "context-switches": 4,
	"cycles":       10,
	"instructions": 11, "cache-references": 12, "cache-misses": 13, "branch-misses": 15}

// perfDefaults returns the TracePacketDefaults for the samples of a counter.
func perfDefaults(counter string, frequency int) message {
	var timebase, defaults, all message
	if hz := cmp.Or(sampler.ParseEvent(counter).NamedFrequency(), frequency); hz > 0 {
		timebase.uint(timebaseFrequency, uint64(hz))
	}
	if n := perfCounters[counter]; n != 0 {
		timebase.uint(timebaseCounter, n)
	}
	timebase.text(timebaseName, clean(counter))
	defaults.message(perfDefaultsTimebase, timebase)
	all.message(defaultsPerfSample, defaults)
	return all
}

// lost writes how many samples the sampler has dropped.
func (b *builder) lost(n int64) {
	if n <= 0 {
		return
	}
	var s *sequence[profile.Place]
	for _, s = range b.samples {
		if s != nil {
			break
		}
	}
	if s == nil {
		s = newSequence[profile.Place](b.writer, firstSamples, nil)
	}
	body := b.body[:0]
	body.uint(sampleRecordsLost, uint64(n))
	b.body = body
	s.packetAt(b.last, packetPerfSample, body)
}

// Names of mappings that are not files.
const (
	codeCache   = "[code cache]"
	interpreter = "[interpreter]"
	kernel      = "kernel" // Perfetto knows the mapping of this name
	marks       = "[stack]"
)

// frameID returns the number of a frame.
func frameID[S comparable](b *builder, s *sequence[S], f *callstack.Frame, guessed bool) uint64 {
	code := calltree.CodeOf(f)
	name := code.Label()
	if guessed {
		name = printassembly.GuessMark + name
	}
	out := frame{function: s.string(internedFunctions, name), line: uint64(max(f.Line, 0))}
	mapping := marks
	switch f.Kind {
	case callstack.Compiled, callstack.Inlined:
		mapping, out.kind, out.pc = codeCache, kindJIT, f.PC
	case callstack.Stub:
		mapping, out.kind, out.pc = codeCache, kindRuntime, f.PC
	case callstack.Interpreted:
		// Perfetto treats frames with the same name and address as one frame, with the line of the first. So use the line as
		// the address.
		mapping, out.kind, out.pc = interpreter, kindInterpreted, out.line
	case callstack.Native:
		mapping, out.kind = cmp.Or(f.Module, profile.UnknownModule), kindNative
	case callstack.Kernel:
		mapping, out.kind = kernel, kindKernel
	}
	out.mapping = s.mapping(mapping)
	if code.Java() {
		out.source = b.source(s.string, f.Name)
	}
	return s.frame(out)
}
