package external

import "syscall"

// endAsOrphan makes a process get SIGINT when gasm is killed. Without it, perf would sample and write
// until the command ends, with nobody to read it.
//
// The kernel sends the signal when the thread that started the process ends. The Go runtime ends a thread
// with the goroutine that has locked it and not unlocked it, as package foreign does. So [Process.Start]
// has a thread of its own until the process has ended.
func endAsOrphan(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGINT }
