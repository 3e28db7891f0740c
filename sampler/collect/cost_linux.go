package collect

import (
	"encoding/binary"
	"errors"
	"os"
	"runtime"
	"slices"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/sampler"
)

const (
	// The periods between two samples: nanoseconds of a clock, or cycles. They are short, so that 200 samples take 20
	// ms.
	costPeriodNanos  = 100_000
	costPeriodCycles = 300_000 // 100 us at a clock rate of 3 GHz

	// costSamples is the number of samples in a measurement. If there are fewer than fewSamples, the cost stays
	// unknown.
	costSamples = 200
	fewSamples  = 20
	// costPatience limits the duration of a measurement. The samples of a measurement usually take 20 ms. On a busy
	// machine they take longer, because the thread has to share its CPU.
	costPatience = 300 * time.Millisecond

	// costBuffer is the size in bytes of the buffer for records, without its first page. An ordinary user may lock no
	// more for a CPU by default (kernel.perf_event_mlock_kb). The buffer has room for about 28 records of samples with
	// stacks.
	costBuffer = 512 << 10

	// stackRecord is an upper bound, in bytes, for what a record contains besides the copy of the stack: the
	// registers and the kernel's call chain.
	stackRecord = 2 << 10
)

// sampleCost measures how much time one sample takes from the sampled thread. The event e is cycles or a clock. stack
// is the number of bytes of the thread's stack that the kernel copies for each sample; it may be 0. sampleCost returns
// 0 if the time can't be measured.
//
// One of gasm's threads is sampled while it does nothing but read the clock. Each interrupt is a gap between two
// readings. The number of samples in the kernel's buffer is the number of interrupts to look for. If there were n
// samples, the n longest gaps are attributed to them, and the median of these gaps is the cost. A few gaps have other
// causes: the kernel's tick, other processes, or Go's collector. Most of these gaps are short, and so are not among
// the n longest. Long ones hardly change the median.
func sampleCost(e sampler.Event, stack int) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if e.CountsCycles() {
		fd, err := openCycles(stack)
		if err == nil {
			return measureCost(fd, stack)
		}
		if !isNoCounter(err) && !errors.Is(err, unix.EOPNOTSUPP) {
			return 0
		}
	}
	// If the machine can't count cycles, measure cpu-clock, because the recording will use it, too.
	fd, err := openClock(stack)
	if err != nil {
		return 0
	}
	return measureCost(fd, stack)
}

// measureCost returns the cost of one sample of the event whose descriptor is fd. The parameter stack is the number of
// bytes of the thread's stack that the kernel copies for each sample. measureCost closes fd.
func measureCost(fd, stack int) time.Duration {
	defer unix.Close(fd)
	page := os.Getpagesize()
	buffer, err := unix.Mmap(fd, 0, page+costBuffer, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return 0
	}
	defer unix.Munmap(buffer)
	written := &(*unix.PerfEventMmapPage)(unsafe.Pointer(&buffer[0])).Data_head
	if unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_ENABLE, 0) != nil {
		return 0
	}
	const record = 8 + 8 // header and PC
	enough := uint64(costSamples * record)
	if stack != 0 {
		enough = uint64(costBuffer - 2*(stack+stackRecord))
	}
	gaps, first, last := deepClockGaps(written, enough)
	return typicalCost(gaps, samplesAmong(buffer[page:], first, last))
}

// deepClockGaps calls clockGaps with at least costStack bytes on the thread's stack. So the kernel can copy that many
// bytes of the stack.
//
//go:noinline
func deepClockGaps(written *uint64, enough uint64) (gaps []time.Duration, first, last uint64) {
	var below [costStack]byte
	for i := range below { // the kernel's copy would end at a page that was never written
		below[i] = byte(i)
	}
	gaps, first, last = clockGaps(written, enough)
	runtime.KeepAlive(&below)
	return gaps, first, last
}

// clockGaps reads the clock again and again, until the kernel has written enough bytes of records or costPatience has
// passed. It returns the gaps: the times between two successive readings that were longer than usual, for example
// because the kernel took a sample. The results first and last are the positions up to which the kernel had written to
// its buffer at the first and at the last reading of the clock. So the records between these positions are the samples
// that were taken within the gaps.
//
//go:noinline
func clockGaps(written *uint64, enough uint64) (gaps []time.Duration, first, last uint64) {
	const look = 200 * time.Nanosecond
	gaps = make([]time.Duration, 0, 4096)
	begin := time.Now()
	before := time.Duration(0)
	first = atomic.LoadUint64(written)
	for last = first; last-first < enough && before <= costPatience; {
		last = atomic.LoadUint64(written)
		now := time.Since(begin)
		if now-before > look {
			gaps = append(gaps, now-before)
		}
		before = now
	}
	return gaps, first, last
}

// samplesAmong returns the number of samples among the records between the positions first and last. The buffer is
// large enough for all records, so the kernel never starts over at its beginning. The only other records say that the
// kernel paused the event because it occurred too often.
func samplesAmong(records []byte, first, last uint64) (n int) {
	last = min(last, uint64(len(records)))
	for first+8 <= last {
		header := records[first:]
		if binary.NativeEndian.Uint32(header) == unix.PERF_RECORD_SAMPLE {
			n++
		}
		size := uint64(binary.NativeEndian.Uint16(header[6:]))
		if size < 8 {
			break
		}
		first += size
	}
	return n
}

// typicalCost returns the median of the n longest gaps, where n is the number of samples. It returns 0, which means
// unknown, if there were too few samples, or more samples than gaps.
func typicalCost(gaps []time.Duration, samples int) time.Duration {
	if samples < fewSamples || samples > len(gaps) {
		return 0
	}
	slices.Sort(gaps)
	return gaps[len(gaps)-(samples+1)/2]
}
