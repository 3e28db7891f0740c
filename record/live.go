package record

import (
	"context"
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

// liveCode reads the code of a command's JVMs from their memory while they run. A JVM is a process that maps libjvm.so.
type liveCode struct {
	r *Recording
	// watch reports mappings where the sampler delivers no samples while the command runs. All methods are copied then.
	watch     *mappingEvents
	resolver  *native.Resolver // knows the mappings that watch has reported; nil without it
	delivered chan struct{}    // closed when the followers have got all samples; nil without a stream

	mu     sync.Mutex
	jvms   []*followedJVM // in the order in which they were found
	byPID  map[int]*followedJVM
	paused bool
}

func newLiveCode(r *Recording) *liveCode { return &liveCode{r: r, byPID: map[int]*followedJVM{}} }

// readable returns an error that says why the code of a command's JVMs can't be read from their memory; nil when it can
// be.
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
	return checkMappingEvents()
}

func (c *liveCode) kind() string { return capture.CodeCopied }

// javaFlags returns the options for debug info. Every JVM knows them.
func (c *liveCode) javaFlags() (javaFlags, error) {
	return javaFlags{tool: printassembly.DebugInfoFlags()}, nil
}

// begin has the samples delivered to the followers.
func (c *liveCode) begin(ctx context.Context, s sampling, pid int) (err error) {
	if samples := s.stream(); samples != nil {
		c.delivered = make(chan struct{})
		go c.deliver(samples)
		return nil
	}
	c.resolver = native.NewResolver()
	c.watch, err = watchMappingEvents(pid, func(m native.Mapping) { c.mapped(ctx, m) })
	return err
}

// mapped begins to follow a process that has mapped libjvm.so.
func (c *liveCode) mapped(ctx context.Context, m native.Mapping) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.resolver != nil {
		c.resolver.Add(m)
	}
	if !isLibJVM(m) || c.byPID[m.PID] != nil {
		return
	}
	j := &followedJVM{Process: attach.Process{PID: m.PID, StartMonoNanos: monotonic.Nanos()}}
	if seen, err := attach.Look(c.r.patience.Begin(ctx), m.PID); err == nil {
		j.Process = *seen
	}
	c.r.jmhFiles.FollowJVM(c.r.patience.Reach(ctx), m.PID)
	if err := j.follow(c.r.patience.Begin(ctx), c.r.folder.Path, follow.Options{Launched: true, All: c.watch != nil}); err != nil {
		c.r.problem(err)
		return
	}
	if c.paused {
		j.follower.Pause()
	}
	c.byPID[m.PID] = j
	c.r.events.Found(ctx, m.PID)
	c.jvms = append(c.jvms, j)
}

// isLibJVM reports whether a mapping is of HotSpot's library.
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

// followed returns the JVM of a process; nil when the process is not a JVM.
func (c *liveCode) followed(pid int) *followedJVM {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.byPID[pid]
}

// deliver passes the samples on to the followers and to the events.
func (c *liveCode) deliver(samples <-chan sampler.Sample) {
	defer close(c.delivered)
	for s := range samples {
		c.r.events.Sampled(&s)
		if j := c.followed(s.PID); j != nil {
			j.sampled(&s)
		}
	}
}

func (c *liveCode) end(ctx context.Context) *native.Resolver {
	if c.watch != nil {
		c.watch.Stop()
	}
	if c.delivered != nil {
		<-c.delivered
	}
	reach := c.r.patience.Reach(context.WithoutCancel(ctx))
	for _, j := range c.jvms {
		j.stop(reach)
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

// noJVM returns the error of a command that started no JVM.
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
