package hslog

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gasm-profiler/gasm/event"
)

// OldestRelease is the first JDK with -Xlog. JDK 8 does not start with it.
const OldestRelease = 9

// selections are the parts of HotSpot's log that tell of each kind of events. Only tags that
// JDK 9 to 28 have are here: HotSpot warns on stdout of a tag that it does not know.
var selections = []struct {
	kind event.Kind
	tags string
}{
	{event.GC, "gc,gc+start"},
	{event.Safepoint, "safepoint"},
	{event.Compilation, "jit+compilation=debug"},
}

// Logged are the kinds of events that Flag can switch on.
func Logged() []event.Kind {
	var kinds []event.Kind
	for _, s := range selections {
		kinds = append(kinds, s.kind)
	}
	return kinds
}

// Flag is the option that makes HotSpot write events of some kinds into a file, whose path
// may hold %p for the process id. There must be a kind that Flag knows.
//
// The option has no output options, such as filecount=0. JMH hands the options of its own
// JVM on to its forks, which then have this one twice. Of an output that is there already
// HotSpot takes the option a second time without a word, but warns on stdout of output
// options (LogConfiguration::parse_log_arguments). Without them it begins a new file after
// 20 MB, and keeps the last five; see [Rotated].
func Flag(kinds []event.Kind, path string) string {
	return "-Xlog:" + Tags(kinds) + ":file=" + path + ":" + Decorators
}

// Decorators are what a Reader needs in front of each message.
const Decorators = "tn,ti,tg"

// Tags are the parts of HotSpot's log that tell of some kinds of events: "gc,gc+start,safepoint".
func Tags(kinds []event.Kind) string {
	var tags []string
	for _, s := range selections {
		if slices.Contains(kinds, s.kind) {
			tags = append(tags, s.tags)
		}
	}
	return strings.Join(tags, ",")
}

// unwritable are the characters that -Xlog takes apart an option at, or replaces in a path.
const unwritable = ":,%\"\n"

// CheckFolder tells why Flag can't name a file in a folder; nil when it can.
func CheckFolder(dir string) error {
	if i := strings.IndexAny(dir, unwritable); i >= 0 {
		return fmt.Errorf("the path of %s has a %q, which HotSpot's -Xlog can't have: set TMPDIR to another folder", dir, dir[i])
	}
	return nil
}

// SafepointEnds are the times at which safepoints ended in a log of JDK 11, in the order of the
// lines. The event that a Reader makes of a safepoint ends some µs later, with the line that
// has its duration.
func SafepointEnds(r io.Reader) (mono []int64) {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		if d, ok := cutDecorations(lines.Bytes()); ok && string(d.tags) == "safepoint" && bytes.HasPrefix(d.message, []byte("Leaving safepoint")) {
			mono = append(mono, d.mono)
		}
	}
	return mono // up to a line that is too long, which HotSpot does not write
}

// FirstMono is the time of the first line of a log, by which rotated files are put in
// order; 0 when there is none.
func FirstMono(r io.Reader) int64 {
	head := make([]byte, 256)
	n, _ := io.ReadFull(r, head)     // a shorter file has what it has
	d, _ := cutDecorations(head[:n]) // without decorations there is no time
	return d.mono
}

// rotations is how many full files HotSpot keeps beside the one that it writes
// (LogFileOutput::DefaultFileCount).
const rotations = 5

// Rotated are the names of the full files that HotSpot keeps of a log.
func Rotated(path string) []string {
	var paths []string
	for i := range rotations {
		paths = append(paths, fmt.Sprintf("%s.%d", path, i))
	}
	return paths
}
