package record

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/jdk"
	"github.com/gasm-profiler/gasm/internal/regular"
	"github.com/gasm-profiler/gasm/printassembly"
)

// headSize is more than a log's first lines take: <hotspot_log>, the version, the
// arguments and the command. A class path can be long.
const headSize = 1 << 20

// readHead gives what the first lines of a log say about its JVM. The rest of the
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

// OverridingVariable finds one of Java's variables whose options take the JVM's log
// away from gasm. gasm's options are at the end of JAVA_TOOL_OPTIONS, and those of the
// other variables come after them. name is "" when no variable does so; cause is what
// to tell the user, and to unset the variable is what helps.
func OverridingVariable() (name, cause string) {
	for _, later := range jdk.OptionVariables[1:] {
		if option := printassembly.Overrides(os.Getenv(later)); option != "" {
			return later, fmt.Sprintf("%s has %s, which takes the JVM's log away from gasm", later, option)
		}
	}
	return "", ""
}

// javaOptions are all words that may be options of the command's JVM.
func javaOptions(command []string) []string {
	words := append([]string(nil), command...)
	for _, name := range jdk.OptionVariables {
		words = append(words, strings.Fields(os.Getenv(name))...)
	}
	return words
}
