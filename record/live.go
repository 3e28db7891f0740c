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
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/internal/monotonic"
	"github.com/gasm-profiler/gasm/internal/native"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/record/debuginfo"
	"github.com/gasm-profiler/gasm/sampler"
)

// liveCode copies the code of a command's JVMs from their memory while they run. It assumes that a process is a JVM if
// the process maps libjvm.so.
type liveCode struct {
	r *Recording
	// watch reports mappings if the sampler delivers no samples while the command runs. Then liveCode does not know
	// which methods have samples, and copies all methods. It is nil if the sampler delivers samples.
	watch     *mappingEvents
	resolver  *native.Resolver // has the mappings that the watch has reported; nil if there is no watch
	delivered chan struct{}    // closed when the followers have got all samples; nil if the sampler delivers none

	mu     sync.Mutex
	starts *jvmStarts     // nil before begin
	jvms   []*followedJVM // in the order in which they were found
	byPID  map[int]*followedJVM
	paused bool
}

func newLiveCode(r *Recording) *liveCode { return &liveCode{r: r, byPID: map[int]*followedJVM{}} }

// readable returns nil if the code of a command's JVMs can be copied from their memory. Otherwise it returns an error
// that says why not.
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

// javaFlags returns the options that make JIT compilers record more debug info, if the command takes options for its
// JVM. Every JVM knows these options. In a JVM that starts without them, gasm switches DebugNonSafepoints on in the
// JVM's memory; see mapped.
func (c *liveCode) javaFlags() (flags javaFlags, err error) {
	if takesOptions(c.r.o.Command) {
		flags.command = printassembly.DebugInfoFlags()
	}
	return flags, nil
}

// begin begins to deliver samples to the followers, which copy the code. If the sampler delivers no samples, begin
// starts c.watch instead, which reports the files that processes map.
func (c *liveCode) begin(ctx context.Context, s sampling, pid int) (err error) {
	if samples := s.stream(); samples != nil {
		c.delivered = make(chan struct{})
		go c.deliver(samples)
		c.expect(s)
		return nil
	}
	c.resolver = native.NewResolver()
	if c.watch, err = watchMappingEvents(pid, func(m native.Mapping) { c.mapped(ctx, m) }); err == nil {
		c.expect(c.watch)
	}
	return err
}

// expect makes a sampler look for new mappings often while JVMs start, if the sampler has a method for that
// (oftenLooker).
func (c *liveCode) expect(sampler any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.starts = newJVMStarts(sampler)
}

// mapped begins to follow a process if it has mapped libjvm.so and is not followed yet.
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
	switchOn := func(vm *vmstructs.VM) (bool, error) {
		return debuginfo.SwitchOnFor(c.r.patience.Begin(ctx), m.PID, vm)
	}
	if err := j.follow(c.r.patience.Begin(ctx), c.r.folder.Path,
		follow.Options{Launched: true, All: c.watch != nil, SwitchDebugInfo: switchOn, JVMs: c.r.open}); err != nil {
		c.r.problem(err)
		return
	}
	if c.paused {
		j.follower.Pause()
	}
	if !j.foreign { // otherwise the path may lead to another file for gasm, or another user may have chosen it
		c.starts.seen(m.Path)
	}
	c.byPID[m.PID] = j
	c.r.events.Found(ctx, m.PID)
	c.r.beginWall(m.PID)
	c.jvms = append(c.jvms, j)
}

// isLibJVM reports whether m is a mapping of HotSpot's library, libjvm.so.
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

// followed returns the JVM with a process id, or nil if gasm does not follow this process.
func (c *liveCode) followed(pid int) *followedJVM {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.byPID[pid]
}

// deliver passes each sample to the follower that copies the code of the sample's JVM, and to the recorder of the JVMs'
// events.
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
	c.starts.close() // mapped is not called any more
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
	early := 0
	for _, j := range c.jvms {
		jvms = append(jvms, c.r.describeFollowed(j))
		notes = append(notes, j.codeNotes()...)
		if j.result.EndedEarly {
			early++
		}
	}
	if early > 0 {
		their, they := "their", "they"
		if early == 1 {
			their, they = "its", "it"
		}
		notes =
			append(notes, fmt.Sprintf("%d of the command's %s ended before gasm could read %s code, so most of what %s ran is unresolved (--code print has HotSpot print it)",
				early, layout.Plural(len(c.jvms), "JVM"), their, they))
	}
	completeVersions(jvms)
	sortByStart(jvms)
	return jvms, notes, nil
}

// noJVM returns an error that says that the command started no JVM, with a likely reason.
func (c *liveCode) noJVM() error {
	if c.r.over {
		return fmt.Errorf("the measurement was over before %s had started a JVM: %w", c.r.o.Command[0], ErrNoJVM)
	}
	if c.r.Interrupted() || c.r.exitCode != 0 {
		return fmt.Errorf("%s ended with exit code %d before it had started a JVM: %w", c.r.o.Command[0], c.r.exitCode,
			ErrNoJVM)
	}
	return fmt.Errorf("%s started no JVM with HotSpot: %w (does a daemon that ran before do the work? gasm attach profiles a JVM that runs)",
		c.r.o.Command[0], ErrNoJVM)
}
