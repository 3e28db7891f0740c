package gasmtest

import (
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// nativeWorks returns an error if a CPU clock event can't be opened for this thread.
var nativeWorks = sync.OnceValue(func() error {
	attr := unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_CPU_CLOCK, Sample: 1_000_000,
		Bits: unix.PerfBitDisabled | unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv}
	attr.Size = uint32(unsafe.Sizeof(attr))
	fd, err := unix.PerfEventOpen(&attr, 0, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err == nil {
		err = unix.Close(fd)
	}
	return err
})
