package threaddump

import (
	"encoding/hex"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gasm-profiler/gasm/internal/foreign"
)

// A descriptors finds out what the file descriptors of a process refer to. It keeps what it has read.
type descriptors struct {
	process *foreign.Process
	vm      memory
	sockets map[string]string // by inode
	files   map[uint64]string
	read    time.Time // when the lists of sockets were read
}

// The network namespace of the process has several lists of sockets. At most maxSockets bytes of each list are read. No
// further list is read when socketTime is over.
const (
	maxSockets = 4 << 20
	// socketsEvery is the minimum time between two readings of the lists of sockets.
	socketsEvery = 5 * time.Second
)

// socketTime is how long reading the lists of sockets may take. It is a variable because tests need more on a busy
// machine.
var socketTime = 500 * time.Millisecond

// file describes a descriptor: "/data/log", "socket 127.0.0.1:40512 to 127.0.0.1:5432", "descriptor 7".
func (d *descriptors) file(fd uint64) string {
	number := int32(fd)
	if known, ok := d.files[fd]; ok {
		return known
	}
	text := fmt.Sprintf("descriptor %d", number)
	target, err := d.process.Readlink(fmt.Sprintf("fd/%d", number))
	switch inode, socket := strings.CutPrefix(target, "socket:["); {
	case err != nil || number < 0:
	case socket:
		text = d.socket(strings.TrimSuffix(inode, "]"))
	default:
		text = target
	}
	d.files[fd] = text
	return text
}

// maxPolled is the maximum number of descriptors of a poll that are described.
const maxPolled = 4

// polled describes the descriptors in an array of struct pollfd, each of which has 8 bytes.
func (d *descriptors) polled(at, n uint64) string {
	n = uint64(uint32(n))
	data, err := d.vm.Read(nil, at, 8*min(n, maxPolled))
	if err != nil || n == 0 {
		return ""
	}
	var all []string
	for i := uint64(0); i < uint64(len(data)); i += 8 {
		all = append(all, d.file(uint64(le32(data, i))))
	}
	text := strings.Join(all, ", ")
	if n > maxPolled {
		text += fmt.Sprintf(" and %d others", n-maxPolled)
	}
	return text
}

func (d *descriptors) socket(inode string) string {
	if _, known := d.sockets[inode]; !known && time.Since(d.read) > socketsEvery {
		d.sockets, d.read = map[string]string{}, time.Now()
		until := time.Now().Add(socketTime)
		for _, list := range []string{"tcp", "tcp6", "udp", "udp6"} {
			if time.Now().After(until) {
				return "socket"
			}
			text, _ := d.process.Read("net/"+list, maxSockets) // after an error, the part that was read is used
			addSockets(d.sockets, string(text))
		}
		text, _ := d.process.Read("net/unix", maxSockets)
		addUnixSockets(d.sockets, string(text))
	}
	if known, ok := d.sockets[inode]; ok {
		return known
	}
	return "socket"
}

// addSockets adds the sockets in a text such as /proc/net/tcp (proc_net_tcp.rst in the kernel's documentation):
//
//	sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
//	 0: 0100007F:9E54 0100007F:1538 01 00000000:00000000 00:00000000 00000000     0        0 24601 1 …
func addSockets(to map[string]string, text string) {
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 10 || fields[9] == "0" {
			continue
		}
		local, ok1 := parseAddress(fields[1])
		remote, ok2 := parseAddress(fields[2])
		switch {
		case !ok1 || !ok2:
		case remote.Port() == 0:
			to[fields[9]] = "socket " + local.String()
		default:
			to[fields[9]] = "socket " + local.String() + " to " + remote.String()
		}
	}
}

// parseAddress parses an address and a port. The address has words of 32 bits in the byte order of the machine.
func parseAddress(text string) (netip.AddrPort, bool) {
	words, port, _ := strings.Cut(text, ":")
	bytes, err1 := hex.DecodeString(words)
	number, err2 := strconv.ParseUint(port, 16, 16)
	if err1 != nil || err2 != nil || len(bytes)%4 != 0 {
		return netip.AddrPort{}, false
	}
	for word := range slices.Chunk(bytes, 4) {
		slices.Reverse(word)
	}
	address, ok := netip.AddrFromSlice(bytes)
	return netip.AddrPortFrom(address.Unmap(), uint16(number)), ok
}

// addUnixSockets adds the sockets in the text of /proc/net/unix. The last field is the path, which may be missing.
func addUnixSockets(to map[string]string, text string) {
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 7 || fields[6] == "Inode" {
			continue
		}
		name := "Unix socket"
		if len(fields) > 7 {
			name += " " + strings.Join(fields[7:], " ")
		}
		to[fields[6]] = name
	}
}
