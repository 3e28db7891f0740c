package schema

// Waits says how the threads of a profile spent wall-clock time. All durations are in ns. Points in time, such as
// at_ns, are CLOCK_MONOTONIC times in ns.
type Waits struct {
	JVMs    []WaitsJVM   `json:"jvms"`
	Account WaitsAccount `json:"account"`
	// States are the times of all threads by state; they add up to Account.Profiled.
	States map[string]int64 `json:"states"`
	// IdleThreads is how many threads only waited in the queues of their pools, and IdleNS is their time. QueuedNS is
	// how long other threads waited in the queues of their pools. All other sums include these times.
	IdleThreads int   `json:"idle_threads"`
	IdleNS      int64 `json:"idle_ns"`
	QueuedNS    int64 `json:"queued_ns"`
	// Pools, Threads, Places and Holders are lists of limited length. LeftOut has the numbers of elements beyond that.
	Pools     []WaitsPool    `json:"pools"`
	Threads   []WaitsThread  `json:"threads"`
	Places    []WaitPlace    `json:"places"`
	Holders   []LockHolder   `json:"lock_owners"`
	Deadlocks []Deadlock     `json:"deadlocks"`
	Virtual   []VirtualWaits `json:"virtual_threads"`
	// VirtualCounts says how virtual threads were counted. It is missing if they were not.
	VirtualCounts *VirtualCounts `json:"virtual_counts,omitempty"`
	LeftOut       *WaitsLeftOut  `json:"left_out,omitempty"`
}

// A WaitsLeftOut has the numbers of elements that are missing in the lists of Waits.
type WaitsLeftOut struct {
	Pools   int `json:"pools"`
	Threads int `json:"threads"`
	Places  int `json:"places"`
	Holders int `json:"lock_owners"`
}

// A WaitsJVM says how the threads of a JVM were observed.
type WaitsJVM struct {
	PID    int   `json:"pid"`
	Hertz  int   `json:"hertz"`
	FromNS int64 `json:"from_ns"` // CLOCK_MONOTONIC
	ToNS   int64 `json:"to_ns"`
	// CutOff is true if the recording has no end, because gasm was killed. Then the numbers of looks are not known.
	CutOff    bool  `json:"cut_off,omitempty"`
	Looks     int64 `json:"looks"`
	Moved     int64 `json:"moved"`    // looks without a stack, because the thread ran each time that gasm read the stack
	Unread    int64 `json:"unread"`   // looks at a thread that could not be read
	LeftOut   int64 `json:"left_out"` // looks that were left out because they would have cost too much
	ClampedNS int64 `json:"clamped_ns"`
	// Unrecorded is the largest number of threads at one time that were not recorded, because there were too many.
	// Reopened is the number of threads whose files in /proc gasm opened for each look, because it had too many files
	// open. Full is true if the recording ended early because the file had reached its largest size.
	Unrecorded int64 `json:"unrecorded,omitempty"`
	Reopened   int64 `json:"reopened,omitempty"`
	Full       bool  `json:"full,omitempty"`
	// BPFIterator is true if a BPF iterator reported for all threads at once whether they had run.
	BPFIterator bool `json:"bpf_iterator,omitempty"`
}

// A WaitsAccount says where the recorded time of all threads went. TotalNS is the sum of the others.
type WaitsAccount struct {
	TotalNS         int64 `json:"total_ns"`
	OutsideWindowNS int64 `json:"outside_window_ns"`
	OtherThreadNS   int64 `json:"other_thread_ns"`
	OutsideMethodNS int64 `json:"outside_method_ns"`
	NotUnderNS      int64 `json:"not_under_ns"`
	ProfiledNS      int64 `json:"profiled_ns"`
}

// A WaitsPool sums up threads whose names differ only in the number at the end. Name has a * in its place.
type WaitsPool struct {
	Name    string           `json:"name"`
	Kind    string           `json:"kind"` // as in ThreadKind
	Threads int              `json:"threads"`
	Idle    int              `json:"idle"` // how many of them are idle
	States  map[string]int64 `json:"states"`
	// QueuedNS is how long its threads waited in the pool's queue.
	QueuedNS int64 `json:"queued_ns"`
}

