package hostile

import (
	"bufio"
	"bytes"
	endian "encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// serveEnv has the test's program serve a file system in a folder: its value is the folder's path. mapsEnv has it map a file as
// code, and do nothing more.
const (
	serveEnv = "GASM_TEST_SERVES"
	mapsEnv  = "GASM_TEST_MAPS"
)

// silentName is the name of the only file, which is called as HotSpot's library.
const silentName = "libjvm.so"

// serveSilent mounts a file system in user space (FUSE), as any user can on most machines, with a file of a megabyte that can
// be opened and mapped. Nobody ever gets its content: a read waits until this process ends.
func serveSilent(dir string) int {
	fd, err := unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err == nil {
		err = unix.Mount("silent", dir, "fuse", unix.MS_NOSUID, fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", fd))
	}
	if err != nil {
		fmt.Println("no file system in user space can be mounted:", err)
		return 1
	}
	fmt.Println("READY")
	(&silentSystem{fd}).serve()
	return 0
}

// startSilent starts such a file system, and returns the folder that it is mounted in. It ends with the test.
func startSilent(t *testing.T) (dir string) {
	t.Helper()
	dir, err := os.MkdirTemp(folder, "silent-")
	require.NoError(t, err)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), serveEnv+"="+dir)
	said := startedBy(t, cmd)
	if said != "READY" {
		t.Skip(said)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // which ends all that wait
		_ = cmd.Wait()
		if err := unix.Unmount(dir, unix.MNT_DETACH); !errors.Is(err, unix.EINVAL) { // which says that it is not mounted
			assert.NoError(t, err)
		}
	})
	return dir
}

// startedBy starts a command, and returns its first line.
func startedBy(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(out)
	lines.Scan()
	return lines.Text()
}

// mapAndSleep maps a file, also over the page that its own command line is in, and does nothing more.
func mapAndSleep(path string) int {
	f, err := os.Open(path)
	if err == nil {
		_, err = syscall.Mmap(int(f.Fd()), 0, 1<<20, syscall.PROT_READ|syscall.PROT_EXEC, syscall.MAP_PRIVATE)
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("READY")
	line := unsafe.Pointer(unsafe.StringData(os.Args[0])) // the runtime has not copied it
	page := unsafe.Add(line, -int(uintptr(line)%4096))
	_, _ = unix.MmapPtr(int(f.Fd()), 0, page, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_FIXED)
	time.Sleep(10 * time.Minute)
	return 0
}

// A silentSystem answers the kernel's requests, but for reads (include/uapi/linux/fuse.h).
type silentSystem struct{ device int }

// The requests that are answered.
const (
	fuseLookup  = 1
	fuseGetattr = 3
	fuseOpen    = 14
	fuseRead    = 15
	fuseRelease = 18
	fuseInit    = 26
	fuseOpendir = 27
)

// Nodes of the file system.
const (
	fuseRoot = 1
	fuseFile = 2
)

func (s *silentSystem) serve() {
	buf := make([]byte, 1<<17)
	for {
		n, err := unix.Read(s.device, buf)
		if errors.Is(err, unix.EINTR) || errors.Is(err, unix.ENOENT) {
			continue
		}
		if err != nil || n < 40 { // unmounted
			return
		}
		opcode, unique, node := endian.LittleEndian.Uint32(buf[4:]), endian.LittleEndian.Uint64(buf[8:]), endian.LittleEndian.Uint64(buf[16:])
		if opcode == fuseRead {
			continue
		}
		body, errno := s.answer(opcode, node, buf[40:n])
		header := make([]byte, 16, 16+len(body))
		endian.LittleEndian.PutUint32(header, uint32(16+len(body)))
		endian.LittleEndian.PutUint32(header[4:], uint32(-int32(errno)))
		endian.LittleEndian.PutUint64(header[8:], unique)
		_, _ = unix.Write(s.device, append(header, body...)) // some requests want no answer
	}
}

func (s *silentSystem) answer(opcode uint32, node uint64, body []byte) ([]byte, unix.Errno) {
	switch opcode {
	case fuseInit:
		return words(7, 31, 1<<16, 0, 0, 1<<12, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0), 0 // the protocol's version, read-ahead, sizes
	case fuseLookup:
		if string(bytes.TrimRight(body, "\x00")) != silentName {
			return nil, unix.ENOENT
		}
		return append(words(fuseFile, 0, 0, 0, 3600, 0, 3600, 0, 0, 0), attributes(fuseFile)...), 0
	case fuseGetattr:
		return append(words(3600, 0, 0, 0), attributes(node)...), 0
	case fuseOpen, fuseOpendir:
		return make([]byte, 16), 0
	case fuseRelease:
		return nil, 0
	}
	return nil, unix.ENOSYS
}

// attributes are those of a node (struct fuse_attr).
func attributes(node uint64) []byte {
	mode, size := uint32(unix.S_IFDIR|0o755), uint32(0)
	if node == fuseFile {
		mode, size = unix.S_IFREG|0o755, 1<<20
	}
	return words(uint32(node), 0, size, 0, size/512, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)
}

func words(values ...uint32) (b []byte) {
	for _, v := range values {
		b = endian.LittleEndian.AppendUint32(b, v)
	}
	return b
}
