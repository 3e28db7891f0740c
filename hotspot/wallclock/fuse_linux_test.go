package wallclock

import (
	"encoding/binary"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// The kernel's names for FUSE's requests, from linux/fuse.h.
const (
	fuseLookup, fuseForget, fuseGetattr, fuseOpen, fuseRead = 1, 2, 3, 14, 15
	fuseRelease, fuseFsync, fuseFlush, fuseInit, fuseMulti  = 18, 20, 25, 26, 42
)

// slowness is how long slow files take to answer a request.
const slowness = 150 * time.Millisecond

// slowFiles mounts a file system with three files, and returns its folder. Opening the file "open", reading "read" and
// syncing "sync" take slowness each, and everything else takes no time. So a thread that asks for one of these is
// blocked in the kernel, in a system call or by a page fault, for a known time.
func slowFiles(t *testing.T) (dir string) {
	t.Helper()
	gasmtest.NeedRoot(t)
	device, err := unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Skipf("no FUSE here: %v", err)
	}
	dir = t.TempDir()
	options := fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", device)
	if err := unix.Mount("gasmtest", dir, "fuse", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		unix.Close(device)
		t.Skipf("FUSE can't be mounted here: %v", err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		serveSlowFiles(device)
	}()
	t.Cleanup(func() { // after the program has ended
		require.NoError(t, unix.Unmount(dir, unix.MNT_DETACH))
		<-done
		unix.Close(device)
	})
	return dir
}

// slowNames has the names of the files, by their numbers minus 2. The root folder has the number 1.
var slowNames = []string{"open", "read", "sync"}

// serveSlowFiles answers the kernel's requests until the file system is unmounted.
func serveSlowFiles(device int) {
	for {
		buf := make([]byte, 1<<17+4096)
		n, err := unix.Read(device, buf)
		if err == unix.EINTR || err == unix.EAGAIN || err == unix.ENOENT { // ENOENT: the request was interrupted
			continue
		}
		if err != nil || n < 40 { // ENODEV: unmounted
			return
		}
		go serveRequest(device, buf[:n])
	}
}

// serveRequest answers one request. Its head has 40 bytes: length, opcode, a unique number, the file's number, and
// others.
func serveRequest(device int, in []byte) {
	le := binary.LittleEndian
	opcode, unique, node := le.Uint32(in[4:]), le.Uint64(in[8:]), le.Uint64(in[16:])
	body, result := in[40:], int32(0)
	out := make([]byte, 16, 256)
	name := "/"
	if i := int(node) - 2; i >= 0 && i < len(slowNames) {
		name = slowNames[i]
	}
	switch opcode {
	case fuseForget, fuseMulti:
		return // they have no answer
	case fuseInit:
		out = le.AppendUint32(out, 7)
		out = le.AppendUint32(out, 31)
		out = append(out, make([]byte, 8)...) // no readahead, no flags
		out = le.AppendUint16(out, 64)        // requests in the background
		out = le.AppendUint16(out, 64)
		out = le.AppendUint32(out, 1<<16) // the longest write
		out = le.AppendUint32(out, 1)     // precision of times
		out = append(out, make([]byte, 36)...)
	case fuseLookup:
		result = -int32(unix.ENOENT)
		for i, n := range slowNames {
			if string(body) == n+"\x00" {
				result = 0
				out = le.AppendUint64(out, uint64(i+2))
				out = append(out, make([]byte, 8)...)
				out = le.AppendUint64(out, 3600) // how long this is valid
				out = le.AppendUint64(out, 3600)
				out = append(out, make([]byte, 8)...)
				out = appendAttributes(out, uint64(i+2))
			}
		}
	case fuseGetattr:
		out = le.AppendUint64(out, 3600)
		out = append(out, make([]byte, 8)...)
		out = appendAttributes(out, node)
	case fuseOpen:
		if name == "open" {
			time.Sleep(slowness)
		}
		out = append(out, make([]byte, 16)...)
	case fuseRead:
		if name == "read" {
			time.Sleep(slowness)
		}
		out = append(out, make([]byte, le.Uint32(body[16:]))...)
	case fuseFsync:
		time.Sleep(slowness)
	case fuseFlush, fuseRelease:
	default:
		result = -int32(unix.ENOSYS)
	}
	if result != 0 {
		out = out[:16]
	}
	le.PutUint32(out, uint32(len(out)))
	le.PutUint32(out[4:], uint32(result))
	le.PutUint64(out[8:], unique)
	_, _ = unix.Write(device, out) // ENOENT if the request was interrupted
}

// slowSize is the size of each slow file.
const slowSize = 1 << 30

// appendAttributes appends a struct fuse_attr.
func appendAttributes(out []byte, node uint64) []byte {
	le := binary.LittleEndian
	mode, size := uint32(unix.S_IFREG|0o666), uint64(slowSize)
	if node == 1 {
		mode, size = unix.S_IFDIR|0o755, 0
	}
	out = le.AppendUint64(out, node)
	out = le.AppendUint64(out, size)
	out = append(out, make([]byte, 44)...) // blocks, times
	out = le.AppendUint32(out, mode)
	out = le.AppendUint32(out, 1) // links
	out = le.AppendUint32(out, uint32(os.Getuid()))
	out = le.AppendUint32(out, uint32(os.Getgid()))
	out = le.AppendUint32(out, 0)
	out = le.AppendUint32(out, 4096)
	return le.AppendUint32(out, 0)
}
