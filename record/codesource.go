package record

import (
	"context"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/native"
)

// A codeSource is where the code of a command's JVMs comes from: gasm reads it from their memory (liveCode), or HotSpot
// prints it (printedCode).
type codeSource interface {
	// kind returns what the capture calls the source: capture.CodeCopied or capture.CodePrinted.
	kind() string
	// javaFlags returns the options that the JVMs start with, and makes the files that these need.
	javaFlags() (javaFlags, error)
	// mapped is called with each file that a process maps as code, by a sampler that sees this.
	mapped(context.Context, native.Mapping)
	// begin is called when the sampler is at work, and the command is about to run. The command is held in the process
	// pid.
	begin(ctx context.Context, s sampling, pid int) error
	// pause is called when no samples are taken any more, because no window is open, and resume when a window opens.
	pause()
	resume()
	// end is called when the sampler was stopped, perhaps while the command still runs. The resolver knows all mappings
	// that the sampler does not report.
	end(context.Context) *native.Resolver
	// finish completes the JVMs' logs in the capture, and describes the JVMs in the order of their start. The notes say
	// what could not be had.
	finish() (jvms []capture.JVM, notes []string, err error)
}
