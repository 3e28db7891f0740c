package printassembly

import (
	"fmt"
	"strconv"
)

// The kernel keeps only 15 bytes of a thread's name. gasm reads the whole names of Java threads from the JVM's memory,
// and writes each to the log when it first sees it, and again when it has changed:
//
//	<thread_name tid='2501' name='http-nio-8080-exec-7'/>
var threadNameTag = []byte("<thread_name ")

// AppendThreadName appends a line with the tag <thread_name …/> to text. tid is the thread's id as it is in the
// samples.
func AppendThreadName(text []byte, tid int, name string) []byte {
	text = fmt.Appendf(append(text, threadNameTag...), "tid='%d' name='", tid)
	return append(append(text, Escape(name)...), "'/>\n"...)
}

// threadName reads a line with the tag <thread_name …/>.
func (h *Header) threadName(tag []byte) {
	tid, err := strconv.Atoi(string(attr(tag, "tid")))
	name := attr(tag, "name")
	if err != nil || tid <= 0 || len(name) == 0 || len(name) > maxName || len(h.ThreadNames) >= maxThreadNames {
		return
	}
	if h.ThreadNames == nil {
		h.ThreadNames = map[int][]string{}
	}
	h.ThreadNames[tid] = append(h.ThreadNames[tid], nameText(name))
}

// maxThreadNames limits the number of threads whose names a Header has. The names of further threads are ignored.
const maxThreadNames = 1 << 20
