package record

import (
	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/native"
)

// A codeWay is how the code of a command's JVMs is had: gasm reads it out of their memory
// (liveCode), or HotSpot prints it (printedCode).
type codeWay interface {
	// kind is what the capture calls it: capture.CodeCopied, capture.CodePrinted.
	kind() string
	// javaFlags gives the options that the JVMs start with, and makes the files that these
	// need.
	javaFlags() (javaFlags, error)
	// mapped is told which files processes map as code, by a sampler that sees it.
	mapped(native.Mapping)
	// begin is called when the sampler is at work, and the command, which is held in the
	// process pid, is about to run.
	begin(s sampling, pid int) error
	// pause and resume are called while no samples are taken, because no window is open.
	pause()
	resume()
	// end is called when the sampler was stopped, perhaps while the command still runs. The resolver knows all mappings that the
	// samplers do not tell of.
	end() *native.Resolver
	// finish completes the JVMs' logs in the capture, and describes the JVMs in the order in
	// which they started. The notes are on what could not be had.
	finish() (jvms []capture.JVM, notes []string, err error)
}
