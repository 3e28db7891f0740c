package external

import "syscall"

// endAsOrphan makes a process get SIGINT when gasm is killed. Without this signal, perf would go on sampling and
// writing its file until the command ends.
//
// There is a catch: the kernel also sends the signal when only the thread that started the process ends. The Go runtime
// ends a thread if a goroutine locks it and returns without unlocking it, as goroutines of package foreign do. So
// [Process.Start] keeps the starting thread until the process has ended.
func endAsOrphan(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGINT }
