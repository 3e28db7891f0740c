package capture

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/internal/native"
	"github.com/gasm-profiler/gasm/internal/nativecode"
	"github.com/gasm-profiler/gasm/internal/regular"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/sampler"
)

// A Capture is a recording on disk that is open for reading. The JVMs in its Description have their Log set if the log
// could be read. The caller closes the Capture.
type Capture struct {
	Description
	// Guessed is true if there is no capture.json. Then there are no trials, and there is a JVM for each log that could
	// be read. The time of a JVM's first sample is taken as the JVM's start.
	Guessed bool
	// Unread has an error for each log that could not be read. If no log can be read, there is no Capture.
	Unread []error
	// Progress may be nil. Otherwise it is called repeatedly while samples are read. It gets the number of bytes that
	// were read since the last call.
	Progress func(bytes int)
	// PartRead may be nil. Otherwise, if several captures are read as one, it is called each time that all samples of
	// one of them have been read. It gets the ids of that capture's JVMs, which have no further samples.
	PartRead func(pids []int)

	dir     string           // the folder; "" for files from OpenFiles
	foreign map[int][]string // paths of the recordings from AddRecording, by process id
	logs    []*printassembly.Log
	samples source
	symbols *native.Table     // nil if the capture has no symbols.txt
	native  *nativecode.Table // nil if the capture has no native-code.txt
	parts   []part            // if this is a folder of captures: these captures
	// chains is true if the sampler's text itself contains the stacks of the samples, as chains of return addresses.
	// tree is the tree to which these stacks are added; it is nil before ReadStacks.
	chains bool
	tree   *callstack.Tree
	// cutOff is true if the recording is unfinished, but what it has so far can be read.
	cutOff bool
}

// Open opens the capture in a folder. If the folder is not a capture but has captures in its subfolders, Open opens all
// of them as one capture.
func Open(dir string) (*Capture, error) {
	logs, err := Logs(dir)
	if err != nil {
		return nil, fmt.Errorf("opening the capture: %w", err)
	}
	if len(logs) == 0 {
		c, err := openParts(dir)
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%s is not a capture: it has no %s", dir, logGlob)
		}
		return c, err
	}
	c := &Capture{dir: dir, samples: sourceFile(filepath.Join(dir, SamplesFile))}
	d, err := ReadDescription(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.Guessed = true
	case err != nil:
		return nil, err
	default:
		c.Description = *d
	}
	if c.Guessed && cutOff(dir) {
		c.cutOff, c.samples = true, sourceFile(filepath.Join(dir, partSamples))
		c.Notes.Add("the recording is not finished: gasm is still running, or was killed; the report has what was recorded so far")
	}
	var note string
	if c.symbols, note, err = readSymbols(dir); err != nil {
		return nil, err
	}
	c.Notes.Add(note)
	if c.native, note, err = readNativeCode(dir); err != nil {
		return nil, err
	}
	c.Notes.Add(note)
	return c.open(logs)
}

// cutOff reports whether a folder has an unfinished recording with files in the format of package wall. Such a
// recording is worth a report even if it has few samples: a JVM that hangs has none, and its user may have killed both
// gasm and the JVM.
func cutOff(dir string) bool {
	_, noSamples := os.Lstat(filepath.Join(dir, SamplesFile))
	_, noPart := os.Lstat(filepath.Join(dir, partSamples))
	walls, _ := matching(dir, wallGlob) // an error would have come up when the folder was read before
	return errors.Is(noSamples, fs.ErrNotExist) && noPart == nil && len(walls) > 0
}

// OpenFiles opens a sampler's text and HotSpot's logs as a capture without a description. Such files are saved by other
// tools, for example by JMH's perfasm.
func OpenFiles(samples string, logs []string) (*Capture, error) {
	c := &Capture{Guessed: true, samples: sourceFile(samples)}
	return c.open(logs)
}

// OpenUnsaved opens a capture that could not be written completely because the disk is full. It reads only the logs
// from the folder. The description, the table of native symbols and the native code come from memory; the tables may be
// nil. The samples come from the reader that open() returns.
func OpenUnsaved(dir string, d Description, table *native.Table, code *nativecode.Table,
	open func() (io.ReadCloser, error)) (*Capture, error) {
	c := &Capture{dir: dir, Description: d, symbols: table, native: code, samples: source{name: SamplesFile, open: open}}
	logs, err := Logs(dir)
	if err != nil {
		return nil, fmt.Errorf("opening the capture: %w", err)
	}
	return c.open(logs)
}

// open opens the logs and assigns them to the JVMs. If the capture has no description, it guesses one.
func (c *Capture) open(logs []string) (_ *Capture, err error) {
	defer func() {
		if err != nil {
			c.Close()
		}
	}()
	for _, path := range logs {
		log, err := printassembly.Open(path)
		if err != nil {
			c.Unread = append(c.Unread, err)
			continue
		}
		c.logs = append(c.logs, log)
	}
	if len(c.logs) == 0 {
		return nil, errors.Join(c.Unread...)
	}
	if err := c.samples.check(c.Attached || c.cutOff); err != nil {
		return nil, err
	}
	if c.Guessed {
		return c, c.guess()
	}
	jvms, note := distinctJVMs(c.JVMs)
	c.JVMs = jvms
	c.Notes.Add(note)
	c.giveLogs(logs)
	return c, nil
}

// maxMissing is the maximum number of notes of the same kind about files that are missing or can't be read. A badly
// damaged capture would otherwise have more notes than anybody reads.
const maxMissing = 5

// giveLogs sets the Log of each JVM. It adds a note for each JVM whose log is missing from the folder.
func (c *Capture) giveLogs(paths []string) {
	there, read := map[string]bool{}, map[string]*printassembly.Log{}
	for _, path := range paths {
		there[filepath.Base(path)] = true
	}
	for _, l := range c.logs {
		read[filepath.Base(l.Name())] = l
	}
	missing := 0
	for i := range c.JVMs {
		j := &c.JVMs[i]
		j.Log = read[j.LogFile]
		if there[j.LogFile] {
			continue
		}
		if missing++; missing <= maxMissing {
			c.Notes.Add(fmt.Sprintf("%s is missing: the code of JVM %d has no names in the report", j.LogFile, j.PID))
		}
	}
	if missing > maxMissing {
		c.Notes.Add(fmt.Sprintf("the logs of %d more JVMs are missing", missing-maxMissing))
	}
}

// Close closes the logs.
func (c *Capture) Close() {
	for _, p := range c.parts {
		p.Close()
	}
	for _, l := range c.logs {
		l.Close() // no data can be lost: the file was only read
	}
}

// guess makes a JVM from each log. It takes the time of a JVM's first sample as the JVM's start. That is a little late,
// by about the time between two samples.
func (c *Capture) guess() error {
	first, err := c.firstSamples()
	if err != nil {
		return fmt.Errorf("reading the samples: %w", err)
	}
	for _, log := range c.logs {
		j := Describe(log)
		at, ok := first[j.PID]
		if !ok {
			at = first[sampler.NoPID]
		}
		j.StartMonoNanos = at
		if c.dir != "" {
			if _, err := os.Lstat(filepath.Join(c.dir, USDTText(j.PID))); err == nil {
				j.USDT = USDTText(j.PID)
			}
			if _, err := os.Lstat(filepath.Join(c.dir, EventLog(j.PID))); err == nil {
				j.EventLog = EventLog(j.PID)
			}
		}
		c.JVMs = append(c.JVMs, j)
	}
	c.Notes.Add("no capture.json: each JVM's start is estimated from its first sample, and the whole run is reported")
	return nil
}

// firstSamples returns the time of each process's first sample. It also finds out whether the sampler's text itself has
// call stacks. It has to read all samples, because they are not sorted by time: samples from one CPU may come after
// later samples from another CPU.
func (c *Capture) firstSamples() (map[int]int64, error) {
	in, err := c.samples.open()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	first := map[int]int64{}
	r := sampler.NewChainReader(in, c.samples.name)
	for r.Scan() {
		if s, ok := r.Record().(*sampler.Sample); ok {
			c.chains = c.chains || s.Chain != nil
			if at, seen := first[s.PID]; !seen || s.MonoNanos < at {
				first[s.PID] = s.MonoNanos
			}
		}
	}
	return first, r.Err()
}

// readSymbols reads the names of native functions from a folder's symbols.txt. If there is no such file, the table is
// nil. If some lines can't be read, the note says so. Otherwise it is "".
func readSymbols(dir string) (table *native.Table, note string, err error) {
	path := filepath.Join(dir, SymbolsFile)
	f, _, err := regular.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", fmt.Errorf("reading the native symbols: %w", err)
	}
	defer f.Close()
	if table, err = native.ReadTable(f, path); err != nil {
		return nil, "", fmt.Errorf("reading the native symbols: %w", err)
	}
	if n, first := table.BadLines(); n > 0 {
		note = fmt.Sprintf("%d lines of the native symbols could not be read, the first: %v", n, first)
		if n == 1 {
			note = fmt.Sprintf("a line of the native symbols could not be read: %v", first)
		}
	}
	return table, note, nil
}
