package layout

import (
	"os"

	"golang.org/x/term"
)

// LookOf is how text is drawn by default that goes to a file, in this environment: with
// colours and a Width only where the file is a terminal.
func LookOf(out *os.File) Look {
	look := Look{ASCII: !UserLocale().UTF8()}
	if IsTerminal(out) {
		look.Width, _, _ = term.GetSize(int(out.Fd())) // 0 where that is unknown
		// By no-color.org, any value of NO_COLOR but the empty one switches colours off.
		look.Color = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	}
	return look
}

// IsTerminal tells whether a file is a terminal.
func IsTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }
