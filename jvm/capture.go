package jvm

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// The files of a capture folder, beside one asm-<pid>.log per JVM.
const (
	CaptureFile = "capture.json"
	SamplesFile = "samples.txt"
	// LogPattern is for -XX:LogFile: HotSpot puts "pid4711" for %p.
	LogPattern = "asm-%p.log"
	// LogGlob finds the logs again.
	LogGlob = "asm-*.log"
	// SymbolsFile has the names of native functions; see native.Table.
	SymbolsFile = "symbols.txt"
)

// A Capture is capture.json: what the samples and the logs do not say.
type Capture struct {
	Schema    int      `json:"schema"` // 1
	Gasm      string   `json:"gasm"`
	Command   []string `json:"command"`
	Host      Host     `json:"host"`
	Sampler   string   `json:"sampler"` // perf, dtrace
	Events    []string `json:"events"`  // as asked of the sampler in the end
	Frequency int      `json:"frequency"`
	// Lost is how many samples the sampler dropped, where SamplesFile does not
	// tell.
	Lost int64 `json:"lost,omitempty"`
	// Selection is what limits the code in the logs, as flags: "--skip-c1"; ""
	// where all code was printed.
	Selection string   `json:"selection,omitempty"`
	Notes     []string `json:"notes,omitempty"`
	// Clocks are pairs read at the launch and at the end.
	Clocks   []Clock `json:"clocks"`
	JVMs     []JVM   `json:"jvms"`
	Trials   []Trial `json:"trials"`
	ExitCode int     `json:"exit_code"` // the command's
}

// A Host is where the capture was made.
type Host struct {
	OS     string `json:"os"`
	Arch   string `json:"arch"`
	Kernel string `json:"kernel,omitempty"`
	CPUs   int    `json:"cpus"`
}

// CollectLogs gives the logs that JVMs wrote into a folder, after naming them
// asm-<pid>.log.
func CollectLogs(dir string) []string {
	// Not filepath.Glob: the folder's name may hold a bracket.
	names, _ := fs.Glob(os.DirFS(dir), LogGlob) // the pattern is well-formed
	for i, name := range names {
		names[i] = filepath.Join(dir, name)
		pid, ok := strings.CutPrefix(name, "asm-pid")
		if !ok {
			continue
		}
		if to := filepath.Join(dir, "asm-"+pid); os.Rename(names[i], to) == nil {
			names[i] = to
		}
	}
	return names
}

// RemoveCompilerLogs removes what LogCompilation leaves behind of a JVM that was
// killed: each of its compiler threads writes a file of its own in /tmp, which the
// JVM puts into its log and removes when it ends (CompileLog::finish_log). A JVM
// that runs keeps its files.
func RemoveCompilerLogs(pid int) {
	if syscall.Kill(pid, 0) == nil {
		return
	}
	files, _ := filepath.Glob(fmt.Sprintf("/tmp/hs_c*_pid%d.log", pid)) // the pattern is well-formed
	for _, f := range files {
		os.Remove(f)
	}
}

// LogPIDs gives the processes that write logs into a folder, while they do:
// before CollectLogs has named these.
func LogPIDs(dir string) []int {
	var pids []int
	entries, _ := os.ReadDir(dir) // a folder that is gone has none
	for _, e := range entries {
		digits, ok := strings.CutPrefix(strings.TrimSuffix(e.Name(), ".log"), "asm-pid")
		if pid, err := strconv.Atoi(digits); ok && err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// WriteCapture writes capture.json into a folder.
func WriteCapture(dir string, c *Capture) error {
	text, err := json.MarshalIndent(c, "", " ")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, CaptureFile), append(text, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("writing the capture's description: %w", err)
	}
	return nil
}

// ReadCapture reads capture.json from a folder. A folder without one gives
// an error that is fs.ErrNotExist.
func ReadCapture(dir string) (*Capture, error) {
	path := filepath.Join(dir, CaptureFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the capture's description: %w", err)
	}
	var c Capture
	if err := json.Unmarshal(text, &c); err != nil {
		return nil, fmt.Errorf("%s: not a capture's description: %w", path, err)
	}
	if c.Schema == 0 {
		return nil, fmt.Errorf("%s: not a capture's description: no schema", path)
	}
	if c.Schema != 1 {
		return nil, fmt.Errorf("%s: has schema %d, this gasm reads schema 1: use the gasm that made it (%s)", path, c.Schema, c.Gasm)
	}
	return &c, nil
}
