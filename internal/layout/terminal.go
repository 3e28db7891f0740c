package layout

import (
	"os"
	"strconv"

	"golang.org/x/term"
)

// LookOf is how text is drawn by default that goes to a file, in this environment: with
// colours only where the file is a terminal. Its Width is the terminal's. Where there is no
// terminal, or it tells no width, it is that of $COLUMNS, and 0 without.
func LookOf(out *os.File) Look {
	look := Look{ASCII: !UserLocale().UTF8(), Width: columns(os.Getenv("COLUMNS"))}
	if IsTerminal(out) {
		if width, _, err := term.GetSize(int(out.Fd())); err == nil && width > 0 {
			look.Width = width
		}
		// By no-color.org, any value of NO_COLOR but the empty one switches colours off.
		look.Color = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	}
	return look
}

// columns is a width in the environment. A value that makes no sense is none.
func columns(value string) int {
	const least, most = 20, 10_000
	if n, err := strconv.Atoi(value); err == nil && n >= least && n <= most {
		return n
	}
	return 0
}

// IsTerminal tells whether a file is a terminal.
func IsTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }
