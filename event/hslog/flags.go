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

// OldestRelease is the first JDK that has -Xlog. JDK 8 does not start with this option.
const OldestRelease = 9

// selections lists, for each kind of event, the log tags that -Xlog must select. It contains only tags that exist in
// all JDKs from 9 to 28, because HotSpot warns on stdout about unknown tags.
var selections = []struct {
	kind event.Kind
	tags string
}{
	{event.GC, "gc,gc+start"},
	{event.Safepoint, "safepoint"},
	{event.Compilation, "jit+compilation=debug"},
}

// Logged returns the kinds of events that Flag can switch on.
func Logged() []event.Kind {
	var kinds []event.Kind
	for _, s := range selections {
		kinds = append(kinds, s.kind)
	}
	return kinds
}

// Flag returns the option that makes HotSpot write events of the given kinds to a file. The path may contain %p for
// the process id. At least one of the kinds must be in Logged.
//
// The option has no output options, such as filecount=0. JMH passes the options of its own JVM on to its forks, so a
// fork may get this option twice. If an output exists already, HotSpot silently accepts the option again, but warns on
// stdout about output options (LogConfiguration::parse_log_arguments). Without output options, HotSpot begins a new
// file after 20 MB and keeps the last five; see [Rotated].
func Flag(kinds []event.Kind, path string) string {
	return "-Xlog:" + Tags(kinds) + ":file=" + path + ":" + Decorators
}

// Decorators are the decorations that HotSpot writes before each message: thread, time and tags. A Reader needs the
// time and the tags.
const Decorators = "tn,ti,tg"

// Tags returns the log tags that -Xlog must select for events of the given kinds: "gc,gc+start,safepoint".
func Tags(kinds []event.Kind) string {
	var tags []string
	for _, s := range selections {
		if slices.Contains(kinds, s.kind) {
			tags = append(tags, s.tags)
		}
	}
	return strings.Join(tags, ",")
}

// unwritable are the characters that a path in -Xlog can't have. -Xlog splits an option at them, or replaces them.
const unwritable = ":,%\"\n"

// CheckFolder returns an error if the path of a directory can't be part of Flag's path.
func CheckFolder(dir string) error {
	if i := strings.IndexAny(dir, unwritable); i >= 0 {
		return fmt.Errorf("the path of %s contains %q, which HotSpot's -Xlog does not allow in a path: "+
			"set TMPDIR to another folder", dir, dir[i])
	}
	return nil
}

// SafepointEnds returns the times at which safepoints ended, from a log of JDK 11: the times of its lines "Leaving
// safepoint region". The events of a Reader end a few µs later, because the Reader takes the time of the next line,
// which has the safepoint's duration.
func SafepointEnds(r io.Reader) (mono []int64) {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		if d, ok := cutDecorations(lines.Bytes()); ok && string(d.tags) == "safepoint" &&
			bytes.HasPrefix(d.message, []byte("Leaving safepoint")) {
			mono = append(mono, d.mono)
		}
	}
	return mono // if a line is too long, the rest is ignored; HotSpot does not write such lines
}

// FirstMono returns the time of the first line of a log, or 0 if the line has no time. Callers sort rotated files by
// this time.
func FirstMono(r io.Reader) int64 {
	head := make([]byte, 256)
	n, _ := io.ReadFull(r, head)     // a shorter file is fine
	d, _ := cutDecorations(head[:n]) // the time is 0 if there are no decorations
	return d.mono
}

// rotations is the number of full files that HotSpot keeps besides the one that it writes to
// (LogFileOutput::DefaultFileCount).
const rotations = 5

// Rotated returns the names that HotSpot gives to the older files of the log at path. Not all of these files need to
// exist.
func Rotated(path string) []string {
	var paths []string
	for i := range rotations {
		paths = append(paths, fmt.Sprintf("%s.%d", path, i))
	}
	return paths
}
