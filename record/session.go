package record

import (
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
	"github.com/gasm-profiler/gasm/sampler"
)

// A session is what the recording of a command and that of JVMs that run share: the sampler
// at work, the clocks, what went wrong, and the way from there to a complete capture.
type session struct {
	gasm   string // the version
	folder *Folder
	// tell is called with each problem, nil for nobody. It is Options.Problem.
	tell     func(error)
	waits    func(text string) // called with what is waited for longer than a moment; nil for nobody
	patience *patience
	progress func(bytes int) // Options.Progress

	sampling sampling
	resolver *native.Resolver // knows all mappings once they are no longer watched
	clocks   clockReadings
	live     liveEvents
	// followed gives the JVM of a process whose code is copied while it runs; nil where none is.
	followed func(pid int) *followedJVM
	// What is recorded began and ended.
	startedMonoNanos, endedMonoNanos int64

	problemsMu sync.Mutex
	problems   []error
}

// placedIn has the code at addresses of a process copied as if there were samples.
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

// path is that of a file in the capture.
func (s *session) path(file string) string { return filepath.Join(s.folder.Path, file) }

// Problems are the errors that the capture is not complete because of.
func (s *session) Problems() []error {
	s.problemsMu.Lock()
	defer s.problemsMu.Unlock()
	return slices.Clone(s.problems)
}

// problem notes what went wrong with the capture while the rest goes on. A full disk
// is said once, whatever else could not be written to it.
func (s *session) problem(err error) {
	s.problemsMu.Lock()
	known := isDiskFull(err) && slices.ContainsFunc(s.problems, isDiskFull)
	s.problems = append(s.problems, err)
	s.problemsMu.Unlock()
	if !known && s.tell != nil {
		s.tell(err)
	}
}

// isDiskFull reports whether the disk is full. The sampler's errors say so too where perf reported it.
func isDiskFull(err error) bool { return errors.Is(err, syscall.ENOSPC) }

// problemNotes say that the capture is not complete; of a full disk once.
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

// wholeRun is all of the time that was recorded.
func (s *session) wholeRun() capture.Span {
	return capture.Span{FromMonoNanos: s.startedMonoNanos, ToMonoNanos: s.endedMonoNanos}
}

// complete writes all files of the capture but the logs, which are there, and opens it.
// describe gives the description. It is called when the samples are written, and so their
// problems are known.
//
// What can't be written because the disk is full is a problem, and not the end: the
// capture then has it in memory.
func (s *session) complete(describe func() capture.Description) (*capture.Capture, error) {
	saved := true
	samples := func() (io.ReadCloser, error) { return os.Open(s.path(capture.SamplesFile)) }
	if err := s.saveSamples(); err != nil {
		s.problem(err)
		saved, samples = false, s.sampling.open
		if err := s.nameUnsaved(); err != nil {
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

// description is the part of the capture's description that all recordings have.
func (s *session) description() capture.Description {
	return capture.Description{Schema: 1, Gasm: s.gasm, Host: thisHost(),
		Sampler: string(s.sampling.tool()), Events: sampler.Specs(s.sampling.Events()), Frequency: s.sampling.Frequency(),
		Lost: s.sampling.Lost(), Clocks: []capture.Clock{s.clocks.start, s.clocks.end}}
}

// saveSamples writes the sampler's text into the capture. The native functions that
// samples are in are found at the same time, while perf script is still writing.
func (s *session) saveSamples() error {
	if s.sampling.resolver() != nil {
		return s.sampling.save(s.path(capture.SamplesFile), io.Discard)
	}
	pipeOut, pipeIn := io.Pipe()
	named := make(chan struct{})
	go func() {
		defer close(named)
		s.nameFunctions(pipeOut)
		// Nothing may be left in the pipe, or its writer would wait for ever.
		_, _ = io.Copy(io.Discard, pipeOut)
	}()
	err := s.sampling.save(s.path(capture.SamplesFile), &progressWriter{pipeIn, s.progress})
	pipeIn.Close()
	<-named
	return err
}

// nameUnsaved looks up the functions of samples whose text could not be written.
func (s *session) nameUnsaved() error {
	if s.sampling.resolver() != nil {
		return nil
	}
	text, err := s.sampling.open()
	if err != nil {
		return err
	}
	defer text.Close()
	s.nameFunctions(text)
	return nil
}

// nameFunctions looks up each sample's function in the files that were mapped at its
// address, so that the resolver's table has them all.
func (s *session) nameFunctions(text io.Reader) {
	samples := sampler.NewReader(text, capture.SamplesFile)
	for samples.Scan() {
		if x, ok := samples.Record().(*sampler.Sample); ok && !x.Kernel() {
			s.resolver.Resolve(x.PID, x.PC, x.Symbol)
		}
	}
}

// A progressWriter tells how much is written through it.
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

// thisHost describes the machine.
func thisHost() capture.Host {
	h := capture.Host{OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU()}
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		h.Kernel = unix.ByteSliceToString(u.Release[:])
	}
	return h
}
