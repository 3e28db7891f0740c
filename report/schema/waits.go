package schema

// Waits says what the threads of a profile did by the wall clock. All times are in ns; a time on its own (at_ns) is of
// CLOCK_MONOTONIC.
type Waits struct {
	JVMs    []WaitsJVM   `json:"jvms"`
	Account WaitsAccount `json:"account"`
	// States are the times of all threads by state; they add up to Account.Profiled.
	States map[string]int64 `json:"states"`
	// IdleThreads is how many threads only waited in the queues of their pools, and IdleNS is their time. QueuedNS is how
	// long other threads waited in the queues of their pools. All other numbers include these.
	IdleThreads int   `json:"idle_threads"`
	IdleNS      int64 `json:"idle_ns"`
	QueuedNS    int64 `json:"queued_ns"`
	// Pools, Threads, Places and Holders are lists that may be cut; what is left out is counted at the end.
	Pools     []WaitsPool    `json:"pools"`
	Threads   []WaitsThread  `json:"threads"`
	Places    []WaitPlace    `json:"places"`
	Holders   []LockHolder   `json:"lock_owners"`
	Deadlocks []Deadlock     `json:"deadlocks"`
	Virtual   []VirtualWaits `json:"virtual_threads"`
	LeftOut   *WaitsLeftOut  `json:"left_out,omitempty"`
}

// A WaitsLeftOut has the numbers of elements that the lists of Waits do not have.
type WaitsLeftOut struct {
	Pools   int `json:"pools"`
	Threads int `json:"threads"`
	Places  int `json:"places"`
	Holders int `json:"lock_owners"`
}

// A WaitsJVM says how the threads of a JVM were looked at.
type WaitsJVM struct {
	PID    int   `json:"pid"`
	Hertz  int   `json:"hertz"`
	FromNS int64 `json:"from_ns"` // of CLOCK_MONOTONIC
	ToNS   int64 `json:"to_ns"`
	// CutOff is true if the recording has no end, because gasm was killed. Then the numbers of looks are not known.
	CutOff    bool  `json:"cut_off,omitempty"`
	Looks     int64 `json:"looks"`
	Moved     int64 `json:"moved"`    // looks at a thread that ran each time it was read
	Unread    int64 `json:"unread"`   // looks at a thread that could not be read
	LeftOut   int64 `json:"left_out"` // looks that were left out to save time
	ClampedNS int64 `json:"clamped_ns"`
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

// A WaitsPool sums up threads whose names differ only in the number at the end, which is a * here.
type WaitsPool struct {
	Name    string           `json:"name"`
	Kind    string           `json:"kind"` // as in ThreadKind
	Threads int              `json:"threads"`
	Idle    int              `json:"idle"` // how many of them are idle
	States  map[string]int64 `json:"states"`
	// QueuedNS is how long they waited in the pool's queue.
	QueuedNS int64 `json:"queued_ns"`
}

// A WaitsThread is a thread. Its states add up to its wall clock in the windows.
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
	Queue   bool   `json:"queue,omitempty"` // they waited for work in the pool's queue
	Threads int    `json:"threads"`
	Idle    int    `json:"idle"` // how many of them are idle
	NS      int64  `json:"ns"`
	IdleNS  int64  `json:"idle_ns"`
	// Callers are the callers of the place; Count is in threads. Only the first places have them, see SiteCaller.
	Callers []SiteCaller `json:"callers,omitempty"`
}

// A LockHolder is a thread that had a lock for which other threads waited.
type LockHolder struct {
	PID     int    `json:"pid"`
	Kind    string `json:"kind"` // "monitor" or "synchronizer"
	Class   string `json:"class"`
	Address string `json:"address,omitempty"` // hexadecimal; absent if there were several
	Objects int    `json:"objects"`           // number of addresses; objects move
	Owner   string `json:"owner"`
	TID     int    `json:"tid"`
	TakenAt *Frame `json:"taken_at,omitempty"`
	Threads int    `json:"threads"` // how many waited
	AtOnce  int    `json:"at_once"` // the largest number of them at the same time
	NS      int64  `json:"ns"`      // how long they waited, all together
	HeldNS  int64  `json:"held_ns"` // for how long at least one of them waited
	// Meanwhile is what the owner did in that time, the longest first.
	Meanwhile []HolderDid `json:"meanwhile"`
	// Next is the index of the element for which the owner waited longest; -1 if there is none.
	Next int `json:"next"`
}

// A HolderDid is what the owner of a lock did while others waited for it.
type HolderDid struct {
	State string `json:"state"`
	At    *Frame `json:"at,omitempty"`
	For   string `json:"for,omitempty"`
	NS    int64  `json:"ns"`
}

// A Deadlock is a cycle of threads. Each waits for a lock that the next one has, and the last one for one of the first
// one's.
type Deadlock struct {
	PID     int          `json:"pid"`
	FromNS  int64        `json:"from_ns"` // of CLOCK_MONOTONIC
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

// A VirtualWaits counts virtual threads at a place that were not mounted on a thread.
type VirtualWaits struct {
	State string  `json:"state"`
	At    *Frame  `json:"at,omitempty"`
	For   string  `json:"for,omitempty"`
	Mean  float64 `json:"mean"` // of all counts
	Most  int     `json:"most"`
}
