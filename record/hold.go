package record

import "github.com/gasm-profiler/gasm/record/command"

// Hold must be the first call of main in a program that records. In a process that a [Recording] has made to hold its
// command, it becomes that command. It returns there only when it can't; then main must exit with the code. In any
// other process, isHolder is false.
func Hold() (code int, isHolder bool) { return command.RunHolder() }
