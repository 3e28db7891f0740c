package perfevent

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// mapRings maps a ring for each CPU that has an event, and makes all events of the CPU write into it. A
// user who may lock less memory than the largest rings take gets smaller rings.
func (s *Set) mapRings() error {
	for size := largestRing; ; size /= 2 {
		err := s.mapRingsOf(size)
		if err == nil {
			break
		}
		s.unmapRings()
		if err != unix.EPERM && err != unix.ENOMEM || size <= smallestRing {
			return &OpenError{s.events[0].Name, "mmap", errnoOf(err)}
		}
	}
	for _, d := range s.fds {
		if d.fd == s.owners[d.cpu] {
			if err := s.waiter.watch(d.fd); err != nil {
				return &OpenError{s.events[d.event].Name, "epoll_ctl", errnoOf(err)}
			}
		} else if err := s.shareRing(d); err != nil {
			return err
		}
	}
	return nil
}

func (s *Set) mapRingsOf(size int) (err error) {
	for c, fd := range s.owners {
		if fd >= 0 {
			if s.rings[c], err = MapRing(fd, size); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Set) unmapRings() {
	for c, r := range s.rings {
		if r != nil {
			r.Unmap()
			s.rings[c] = nil
		}
	}
}

// shareRing makes an event write into the ring of its CPU.
func (s *Set) shareRing(d descriptor) error {
	if err := unix.IoctlSetInt(d.fd, unix.PERF_EVENT_IOC_SET_OUTPUT, s.owners[d.cpu]); err != nil {
		return &OpenError{s.events[d.event].Name, "PERF_EVENT_IOC_SET_OUTPUT", errnoOf(err)}
	}
	return nil
}

// Wait waits until a ring is half full, or the time d is over, or Interrupt is called.
func (s *Set) Wait(d time.Duration) { s.waiter.wait(d) }

// Interrupt ends the current Wait, or the next one if there is none.
func (s *Set) Interrupt() { s.waiter.interrupt() }

// Disable ends all events, including those of children. What they have written still has to be drained.
func (s *Set) Disable() error { return s.control(s.fds, unix.PERF_EVENT_IOC_DISABLE) }

// Pause disables the events, including those of children, until Resume. For a set that was opened with
// Pauses, the kernel reports mappings and threads meanwhile.
func (s *Set) Pause() error { return s.control(s.sampled(), unix.PERF_EVENT_IOC_DISABLE) }

// Resume enables the events after Pause.
func (s *Set) Resume() error { return s.control(s.sampled(), unix.PERF_EVENT_IOC_ENABLE) }

// sampled returns all events except the one that only reports mappings and threads.
func (s *Set) sampled() (events []descriptor) {
	for _, d := range s.fds {
		if d.event != s.tracking || s.tracking == 0 {
			events = append(events, d)
		}
	}
	return events
}

func (s *Set) control(events []descriptor, request uint) error {
	for _, d := range events {
		if err := unix.IoctlSetInt(d.fd, request, 0); err != nil {
			return &OpenError{s.events[d.event].Name, "ioctl", errnoOf(err)}
		}
	}
	return nil
}

// counts are what read returns for an event: its id, and how many of its samples were lost.
type counts struct{ id, lost uint64 }

// readCounts reads an event's id, and how many of its samples did not fit into the ring, including
// those of inherited events.
func (s *Set) readCounts(d descriptor) (counts, error) {
	var buf [24]byte
	n, err := unix.Read(d.fd, buf[:])
	if err != nil {
		return counts{}, err
	}
	if n < 16 {
		return counts{}, errors.New("too short")
	}
	c := counts{id: uint64At(buf[:], 8)}
	if n == len(buf) {
		c.lost = uint64At(buf[:], 16)
	}
	return c, nil
}

// Lost returns how many samples of an event did not fit into the rings, by the kernel's own count. It
// returns 0 before Linux 6.0, which has no such count; see the records of Kind [Lost].
func (s *Set) Lost(event int) (n uint64) {
	for _, d := range s.fds {
		if d.event == event {
			c, _ := s.readCounts(d)
			n += c.lost
		}
	}
	return n
}

// UserOnly reports whether an event leaves the kernel out without being asked to, because this user may
// not see the kernel.
func (s *Set) UserOnly(event int) bool { return s.events[event].userOnly }

// Precise returns how near to the instruction an event's PCs are, from 0 to 3.
func (s *Set) Precise(event int) int { return s.events[event].precise }

// Descriptors returns how many files are open.
func (s *Set) Descriptors() int { return len(s.fds) + 2 }

// Memory returns the size of all rings in bytes.
func (s *Set) Memory() (n int) {
	for _, r := range s.rings {
		if r != nil {
			n += len(r.memory)
		}
	}
	return n
}

// Close ends all events and releases the rings. Nothing may be drained afterwards.
func (s *Set) Close() {
	s.unmapRings()
	for _, d := range s.fds {
		unix.Close(d.fd)
	}
	s.waiter.close()
	s.fds = nil
}
