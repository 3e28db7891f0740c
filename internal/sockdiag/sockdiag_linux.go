package sockdiag

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/internal/monotonic"
)

// LastReceived returns when data last arrived at the given local port of an open TCP connection. If several connections
// have that local port, it returns the latest of their times. If there is no such connection, the error is
// ErrNoConnection.
func LastReceived(port uint16) (Time, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return Time{}, fmt.Errorf("asking for connections: %w", os.NewSyscallError("socket", err))
	}
	defer unix.Close(fd)
	// The kernel usually answers at once. The time limit keeps gasm from hanging if it does not.
	limit := unix.NsecToTimeval(int64(time.Second))
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &limit); err != nil {
		return Time{}, fmt.Errorf("asking for connections: %w", os.NewSyscallError("setsockopt", err))
	}
	var newest Time
	for _, family := range []uint8{unix.AF_INET, unix.AF_INET6} { // Java's sockets are AF_INET6
		at, err := lastOf(fd, family, port)
		if err != nil && !errors.Is(err, ErrNoConnection) {
			return Time{}, fmt.Errorf("asking for connections of port %d: %w", port, err)
		}
		if err == nil && at.Hi > newest.Hi {
			newest = at
		}
	}
	if newest.Hi == 0 {
		return Time{}, ErrNoConnection
	}
	return newest, nil
}

// lastOf asks for the connections of one address family. The kernel answers how long ago data arrived, with the
// precision of its tick. To know when the answer was made, lastOf reads the clock before the request and again after
// the answer.
func lastOf(fd int, family uint8, port uint16) (Time, error) {
	before, tick, err := clock()
	if err != nil {
		return Time{}, err
	}
	if err := unix.Sendto(fd, request(family, port), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return Time{}, os.NewSyscallError("sendto", err)
	}
	ago, err := leastAgo(fd)
	if err != nil {
		return Time{}, err
	}
	after, _, err := clock()
	return Time{before - ago - tick, after - ago + tick}, err
}

// leastAgo reads the kernel's whole answer, which has a message for each connection. It returns the shortest time since
// any of the connections received data, in ns.
func leastAgo(fd int) (least int64, err error) {
	least = -1
	buf := make([]byte, 32<<10) // the kernel's messages are not larger
	for {
		n, _, err := unix.Recvfrom(fd, buf, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return 0, os.NewSyscallError("recvfrom", err)
		}
		messages, err := syscall.ParseNetlinkMessage(buf[:n])
		if err != nil {
			return 0, os.NewSyscallError("recvfrom", err)
		}
		for i := range messages {
			switch m := &messages[i]; m.Header.Type {
			case unix.NLMSG_DONE:
				if least < 0 {
					return 0, ErrNoConnection
				}
				return least, nil
			case unix.NLMSG_ERROR:
				return 0, refusal(m.Data)
			default:
				if ago, ok := sinceReceived(m.Data); ok && (least < 0 || ago < least) {
					least = ago
				}
			}
		}
	}
}

// clock returns the time on CLOCK_MONOTONIC and the length of the kernel's tick, in ns.
func clock() (now, tick int64, err error) {
	var grain unix.Timespec
	if err := unix.ClockGetres(unix.CLOCK_MONOTONIC_COARSE, &grain); err != nil {
		return 0, 0, fmt.Errorf("reading the clock: %w", err)
	}
	return monotonic.Nanos(), grain.Nano(), nil
}

// Constants of linux/inet_diag.h.
const (
	infoAttribute = 2 // INET_DIAG_INFO
	requestSize   = 56
	messageSize   = 72
	established   = 1 // TCP_ESTABLISHED
	closeWait     = 8 // TCP_CLOSE_WAIT: the other side has closed its end
)

// request returns a struct nlmsghdr followed by a struct inet_diag_req_v2. With these, gasm asks the kernel for the
// struct tcp_info of each open connection that has the given address family and local port.
func request(family uint8, port uint16) []byte {
	text := make([]byte, unix.SizeofNlMsghdr+requestSize)
	binary.NativeEndian.PutUint32(text, uint32(len(text)))
	binary.NativeEndian.PutUint16(text[4:], unix.SOCK_DIAG_BY_FAMILY)
	binary.NativeEndian.PutUint16(text[6:], unix.NLM_F_REQUEST|unix.NLM_F_DUMP)
	r := text[unix.SizeofNlMsghdr:]
	r[0], r[1], r[2] = family, unix.IPPROTO_TCP, 1<<(infoAttribute-1)
	binary.NativeEndian.PutUint32(r[4:], 1<<established|1<<closeWait)
	binary.BigEndian.PutUint16(r[8:], port)
	return text
}

// sinceReceived returns the field tcpi_last_data_recv of a connection, converted from ms to ns. message is a struct
// inet_diag_msg with its attributes. ok is false if it has no struct tcp_info.
func sinceReceived(message []byte) (ago int64, ok bool) {
	const at = int(unsafe.Offsetof(unix.TCPInfo{}.Last_data_recv))
	for rest := message[min(len(message), messageSize):]; len(rest) >= unix.SizeofRtAttr; {
		size, kind := int(binary.NativeEndian.Uint16(rest)), binary.NativeEndian.Uint16(rest[2:])
		if size < unix.SizeofRtAttr || size > len(rest) {
			return 0, false
		}
		if info := rest[unix.SizeofRtAttr:size]; kind == infoAttribute && len(info) >= at+4 {
			return int64(binary.NativeEndian.Uint32(info[at:])) * int64(time.Millisecond), true
		}
		rest = rest[min(len(rest), (size+unix.RTA_ALIGNTO-1)&^(unix.RTA_ALIGNTO-1)):]
	}
	return 0, false
}

// refusal makes an error from a struct nlmsgerr, which is the kernel's answer to a request that it refuses.
func refusal(message []byte) error {
	if len(message) < 4 {
		return errors.New("the kernel refused it")
	}
	return os.NewSyscallError("sock_diag", unix.Errno(-int32(binary.NativeEndian.Uint32(message))))
}
