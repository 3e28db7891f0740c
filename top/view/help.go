package view

// helpTexts lists the keys.
var helpTexts = [][2]string{
	{"1 … 7", "programs, methods, frames, threads, callers, code, events"},
	{"t c a e", "threads, callers, annotated code, events"},
	{"Enter, →", "go in: the methods of a program or thread, the code of a method"},
	{"Esc, ←", "come back"},
	{"↑ ↓ j k", "move; also PgUp, PgDn, Home, End and the mouse's wheel"},
	{"h", "back to the hottest row"},
	{"/", "show only rows that contain a text"},
	{"s", "sort by the next column"},
	{"m", "of the last 10 s, since the start, or decaying"},
	{"p", "pause the picture; the sampling goes on"},
	{"w", "write a capture, report or page of what is on the screen"},
	{"q", "quit"},
	{"", ""},
	{"NOW", "is the share of the last second."},
	{"TOTAL", "has what a method called, too."},
	{"GC, safepoints", "their number and time; - if the JVM does not say."},
	{"lost", "samples that did not fit into the kernel's buffers."},
	{"gasm", "what this view itself takes of a processor."},
	{"~", "a guess of a line or an inlined method, from an instruction nearby."},
	{"few lines", "gasm attach --debug-info makes those of later code exact."},
	{"skid", "samples of a slow instruction may be on the one behind it."},
}

// asciiKeys maps those names of keys in helpTexts that are not ASCII to names for screens that can show only ASCII.
var asciiKeys = map[string]string{"1 … 7": "1 - 7", "Enter, →": "Enter, Right", "Esc, ←": "Esc, Left",
	"↑ ↓ j k": "Up Down j k"}

// helpLines returns the list of all keys.
func helpLines(look Look) []Line {
	lines := []Line{Line{span(Title, " Keys; any key ends this")}.selectedTitle(look.Width)}
	for _, h := range helpTexts {
		key := h[0]
		if other := asciiKeys[key]; other != "" && look.ASCII {
			key = other
		}
		lines = append(lines, Line{span(Bold, pad(" "+key, 16)), span(Plain, h[1])})
	}
	return lines
}
