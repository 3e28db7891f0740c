package printassembly

import (
	"bytes"
	"strconv"
)

// An End tells that HotSpot let no thread enter an nmethod any more. Only LogCompilation
// tells of it. A trap that an instruction of the code led to comes before:
//
//	<uncommon_trap thread='834' reason='unstable_if' action='reinterpret' debug_id='0' compile_id='173' compile_kind='osr' … stamp='2.797'/>
//	<make_not_entrant thread='834' reason='uncommon trap' compile_id='173' compile_kind='osr' compiler='c2' level='4' stamp='2.797'/>
//
// JDK 23 and older give no reason in the second line.
type End struct {
	UptimeMillis int64
	Reason       string // "not used", "uncommon trap"; "" when the log does not tell
	Trap         string // why there was a trap, "unstable_if"; "" without one
}

// An endKey names an nmethod of a JVM. On-stack replacements of JDK 8 have numbers of their
// own.
type endKey struct {
	id  int
	osr bool
}

// ends are what LogCompilation tells of nmethods that are not entered any more.
type ends struct {
	byKey map[endKey]End
	trap  End // the last one, of the nmethod trapOf
	of    endKey
}

// maxReason is longer than any reason of HotSpot's.
const maxReason = 80

// tag takes the two tags that tell of an end.
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
	key := endKey{id, string(attr(line, "compile_kind")) == "osr"}
	if trap {
		e.of, e.trap = key, End{UptimeMillis: ms, Trap: unescape(reason)}
		return
	}
	end := End{UptimeMillis: ms, Reason: unescape(reason)}
	const together = 2 // ms between a trap and the end that it leads to
	if e.of == key && ms-e.trap.UptimeMillis <= together {
		end.Trap = e.trap.Trap
	}
	if e.byKey == nil {
		e.byKey = map[endKey]End{}
	}
	if _, again := e.byKey[key]; !again {
		e.byKey[key] = end
	}
}

// EndOf tells when and why an nmethod was left. It is false when the log does not tell.
func (x *Index) EndOf(b *Blob) (End, bool) {
	if b.Kind != NMethod {
		return End{}, false
	}
	end, ok := x.ends.byKey[endKey{b.ID, b.OSR}]
	return end, ok
}
