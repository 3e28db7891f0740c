package record

import (
	"context"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/native"
)

// A codeSource obtains the code of a command's JVMs: liveCode reads it from their memory, and printedCode makes HotSpot
// print it.
type codeSource interface {
	// kind returns the name of the source for the capture's description: capture.CodeCopied or capture.CodePrinted.
	kind() string
	// javaFlags returns the options that the JVMs are started with, and makes the files that these options need.
	javaFlags() (javaFlags, error)
	// mapped is called for each file that a process maps as code, if the sampler can report that.
	mapped(context.Context, native.Mapping)
	// begin is called when the sampler is working and the command is about to run. pid is the process that will become
	// the command. The process is still held, and has not executed the command yet.
	begin(ctx context.Context, s sampling, pid int) error
	// pause is called when the sampler pauses because no window is open; a window is a time that is to be measured.
	// resume is called when a window opens.
	pause()
	resume()
	// end is called after the sampler was stopped. The command may still be running then. The result is a resolver that
	// knows the mappings of the JVMs. It may be nil if the sampler has a resolver of its own.
	end(context.Context) *native.Resolver
	// finish completes the JVMs' logs in the capture, and describes the JVMs in the order of their start. The notes say
	// which code is missing.
	finish() (jvms []capture.JVM, notes []string, err error)
}
