package hslog

import (
	"bytes"
	"strconv"

	"github.com/gasm-profiler/gasm/event"
)

// operation reads a message about the beginning or the end of a VM operation. Two messages with the same address are
// about the same operation.
func (r *Reader) operation(message []byte) (found bool, msg string) {
	rest, begins := bytes.CutPrefix(message, []byte("begin VM_Operation (0x"))
	if !begins {
		var ends bool
		if rest, ends = bytes.CutPrefix(message, []byte("end VM_Operation (0x")); !ends {
			return false, ""
		}
	}
	digits, rest, ok := bytes.Cut(rest, []byte("): "))
	id, err := strconv.ParseUint(string(digits), 16, 64)
	if !ok || err != nil {
		return false, "a VM operation without its address"
	}
	name, rest, _ := bytes.Cut(rest, []byte(", mode: "))
	mode, _, _ := bytes.Cut(rest, []byte(", "))
	if begins {
		r.begin(begun{kind: event.VMOperation, id: id, mono: r.event.MonoNanos, label: r.label(name, plainLabel)})
		return false, ""
	}
	for i := len(r.open) - 1; i >= 0; i-- {
		if b := r.open[i]; b.kind == event.VMOperation && b.id == id && b.mono <= r.event.MonoNanos {
			r.close(i)
			r.event.Kind, r.event.Name = event.VMOperation, b.label.name
			r.event.MonoNanos, r.event.Nanos = b.mono, r.event.MonoNanos-b.mono
			if len(mode) > 0 {
				r.event.Args = []event.Arg{{Name: "mode", Value: r.label(mode, plainLabel).name}}
			}
			return true, ""
		}
	}
	return false, "" // the operation began before the log did
}

// compilation reads a message about a compilation: its id, its attributes, its level, and its method. Each attribute
// is a blank or a letter (OSR, synchronized, exception handlers, blocking, native).
//
//	71   %     4       Spin::spin @ 12 (38 bytes)
//	72    n 0       java.lang.Thread::currentThread (native)   (static)
//
// HotSpot also writes a line when it stops using some code. JDK 25 and newer have the reason in it:
//
//	71   %     4       Spin::spin @ 12 (38 bytes)   made not entrant: uncommon trap
//
// A line with any other text there, such as "blocked" or "COMPILE SKIPPED: out of nodes", repeats a compilation that
// had a line before, and is ignored.
func (r *Reader) compilation(message []byte) (found bool, msg string) {
	id, rest := cutNumber(bytes.TrimLeft(message, " "))
	if len(rest) == 0 || rest[0] != ' ' || id == 1<<64-1 {
		return false, ""
	}
	osr, native := false, false
	for len(rest) > 0 && (rest[0] < '0' || rest[0] > '9') {
		if bytes.IndexByte([]byte("%s!bn "), rest[0]) < 0 {
			return false, ""
		}
		osr, native = osr || rest[0] == '%', native || rest[0] == 'n'
		rest = rest[1:]
	}
	level, rest := cutNumber(rest)
	method := bytes.TrimLeft(rest, " ")
	if len(rest) == len(method) {
		return false, ""
	}
	method, size, state := cutMethod(method)
	if !bytes.Contains(method, []byte("::")) {
		return false, ""
	}
	kind := event.Compilation
	bytecode, unit := cutNumber(size)
	state, reason, _ := bytes.Cut(bytes.TrimSpace(state), []byte(": "))
	switch {
	case bytes.HasPrefix(state, []byte("made not ")):
		kind = event.Discard
	case len(state) > 0 && string(state) != "(static)":
		return false, ""
	default:
		reason = nil
	}
	r.event.Kind, r.event.Name = kind, string(method)
	r.event.Args = []event.Arg{{Name: "id", Value: strconv.FormatUint(id, 10)},
		{Name: "level", Value: strconv.FormatUint(level, 10)}}
	if osr {
		r.event.Args = append(r.event.Args, event.Arg{Name: "osr", Value: "true"})
	}
	if native {
		r.event.Args = append(r.event.Args, event.Arg{Name: "native", Value: "true"})
	}
	if kind == event.Compilation && string(unit) == " bytes" && bytecode <= maxBytecode {
		r.event.Args = append(r.event.Args, event.Arg{Name: event.BytecodeSize, Value: strconv.FormatUint(bytecode, 10)})
	}
	if reason = bytes.TrimSpace(reason); len(reason) > 0 && len(reason) <= longestReason {
		r.event.Args = append(r.event.Args, event.Arg{Name: "reason", Value: string(reason)})
	}
	return true, ""
}

// cutMethod splits what follows the level in a message: "T::t @ 12 (38 bytes) made not entrant" becomes the method's
// name, the size "38 bytes" (or "native") and the rest. A name may contain blanks and parentheses, as in Kotlin's
// tests. So the name ends at the last size in the message; the text after it never contains a size. Without a size,
// the name ends at the first blank.
func cutMethod(message []byte) (method, size, state []byte) {
	open, end := bytes.LastIndex(message, []byte(" (native)")), bytes.LastIndex(message, []byte(" bytes)"))
	if end > open {
		open = bytes.LastIndex(message[:end], []byte(" ("))
		end += len(" bytes)")
	} else {
		end = open + len(" (native)")
	}
	if open < 0 {
		method, state, _ = bytes.Cut(message, []byte(" "))
		return method, nil, state
	}
	method, size, state = message[:open], message[open+len(" ("):end-1], message[end:]
	if name, bci, ok := bytes.Cut(method, []byte(" @ ")); ok {
		if _, rest := cutNumber(bci); len(rest) == 0 {
			method = name
		}
	}
	return method, size, state
}

// maxBytecode is the maximum size of a method's bytecode in bytes (JVMS 4.7.3).
const maxBytecode = 1<<16 - 1

// longestReason is an upper bound for the length of the reasons for which HotSpot stops using code, in bytes.
const longestReason = 80
