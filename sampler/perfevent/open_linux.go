package perfevent

import (
	"errors"
	"fmt"
	"slices"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Sizes of a CPU's ring buffer in bytes. perf also uses the largest size, which the default of
// kernel.perf_event_mlock_kb allows. It is enough for ten seconds of samples at 1001 Hz.
const (
	largestRing  = 512 << 10
	smallestRing = 32 << 10
)

// Options say what is sampled, and how often.
type Options struct {
	Events    []Event // not empty
	Frequency int     // samples of each event per second and CPU
	// Pauses is true if Pause is going to be called. The set then has one more event, which never happens and is not
	// paused. It is needed because the kernel reports no mappings and threads for paused events.
	Pauses bool
	// Stacks is the number of bytes of its thread's stack that each sample should have, at most MaxStack. If it is not
	// 0, samples also have the thread's registers and the kernel's call chain; see [ThreadState]. The kernel copies all
	// of this in the sampled thread, which costs that thread time. [Set.Stacks] returns for how many bytes there is
	// room.
	Stacks int
	// DrainEvery is the time between two calls of Drain while there are samples. The sizes of the ring buffers depend
	// on it. It must be set if Stacks is not 0.
	DrainEvery time.Duration
}

// Dummy is an event that never happens. It is used to get the kernel's reports about mappings and threads.
var Dummy = Event{Name: "dummy", Type: unix.PERF_TYPE_SOFTWARE, Config: [3]uint64{unix.PERF_COUNT_SW_DUMMY}}

// An OpenError says that the kernel refused an event.
type OpenError struct {
	Event string // the event's name
	Call  string // "perf_event_open" or "mmap"
	Err   unix.Errno
}

func (e *OpenError) Error() string { return fmt.Sprintf("%s for event %s: %v", e.Call, e.Event, e.Err) }

// Unwrap returns e.Err.
func (e *OpenError) Unwrap() error { return e.Err }

// A Set is a set of events that are open on one or several threads, or on the whole machine. Each event is opened once
// for each thread and CPU. While one method is running, no other method may be called, except Interrupt.
type Set struct {
	events []opening
	cpus   []int
	cores  []corePMU
	fds    []descriptor
	byID   map[uint64]descriptor
	rings  []*Ring // the ring of each CPU, by the CPU's index; nil if the CPU has no ring
	owners []int   // file descriptor of each CPU's ring, by the CPU's index; -1 if there is none
	// tracking is the index of the event with which the kernel reports mappings and threads.
	tracking int
	heads    []uint64
	tails    []uint64 // with stacks, for each ring: the position up to which records were taken, but not freed yet
	waiter   *waiter
	batch    []Record // taken out of the rings, but not returned by Drain yet

	stack      int   // number of bytes of a stack in each sample; 0 without Options.Stacks
	ringOwners []int // file descriptors of events that only own rings; see mapStackRings
	pool       statePool
	followed
}

// An opening is an event and the attributes with which the kernel opens it.
type opening struct {
	Event
	attr     unix.PerfEventAttr
	precise  int  // the level, from 0 to 3, of the open event or of the next attempt to open it
	userOnly bool // true if samples in the kernel are left out because this user may not see them
}

// A descriptor is the file descriptor of one event on one thread and one CPU.
type descriptor struct {
	fd, event, cpu int   // event is an index in Set.events, and cpu in Set.cpus
	tid            int32 // the thread; -1 for all threads of the machine
}

// Open opens events on the first thread of a process. The kernel enables the events when the process execs. All threads
// and processes that descend from the first thread inherit the events. If the kernel refuses an event, the error is an
// [*OpenError].
func Open(pid int, o Options) (*Set, error) {
	s, err := newSet(o, unix.PerfBitEnableOnExec|unix.PerfBitInherit)
	if err != nil {
		return nil, err
	}
	if err = s.add(pid); err == nil {
		err = s.mapRings()
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// newSet returns a set in which no event is open yet. flags are bits of perf_event_attr for all events.
func newSet(o Options, flags uint64) (s *Set, err error) {
	s = &Set{byID: map[uint64]descriptor{}, cores: theKernel.corePMUs()}
	if s.cpus, err = OnlineCPUs(); err != nil {
		return nil, err
	}
	s.rings, s.heads, s.tails = make([]*Ring, len(s.cpus)), make([]uint64, len(s.cpus)), make([]uint64, len(s.cpus))
	s.owners = slices.Repeat([]int{-1}, len(s.cpus))
	if s.waiter, err = newWaiter(); err != nil {
		return nil, &OpenError{o.Events[0].Name, "epoll", errnoOf(err)}
	}
	if o.Stacks > 0 && registerMask != 0 {
		if err = s.mapStackRings(&o); err != nil {
			s.Close()
			return nil, err
		}
	}
	events := slices.Clone(o.Events)
	if o.Pauses {
		s.tracking = len(events)
		events = append(events, Dummy)
	}
	for i, e := range events {
		op := opening{Event: e, attr: attributes(&e, o.Frequency, flags)}
		if i == s.tracking {
			op.attr.Bits |= unix.PerfBitMmap | unix.PerfBitMmap2 | unix.PerfBitComm | unix.PerfBitCommExec | unix.PerfBitTask
		}
		op.setPrecise(e.Precise)
		if s.stack > 0 && i < len(o.Events) {
			AskStacks(&op.attr, s.stack)
		}
		s.events = append(s.events, op)
	}
	return s, nil
}

// attributes returns the attributes with which the kernel opens an event.
func attributes(e *Event, frequency int, flags uint64) unix.PerfEventAttr {
	attr := unix.PerfEventAttr{
		Type: e.Type, Config: e.Config[0], Ext1: e.Config[1], Ext2: e.Config[2],
		Sample: uint64(frequency), Sample_type: sampleType,
		Read_format: unix.PERF_FORMAT_ID | unix.PERF_FORMAT_LOST,
		Bits: flags | e.Flags | unix.PerfBitDisabled | unix.PerfBitFreq | unix.PerfBitWatermark |
			unix.PerfBitSampleIDAll | unix.PerfBitUseClockID,
		Clockid: unix.CLOCK_MONOTONIC,
	}
	attr.Size = uint32(unsafe.Sizeof(attr))
	return attr
}

// add opens all events on a thread, on each CPU.
func (s *Set) add(tid int) error {
	for i := range s.events {
		opened := false
		var last error
		for c, cpu := range s.cpus {
			if cpus := s.events[i].CPUs; cpus != nil && !slices.Contains(cpus, cpu) {
				continue // the event is for another kind of core
			}
			err := s.openOn(i, tid, c)
			switch {
			case err == nil:
				opened = true
			case errors.Is(err, unix.ENODEV): // the CPU may have been switched off just now
				last = err
			default:
				return err
			}
		}
		if !opened {
			return last
		}
	}
	return nil
}

// openOn opens an event on a thread and on the CPU s.cpus[c].
func (s *Set) openOn(event, tid, c int) error {
	o := &s.events[event]
	on := o.Event.on(s.cpus[c], s.cores)
	o.attr.Type, o.attr.Config = on.Type, on.Config[0]
	fd, err := o.open(tid, s.cpus[c])
	if err != nil {
		return &OpenError{o.Name, "perf_event_open", errnoOf(err)}
	}
	d := descriptor{fd, event, c, int32(tid)}
	s.fds = append(s.fds, d)
	counts, err := s.readCounts(d)
	if err != nil {
		return &OpenError{o.Name, "read", errnoOf(err)}
	}
	s.byID[counts.id] = d
	if s.owners[c] < 0 {
		s.owners[c] = fd
	} else if s.rings[c] != nil {
		return s.shareRing(d)
	}
	return nil
}

// open opens the event. If the kernel does not know or does not allow something in the attributes, gasm asks for less.
// The changed attributes are then used for the other CPUs, too.
func (o *opening) open(tid, cpu int) (int, error) {
	for {
		fd, err := unix.PerfEventOpen(&o.attr, tid, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
		if err == nil {
			return fd, nil
		}
		if err != unix.EINTR && !o.askLess(err) {
			return -1, err
		}
	}
}

// askLess removes from the attributes what may have caused an error. It returns false if that can't help, or if gasm
// needs everything that is left.
func (o *opening) askLess(err error) bool {
	const kernelBits = unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv
	switch {
	case err == unix.EMFILE || err == unix.ENFILE || err == unix.ESRCH || o.Type == unix.PERF_TYPE_SOFTWARE &&
		err == unix.ENODEV:
		return false
	case err == unix.EACCES || err == unix.EPERM:
		if o.attr.Bits&(unix.PerfBitExcludeKernel|unix.PerfBitExcludeUser) != 0 {
			return false
		}
		o.attr.Bits |= kernelBits
		o.userOnly = true
		return true
	case err == unix.EINVAL && o.attr.Read_format&unix.PERF_FORMAT_LOST != 0: // Linux before 6.0 does not know the flag
		o.attr.Read_format &^= unix.PERF_FORMAT_LOST
		return true
	case o.BestPrecise && o.precise > 0:
		o.setPrecise(o.precise - 1)
		return true
	case o.precise > 0 && o.attr.Bits&unix.PerfBitExcludeGuest != 0: // AMD's IBS may be unable to exclude guests
		o.attr.Bits &^= unix.PerfBitExcludeGuest
		return true
	}
	return false
}

// setPrecise sets the required precision of PCs, from 0 to 3.
func (o *opening) setPrecise(level int) {
	o.precise = level
	o.attr.Bits &^= unix.PerfBitPreciseIPBit1 | unix.PerfBitPreciseIPBit2
	if level&1 != 0 {
		o.attr.Bits |= unix.PerfBitPreciseIPBit1
	}
	if level&2 != 0 {
		o.attr.Bits |= unix.PerfBitPreciseIPBit2
	}
}

func errnoOf(err error) unix.Errno {
	var errno unix.Errno
	errors.As(err, &errno)
	return errno
}
