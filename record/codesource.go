package record

import (
	"context"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/native"
)

// A codeSource gets the machine code of a command's JVMs. There are two: liveCode reads it from the JVMs' memory, and
// printedCode makes HotSpot print it.
type codeSource interface {
	// kind returns the name of the source for the capture's description: capture.CodeCopied or capture.CodePrinted.
	kind() string
	// javaFlags returns the options with which the JVMs must be started, and makes the files that these options need.
	javaFlags() (javaFlags, error)
	// mapped is called for each file that a process maps as code, if the sampler reports mappings.
	mapped(context.Context, native.Mapping)
	// begin is called when the sampler is working and the command is about to run. pid is the process that is held for
	// the command: it has not called exec yet.
	begin(ctx context.Context, s sampling, pid int) error
	// pause is called when the sampler pauses because no window is open. A window is a time that the user wants to
	// measure. resume is called when a window opens.
	pause()
	resume()
	// end is called after the sampler was stopped. The command may still be running. The result is a resolver that
	// knows the mappings of the JVMs. It may be nil if the sampler has a resolver of its own.
	end(context.Context) *native.Resolver
	// finish completes the JVMs' logs in the capture. It returns descriptions of the JVMs, in the order of their start,
	// and notes that say which code is missing.
	finish() (jvms []capture.JVM, notes []string, err error)
}
