package external

import "syscall"

// endAsOrphan makes a process get SIGINT when gasm is killed. Without this signal, perf would go on sampling and
// writing its file until the command ends.
//
// There is a catch: the kernel sends the signal when the thread that started the process ends, even
// if gasm goes on. The Go runtime ends a thread if a goroutine locks it and returns without
// unlocking it. Package foreign has such goroutines. So [Process.Start] keeps a thread of its own
// until the process has ended.
func endAsOrphan(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGINT }
