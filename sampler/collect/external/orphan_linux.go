package external

import "syscall"

// endAsOrphan makes a process get SIGINT when gasm is killed. Without it, perf would sample and write
// until the command ends, with nobody to read it.
//
// The kernel sends the signal when the thread that started the process ends. The Go runtime keeps its
// threads to the end, except those that a goroutine has locked and not unlocked.
func endAsOrphan(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGINT }
