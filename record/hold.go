package record

import "github.com/gasm-profiler/gasm/record/command"

// Hold must be the first call of main in a program that records. A [Recording] starts the program a second time, and
// this second process later becomes the recorded command. In the second process, Hold waits until the command may run,
// and then executes it (exec). If that fails, Hold returns isHolder true, and main must exit with the code. In any
// other process, Hold returns isHolder false at once.
func Hold() (code int, isHolder bool) { return command.RunHolder() }
