package record

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/hotspot/attach"
	"github.com/gasm-profiler/gasm/hotspot/follow"
	"github.com/gasm-profiler/gasm/hotspot/nmethod"
	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
	"github.com/gasm-profiler/gasm/internal/jdk"
	"github.com/gasm-profiler/gasm/internal/monotonic"
	"github.com/gasm-profiler/gasm/internal/native"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/sampler"
)

// liveCode has the code of a command's JVMs out of their memory, while they run. A JVM is
// a process that maps libjvm.so.
type liveCode struct {
	r *Recording
	// Where the sampler gives no samples while the command runs, mappings are watched beside
	// it, and all methods are copied.
	watch    *mappingEvents
	resolver *native.Resolver // knows what watch has told; nil without it
	told     chan struct{}    // closed when the followers have got all samples; nil without a stream

	mu     sync.Mutex
	jvms   []*followedJVM // in the order in which they were found
	byPID  map[int]*followedJVM
	paused bool
}

func newLiveCode(r *Recording) *liveCode { return &liveCode{r: r, byPID: map[int]*followedJVM{}} }

// readable tells why the code of a command's JVMs can't be read out of their memory; nil
// when it can be.
func readable(command []string) error {
	if runtime.GOOS != "linux" {
		return errors.New("only Linux lets gasm read the memory of a JVM")
	}
	if release := jdk.Release(command); release > 8 && !nmethod.Known(release) {
		return fmt.Errorf("gasm does not know the memory of JDK %d", release)
	}
	if err := vmstructs.Allowed(); err != nil {
		return err
	}
	return mappingsAreTold()
}

func (c *liveCode) kind() string { return capture.CodeCopied }

// javaFlags gives all that a JVM must be told: both options are known to every JVM.
func (c *liveCode) javaFlags() (javaFlags, error) {
	return javaFlags{tool: printassembly.DebugInfoFlags()}, nil
}

// begin has the followers get the samples.
func (c *liveCode) begin(s sampling, pid int) (err error) {
	if samples := s.stream(); samples != nil {
		c.told = make(chan struct{})
		go c.tell(samples)
		return nil
	}
	c.resolver = native.NewResolver()
	c.watch, err = watchMappingEvents(pid, c.mapped)
	return err
}

// mapped begins to follow a process that has mapped libjvm.so.
func (c *liveCode) mapped(m native.Mapping) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.resolver != nil {
		c.resolver.Add(m)
	}
	if !isLibJVM(m) || c.byPID[m.PID] != nil {
		return
	}
	j := &followedJVM{Process: attach.Process{PID: m.PID, StartMonoNanos: monotonic.Nanos()}}
	if seen, err := attach.Look(m.PID); err == nil {
		j.Process = *seen
	}
	c.r.jmhFiles.FollowJVM(c.r.patience.reach, m.PID)
	if err := j.follow(c.r.patience.begin, c.r.folder.Path, follow.Options{Launched: true, All: c.watch != nil}); err != nil {
		c.r.problem(err)
		return
	}
	if c.paused {
		j.follower.Pause()
	}
	c.byPID[m.PID] = j
	c.r.live.found(m.PID)
	c.jvms = append(c.jvms, j)
}

// isLibJVM tells whether a process has mapped HotSpot's library.
func isLibJVM(m native.Mapping) bool { return filepath.Base(m.Path) == "libjvm.so" }

func (c *liveCode) pause()  { c.turn(true, (*follow.Follower).Pause) }
func (c *liveCode) resume() { c.turn(false, (*follow.Follower).Resume) }

func (c *liveCode) turn(paused bool, turn func(*follow.Follower)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.paused = paused
	for _, j := range c.jvms {
		turn(j.follower)
	}
}

// followed gives the JVM of a process; nil when it is none.
func (c *liveCode) followed(pid int) *followedJVM {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.byPID[pid]
}

// tell gives the samples to the followers.
func (c *liveCode) tell(samples <-chan sampler.Sample) {
	defer close(c.told)
	for s := range samples {
		c.r.live.sampled(&s)
		if j := c.followed(s.PID); j != nil {
			j.sampled(&s)
		}
	}
}

func (c *liveCode) end() *native.Resolver {
	if c.watch != nil {
		c.watch.Stop()
	}
	if c.told != nil {
		<-c.told
	}
	for _, j := range c.jvms {
		j.stop(c.r.patience.reach)
	}
	return c.resolver
}

func (c *liveCode) finish() (jvms []capture.JVM, notes []string, err error) {
	if len(c.jvms) == 0 {
		return nil, nil, c.noJVM()
	}
	for _, j := range c.jvms {
		jvms = append(jvms, c.r.describeFollowed(j))
		notes = append(notes, j.codeNotes()...)
	}
	sortByStart(jvms)
	return jvms, notes, nil
}

// noJVM is the error of a command that started no JVM.
func (c *liveCode) noJVM() error {
	if c.r.over {
		return fmt.Errorf("the measurement was over before %s had started a JVM: %w", c.r.o.Command[0], ErrNoJVM)
	}
	if c.r.Interrupted() || c.r.exitCode != 0 {
		return fmt.Errorf("%s ended with exit code %d before it had started a JVM: %w", c.r.o.Command[0], c.r.exitCode, ErrNoJVM)
	}
	return fmt.Errorf("%s started no JVM with HotSpot: %w (does a daemon that ran before do the work? gasm attach profiles a JVM that runs)",
		c.r.o.Command[0], ErrNoJVM)
}
