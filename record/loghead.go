package record

import (
	"fmt"
	"io"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/regular"
	"github.com/gasm-profiler/gasm/printassembly"
)

// headSize is the maximum number of bytes that are read at the beginning of a log. This part contains <hotspot_log>,
// the version, the arguments and the command. The limit is high because a class path can be long.
const headSize = 1 << 20

// readHead returns a description of the JVM that has written a log, made from the log's first lines. The rest of the
// log is read when the capture is opened.
func readHead(path string) (capture.JVM, error) {
	f, size, err := regular.Open(path)
	if err != nil {
		return capture.JVM{}, fmt.Errorf("opening the assembly log: %w", err)
	}
	defer f.Close()
	size = min(size, headSize)
	head, err := printassembly.NewLog(io.NewSectionReader(f, 0, size), size, path)
	if err != nil {
		return capture.JVM{}, err
	}
	return capture.Describe(head), nil
}
