package perfevent

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// mapRings maps a ring buffer for each CPU that has an event, and makes all events of the CPU write into it. If the
// ring buffers are mapped already, it does nothing.
func (s *Set) mapRings() error {
	if len(s.ringOwners) > 0 {
		return nil
	}
	if _, err := s.mapOwned(s.events[0].Name, largestRing); err != nil {
		return err
	}
	for _, d := range s.fds {
		if d.fd != s.owners[d.cpu] {
			if err := s.shareRing(d); err != nil {
				return err
			}
		}
	}
	return nil
}

// mapOwned maps a ring buffer for each CPU that has an event in s.owners, and makes Wait watch it. If this user may not
// lock enough memory for the given size, mapOwned maps smaller buffers. It returns the size of each buffer in bytes.
// event is the name of an event for error messages.
func (s *Set) mapOwned(event string, size int) (int, error) {
	for ; ; size /= 2 {
		err := s.mapRingsOf(size)
		if err == nil {
			break
		}
		s.unmapRings()
		if err != unix.EPERM && err != unix.ENOMEM || size <= smallestRing {
			return 0, &OpenError{event, "mmap", errnoOf(err)}
		}
	}
	for _, fd := range s.owners {
		if fd >= 0 {
			if err := s.waiter.watch(fd); err != nil {
				return 0, &OpenError{event, "epoll_ctl", errnoOf(err)}
			}
		}
	}
	return size, nil
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

// shareRing makes an event write into the ring buffer of its CPU.
func (s *Set) shareRing(d descriptor) error {
	if err := unix.IoctlSetInt(d.fd, unix.PERF_EVENT_IOC_SET_OUTPUT, s.owners[d.cpu]); err != nil {
		return &OpenError{s.events[d.event].Name, "PERF_EVENT_IOC_SET_OUTPUT", errnoOf(err)}
	}
	return nil
}

// Wait waits until a ring buffer is half full, the time d has passed, or Interrupt is called.
func (s *Set) Wait(d time.Duration) { s.waiter.wait(d) }

// Interrupt ends the current Wait. If nobody is waiting, it ends the next Wait at once.
func (s *Set) Interrupt() { s.waiter.interrupt() }

// Disable ends all events, including the events that children have inherited. The last records are still in the ring
// buffers, so Drain must be called once more.
func (s *Set) Disable() error { return s.control(s.fds, unix.PERF_EVENT_IOC_DISABLE) }

// Pause disables the events until Resume, including the events that children have inherited. If the set was opened with
// Options.Pauses, the kernel continues to report mappings and threads.
func (s *Set) Pause() error { return s.control(s.sampled(), unix.PERF_EVENT_IOC_DISABLE) }

// Resume enables the events again after Pause.
func (s *Set) Resume() error { return s.control(s.sampled(), unix.PERF_EVENT_IOC_ENABLE) }

// sampled returns all descriptors except those of the event that only reports mappings and threads.
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

// counts are the values that the kernel returns when an event's descriptor is read: the event's id, and how many of the
// event's samples were lost.
type counts struct{ id, lost uint64 }

// readCounts reads an event's id, and how many of its samples did not fit into the ring buffer. Events that children
// have inherited are included.
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

// Lost returns how many samples of an event did not fit into the ring buffers, by the kernel's count. Linux before 6.0
// does not count them, so Lost returns 0 there; the records of Kind [Lost] still report most of them.
func (s *Set) Lost(event int) (n uint64) {
	for _, d := range s.fds {
		if d.event == event {
			c, _ := s.readCounts(d)
			n += c.lost
		}
	}
	return n
}

// UserOnly reports whether gasm had to limit an event's samples to user space, because this user may not sample the
// kernel. It is false if the options asked for user space only.
func (s *Set) UserOnly(event int) bool { return s.events[event].userOnly }

// Precise returns the precision of an event's PCs, from 0 (any skid) to 3 (no skid).
func (s *Set) Precise(event int) int { return s.events[event].precise }

// Descriptors returns the number of file descriptors that the set has open.
func (s *Set) Descriptors() int { return len(s.fds) + len(s.ringOwners) + 2 }

// Memory returns the size of all rings in bytes.
func (s *Set) Memory() (n int) {
	for _, r := range s.rings {
		if r != nil {
			n += len(r.memory)
		}
	}
	return n
}

// Close ends all events and releases the rings. Drain must not be called afterwards.
func (s *Set) Close() {
	s.unmapRings()
	for _, d := range s.fds {
		unix.Close(d.fd)
	}
	for _, fd := range s.ringOwners {
		unix.Close(fd)
	}
	s.waiter.close()
	s.fds, s.ringOwners = nil, nil
}
