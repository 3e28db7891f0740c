package runcounts

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"
	"golang.org/x/sys/unix"
)

// A Counts reads the counts of one process. Only one goroutine may use it.
type Counts struct {
	program *ebpf.Program
	link    int
	buf     []byte
}

// firstNamespace is the link of the machine's first PID namespace (PROC_PID_INIT_INO). The ids of threads in it are the
// kernel's own.
const firstNamespace = "pid:[4026531836]"

var (
	errNamespace = errors.New("gasm is not in the machine's first PID namespace")
	errOld       = errors.New("the kernel is older than Linux 6.1")
	errTask      = errors.New("the kernel's type information lacks what is counted for a thread")
)

// Open returns a Counts for the process with the id pid. The caller must close it.
func Open(pid int) (*Counts, error) {
	if own, err := os.Readlink("/proc/self/ns/pid"); err != nil || own != firstNamespace {
		return nil, cmp.Or(err, errNamespace)
	}
	if !recent() { // older kernels iterate over all threads of the machine
		return nil, errOld
	}
	code, err := program()
	if err != nil {
		return nil, fmt.Errorf("a BPF iterator: %w", err)
	}
	c := &Counts{link: -1, buf: make([]byte, 64<<10)}
	c.program, err = ebpf.NewProgram(&ebpf.ProgramSpec{Name: "gasm_counts", Type: ebpf.Tracing,
		AttachType: ebpf.AttachTraceIter, AttachTo: "task", License: "Dual BSD/GPL", Instructions: code})
	if err != nil {
		return nil, fmt.Errorf("a BPF iterator: %w", err)
	}
	if c.link, err = attach(c.program.FD(), pid); err != nil {
		c.Close()
		return nil, fmt.Errorf("a BPF iterator for process %d: %w", pid, err)
	}
	return c, nil
}

// recent reports whether the kernel can iterate over the threads of one process.
func recent() bool {
	var name unix.Utsname
	if unix.Uname(&name) != nil {
		return false
	}
	var major, minor int
	_, err := fmt.Sscanf(unix.ByteSliceToString(name.Release[:]), "%d.%d", &major, &minor)
	return err == nil && (major > 6 || major == 6 && minor >= 1)
}

// Close releases what Open has made.
func (c *Counts) Close() {
	c.program.Close()
	if c.link >= 0 {
		unix.Close(c.link)
		c.link = -1
	}
}

// recordSize is the size of what the program writes for each thread: four words.
const recordSize = 32

// Read appends the counts of all threads to a slice, in the order of their ids. The counts of each thread are those of
// a moment during the call.
func (c *Counts) Read(to []Thread) ([]Thread, error) {
	file, err := iterate(c.link)
	if err != nil {
		return to, fmt.Errorf("reading how often threads have run: %w", err)
	}
	defer unix.Close(file)
	first := len(to)
	for have := 0; ; {
		n, err := unix.Read(file, c.buf[have:])
		if err == unix.EINTR || err == unix.EAGAIN {
			continue
		}
		if err != nil {
			return to, fmt.Errorf("reading how often threads have run: %w", err)
		}
		if n == 0 {
			break
		}
		have += n
		whole := have / recordSize * recordSize
		for data := c.buf[:whole]; len(data) > 0; data = data[recordSize:] {
			word := func(i int) uint64 { return binary.LittleEndian.Uint64(data[8*i:]) }
			to = append(to, Thread{int(word(0)), word(1), word(2), word(3)})
		}
		have = copy(c.buf, c.buf[whole:have])
	}
	slices.SortFunc(to[first:], func(a, b Thread) int { return cmp.Compare(a.TID, b.TID) })
	return to, nil
}

