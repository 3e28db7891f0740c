package collect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/internal/native"
	"github.com/gasm-profiler/gasm/sampler"
	"github.com/gasm-profiler/gasm/sampler/collect/failure"
	"github.com/gasm-profiler/gasm/sampler/perfevent"
)

func init() { helpers["native"], helpers["threads"] = helpNative, helpThreads }

// helpNative samples a process with native sampling, as the user that runs it. Its arguments are:
//
//	EVENTS PID DIR [START]
//
// START is "attach", "wait", "stacks" or "least". With "wait", helpNative samples until it is killed. With "stacks",
// it records stacks until there are some, and may lock no more memory than kernel.perf_event_mlock_kb. "least" is the
// same with a LeastStack, and first prints the result of TryStacks. helpNative prints the events, the size of the
// stacks, the notes, the error and the error's reason, each on a line.
func helpNative(args []string) int {
	pid, err := strconv.Atoi(args[1])
	if err != nil {
		panic(err)
	}
	open := StartNative
	if len(args) > 3 && args[3] == "attach" {
		open = func(o Options) (*Native, error) { return AttachNative(context.Background(), o) }
	}
	opts := Options{Events: eventsIn(args[0]), Frequency: 999, PID: pid, Dir: args[2]}
	walked := make(chan struct{})
	if len(args) > 3 && (args[3] == "stacks" || args[3] == "least") {
		open = func(o Options) (*Native, error) { return AttachNative(context.Background(), o) }
		opts.Walk = func(w *callstack.Writer, r *perfevent.Record, _ *native.Resolver) callstack.ID {
			if len(r.Stack) > 0 && walked != nil {
				close(walked)
				walked = nil
			}
			return w.Push(0, userFrame(r))
		}
		if err := unix.Setrlimit(unix.RLIMIT_MEMLOCK, &unix.Rlimit{}); err != nil {
			panic(err)
		}
	}
	if len(args) > 3 && args[3] == "least" {
		opts.LeastStack = 32 << 10
		fmt.Printf("try %v\n", TryStacks(opts))
	}
	stacksWanted := walked
	n, err := open(opts)
	var refused *failure.RefusedError
	if errors.As(err, &refused) {
		fmt.Printf("reason %d\n", refused.Reason)
	}
	if err != nil {
		fmt.Printf("error %v\n", err)
		return 1
	}
	fmt.Printf("events %s\n", sampler.Specs(n.Events()))
	if len(args) > 3 && args[3] == "wait" {
		fmt.Println("sampling")
		select {}
	}
	if opts.Walk != nil {
		fmt.Printf("stacks of %d bytes in %s\n", n.StackSize(), filepath.Base(n.StacksFile()))
		<-stacksWanted
	} else {
		time.Sleep(300 * time.Millisecond)
	}
	if err := n.Stop(context.Background()); err != nil {
		fmt.Printf("stop %v\n", err)
	}
	for _, note := range n.Notes() {
		fmt.Printf("note %s\n", note)
	}
	return 0
}

// helpThreads keeps some threads busy until its stdin ends. One of them runs all the time. Each of the others ends
// after 50 ms of CPU time, and a new one starts.
func helpThreads(args []string) int {
	threads, err := strconv.Atoi(args[0])
	if err != nil {
		panic(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	for range threads {
		go func() {
			for ctx.Err() == nil {
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					runtime.LockOSThread() // so that the thread ends with the goroutine
					for end := threadTime() + 50*time.Millisecond; threadTime() < end; {
					}
				}()
				<-ended
			}
		}()
	}
	go func() {
		runtime.LockOSThread()
		for ctx.Err() == nil {
		}
	}()
	io.Copy(io.Discard, os.Stdin)
	cancel()
	return 0
}

// threadTime returns the CPU time of the calling thread.
func threadTime() time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &now); err != nil {
		panic(err)
	}
	return time.Duration(now.Nano())
}

// processTime returns the CPU time of all threads of a process, including those that have ended.
func processTime(t *testing.T, pid int) time.Duration {
	t.Helper()
	var now unix.Timespec
	require.NoError(t, unix.ClockGettime(int32(^pid<<3|2), &now)) // clock_getcpuclockid
	return time.Duration(now.Nano())
}

// A helper is a process that runs this test's program.
type helper struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
}

// startHelper starts a helper, which is killed after the test. If held is true, the helper is held
// until release.
func startHelper(t *testing.T, name string, args ...string) *helper {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.Env = append(os.Environ(), helperEnv+"="+name)
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return &helper{cmd, stdin}
}
