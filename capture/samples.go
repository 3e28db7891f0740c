package capture

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/internal/native"
	"github.com/gasm-profiler/gasm/internal/regular"
	"github.com/gasm-profiler/gasm/sampler"
)

// A source is what the sampler's text is read from, usually a file. It can be opened several times.
type source struct {
	name string // for messages
	open func() (io.ReadCloser, error)
	file bool // true if name is the path of a file
}

// sourceFile returns a source that reads the file at a path.
func sourceFile(path string) source {
	open := func() (io.ReadCloser, error) {
		f, _, err := regular.Open(path)
		if err != nil {
			return nil, fmt.Errorf("opening the samples: %w", err)
		}
		return f, nil
	}
	return source{name: path, open: open, file: true}
}

// check returns an error if the source is a file that can't be opened, or an empty file. With this check, Open fails at
// once, and not later when the samples are read. If mayBeEmpty is true, an empty file is not an error: a JVM that gasm
// was attached to may have slept all the time.
func (s *source) check(mayBeEmpty bool) error {
	if !s.file {
		return nil
	}
	f, size, err := regular.Open(s.name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && unfinished(filepath.Dir(s.name)):
		return fmt.Errorf("there are no samples: the recording in %s is not finished: gasm is still running, or was killed",
			filepath.Dir(s.name))
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there are no samples: %s does not exist", s.name)
	case err != nil:
		return fmt.Errorf("opening the samples: %w", err)
	case size == 0 && !mayBeEmpty:
		err = fmt.Errorf("%s is empty: the sampler wrote nothing into it", s.name)
	}
	f.Close()
	return err
}

// partSamples and partStacks are the files to which the native sampler writes while it runs. They have the formats of
// SamplesFile and StacksFile.
const partSamples, partStacks = "samples.part", "stacks.part"

// unfinished reports whether a folder has one of the files that exist only while a sampler runs. If there is such a
// file, gasm is still recording, or it was killed.
func unfinished(dir string) bool {
	return slices.ContainsFunc([]string{partSamples, "perf.data"}, func(name string) bool {
		_, err := os.Lstat(filepath.Join(dir, name))
		return err == nil
	})
}

// SamplesName returns a name of the samples for messages. It is the path of their file, or of a folder with several
// captures.
func (c *Capture) SamplesName() string { return c.samples.name }

// SamplesSize returns the size of the samples' text in bytes, or -1 if it is unknown.
func (c *Capture) SamplesSize() int64 {
	var sum int64
	for _, p := range c.parts {
		sum += max(0, p.SamplesSize())
	}
	if sum > 0 {
		return sum
	}
	if info, err := os.Stat(c.samples.name); c.samples.file && err == nil {
		return info.Size()
	}
	return -1
}

// A SampleReader reads the samples of a capture. It looks up the address of each sample in the capture's symbols.txt.
// If there is a native function at that address, it replaces the sample's Module and Symbol with those in symbols.txt.
type SampleReader struct {
	sampler.Reader
	in      io.Closer
	symbols *native.Table
	tree    *callstack.Tree // receives the stacks that are in the text; nil if they are not wanted
}

// Samples returns a reader of the capture's samples. The caller closes it.
func (c *Capture) Samples() (*SampleReader, error) {
	if len(c.parts) > 0 {
		all := &partReader{parts: c.parts, progress: c.Progress, read: c.PartRead}
		return &SampleReader{Reader: all, in: all}, nil
	}
	in, err := c.samples.open()
	if err != nil {
		return nil, err
	}
	var text io.Reader = in
	if c.Progress != nil {
		text = &countingReader{in, c.Progress}
	}
	newReader := sampler.NewReader
	if c.tree != nil {
		newReader = sampler.NewChainReader
	}
	return &SampleReader{newReader(text, c.samples.name), in, c.symbols, c.tree}, nil
}

// Record returns the record that the [sampler.Reader] has read. In a sample, it replaces names with those from
// symbols.txt. The record is valid until the next Scan.
func (r *SampleReader) Record() any {
	rec := r.Reader.Record()
	if s, ok := rec.(*sampler.Sample); ok && r.tree != nil {
		s.Stack = s.PushChain(r.tree.Push)
	}
	if s, ok := rec.(*sampler.Sample); ok && r.symbols != nil && !s.Kernel() {
		if known, ok := r.symbols.Resolve(s.PID, s.PC); ok {
			s.Module, s.Symbol = known.Module, known.Symbol
		}
	}
	return rec
}

// Close closes the file with the samples.
func (r *SampleReader) Close() error { return r.in.Close() }

// A countingReader calls count(n) after each read of n bytes.
type countingReader struct {
	io.Reader
	count func(bytes int)
}

func (c *countingReader) Read(buf []byte) (int, error) {
	n, err := c.Reader.Read(buf)
	c.count(n)
	return n, err
}
