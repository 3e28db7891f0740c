package hostile

import (
	"bufio"
	"bytes"
	endian "encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// Environment variables that make the test's program do something else. With serveEnv, it serves a file system in the
// folder that the variable names; fuseEnv names the device for that. With overlayEnv, it serves a file system below
// an overlay, and starts a process that maps or runs a file of the overlay; the value is the file's name. With
// mapsEnv, it maps a file as code, and then only sleeps.
const (
	serveEnv   = "GASM_TEST_SERVES"
	fuseEnv    = "GASM_TEST_FUSE"
	overlayEnv = "GASM_TEST_OVERLAY"
	mapsEnv    = "GASM_TEST_MAPS"
)

// The names of the files in the file system. One file has the name of HotSpot's library, and the other one is a
// program that can be run.
const (
	silentName    = "libjvm.so"
	silentProgram = "sleep"
)

// serveSilent mounts a file system in user space (FUSE), as any user can do on most machines. It has files of a
// megabyte that can be opened and mapped. But nobody gets their content: a read waits until this process ends. Only
// the first half of the program can be read, so that the program can run. The table of its sections is in the other
// half.
func serveSilent(dir string) int {
	s, err := mountSilent(dir, "allow_other")
	if err != nil {
		fmt.Println("no file system in user space can be mounted:", err)
		return 1
	}
	fmt.Println("READY")
	s.serve()
	return 0
}

// mountSilent mounts the file system. Requests are not answered before the system is served.
func mountSilent(dir, options string) (*silentSystem, error) {
	program, err := programWithoutSections()
	if err != nil {
		return nil, err
	}
	fd, err := unix.Open(os.Getenv(fuseEnv), unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	options = fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0,%s", fd, options)
	return &silentSystem{device: fd, program: program}, unix.Mount("silent", dir, "fuse", unix.MS_NOSUID, options)
}

// programWithoutSections returns the program sleep, changed so that the table of its sections is where reads are not
// answered.
func programWithoutSections() ([]byte, error) {
	path, err := exec.LookPath(silentProgram)
	if err != nil {
		return nil, err
	}
	program, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	const sectionsAt = 0x28 // e_shoff of 64 bits
	endian.LittleEndian.PutUint64(program[sectionsAt:], silentSize/2)
	if len(program) > silentSize/2 {
		return nil, fmt.Errorf("%s is larger than expected", path)
	}
	return append(program, make([]byte, silentSize/2-len(program))...), nil
}

// serveOverlay mounts the file system, and an overlay over it. The kernel does not report that the overlay is a file
// system in user space. A process then maps or runs a file of the overlay. The process that calls serveOverlay must
// be root in a user namespace and a mount namespace of its own.
func serveOverlay(name string) int {
	pid, err := startInOverlay("/mnt", name)
	if err != nil {
		fmt.Println("no overlay can be mounted over a file system in user space:", err)
		return 1
	}
	fmt.Println("READY", pid)
	select {}
}

// startInOverlay mounts the overlay in a folder, and starts the process.
func startInOverlay(dir, name string) (pid int, err error) {
	if err := unix.Mount("none", dir, "tmpfs", 0, "mode=755"); err != nil {
		return 0, err
	}
	for _, sub := range []string{"lower", "upper", "work", "merged"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o755); err != nil {
			return 0, err
		}
	}
	s, err := mountSilent(filepath.Join(dir, "lower"), "default_permissions")
	if err != nil {
		return 0, err
	}
	go s.serve()
	options := fmt.Sprintf("lowerdir=%[1]s/lower,upperdir=%[1]s/upper,workdir=%[1]s/work,userxattr", dir)
	if err := unix.Mount("none", filepath.Join(dir, "merged"), "overlay", 0, options); err != nil {
		return 0, err
	}
	path := filepath.Join(dir, "merged", name)
	cmd := exec.Command(path, "600")
	if name == silentName {
		cmd = exec.Command("/proc/self/exe")
		cmd.Env = []string{mapsEnv + "=" + path}
	}
	runtime.LockOSThread() // Pdeathsig is sent when the thread ends that has started the process
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if name == silentName {
		_, err = firstLine(cmd)
	} else {
		err = cmd.Start()
	}
	if err != nil {
		return 0, err
	}
	s.mounted.Store(true)
	return cmd.Process.Pid, nil
}

// fuseDevice makes a device for file systems in user space, and returns its path. Any user can open it, as any user
// can open /dev/fuse on most machines.
func fuseDevice(t *testing.T) string {
	t.Helper()
	path := filepath.Join(folder, "fuse")
	if err := unix.Mknod(path, unix.S_IFCHR|0o666, int(unix.Mkdev(10, 229))); !errors.Is(err, unix.EEXIST) {
		require.NoError(t, err)
	}
	require.NoError(t, os.Chmod(path, 0o666))
	return path
}

// startSilent starts a file system that does not answer, and returns the folder where it is mounted. The file system
// ends at the end of the test.
func startSilent(t *testing.T) (dir string) {
	t.Helper()
	dir, err := os.MkdirTemp(folder, "silent-")
	require.NoError(t, err)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), serveEnv+"="+dir, fuseEnv+"="+fuseDevice(t))
	said := startedBy(t, cmd)
	if said != "READY" {
		t.Skip(said)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // this ends all threads that wait for it
		_ = cmd.Wait()
		if err := unix.Unmount(dir, unix.MNT_DETACH); !errors.Is(err, unix.EINVAL) { // EINVAL: it is not mounted
			assert.NoError(t, err)
		}
	})
	return dir
}