// program assembles the BPF program. The kernel calls it for each thread with a struct bpf_iter__task, which has
// pointers to a struct bpf_iter_meta and to the thread's task_struct. In the last call, the pointer to the task_struct
// is null.
func program() (asm.Instructions, error) {
	fields, err := findFields()
	if err != nil {
		return nil, err
	}
	const context, task = asm.R6, asm.R7
	p := asm.Instructions{
		asm.Mov.Reg(context, asm.R1),
		asm.LoadMem(task, context, 8, asm.DWord),
		asm.JEq.Imm(task, 0, "end"),
	}
	for i, f := range fields {
		p = append(p, asm.LoadMem(asm.R2, task, f.at, f.size),
			asm.StoreMem(asm.RFP, int16(-recordSize+8*i), asm.R2, asm.DWord))
	}
	return append(p,
		asm.LoadMem(asm.R1, context, 0, asm.DWord),
		asm.LoadMem(asm.R1, asm.R1, 0, asm.DWord), // the seq_file
		asm.Mov.Reg(asm.R2, asm.RFP),
		asm.Add.Imm(asm.R2, -recordSize),
		asm.Mov.Imm(asm.R3, recordSize),
		asm.FnSeqWrite.Call(),
		asm.Mov.Imm(asm.R0, 0).WithSymbol("end"),
		asm.Return()), nil
}

// A field is a part of the kernel's task_struct, or of a structure in it.
type field struct {
	at   int16
	size asm.Size
}

// findFields finds the fields that the program writes for each thread.
func findFields() (all [4]field, err error) {
	spec, err := btf.LoadKernelSpec()
	if err != nil {
		return all, err
	}
	var task *btf.Struct
	if err := spec.TypeByName("task_struct", &task); err != nil {
		return all, err
	}
	for i, path := range [4][]string{{"pid"}, {"se", "sum_exec_runtime"}, {"sched_info", "run_delay"},
		{"sched_info", "pcount"}} {
		at, t := find(task.Members, path)
		size, err := btf.Sizeof(t)
		if err != nil || at > 1<<15-1 {
			return all, errTask
		}
		switch size {
		case 4:
			all[i] = field{int16(at), asm.Word}
		case 8:
			all[i] = field{int16(at), asm.DWord}
		default:
			return all, errTask
		}
	}
	return all, nil
}

// find returns the offset of a field and its type. Fields of structures without a name are found by their own name. The
// type is nil if there is no such field.
func find(members []btf.Member, path []string) (at uint32, t btf.Type) {
	for _, m := range members {
		inner := path
		if m.Name != "" {
			if m.Name != path[0] {
				continue
			}
			if inner = path[1:]; len(inner) == 0 {
				return m.Offset.Bytes(), m.Type
			}
		}
		var of []btf.Member
		switch x := btf.UnderlyingType(m.Type).(type) {
		case *btf.Struct:
			of = x.Members
		case *btf.Union:
			of = x.Members
		}
		if at, t := find(of, inner); t != nil {
			return m.Offset.Bytes() + at, t
		}
	}
	return 0, nil
}

// attach makes a link between the program and the threads of a process (BPF_LINK_CREATE). The ebpf package can't
// restrict an iterator to a process.
func attach(program, pid int) (link int, err error) {
	info := struct{ tid, pid, pidfd, pad uint32 }{pid: uint32(pid)}
	create := struct {
		program, target, kind, flags uint32
		info                         uint64
		infoSize, pad                uint32
	}{program: uint32(program), kind: uint32(ebpf.AttachTraceIter), info: uint64(uintptr(unsafe.Pointer(&info))),
		infoSize: uint32(unsafe.Sizeof(info))}
	link, err = call(unix.BPF_LINK_CREATE, unsafe.Pointer(&create), unsafe.Sizeof(create))
	runtime.KeepAlive(&info)
	return link, err
}

// iterate opens the file whose reading runs the program (BPF_ITER_CREATE).
func iterate(link int) (file int, err error) {
	create := struct{ link, flags uint32 }{link: uint32(link)}
	return call(unix.BPF_ITER_CREATE, unsafe.Pointer(&create), unsafe.Sizeof(create))
}

// call makes the system call bpf, whose result is a file descriptor.
func call(command int, attr unsafe.Pointer, size uintptr) (fd int, err error) {
	r, _, errno := unix.Syscall(unix.SYS_BPF, uintptr(command), uintptr(attr), size)
	if errno != 0 {
		return -1, errno
	}
	return int(r), nil
}
