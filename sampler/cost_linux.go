package sampler

import (
	"encoding/binary"
	"errors"
	"runtime"
	"slices"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// Samples are taken this close together, so that 20 ms show what they cost.
	costPeriodNanos  = 100_000
	costPeriodCycles = 300_000 // about as long
	costLength       = 20 * time.Millisecond
)

// sampleCost measures what a sample of cycles or of cpu-clock costs: a thread of
// ours looks at the clock all the time, and sees how long it could not. 0 is
// unknown.
func sampleCost(event string) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if isCycles(event) {
		fd, err := openCounter(unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_CPU_CYCLES, costPeriodCycles)
		if err == nil {
			return measureCost(fd, costPeriodCycles)
		}
		if !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.EOPNOTSUPP) && !errors.Is(err, unix.ENODEV) {
			return 0
		}
	}
	// Also where there is no cycles counter: perf takes cpu-clock then.
	fd, err := openCounter(unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_CPU_CLOCK, costPeriodNanos)
	if err != nil {
		return 0
	}
	return measureCost(fd, costPeriodNanos)
}

// openCounter opens an event that samples this thread each period. There is no
// buffer to put the samples in: what costs is to be interrupted.
func openCounter(kind uint32, event, period uint64) (fd int, err error) {
	attr := unix.PerfEventAttr{Type: kind, Config: event, Sample: period, Sample_type: unix.PERF_SAMPLE_IP,
		Bits: unix.PerfBitDisabled | unix.PerfBitExcludeHv}
	attr.Size = uint32(unsafe.Sizeof(attr))
	fd, err = unix.PerfEventOpen(&attr, 0, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) { // perf_event_paranoid is 2
		attr.Bits |= unix.PerfBitExcludeKernel
		fd, err = unix.PerfEventOpen(&attr, 0, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	}
	return fd, err
}

// measureCost is the cost of one of the counter's samples; it closes the counter.
func measureCost(fd int, period uint64) time.Duration {
	defer unix.Close(fd)
	if unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_ENABLE, 0) != nil {
		return 0
	}
	gaps := clockGaps(costLength)
	var count [8]byte
	if n, err := unix.Read(fd, count[:]); n != len(count) || err != nil {
		return 0
	}
	return typicalCost(gaps, int(binary.NativeEndian.Uint64(count[:])/period))
}

// clockGaps looks at the clock for some time, and returns the times between two
// looks that were longer than looks take.
func clockGaps(length time.Duration) (gaps []time.Duration) {
	const look = 200 * time.Nanosecond
	gaps = make([]time.Duration, 0, 4096)
	begin := time.Now()
	last := time.Duration(0)
	for last < length {
		now := time.Since(begin)
		if now-last > look {
			gaps = append(gaps, now-last)
		}
		last = now
	}
	return gaps
}

// typicalCost is the median of the longest gaps, one for each sample. The clock's
// tick, other processes and this one's collector make longer ones, but few.
func typicalCost(gaps []time.Duration, samples int) time.Duration {
	if samples == 0 || samples > len(gaps) {
		return 0 // a counter that stands still, or samples too short to be seen
	}
	slices.Sort(gaps)
	return gaps[len(gaps)-(samples+1)/2]
}
