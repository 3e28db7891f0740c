package layout

import (
	"os"
	"strconv"

	"golang.org/x/term"
)

// LookOf returns how text for a file is drawn by default in this environment. There are colours only if the file is a
// terminal. Width is the terminal's width. If the file is not a terminal, or the width is unknown, Width is $COLUMNS,
// or 0 if that is not set.
func LookOf(out *os.File) Look {
	look := Look{ASCII: !UserLocale().UTF8(), Width: columns(os.Getenv("COLUMNS"))}
	if IsTerminal(out) {
		if width, _, err := term.GetSize(int(out.Fd())); err == nil && width > 0 {
			look.Width = width
		}
		// According to no-color.org, any value of NO_COLOR except the empty one switches colours off.
		look.Color = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	}
	return look
}

// columns parses a width from the environment. It returns 0 for values that are not a plausible width.
func columns(value string) int {
	const least, most = 20, 10_000
	if n, err := strconv.Atoi(value); err == nil && n >= least && n <= most {
		return n
	}
	return 0
}

// IsTerminal reports whether a file is a terminal.
func IsTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }
