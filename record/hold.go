package record

import "github.com/gasm-profiler/gasm/record/command"

// Hold must be the first call of main in a program that records. A [Recording] starts the program a second time, as the
// process that is to become the recorded command. In that process, Hold waits and then executes the command (exec). It
// returns there only if that fails: isHolder is true, and main must exit with the code. In any other process, Hold
// returns at once, and isHolder is false.
func Hold() (code int, isHolder bool) { return command.RunHolder() }
