package perfevent

// A Kind is a kind of record.
type Kind uint8

// The kinds of records.
const (
	Sample   Kind = iota + 1
	Mapping       // the process has mapped a file, or memory, as code
	Comm          // the thread has got a new name
	Fork          // the thread PPID/PTID has created the thread PID/TID
	Exit          // the thread has ended
	Lost          // records did not fit into the ring; Count is their number
	Throttle      // the kernel has paused the event because it happened too often
)

// A Record is one record that the kernel has written. If a field is only for some kinds of records, its comment names
// them.
type Record struct {
	Kind
	Mode       Mode  // for a Sample: where the thread was
	Exec       bool  // for a Comm: the process has become another program
	CPU        int32 // the CPU on which the kernel has written the record
	PID, TID   int32 // -1 for a thread that is ending
	PPID, PTID int32 // for a Fork
	MonoNanos  int64
	IP         uint64 // for a Sample: the program counter
	Count      uint64 // for Lost
	Event      int    // for a Sample: the index of the event in Options.Events
	Name       string // for a Comm
	Map        *Mapped
	owner      int32 // the thread on which the event was opened
	by         int32 // the thread that ran when the kernel wrote the record

	*ThreadState // for a Sample of a set with Options.Stacks; otherwise nil
}

// A Mode is the kind of code in which a thread was sampled.
type Mode uint8

// The modes.
const (
	User Mode = iota + 1
	Kernel
	Other // a hypervisor or its guest
)

// Mapped is a range of a process's memory, and the file that is mapped there.
type Mapped struct {
	Lo, Hi, FileOffset uint64
	Major, Minor       uint32 // number of the file's device
	Inode              uint64
	Path               string // the file's path; "//anon" for memory without a file
}
