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
	// The periods between two samples: short ones, so that 200 samples take 20 ms.
	costPeriodNanos  = 100_000
	costPeriodCycles = 300_000 // about as long

	// costSamples is how many samples are measured. fewSamples is how many are too
	// few to tell what one costs.
	costSamples = 200
	fewSamples  = 20
	// costPatience is how long a thread of a busy machine waits for costSamples. It
	// takes more than 20 ms there because the thread has to share its CPU.
	costPatience = 300 * time.Millisecond

	costBufferPages = 8     // of records; 200 samples take one
	costRecordSize  = 8 + 8 // of a sample: header and PC
)

// sampleCost measures what a sample of cycles or of a clock costs the thread that
// is sampled. It is 0 where that can't be measured.
//
// A thread of gasm's is sampled while it does nothing but look at the clock. Each
// interrupt is a gap between two looks. The kernel's buffer tells how many samples
// there were; as many of the longest gaps are theirs, and their median is the cost.
// Other gaps (the kernel's tick, other processes, Go's collector) are few, and most
// of them short, or so long that the median does not depend on how long.
func sampleCost(e sampler.Event) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if e.CountsCycles() {
		fd, err := openCycles()
		if err == nil {
			return measureCost(fd)
		}
		if !isNoCounter(err) && !errors.Is(err, unix.EOPNOTSUPP) {
			return 0
		}
	}
	// cpu-clock is also what is sampled where the machine can't count cycles.
	fd, err := openClock()
	if err != nil {
		return 0
	}
	return measureCost(fd)
}

// measureCost gives the cost of one of the counter's samples, and closes the
// counter.
func measureCost(fd int) time.Duration {
	defer unix.Close(fd)
	page := os.Getpagesize()
	buffer, err := unix.Mmap(fd, 0, (1+costBufferPages)*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return 0
	}
	defer unix.Munmap(buffer)
	written := &(*unix.PerfEventMmapPage)(unsafe.Pointer(&buffer[0])).Data_head
	if unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_ENABLE, 0) != nil {
		return 0
	}
	gaps, first, last := clockGaps(written)
	return typicalCost(gaps, samplesAmong(buffer[page:], first, last))
}

// clockGaps looks at the clock until the kernel has written costSamples records, and
// returns the times between two looks that were longer than a look takes. The
// records from first to last, places in what was written, are of samples within
// these times.
func clockGaps(written *uint64) (gaps []time.Duration, first, last uint64) {
	const look = 200 * time.Nanosecond
	gaps = make([]time.Duration, 0, 4096)
	begin := time.Now()
	before := time.Duration(0)
	first = atomic.LoadUint64(written)
	for enough := false; !enough; {
		last = atomic.LoadUint64(written)
		now := time.Since(begin)
		if now-before > look {
			gaps = append(gaps, now-before)
		}
		before = now
		enough = last-first >= costSamples*costRecordSize || now > costPatience
	}
	return gaps, first, last
}

// samplesAmong counts the samples among the records from first to last. The buffer
// is too large for the kernel to reach its end. Others than samples tell that the
// kernel pauses an event that comes too often.
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

// typicalCost is the median of the longest gaps, as many as there were samples. It
// is 0, for unknown, when there were too few samples, or when some were too short to
// be seen.
func typicalCost(gaps []time.Duration, samples int) time.Duration {
	if samples < fewSamples || samples > len(gaps) {
		return 0
	}
	slices.Sort(gaps)
	return gaps[len(gaps)-(samples+1)/2]
}
