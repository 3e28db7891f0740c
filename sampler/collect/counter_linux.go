package collect

import (
	"errors"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/sampler/perfevent"
)

// openCounter opens an event that samples the calling thread. The parameter period is the number of times that the
// event occurs from one sample to the next. If stack is not 0, each sample has a copy of that many bytes of the
// thread's stack. The event is not enabled yet.
func openCounter(kind uint32, event, period uint64, stack int) (fd int, err error) {
	attr := unix.PerfEventAttr{Type: kind, Config: event, Sample: period, Sample_type: unix.PERF_SAMPLE_IP,
		Bits: unix.PerfBitDisabled | unix.PerfBitExcludeHv}
	attr.Size = uint32(unsafe.Sizeof(attr))
	if stack != 0 {
		perfevent.AskStacks(&attr, stack)
	}
	fd, err = unix.PerfEventOpen(&attr, 0, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) {
		// The usual kernel.perf_event_paranoid, 2, allows sampling of user space only.
		attr.Bits |= unix.PerfBitExcludeKernel
		fd, err = unix.PerfEventOpen(&attr, 0, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	}
	return fd, err
}

// openCycles opens a counter of the CPU's cycles that samples the calling thread. The parameter stack is the number of
// bytes of the thread's stack that the kernel copies for each sample; it may be 0.
func openCycles(stack int) (fd int, err error) {
	return openCounter(unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_CPU_CYCLES, costPeriodCycles, stack)
}

// openClock opens perf's cpu-clock, which samples the calling thread. The parameter stack is the number of bytes of the
// thread's stack that the kernel copies for each sample; it may be 0.
func openClock(stack int) (fd int, err error) {
	return openCounter(unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_CPU_CLOCK, costPeriodNanos, stack)
}

// noCyclesCounter reports whether the machine has no counter of cycles, like many virtual machines. The result is false
// if gasm can't find out. Tests replace this function.
var noCyclesCounter = func() bool {
	fd, err := openCycles(0)
	if err == nil {
		unix.Close(fd)
	}
	return isNoCounter(err)
}

// isNoCounter reports whether an error says that there is no counter of cycles. perf itself uses a clock in place of
// cycles after the same errors: evsel__fallback() in the kernel's tools/perf/util/evsel.c.
func isNoCounter(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENXIO) || errors.Is(err, unix.ENODEV)
}
