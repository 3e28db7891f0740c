package usdt

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/internal/monotonic"
	"github.com/gasm-profiler/gasm/sampler/perfevent"
)

// The type uprobes is a set of probes that are recorded by perf's events. It is used if the kernel refuses BPF. There
// is one event for each place and processor. Other processes that use the same library reach the probes too; their
// records are skipped when the rings are read. The events are not in tracefs and exist only as long as gasm's file
// descriptors are open, so nothing is left behind when gasm ends.
type uprobes struct {
	pid    int32
	code   samples
	fds    []int
	rings  []*perfevent.Ring
	byID   map[uint64]int // maps the id of an event to the index of its place
	kept   []timed        // records held back after reading, because another processor's ring may get an older one
	missed int64          // how many records were lost, according to the kernel's reports in the rings
	why    string         // why BPF can't be used
}

// timed is a record and its time.
type timed struct {
	mono   uint64
	record []byte
}

// mostUprobes is the maximum number of events that are opened. The kernel sets an event in less than a millisecond,
// but takes 40 to 90 ms to remove it. It removes events one after another, even if gasm closes them all at the same
// time or is killed.
const mostUprobes = 128

// The size of each processor's ring, in bytes. someBytes is for most probes and manyBytes for
// frequent ones. If the user may not lock so much memory, the size is halved until it works, but it
// never gets smaller than leastBytes.
const someBytes, manyBytes, leastBytes = 2 << 20, 32 << 20, 32 << 10

// uprobeType is a file in sysfs. It contains the number that the field type of perf_event_attr must have for uprobes.
const uprobeType = "/sys/bus/event_source/devices/uprobe/type"

// openUprobes sets probes by perf's events.
func openUprobes(pid int, lib library, places []place, layouts []layout, why *RefusedError) (u *uprobes, err error) {
	if !tryUprobes {
		return nil, why
	}
	u = &uprobes{pid: int32(pid), byID: map[uint64]int{}, why: why.Cause, code: samples{places, layouts, lib}}
	cpus, err := perfevent.OnlineCPUs()
	if err != nil {
		return nil, err
	}
	if n := len(places) * len(cpus); n > mostUprobes {
		return nil, &RefusedError{fmt.Sprintf("%s; perf's events would be %d (%d places of probes on %d processors), and gasm opens %d at most", u.why, n, len(places), len(cpus), mostUprobes),
			"name fewer probes: --events usdt:hotspot:NAME"}
	}
	kind, err := os.ReadFile(uprobeType)
	number, bad := strconv.ParseUint(strings.TrimSpace(string(kind)), 10, 32)
	if err = errors.Join(err, bad); err != nil {
		return nil, &RefusedError{Cause: u.why + ", and has no events of perf's for uprobes: " + err.Error()}
	}
	path, err := unix.BytePtrFromString(lib.path)
	if err != nil {
		return nil, err
	}
	for _, cpu := range cpus {
		if err = u.openOn(cpu, uint32(number), path); err != nil {
			u.close()
			if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
				err = why // the fix for BPF helps here too
			}
			return nil, err
		}
	}
	return u, u.control(unix.PERF_EVENT_IOC_ENABLE)
}

// openOn opens the events of a processor. They all write into one ring.
func (u *uprobes) openOn(cpu int, kind uint32, path *byte) error {
	owner := -1
	for i := range u.code.places {
		p := &u.code.places[i]
		attr := unix.PerfEventAttr{
			Type: kind, Ext1: uint64(uintptr(unsafe.Pointer(path))), Ext2: p.Offset, Sample: 1, Wakeup: math.MaxInt32,
			Sample_type: unix.PERF_SAMPLE_IDENTIFIER | unix.PERF_SAMPLE_TID | unix.PERF_SAMPLE_TIME | unix.PERF_SAMPLE_REGS_USER,
			Bits:        unix.PerfBitDisabled | unix.PerfBitWatermark | unix.PerfBitUseClockID, Clockid: unix.CLOCK_MONOTONIC,
			Sample_regs_user: sampledRegisters, Read_format: unix.PERF_FORMAT_LOST,
		}
		if dump := u.code.layouts[p.layout].stackBytes(); dump > 0 {
			attr.Sample_type |= unix.PERF_SAMPLE_STACK_USER
			attr.Sample_stack_user = uint32(dump)
		}
		attr.Size = uint32(unsafe.Sizeof(attr))
		fd, err := unix.PerfEventOpen(&attr, -1, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
		if errors.Is(err, unix.EINVAL) { // kernels before Linux 6.0 do not know PERF_FORMAT_LOST
			attr.Read_format = 0
			fd, err = unix.PerfEventOpen(&attr, -1, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
		}
		if err != nil {
			return fmt.Errorf("perf_event_open for the probe %s: %w", p.name, err)
		}
		u.fds = append(u.fds, fd)
		var id uint64
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.PERF_EVENT_IOC_ID,
			uintptr(unsafe.Pointer(&id))); errno != 0 {
			return fmt.Errorf("the number of the event for the probe %s: %w", p.name, errno)
		}
		u.byID[id] = i
		if owner >= 0 {
			err = unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_SET_OUTPUT, owner)
		} else if owner = fd; true {
			err = u.mapRing(fd)
		}
		if err != nil {
			return fmt.Errorf("a ring for the probe %s: %w", p.name, err)
		}
	}
	runtime.KeepAlive(path)
	return nil
}

func (u *uprobes) mapRing(fd int) error {
	size := someBytes
	if slices.ContainsFunc(u.code.places, func(p place) bool { return p.isFrequent() }) {
		size = manyBytes
	}
	for ; ; size /= 2 {
		r, err := perfevent.MapRing(fd, size)
		if err == nil {
			u.rings = append(u.rings, r)
			return nil
		}
		if size <= leastBytes || !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.ENOMEM) {
			return err
		}
	}
}

func (u *uprobes) control(request uint) error {
	for _, fd := range u.fds {
		if err := unix.IoctlSetInt(fd, request, 0); err != nil {
			return fmt.Errorf("switching USDT probes: %w", err)
		}
	}
	return nil
}

// read calls give(record) for each record that has come, in the order of their times. It holds back the records of the
// last lookPause, because an older record may still be on its way into another ring. If all is true, as in the last
// call, it holds back nothing.
func (u *uprobes) read(all bool, give func(record []byte)) {
	until := uint64(monotonic.Nanos()) - uint64(lookPause)
	for _, r := range u.rings {
		r.Read(r.Head(), u.take)
	}
	slices.SortStableFunc(u.kept, func(a, b timed) int { return cmp.Compare(a.mono, b.mono) })
	n := 0
	for ; n < len(u.kept) && (all || u.kept[n].mono <= until); n++ {
		give(u.kept[n].record)
	}
	u.kept = slices.Delete(u.kept, 0, n)
}

// take handles a record from a ring. It keeps samples of the JVM, and counts losses.
func (u *uprobes) take(data []byte) {
	switch kind, body := perfHeader(data); {
	case kind == unix.PERF_RECORD_LOST && len(body) >= 16:
		u.missed += int64(wordOf(body, 1))
	case kind == unix.PERF_RECORD_SAMPLE && len(body) >= sampleHead:
		index, known := u.byID[wordOf(body, 0)]
		if !known || int32(wordOf(body, 1)) != u.pid {
			return
		}
		u.kept = append(u.kept, timed{wordOf(body, 2), u.code.record(index, body)})
	}
}

func (u *uprobes) detach() error {
	_ = u.control(unix.PERF_EVENT_IOC_DISABLE) // disabling an enabled event does not fail
	return nil
}

// lost returns the number of events for which the rings had no room. The kernel reports losses in a ring only when the
// next record fits in, so the last losses are never reported there. Since Linux 6.0 each event also counts its losses,
// and the result is the larger of the two numbers.
func (u *uprobes) lost() int64 {
	var counts int64
	for _, fd := range u.fds {
		var both [16]byte // how often the event happened, and how many of its records were lost
		if n, err := unix.Read(fd, both[:]); err == nil && n == len(both) {
			counts += int64(wordOf(both[:], 1))
		}
	}
	return max(u.missed, counts)
}

func (u *uprobes) note() string {
	return u.why + ": USDT probes are recorded by perf's events for uprobes instead, which take longer, and leave out what is not in a register or on the stack"
}

// close closes all events in parallel, because the kernel takes long for each of them.
func (u *uprobes) close() {
	for _, r := range u.rings {
		r.Unmap()
	}
	var closed sync.WaitGroup
	for _, fd := range u.fds {
		closed.Go(func() { unix.Close(fd) })
	}
	closed.Wait()
	u.fds, u.rings = nil, nil
}
