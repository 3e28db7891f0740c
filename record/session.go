package record

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/hotspot/shared"
	"github.com/gasm-profiler/gasm/internal/cfi"
	"github.com/gasm-profiler/gasm/internal/native"
	"github.com/gasm-profiler/gasm/internal/nativecode"
	"github.com/gasm-profiler/gasm/record/jvmevents"
	"github.com/gasm-profiler/gasm/record/patience"
	"github.com/gasm-profiler/gasm/sampler"
)

// A session is what a Recording and an Attachment have in common: the sampler, the readings of the clocks, the problems
// so far, and the functions that make a complete capture from these.
type session struct {
	gasm      string // the version of gasm
	folder    *Folder
	onProblem func(error) // Options.Problem; may be nil
	patience  *patience.Patience
	progress  func(bytes int) // Options.Progress; may be nil
	open      *shared.JVMs    // the JVMs whose memory is read
	// refusedBefore is the value of open.Refused() before this recording. It is not 0 if an earlier recording has used
	// the same set of open JVMs.
	refusedBefore int

	stacks   stackPlan
	sampling sampling
	resolver *native.Resolver // names native functions; has all mappings after the sampling has ended
	clocks   clockReadings
	events   *jvmevents.Events // nil until events are recorded
	walls    walls
	// followed returns the JVM with the given process id, or nil if gasm does not copy this JVM's code. The field is
	// nil if gasm copies no code at all.
	followed func(pid int) *followedJVM
	// startedMonoNanos and endedMonoNanos are the start and the end of what was recorded. In a Recording they are the
	// start and the end of the command, and in an Attachment those of the sampling.
	startedMonoNanos, endedMonoNanos int64

	problemsMu sync.Mutex
	problems   []error
}

// newEvents returns the jvmevents.Events that record events of the JVMs. It sets the options that are the same for all
// sessions.
func (s *session) newEvents(o jvmevents.Options) *jvmevents.Events {
	o.Dir, o.Patience, o.Problem, o.Placed = s.folder.Path, s.patience, s.problem, s.placedIn
	return jvmevents.New(o)
}

// placedIn returns a function for the process pid. When that function is called with an address, gasm copies the code
// there, as if a sample had been taken at this address.
func (s *session) placedIn(pid int) func(pc uint64, monoNanos int64) {
	return func(pc uint64, monoNanos int64) {
		if s.followed == nil {
			return
		}
		if j := s.followed(pid); j != nil && j.follower != nil {
			j.follower.Sampled(pc, monoNanos)
		}
	}
}

// path returns the path of a file in the capture.
func (s *session) path(file string) string { return filepath.Join(s.folder.Path, file) }

// Problems returns the errors that have made the capture incomplete.
func (s *session) Problems() []error {
	s.problemsMu.Lock()
	defer s.problemsMu.Unlock()
	return slices.Clone(s.problems)
}

// problem records an error that makes the capture incomplete, and tells the user. A full disk is reported only once,
// even if several files could not be written.
func (s *session) problem(err error) {
	s.problemsMu.Lock()
	known := isDiskFull(err) && slices.ContainsFunc(s.problems, isDiskFull)
	s.problems = append(s.problems, err)
	s.problemsMu.Unlock()
	if !known && s.onProblem != nil {
		s.onProblem(err)
	}
}

// isDiskFull reports whether an error means that the disk is full. It also recognizes a full disk that perf has
// reported, because the sampler's error then wraps ENOSPC.
func isDiskFull(err error) bool { return errors.Is(err, syscall.ENOSPC) }

// problemNotes returns notes that say why the capture is incomplete, but only one note about a full disk.
func (s *session) problemNotes() []string {
	var notes []string
	full := false
	for _, err := range s.Problems() {
		if isDiskFull(err) && full {
			continue
		}
		full = full || isDiskFull(err)
		notes = append(notes, "the capture is not whole: "+err.Error())
	}
	return notes
}

// wholeRun returns the span from the start to the end of the recording, which may include windows and times outside of
// windows.
func (s *session) wholeRun() capture.Span {
	return capture.Span{FromMonoNanos: s.startedMonoNanos, ToMonoNanos: s.endedMonoNanos}
}

// complete writes all files of the capture except the logs, which already exist, and opens the capture. After writing
// the samples, it calls describe() for the capture's description. The description includes the problems so far.
//
// If a file can't be written, for example because the disk is full, a problem is reported. The returned capture then
// takes the content of this file from memory, or from the sampler.
func (s *session) complete(ctx context.Context, describe func() capture.Description) (*capture.Capture, error) {
	saved := true
	samples := func() (io.ReadCloser, error) { return os.Open(s.path(capture.SamplesFile)) }
	if err := s.saveSamples(ctx); err != nil {
		s.problem(err)
		saved, samples = false, func() (io.ReadCloser, error) { return s.sampling.open(ctx) }
		if err := s.nameUnsaved(ctx); err != nil {
			return nil, fmt.Errorf("reading the samples: %w", err)
		}
	}
	table, code := s.resolver.Table(), s.resolver.Code(functionBounds)
	for _, f := range s.sampling.KernelCode() {
		code.Add(f)
	}
	code.Index()
	if err := saveNativeCode(s.path(capture.NativeCodeFile), code); err != nil {
		s.problem(err)
		saved = false
	}
	if err := saveTable(s.path(capture.SymbolsFile), table); err != nil {
		s.problem(err)
		saved = false
	}
	d := describe()
	d.Notes.Add(s.resolver.Notes()...)
	if n := s.open.Refused() - s.refusedBefore; n > 0 {
		d.Notes.Add(fmt.Sprintf("%d parts of the JVMs' memory were not read, because too much of it had been read before: some methods are missing, or are not known to be inlined", n))
	}
	if err := d.Write(s.folder.Path); err != nil {
		s.problem(err)
		saved = false
		d.Notes.Add(s.problemNotes()...)
	}
	if saved {
		return capture.Open(s.folder.Path)
	}
	return capture.OpenUnsaved(s.folder.Path, d, table, code, samples)
}

// description returns the part of the capture's description that does not depend on the kind of recording.
func (s *session) description() capture.Description {
	stacks := 0
	if _, err := os.Lstat(s.path(capture.StacksFile)); err == nil {
		if stacks = capture.StacksVersion; s.sampling.tool() == SamplerPerf {
			stacks = capture.ChainsVersion
		}
	}
	return capture.Description{Schema: 1, Stacks: stacks, Gasm: s.gasm, Host: thisHost(),
		Sampler: string(s.sampling.tool()), Events: sampler.Specs(s.sampling.Events()), Frequency: s.sampling.Frequency(),
		Lost: s.sampling.Lost(), Clocks: []capture.Clock{s.clocks.start, s.clocks.end}}
}

// saveSamples writes the sampler's text into the capture. At the same time it looks up the native functions of the
// samples, so that this does not take additional time after a slow perf script.
func (s *session) saveSamples(ctx context.Context) error {
	if s.sampling.resolver() != nil {
		return s.sampling.save(ctx, s.path(capture.SamplesFile), io.Discard)
	}
	pipeOut, pipeIn := io.Pipe()
	named := make(chan struct{})
	go func() {
		defer close(named)
		s.nameFunctions(pipeOut)
		// Read the rest of the pipe. Otherwise its writer would wait for ever.
		_, _ = io.Copy(io.Discard, pipeOut)
	}()
	err := s.sampling.save(ctx, s.path(capture.SamplesFile), &progressWriter{pipeIn, s.progress})
	pipeIn.Close()
	<-named
	return err
}

// nameUnsaved looks up the native functions of all samples after saveSamples has failed, because saveSamples may not
// have seen all samples.
func (s *session) nameUnsaved(ctx context.Context) error {
	if s.sampling.resolver() != nil {
		return nil
	}
	text, err := s.sampling.open(ctx)
	if err != nil {
		return err
	}
	defer text.Close()
	s.nameFunctions(text)
	return nil
}

// nameFunctions reads a sampler's text, and looks up the native function of each sample. The resolver's table then has
// all of these functions.
func (s *session) nameFunctions(text io.Reader) {
	samples := sampler.NewReader(text, capture.SamplesFile)
	for samples.Scan() {
		if x, ok := samples.Record().(*sampler.Sample); ok && !x.Kernel() {
			s.resolver.Sampled(x.PID, x.PC, x.Symbol)
		}
	}
}

// A progressWriter is a Writer that calls count(n) for each write of n bytes. count may be nil.
type progressWriter struct {
	io.Writer
	count func(bytes int)
}

func (p *progressWriter) Write(text []byte) (int, error) {
	if p.count != nil {
		p.count(len(text))
	}
	return p.Writer.Write(text)
}

// saveTable writes a table of native functions to a file. If the table is empty, it writes no file.
func saveTable(path string, t *native.Table) error {
	if t.Len() == 0 {
		return nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err == nil {
		err = t.Write(f)
		if closeErr := f.Close(); err == nil {
			err = closeErr
		}
	}
	if err != nil {
		return fmt.Errorf("writing the native symbols: %w", err)
	}
	return nil
}

// functionBounds returns the call frame information of a file, which says where functions without symbols begin and
// end.
func functionBounds(f *elf.File) (native.Bounds, error) { return cfi.Open(f) }

// saveNativeCode writes the code of native functions to a file. If there is none, it writes no file.
func saveNativeCode(path string, t *nativecode.Table) error {
	if len(t.Functions) == 0 {
		return nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err == nil {
		err = errors.Join(t.Write(f), f.Close())
	}
	if err != nil {
		return fmt.Errorf("writing the native code: %w", err)
	}
	return nil
}

// thisHost returns the description of this machine for the capture.
func thisHost() capture.Host {
	name, _ := os.Hostname() // without a name, reports use the capture's folder
	h := capture.Host{Name: name, OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU()}
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		h.Kernel = unix.ByteSliceToString(u.Release[:])
	}
	return h
}
