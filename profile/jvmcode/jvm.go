// Package jvmcode finds and reads the code of the JVMs of a profile. A [JVM] knows which blob of its log was at an
// address at a time. A [Reader] reads the instructions of blobs, and the inlining chains at addresses in them. Logs
// with the code of a large program take long to read. So a Reader only reads what it is asked for, and does so on all
// processors where it can (ReadAhead).
package jvmcode

import (
	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/codemap"
	"github.com/gasm-profiler/gasm/sampler"
)

// A JVM is a JVM of a capture, with the map of its code. Its Log is not nil.
type JVM struct {
	capture.JVM
	Code *codemap.Map

	byName  map[string][]int32 // indexes of the log's blobs by method; made by Compiled
	decided *decided           // nil if no decisions about calls were recorded
	sizes   map[string][]int   // bytecode sizes of compiled methods, by name; made by bytecodeSizes
	// callers[m] has at most two names of compiled methods into which the method m was inlined. The methods m are those
	// with a profile of HotSpot's. hasCallers makes the map.
	callers map[string][]string
}

// A Ref names a blob of one of several JVMs. JVM is the JVM's index in [JVMs.List], and Index is the blob's index in
// the map of the JVM's code.
type Ref struct{ JVM, Index int }

// JVMs are the JVMs of a profile, in the order in which they were added. The zero value has none.
type JVMs struct {
	List   []*JVM
	Native *Native     // the native functions whose code is known; nil if there are none
	index  map[int]int // index of each JVM in List, by process id
}

// Add adds a JVM, whose Log is not nil.
func (s *JVMs) Add(j capture.JVM) {
	if s.index == nil {
		s.index = map[int]int{}
	}
	s.index[j.PID] = len(s.List)
	s.List = append(s.List, newJVM(j))
}

// Of returns the JVM with a process id, or nil.
func (s *JVMs) Of(pid int) *JVM {
	if i, ok := s.index[pid]; ok {
		return s.List[i]
	}
	return nil
}

// Find returns the blob that a sample's PC was in. pid is the JVM to which the sample is attributed; it may differ from
// the sample's own process id. Find returns false if the PC was in no blob, or if there is no such JVM.
func (s *JVMs) Find(pid int, sample *sampler.Sample) (r Ref, ok bool) {
	i, ok := s.index[pid]
	if !ok {
		return Ref{}, false
	}
	index, ok := s.List[i].find(sample)
	return Ref{i, index}, ok
}

// Beyond reports whether an address is outside the range that a JVM has reserved for code. If a sample there is in no
// known file, it was in native code that HotSpot did not make.
func (s *JVMs) Beyond(pid int, pc uint64) bool {
	j := s.Of(pid)
	return j != nil && j.Code.Beyond(pc, j.Log.ReservedCodeCache)
}

// newJVM returns the JVM with the map of its code. The map usually regards gaps between blobs as code that HotSpot
// never prints. If the log is damaged, it does not, because such a gap may be code that the log has lost.
func newJVM(j capture.JVM) *JVM {
	code := codemap.New(j.Log.Blobs)
	if j.Log.Damaged > 0 {
		code.DropUnprinted()
	}
	return &JVM{JVM: j, Code: code}
}

// find returns the index of the blob that a sample's PC was in. It returns false if the PC was in no blob.
func (j *JVM) find(s *sampler.Sample) (index int, ok bool) {
	uptime := int64(1) << 60 // a sample without a time is attributed to the last code at its address
	if s.MonoNanos >= 0 {
		uptime = (s.MonoNanos - j.StartMonoNanos) / 1e6
	}
	index, ok = j.Code.Find(s.PC, uptime)
	if !ok && s.Module == "" {
		index, ok = j.Code.FindUnprinted(s.PC)
	}
	return index, ok
}

// Compiled returns the compilations of a method, as indexes of the log's blobs. It leaves out those for which the log
// has no time. The first call indexes all methods by name, because Compiled is called for each trial, and there may be
// many trials.
func (j *JVM) Compiled(name string) []int32 {
	if j.byName == nil {
		j.byName = map[string][]int32{}
		for i := range j.Log.Blobs {
			if b := &j.Log.Blobs[i]; b.Kind == printassembly.NMethod && b.Stamped {
				j.byName[b.Name] = append(j.byName[b.Name], int32(i))
			}
		}
	}
	return j.byName[name]
}