// A WaitsThread is a thread. The times of its states add up to its wall-clock time in the windows.
type WaitsThread struct {
	PID    int              `json:"pid"`
	TID    int              `json:"tid"`
	Name   string           `json:"name"`
	Pool   string           `json:"pool"`
	JavaID int64            `json:"java_id,omitempty"` // absent for the JVM's own threads
	Idle   bool             `json:"idle,omitempty"`
	States map[string]int64 `json:"states"`
}

// A WaitPlace is where threads of a pool waited.
type WaitPlace struct {
	Pool    string `json:"pool"`
	State   string `json:"state"`
	At      *Frame `json:"at,omitempty"`    // absent if the stack is not known
	For     string `json:"for,omitempty"`   // the class of the lock, or what else they waited for
	Queue   bool   `json:"queue,omitempty"` // it is the pool's queue
	Threads int    `json:"threads"`
	Idle    int    `json:"idle"` // how many of them are idle
	NS      int64  `json:"ns"`
	IdleNS  int64  `json:"idle_ns"`
	// Callers are the callers of the place. Their Count is a number of threads. Only the first places have Callers, see
	// SiteCaller.
	Callers []SiteCaller `json:"callers,omitempty"`
}

// A LockHolder is a thread that had a lock for which other threads waited.
type LockHolder struct {
	PID     int    `json:"pid"`
	Kind    string `json:"kind"` // "monitor" or "synchronizer"
	Class   string `json:"class"`
	Address string `json:"address,omitempty"` // hexadecimal; absent if there were several
	Objects int    `json:"objects"`           // number of addresses; objects move, so one may have several
	Owner   string `json:"owner"`
	TID     int    `json:"tid"`
	TakenAt *Frame `json:"taken_at,omitempty"`
	Threads int    `json:"threads"` // how many waited
	AtOnce  int    `json:"at_once"` // the largest number that waited at once
	NS      int64  `json:"ns"`      // how long they waited, all together
	HeldNS  int64  `json:"held_ns"` // for how long at least one of them waited
	// Meanwhile is what the owner did in that time, longest first.
	Meanwhile []HolderDid `json:"meanwhile"`
	// Next is the index in Holders of the lock owner for which this owner waited longest; -1 if there is none.
	Next int `json:"next"`
}

// A HolderDid is what the owner of a lock did while others waited for it.
type HolderDid struct {
	State string `json:"state"`
	At    *Frame `json:"at,omitempty"`
	For   string `json:"for,omitempty"`
	NS    int64  `json:"ns"`
}

// A Deadlock is a cycle of threads, each of which waits for a lock that the next one has; the last one waits for a lock
// of the first one.
type Deadlock struct {
	PID     int          `json:"pid"`
	FromNS  int64        `json:"from_ns"` // CLOCK_MONOTONIC
	ToNS    int64        `json:"to_ns"`
	Threads []Deadlocked `json:"threads"`
}

// A Deadlocked is a thread in a deadlock.
type Deadlocked struct {
	TID     int    `json:"tid"`
	Name    string `json:"name"`
	State   string `json:"state"`
	Class   string `json:"class"`
	Address string `json:"address"`
	At      *Frame `json:"at,omitempty"`
}

// A VirtualWaits counts the virtual threads that waited at a place and were not mounted on a thread.
type VirtualWaits struct {
	State string  `json:"state"`
	At    *Frame  `json:"at,omitempty"`
	For   string  `json:"for,omitempty"`
	Mean  float64 `json:"mean"` // over all counts
	Most  int     `json:"most"`
}

// A VirtualCounts says how virtual threads were counted. The numbers of threads are means over all counts except those
// in Moved.
type VirtualCounts struct {
	Counts int `json:"counts"`
	Moved  int `json:"moved"` // counts that could not read the threads, because a collector moved objects
	// Threads is the number of virtual threads. Looked is how many of them were looked at, chosen at random. If gasm
	// did not look at all of them, the numbers of threads are estimates. Mounted and Unread are parts of Looked.
	// Untracked threads can't be looked at, and are not in Threads.
	Threads   float64 `json:"threads"`
	Looked    float64 `json:"looked"`
	Mounted   float64 `json:"mounted"`
	Unread    float64 `json:"unread"`
	Untracked float64 `json:"untracked"`
}