// startedBy starts a command, and returns its first line.
func startedBy(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	said, err := firstLine(cmd)
	require.NoError(t, err)
	return said
}

func firstLine(cmd *exec.Cmd) (string, error) {
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return "", err
	}
	lines := bufio.NewScanner(out)
	lines.Scan()
	return lines.Text(), nil
}

// mapAndSleep maps a file, also over the page with its own command line, and then only sleeps.
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

// A silentSystem answers the kernel's requests, except for reads (include/uapi/linux/fuse.h).
type silentSystem struct {
	device  int
	program []byte      // the part of the program that can be read
	mounted atomic.Bool // the overlay is mounted; from now on statfs is not answered, either
}

// The requests that are answered.
const (
	fuseLookup  = 1
	fuseGetattr = 3
	fuseOpen    = 14
	fuseStatfs  = 17
	fuseRead    = 15
	fuseRelease = 18
	fuseInit    = 26
	fuseOpendir = 27
)

// Nodes of the file system.
const (
	fuseRoot       = 1
	fuseFile       = 2
	fuseTheProgram = 3
)

// silentSize is the size of each file, in bytes.
const silentSize = 1 << 20

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
		opcode, unique, node :=
			endian.LittleEndian.Uint32(buf[4:]), endian.LittleEndian.Uint64(buf[8:]), endian.LittleEndian.Uint64(buf[16:])
		if opcode == fuseStatfs && s.mounted.Load() {
			continue
		}
		body, errno := s.answer(opcode, node, buf[40:n])
		if opcode == fuseRead && body == nil {
			continue
		}
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
		return words(7, 31, 0, 0, 0, 1<<12, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0), 0 // the protocol's version, no read-ahead, sizes
	case fuseLookup:
		nodes := map[string]uint32{silentName: fuseFile, silentProgram: fuseTheProgram}
		node, ok := nodes[string(bytes.TrimRight(body, "\x00"))]
		if !ok {
			return nil, unix.ENOENT
		}
		return append(words(node, 0, 0, 0, 3600, 0, 3600, 0, 0, 0), attributes(uint64(node))...), 0
	case fuseStatfs:
		return words(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4096, 255, 4096, 0, 0, 0, 0, 0, 0, 0), 0 // no blocks, and the longest name
	case fuseRead:
		at, size := endian.LittleEndian.Uint64(body[8:]), endian.LittleEndian.Uint32(body[16:])
		if node == fuseTheProgram && at+uint64(size) <= uint64(len(s.program)) {
			return s.program[at:][:size], 0
		}
		return nil, 0
	case fuseGetattr:
		return append(words(3600, 0, 0, 0), attributes(node)...), 0
	case fuseOpen, fuseOpendir:
		return make([]byte, 16), 0
	case fuseRelease:
		return nil, 0
	}
	return nil, unix.ENOSYS
}

// attributes returns the attributes of a node (struct fuse_attr).
func attributes(node uint64) []byte {
	mode, size := uint32(unix.S_IFDIR|0o755), uint32(0)
	if node != fuseRoot {
		mode, size = unix.S_IFREG|0o755, silentSize
	}
	return words(uint32(node), 0, size, 0, size/512, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)
}

func words(values ...uint32) (b []byte) {
	for _, v := range values {
		b = endian.LittleEndian.AppendUint32(b, v)
	}
	return b
}
