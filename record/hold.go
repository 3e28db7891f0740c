package record

import "github.com/gasm-profiler/gasm/record/command"

// Hold must be the first call of main in a program that records. A [Recording] starts the program a second time, and
// this second process later becomes the recorded command. In this process, Hold waits until the command may run, and
// then executes it (exec). If that fails, Hold returns with isHolder true, and main must exit with the code. In any
// other process, Hold returns at once, and isHolder is false.
func Hold() (code int, isHolder bool) { return command.RunHolder() }
