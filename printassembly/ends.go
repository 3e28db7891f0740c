package printassembly

import (
	"bytes"
	"strconv"
)

// An End says when and why HotSpot stopped letting threads enter an nmethod. Only LogCompilation reports this. If the
// reason is a trap in the nmethod's code, a tag for the trap comes first:
//
//	<uncommon_trap thread='834' reason='unstable_if' action='reinterpret' … compile_id='173' … stamp='2.797'/>
//	<make_not_entrant thread='834' reason='uncommon trap' compile_id='173' compile_kind='osr' … stamp='2.797'/>
//
// JDK 23 and older do not log a reason in the second line.
type End struct {
	UptimeMillis int64
	Reason       string // "not used", "uncommon trap"; "" if the log has none
	Trap         string // the reason of the trap, "unstable_if"; "" if there was no trap
}

// ends collects the Ends that LogCompilation reports.
type ends struct {
	byKey map[CodeKey]End
	trap  End // the last trap
	of    CodeKey
}

// maxReason is an upper bound for the length, in bytes, of the reason that HotSpot states for a trap or for the end of
// a method's code. A tag with a longer reason is ignored.
const maxReason = 80

// moved is the reason in HotSpot's log for the end of code that HotSpot has copied to another address. From then on,
// the method runs there.
const moved = "relocated"

// tag reads a line with one of the two tags in the comment of End. It ignores all other tags.
func (e *ends) tag(line []byte) {
	trap := bytes.HasPrefix(line, []byte("<uncommon_trap thread="))
	if !trap && !bytes.HasPrefix(line, []byte("<make_not_entrant ")) {
		return
	}
	id, err := strconv.Atoi(string(attr(line, "compile_id")))
	ms, ok := stampMillis(attr(line, "stamp"))
	reason := attr(line, "reason")
	if err != nil || !ok || len(reason) > maxReason {
		return
	}
	key := CodeKey{id, string(attr(line, "compile_kind")) == "osr"}
	if trap {
		e.of, e.trap = key, End{UptimeMillis: ms, Trap: unescape(reason)}
		return
	}
	if string(reason) == moved {
		return
	}
	end := End{UptimeMillis: ms, Reason: unescape(reason)}
	const together = 2 // an End follows the trap that causes it within this many milliseconds
	if e.of == key && ms-e.trap.UptimeMillis <= together {
		end.Trap = e.trap.Trap
	}
	if e.byKey == nil {
		e.byKey = map[CodeKey]End{}
	}
	if _, again := e.byKey[key]; !again {
		e.byKey[key] = end
	}
}

// EndOf returns when and why HotSpot stopped letting threads enter an nmethod. It returns false if
// the log does not say so.
func (x *Index) EndOf(b *Blob) (End, bool) {
	if b.Kind != NMethod {
		return End{}, false
	}
	end, ok := x.ends.byKey[b.Key()]
	return end, ok
}
