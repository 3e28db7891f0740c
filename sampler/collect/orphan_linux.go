package collect

import "syscall"

// endAsOrphan has a process get SIGINT when gasm is killed. Without it, perf would sample
// and write until the command ends, with nobody to read it.
//
// The kernel sends the signal when the thread ends that started the process. The Go
// runtime keeps its threads to the end, but for those that a goroutine has locked and not
// unlocked.
func endAsOrphan(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGINT }
