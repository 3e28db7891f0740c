package record

import (
	"context"
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
	"github.com/gasm-profiler/gasm/internal/native"
	"github.com/gasm-profiler/gasm/record/jvmevents"
	"github.com/gasm-profiler/gasm/record/patience"
	"github.com/gasm-profiler/gasm/sampler"
)

// A session is what the recordings of a command and of JVMs that run have in common: the sampler at work, the clocks,
// what went wrong, and the way from there to a complete capture.
type session struct {
	gasm      string // the version
	folder    *Folder
	onProblem func(error) // Options.Problem; may be nil
	patience  *patience.Patience
	progress  func(bytes int) // Options.Progress; may be nil

	sampling sampling
	resolver *native.Resolver // knows all mappings once they are no longer watched
	clocks   clockReadings
	events   *jvmevents.Events // nil before they begin
	// followed returns the JVM of a process whose code is copied while it runs. It is nil where no code is copied.
	followed func(pid int) *followedJVM
	// When the command, or the sampling of JVMs that ran already, began and ended.
	startedMonoNanos, endedMonoNanos int64

	problemsMu sync.Mutex
	problems   []error
}

// newEvents returns the events of the recorded JVMs. byOption is true if the JVMs have HotSpot's log as an option.
func (s *session) newEvents(choice EventChoice, byOption bool) *jvmevents.Events {
	return jvmevents.New(jvmevents.Options{Choice: choice, ByOption: byOption, Dir: s.folder.Path, Patience: s.patience, Problem: s.problem, Placed: s.placedIn})
}

// placedIn returns a function that has the code at addresses of a process copied, as if there were samples there.
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

// Problems returns the errors because of which the capture is not complete.
func (s *session) Problems() []error {
	s.problemsMu.Lock()
	defer s.problemsMu.Unlock()
	return slices.Clone(s.problems)
}

// problem notes what went wrong with the capture while the rest goes on. A full disk is reported once, however many
// files could not be written to it.
func (s *session) problem(err error) {
	s.problemsMu.Lock()
	known := isDiskFull(err) && slices.ContainsFunc(s.problems, isDiskFull)
	s.problems = append(s.problems, err)
	s.problemsMu.Unlock()
	if !known && s.onProblem != nil {
		s.onProblem(err)
	}
}

// isDiskFull reports whether the disk is full. The sampler's errors say so too where perf reported it.
func isDiskFull(err error) bool { return errors.Is(err, syscall.ENOSPC) }

// problemNotes returns notes that say why the capture is not complete. A full disk is noted once.
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

// wholeRun returns the whole time that was recorded.
func (s *session) wholeRun() capture.Span {
	return capture.Span{FromMonoNanos: s.startedMonoNanos, ToMonoNanos: s.endedMonoNanos}
}

// complete writes all files of the capture except the logs, which are there already, and opens the capture. describe
// returns the description. It is called after the samples are written, when the problems with them are known.
//
// If a file can't be written because the disk is full, that is a problem, but not an error: the capture then has the
// file's content in memory.
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
	table := s.resolver.Table()
	if err := saveTable(s.path(capture.SymbolsFile), table); err != nil {
		s.problem(err)
		saved = false
	}
	d := describe()
	d.Notes.Add(s.resolver.Notes()...)
	if err := d.Write(s.folder.Path); err != nil {
		s.problem(err)
		saved = false
		d.Notes.Add(s.problemNotes()...)
	}
	if saved {
		return capture.Open(s.folder.Path)
	}
	return capture.OpenUnsaved(s.folder.Path, d, table, samples)
}

// description returns the part of the capture's description that all recordings have.
func (s *session) description() capture.Description {
	return capture.Description{Schema: 1, Gasm: s.gasm, Host: thisHost(),
		Sampler: string(s.sampling.tool()), Events: sampler.Specs(s.sampling.Events()), Frequency: s.sampling.Frequency(),
		Lost: s.sampling.Lost(), Clocks: []capture.Clock{s.clocks.start, s.clocks.end}}
}

// saveSamples writes the sampler's text into the capture. It looks up the native functions that samples are in at the
// same time, while perf script is still writing.
func (s *session) saveSamples(ctx context.Context) error {
	if s.sampling.resolver() != nil {
		return s.sampling.save(ctx, s.path(capture.SamplesFile), io.Discard)
	}
	pipeOut, pipeIn := io.Pipe()
	named := make(chan struct{})
	go func() {
		defer close(named)
		s.nameFunctions(pipeOut)
		// Nothing may be left in the pipe, because its writer would wait for ever.
		_, _ = io.Copy(io.Discard, pipeOut)
	}()
	err := s.sampling.save(ctx, s.path(capture.SamplesFile), &progressWriter{pipeIn, s.progress})
	pipeIn.Close()
	<-named
	return err
}

// nameUnsaved looks up the functions of samples whose text could not be written.
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

// nameFunctions looks up each sample's function in the file that was mapped at its address, so that the resolver's
// table has all functions.
func (s *session) nameFunctions(text io.Reader) {
	samples := sampler.NewReader(text, capture.SamplesFile)
	for samples.Scan() {
		if x, ok := samples.Record().(*sampler.Sample); ok && !x.Kernel() {
			s.resolver.Resolve(x.PID, x.PC, x.Symbol)
		}
	}
}

// A progressWriter counts what is written through it.
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

// saveTable writes the native functions that samples are in.
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

// thisHost returns a description of this machine.
func thisHost() capture.Host {
	h := capture.Host{OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU()}
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		h.Kernel = unix.ByteSliceToString(u.Release[:])
	}
	return h
}
