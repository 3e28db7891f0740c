package follow

import (
	"bytes"
	"cmp"
	"fmt"
	"os"

	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
	"github.com/gasm-profiler/gasm/printassembly"
)

// A logWriter writes the log. After an error it writes nothing more.
type logWriter struct {
	o       Options
	pid     int
	file    *os.File
	text    []byte // not written yet
	failure error
}

func newLogWriter(pid int, o Options) (*logWriter, error) {
	file, err := os.OpenFile(o.Log, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("writing the code: %w", err)
	}
	return &logWriter{pid: pid, o: o, file: file}, nil
}

// head writes the lines with which HotSpot's log begins (defaultStream::start_log), except those that no reader of the
// log needs. vm is nil if the JVM could not be read. Of the JVM's arguments, it writes only -XX:+PreserveFramePointer,
// and only if the flag is on, no matter what has set it. limits are the values of the flags that limit inlining, which
// HotSpot's log does not have.
func (w *logWriter) head(vm *vmstructs.VM, framePointers bool, limits map[string]int64) {
	version, info, args, command := "", "", "", w.o.Command
	if framePointers {
		args = "<args>\n-XX:+" + framePointersFlag + "\n</args>\n"
	}
	if vm != nil {
		version, info, _ = vm.Version() // after an error, both are ""
		command = cmp.Or(commandOf(vm), command)
	}
	w.text = fmt.Appendf(w.text, "<hotspot_log version='160 1' process='%d' time_ms='%d'>\n", w.pid,
		w.o.StartWallMillis)
	w.text = fmt.Appendf(w.text, "<vm_version>\n<release>\n%s\n</release>\n<info>\n%s\n</info>\n</vm_version>\n",
		printassembly.Escape(version), printassembly.Escape(info))
	w.text = fmt.Appendf(w.text, "<vm_arguments>\n%s<command>\n%s\n</command>\n%s</vm_arguments>\n",
		args, printassembly.Escape(command), printassembly.Properties(w.o.ClassPath))
	w.text = printassembly.AppendInliningLimits(w.text, limits)
	w.text = append(w.text, "<tty>\n<writer thread='gasm'/>\n"...)
}

// maxCommand limits the number of bytes of a command that are read. The main class and the first arguments are at its
// beginning.
const maxCommand = 4096

// commandOf reads the main class or jar and its arguments from the JVM. It returns "" if they can't be read.
func commandOf(vm *vmstructs.VM) string {
	at, ok := vm.Static("Arguments::_java_command")
	if !ok {
		return ""
	}
	address, err := vm.Uint64(at)
	if err != nil || address == 0 {
		return ""
	}
	var text []byte
	for len(text) < maxCommand {
		// Read piece by piece, because the memory after the end of the text may not be mapped.
		piece, err := vm.Read(nil, address+uint64(len(text)), 64)
		if err != nil {
			piece, err = vm.Read(nil, address+uint64(len(text)), 1)
		}
		if err != nil {
			return ""
		}
		if end := bytes.IndexByte(piece, 0); end >= 0 {
			return string(append(text, piece[:end]...))
		}
		text = append(text, piece...)
	}
	return string(text)
}

// flush writes the text that was not written yet to the file.
func (w *logWriter) flush() {
	if len(w.text) == 0 {
		return
	}
	if w.o.Written != nil {
		w.o.Written(w.text)
	}
	if w.failure == nil {
		if _, err := w.file.Write(w.text); err != nil {
			w.failure = fmt.Errorf("writing the code: %w", err)
		}
	}
	w.text = w.text[:0]
}

// close writes the end of the log, which distinguishes a complete log from one that was cut off.
func (w *logWriter) close() {
	w.text = append(w.text, "</tty>\n</hotspot_log>\n"...)
	w.flush()
	if err := w.file.Close(); err != nil && w.failure == nil {
		w.failure = fmt.Errorf("writing the code: %w", err)
	}
}
